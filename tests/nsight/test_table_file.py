"""Tables in place of reports: what `ncu --csv` prints, and data frames of nsight-python, written here by ourselves."""

import csv
import io
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import warpbound
from support.command_line import ANSWERED, FAILED, ask
from support.profiled_examples import ARGUMENTS, BLOCK, BOARD, CLOCK_MHZ, ELEMENTS, GRID, SAXPY, predicted
from warpbound.errors import InputError
from warpbound.nsight.table_file import DETAILS, is_table, plain_kernel, read_table, table

SIGNATURE = "saxpy(int, float, const float *, float *)"
NAMED = {"ID": "0", "Process ID": "7", "Kernel Name": SIGNATURE, "Context": "1", "Stream": "7",
         "Block Size": f"({BLOCK}, 1, 1)", "Grid Size": f"({GRID}, 1, 1)", "Device": "0", "CC": "8.9"}  # fmt: skip
ARGS = [word for argument in ARGUMENTS for word in ("--arg", argument)]
NOISE = "==PROF== Connected to process 7\nsum 1.0\n"


def measured() -> dict[str, tuple[float, str]]:
    """What is predicted, as metrics with the units that the profiler prints."""
    result = predicted()[0]
    assert result.time_s is not None
    assert result.memory.dram_bytes_read is not None
    return {
        "gpu__time_duration.sum": (result.time_s * 1e6, "usecond"),
        "gpc__cycles_elapsed.avg.per_second": (CLOCK_MHZ / 1e3, "cycle/nsecond"),
        "smsp__inst_executed.sum": (float(result.instructions.warp_instructions or 0), "inst"),
        "dram__bytes_read.sum": (result.memory.dram_bytes_read / 1e6, "Mbyte"),
        "launch__shared_mem_config_size": (8.192, "Kbyte"),
    }


