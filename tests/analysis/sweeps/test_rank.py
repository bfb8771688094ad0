"""`rank`: combinations and their launches, answers as `analyze` gives them, what cannot be answered, text and JSON."""

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from warpbound import CommandError, InputError, analyze, compile, launch, rank
from warpbound.analysis.sweeps.tunings import Shape, tunings
from warpbound.cli import main
from warpbound.report.document import schema
from warpbound.size_expressions import number, parts

SOURCE = """
extern "C" __global__ void scaled(const TYPE* x, TYPE* y, int n) {
    __shared__ float kept[KEPT];
#pragma unroll
    for (int k = 0; k < WORK; ++k) {
        int i = (blockIdx.x * WORK + k) * blockDim.x + threadIdx.x;
        kept[threadIdx.x % KEPT] = x[i];
        if (i < n) y[i] = 2 * kept[threadIdx.x % KEPT];
    }
}
"""
N = 1 << 18
MACROS = {"WORK": [1, 4], "KEPT": [32, 200_000], "TYPE": ["float", "nothing"]}
ARGS = {"x": f"f32[{N}]:ones", "y": f"f32[{N}]", "n": N}
LAUNCH = launch(grid=1, block=1, args=ARGS)
GRID = f"cdiv({N}, 256*WORK)"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "scaled.cu"
    path.write_text(SOURCE)
    return path


@pytest.mark.parametrize(("text", "value"), [
    ("1024/TILE", 10), ("cdiv(1024, TILE)", 11), ("-TILE % 7", 0 if 98 % 7 == 0 else 7 - 98 % 7),
    ("max(TILE, 3) + min(2, WORK)", 99), ("TILE > 3 && !(WORK == 2) || 0", 1), ("not TILE", 0), ("TILE != 98", 0),
])  # fmt: skip
def test_expressions(text: str, value: int) -> None:
    assert number(text, {"TILE": "98", "WORK": "0x1"}) == value


@pytest.mark.parametrize(("text", "said"), [
    ("TILE +", "is not an expression"), ("TILES", "names TILES, which has no value"),
    ("TILE / (TILE - 98)", "divides by 0"),
    ("TILE ** 9", "is not an expression of names"), ("TYPE + 1", "TYPE=float is not an integer"), ("1.5", "is not"),
    ("__import__('os')", "not an expression of"), ("TILE.real", "names TILE.real"), ("True", "not an expression"),
    ("-" * 60 + "TILE", "nested too deeply"), ("", "is not an expression"),
])  # fmt: skip
def test_wrong_expressions_are_refused(text: str, said: str) -> None:
    with pytest.raises(CommandError, match=said.replace("*", r"\*")):
        number(text, {"TILE": "98", "TYPE": "float"})


def test_commas_in_parentheses_do_not_separate() -> None:
    assert parts("min(A, 2), B,3") == ["min(A, 2)", " B", "3"]


def test_every_combination_has_its_launch() -> None:
    shape = Shape("64/TILE,2", "TILE,TILE", "4*TILE", "TILE <= 16 or WORK == 1")
    found = tunings({"TILE": [8, 16, 32], "WORK": [1, 2]}, shape, LAUNCH)
    assert [one.name for one in found] == [
        "TILE=8 WORK=1", "TILE=8 WORK=2", "TILE=16 WORK=1", "TILE=16 WORK=2", "TILE=32 WORK=1"
    ]  # fmt: skip
    last = found[-1].launch
    assert not isinstance(last, Exception)
    assert (last.grid, last.block, last.smem, last.args) == ((2, 2, 1), (32, 32, 1), 128, LAUNCH.args)


@pytest.mark.parametrize(("macros", "where", "said"), [
    ({"A": [1, 2]}, "A > 2", "is false for all 2 combinations"),
    ({"A": [1, 1]}, None, "values of A are empty or repeated"),
    ({"A": []}, None, "values of A are empty or repeated"),
    ({"A": range(1000), "B": range(1000)}, None, "1000000 combinations are too many"),
])  # fmt: skip
def test_spaces_without_sense_are_refused(macros: dict[str, list[int]], where: str | None, said: str) -> None:
    with pytest.raises(CommandError, match=said):
        tunings(macros, Shape(where=where), LAUNCH)