def lines(*rows: list[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows(rows)
    return text.getvalue()


def raw() -> str:
    """`--page raw`: a column for each metric, then a row of units."""
    metrics = measured()
    header = [*NAMED, *metrics, "device__attribute_display_name", "device__attribute_multiprocessor_count"]
    units = ["" for _ in NAMED] + [unit for _, unit in metrics.values()] + ["", ""]
    values = [*NAMED.values(), *(f"{value:,.6f}" for value, _ in metrics.values()), "NVIDIA GeForce RTX 4090", "128"]
    return NOISE + lines(header, units, values)


def details() -> str:
    """`--page details`: a row for each metric, by its name in words where it has one."""
    words = {metric: word for word, metric in DETAILS.items()}
    each = [
        [*NAMED.values(), "Section", words.get(name, name), unit, f"{value:,.6f}"]
        for name, (value, unit) in measured().items()
    ]
    rule = [*NAMED.values(), "Section", "", "", ""]
    return NOISE + lines([*NAMED, "Section Name", "Metric Name", "Metric Unit", "Metric Value"], *each, rule)


def frame() -> str:
    """The rows of a data frame: no grid, no block; two configurations."""
    header = ["Annotation", "Metric", "AvgValue", "StdDev", "Kernel", "GPU", "ComputeClock", "Unit", "n"]
    return lines(
        header,
        *(
            ["mine", name, value, 0.0, "saxpy", "NVIDIA GeForce RTX 4090", 2520000, unit, n]
            for n in (ELEMENTS, 2 * ELEMENTS) for name, (value, unit) in measured().items()
        ),
    )  # fmt: skip


@pytest.mark.parametrize("text", [raw(), details()], ids=["raw", "details"])
def test_a_table_is_read(text: str) -> None:
    (launch,) = table(text, Path("a.csv")).launches
    assert (launch.kernel, launch.demangled) == ("saxpy", SIGNATURE)
    assert (launch.grid, launch.block) == ((GRID, 1, 1), (BLOCK, 1, 1))
    assert launch.number("gpu__time_duration.sum") == pytest.approx((predicted()[0].time_s or 0) * 1e9, rel=1e-4)
    assert launch.number("gpc__cycles_elapsed.avg.per_second") == pytest.approx(CLOCK_MHZ * 1e6)
    assert launch.number("launch__shared_mem_config_size") == pytest.approx(8192)
    assert launch.number("dram__bytes_read.sum") == pytest.approx(predicted()[0].memory.dram_bytes_read, rel=1e-4)


def test_a_raw_table_names_its_board() -> None:
    (launch,) = table(raw(), Path("a.csv")).launches
    assert launch.board_name == "NVIDIA GeForce RTX 4090"
    assert launch.device["device__attribute_multiprocessor_count"] == 128


def test_rows_of_a_data_frame_that_agree_are_one_launch() -> None:
    first, second = table(frame(), Path("a.csv")).launches
    assert first.metrics == second.metrics
    assert (first.kernel, first.grid, first.board_name) == ("saxpy", (0, 0, 0), "NVIDIA GeForce RTX 4090")


@pytest.mark.parametrize(
    "words, text", [((), raw()), (("--gpu", BOARD), details()), (("--grid", str(GRID), "--block", str(BLOCK)), frame())]
)
def test_compare_takes_a_table(tmp_path: Path, words: tuple[str, ...], text: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    answer = ask("compare", str(path), "--code", str(SAXPY), "--launch-index", "0", *ARGS, *words, "--format", "json")
    assert answer.code == ANSWERED, answer.err
    (launch,) = json.loads(answer.out)["launches"]
    ratios = {row["name"]: row["ratio"] for row in launch["counters"]}
    assert ratios["smsp__inst_executed.sum"] == pytest.approx(1.0)
    assert ratios["dram__bytes_read.sum"] == pytest.approx(1.0, rel=1e-3)
    assert ratios["gpu__time_duration.sum"] == pytest.approx(1.0, rel=0.02)


def test_python_takes_a_data_frame() -> None:
    class Rows:
        def to_csv(self, *, index: bool) -> str:
            assert not index
            return frame()

    values = {0: ELEMENTS, 1: 2.0, 2: "f32[1048576]", 3: "f32[1048576]"}
    entry = warpbound.compare(Rows(), launch_index=1, args=values, code=SAXPY, grid=GRID, block=BLOCK)[0]
    assert (entry["report"], entry["launch_index"], entry["mode"]) == ("the data frame", 1, "dynamic")


def test_what_a_table_lacks_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for text, words, told in (
        (frame(), ("--code", str(SAXPY)), "Give --grid and --block"),
        (raw(), (), "with --code"),
        (details(), ("--code", str(SAXPY)), "Name one with --gpu"),
        ("a,b\n1,2\n", (), "not a table of Nsight Compute"),
        (raw() + '"0","1"\n', (), "line 6: 2 cells"),
        (raw().replace("(4096, 1, 1)", "(1, 2, 3, 4)"), (), "not a size of a grid"),
        (raw().partition('"0"')[0], (), "no profiled launch"),
    ):
        path.write_text(text)
        refused = ask("compare", str(path), *words)
        assert (refused.code, told in refused.err) == (FAILED, True), (told, refused.err)
    with pytest.raises(InputError, match="cannot be read"):
        read_table(tmp_path / "absent.csv")
    assert is_table("A.CSV")
    assert not is_table("a.ncu-rep")


@pytest.mark.parametrize("demangled, name", [
    (SIGNATURE, "saxpy"), ("saxpy", "saxpy"), ("void a::b<(int)4, float>(float *)", "b"),
    ("void (anonymous namespace)::k(int)", "k"), ("", ""),
])  # fmt: skip
def test_plain_names(demangled: str, name: str) -> None:
    assert plain_kernel(demangled) == name


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(InputError):
        assert table(f'"ID","Kernel Name","x"\n{text}', Path("a.csv")).launches