@pytest.mark.cuda
def test_answers_are_those_of_analyze_and_failures_stop_no_other(source: Path) -> None:
    told: list[tuple[int, int]] = []
    found = rank(source, "h200", MACROS, LAUNCH, GRID, "256", processes=2, progress=lambda *now: told.append(now))
    assert len(found) == 8
    assert told[-1] == (8, 8)
    answered, refused = found[:2], found[2:]
    for entry in answered:
        own = compile(source, "h200", defines=entry["defines"])
        alone = analyze(own, "h200", launch(grid=N // 256 // int(entry["defines"]["WORK"]), block=256, args=ARGS))
        assert {key: value for key, value in entry.items() if key != "defines"} == alone
    assert answered[0]["time_s"] <= answered[1]["time_s"]
    reasons = [entry["error"]["reason"] for entry in refused]
    assert sum("nothing" in reason for reason in reasons) == 4
    assert all(entry["defines"]["KEPT"] == "200000" or entry["defines"]["TYPE"] == "nothing" for entry in refused)


@pytest.mark.cuda
def test_impossible_blocks_and_unknown_work_have_no_time(source: Path) -> None:
    macros = {"WORK": [1], "KEPT": [32], "TYPE": ["float"], "BLOCK": [256, 4096]}
    found = rank(source, "h200", macros, LAUNCH, "64", "BLOCK", processes=1)
    assert "time_s" in found[0]
    assert "4096 threads" in found[1]["error"]["reason"]
    with pytest.raises(InputError, match="No time: "):
        rank(source, "h200", macros, launch(grid=64, block=256), processes=1)


@pytest.mark.cuda
def test_where_nothing_compiles_the_first_error_is_told(source: Path) -> None:
    with pytest.raises(InputError, match="does not compile"):
        rank(source, "h200", {"WORK": [1, 2], "KEPT": [32], "TYPE": ["nothing"]}, LAUNCH, GRID, "256", processes=1)


def test_an_architecture_ranks_nothing(source: Path) -> None:
    with pytest.raises(InputError, match="is an architecture, not a board"):
        rank(source, "sm_90", MACROS, LAUNCH)


def said(source: Path, *words: str) -> Result:
    args = [word for name, value in ARGS.items() for word in ("--arg", f"{name}={value}")]
    defines = ["--define", "WORK=1,2", "--define", "KEPT=32,200000", "--define", "TYPE=float"]
    asked = ["rank", str(source), "--grid", GRID, "--block", "256", *args, *defines, *words]
    return CliRunner(env={"COLUMNS": "100"}).invoke(main, asked)


@pytest.mark.cuda
def test_the_command_prints_a_table_and_explains_both_ends(source: Path) -> None:
    done = said(source, "--gpu", "h200", "--jobs", "1", "--top", "1")
    assert done.exit_code == 0, done.output
    assert "scaled on NVIDIA H200: 2 tunings ranked, 2 without a time" in done.output
    assert "Fastest: WORK=" in done.output
    assert "Slowest: WORK=" in done.output
    assert "No time for WORK=1 KEPT=200000 TYPE=float" in done.output
    assert "Traceback" not in done.output


@pytest.mark.cuda
def test_the_command_writes_json_of_the_published_schema(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "ranked.json"
    done = said(source, "--gpu", "h200", "--jobs", "1", "--format", "json", "-o", str(out))
    assert done.exit_code == 0, done.output
    whole = json.loads(out.read_text())
    jsonschema.validate(whole, schema("analyze"))
    times = [entry.get("time_s") for entry in whole["results"]]
    assert times[2:] == [None, None]
    assert times[0] <= times[1]
    assert {entry["defines"]["WORK"] for entry in whole["results"]} == {"1", "2"}


@pytest.mark.cuda
def test_variables_have_contents(tmp_path: Path) -> None:
    source = tmp_path / "turns.cu"
    source.write_text("""
__constant__ int turns;
extern "C" __global__ void spin(float* y) {
    float sum = WORK;
    for (int i = 0; i < turns; ++i) sum = sum * 0.5f + y[i];
    y[threadIdx.x] = sum;
}
""")
    words = ["rank", str(source), "--gpu", "h200", "--jobs", "1", "--grid", "132", "--block", "256",
             "--arg", "y=f32[4096]", "--define", "WORK=1,2", "--format", "json"]  # fmt: skip
    times = []
    for turns in (10, 1000):
        done = CliRunner().invoke(main, [*words, "--const", f"turns={turns}", "--patience", "60"])
        assert done.exit_code == 0, done.output
        times.append(json.loads(done.output)["results"][0]["time_s"])
    assert times[1] > 2 * times[0]


@pytest.mark.parametrize(("words", "message"), [
    ([], "No GPU given"),
    (["--gpu", "h200,l4"], "2 GPUs are named"),
    (["--gpu", "h200", "--define", "WORK=3"], "A macro was defined twice"),
    (["--gpu", "h200", "--where", "WORKS > 1"], "names WORKS, which has no value"),
    (["--gpu", "nope"], "nope"),
])  # fmt: skip
def test_wrong_words_are_told(source: Path, words: list[str], message: str) -> None:
    done = said(source, *words)
    assert done.exit_code == 2, done.output
    assert message in done.output
