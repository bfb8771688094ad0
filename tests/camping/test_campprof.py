"""The CampProf tool: its commands as the contract has them, its data, its validation, what it says to wrong input."""

import dataclasses
import math
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator

import warpbound
from support.paths import ROOT
from warpbound.camping.benchmarks import axis, runs, table
from warpbound.camping.kernel_counters import sampled_blocks
from warpbound.camping.prediction import COUNTERS, Measured, advice, advice_of_run, band, predicted
from warpbound.camping.validation import Known, judged, kernels, timed
from warpbound.cli import main
from warpbound.errors import CommandError, InputError
from warpbound.kernel_launch import launch
from warpbound.machine import gpu
from warpbound.measure.camping import ITERATIONS
from warpbound.measure.case import Record
from warpbound.measure.device import Facts
from warpbound.measure.runner import RawFile, save
from warpbound.model_inputs.partition_benchmarks import GROUPS, fits, parse, shipped, shipped_boards
from warpbound.model_inputs.partition_runs import ACCESSES, measured, read
from warpbound.models.campprof_2011 import regression
from warpbound.report.document import schema
from warpbound.result.campprof import MemoryBoundProof
from warpbound.simulate.partition_graph import count_cliques, random_graph
from warpbound.simulate.partition_patterns import camped_copy, counters, gem, transpose
from warpbound.simulate.partitions import machine_of, simulate

BOARD = gpu("gtx280")
MACHINE = machine_of(BOARD)
TABLE = shipped("gtx280")
assert TABLE is not None
TRANSPOSE = ["--gld64", "65536", "--gst64", "65536", "--grid", "4096", "--block", "256"]
VALIDATOR = Draft202012Validator(schema("campprof"))


def call(*words: str) -> Result:
    return CliRunner().invoke(main, ["campprof", *words])


def asked(*words: str) -> dict[str, Any]:
    """The JSON of `predict`, checked against the schema."""
    done = call("predict", *words, "--format", "json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = msgspec.json.decode(done.stdout)
    VALIDATOR.validate(found)
    return found


# --- predict ---


def test_band_covers_every_number_of_active_warps() -> None:
    found = asked(*TRANSPOSE, "--warps", "32")
    assert found["warps_per_sm"] == [*range(1, 17), *range(18, 33, 2)]
    assert all(0 < low <= high for low, high in zip(found["best_s"], found["worst_s"], strict=True))
    assert found["application_s"] is None
    assert found["degree"] is None
    assert found["counters"] == dict.fromkeys(COUNTERS, 0.0) | {"gld_64": 65536.0, "gst_64": 65536.0}


def test_application_goes_through_the_time_given() -> None:
    found = asked(*TRANSPOSE, "--warps", "24", "--time", "160e-6")
    here = found["warps_per_sm"].index(24)
    low, high = found["best_s"][here], found["worst_s"][here]
    assert found["application_s"][here] == 160e-6
    assert found["degree"] == pytest.approx((160e-6 - low) / (high - low))
    for low, high, at in zip(found["best_s"], found["worst_s"], found["application_s"], strict=True):
        assert at == pytest.approx(low + found["degree"] * (high - low))


def test_a_number_of_warps_that_is_not_on_the_axis_is_put_there() -> None:
    found = asked(*TRANSPOSE, "--warps", "21", "--time", "1e-4")
    assert 21 in found["warps_per_sm"]
    assert len(found["best_s"]) == 25


def test_best_time_of_the_simulated_transpose_is_its_bandwidth() -> None:
    found = asked(*TRANSPOSE, "--warps", "32")
    occupied = float(MACHINE.service(np.array(64)))
    assert occupied == pytest.approx((64 + 128) * 8 / MACHINE.bandwidth)
    assert found["best_s"][-1] == pytest.approx(131072 * occupied / 8, rel=0.1)
    assert found["worst_s"][-1] == pytest.approx(131072 * occupied, rel=0.01)


def test_twice_the_counters_take_twice_the_time() -> None:
    once, twice = asked(*TRANSPOSE, "--warps", "8"), asked(
        "--gld64", "131072", "--gst64", "131072", "--grid", "8192", "--block", "256", "--warps", "8"
    )
    np.testing.assert_allclose(twice["best_s"], 2 * np.array(once["best_s"]))
    np.testing.assert_allclose(twice["worst_s"], 2 * np.array(once["worst_s"]))


@pytest.mark.parametrize("board", shipped_boards())
def test_every_shipped_board_answers(board: str) -> None:
    found = asked(*TRANSPOSE, "--warps", "16", "--gpu", board)
    assert found["gpu"] == board
    assert all(0 < low <= high for low, high in zip(found["best_s"], found["worst_s"], strict=True))


def test_published_equation_refuses_a_time_below_zero() -> None:
    small = ("--gst32", "1000", "--grid", "30", "--block", "32", "--equation", "published")
    done = call("predict", *small, "--warps", "1")
    assert done.exit_code == 1
    assert "no time above zero at 1 active warps" in done.stderr
    found = asked(*small, "--warps", "32")
    assert min(found["best_s"]) > 0
    assert found["warps_per_sm"][0] > 1
    assert any("left out" in note for note in found["notes"])
    assert asked(*TRANSPOSE, "--warps", "8")["equation"] == "by-size"


@pytest.mark.parametrize(
    "degree, words",
    [(0.0, "does not suffer"), (0.5, "Some of the accesses"), (1.0, "Nearly all"), (2.0, "times the worst case"),
     (-0.5, "below the best case"), (None, "up to 4.0 times")],
)  # fmt: skip
def test_advice_follows_the_degree(degree: float | None, words: str) -> None:
    time = None if degree is None else 1.0 + 3.0 * degree
    said = advice(degree, time, 1.0, 4.0)
    assert words in said
    assert said.endswith(".")


def test_advice_tells_what_could_be_gained() -> None:
    assert "up to 2.5 times faster" in advice(0.5, 5.0, 2.0, 8.0)
    assert "up to 4.0 times faster" in advice(1.0, 8.0, 2.0, 8.0)
    assert "is 1.5 times the worst case" in advice(2.0, 12.0, 2.0, 8.0)


def test_advice_of_a_run_asks_first_whether_memory_binds() -> None:
    """Section 5.3: the model is of memory-bound kernels only."""
    bound = MemoryBoundProof(0.0, 0.9, memory_bound=True, spread_s=2.0)
    free = MemoryBoundProof(0.6, 0.1, memory_bound=False, spread_s=2.0)
    assert "not bound by memory" in advice_of_run(free, 0.5, 5.0, 2.0, 8.0)
    assert "does not suffer" in advice_of_run(bound, 0.1, 2.1, 1.0, 8.0)
    assert "up to 2.5 times faster" in advice_of_run(bound, 0.5, 5.0, 1.0, 8.0)


def test_no_kernel_is_told_to_lose_more_than_the_partitions() -> None:
    assert "up to 6.0 times" in advice(None, None, 1.0, 6.5, 6.0)
    assert "up to 5.0 times" in advice(None, None, 1.0, 5.0, 6.0)
    assert "up to 7.6 times" in asked("--gld32", "1", "--grid", "960", "--block", "32", "--warps", "32")["advice"]


def test_configurations_that_do_not_fit_are_noted() -> None:
    one = Measured({"gld_64": 1000.0}, grid=30, block=256, warps=12)
    notes = " ".join(predicted(one, BOARD, TABLE).notes)
    assert "steps of 8 warps" in notes
    assert "too few" in notes
    fits_well = Measured({"gld_64": 1000.0}, grid=4096, block=512, warps=16)
    assert len(predicted(fits_well, BOARD, TABLE).notes) == 1


def test_text_shows_advice_band_and_the_configuration() -> None:
    done = call("predict", *TRANSPOSE, "--warps", "32", "--time", "450e-6")
    assert done.exit_code == 0
    for words in ("Degree of camping 0.2", "32*", "best to worst", "whole launch"):
        assert words in done.stdout


@pytest.mark.parametrize(
    "words, code, said",
    [
        (["--gld64", "1", "--grid", "1", "--block", "32"], 2, "--warps is not given"),
        (["--grid", "1", "--block", "32", "--warps", "1"], 2, "Every counter is 0"),
        ([*TRANSPOSE, "--warps", "33"], 2, "holds 32 at most"),
        ([*TRANSPOSE, "--warps", "0"], 2, "--warps"),
        ([*TRANSPOSE[:-1], "513", "--warps", "8"], 2, "GTX 280 has 512 at most"),
        ([*TRANSPOSE[:-1], "32,32", "--warps", "8"], 2, "1024 threads"),
        ([*TRANSPOSE, "--warps", "8", "--time", "-1"], 2, "is not a positive time"),
        (["--gld64", "-5", "--grid", "1", "--block", "32", "--warps", "1"], 2, "--gld64"),
        ([*TRANSPOSE, "--warps", "8", "--gpu", "h200"], 1, "no benchmark data"),
        ([*TRANSPOSE, "--warps", "8", "--gpu", "gtx281"], 2, "gtx280"),
        ([*TRANSPOSE, "--warps", "8", "--data", "nothing.csv"], 1, "cannot be read"),
        (["x.cu", "--gld64", "1"], 2, "Give one of them"),
    ],
)
def test_wrong_words_get_one_sentence(words: list[str], code: int, said: str) -> None:
    done = call("predict", *words)
    assert done.exit_code == code
    assert said in done.stderr
    assert "Traceback" not in done.output
    assert not done.stdout


# --- data and fit ---


@pytest.mark.parametrize("board", shipped_boards())
def test_shipped_data_are_what_the_simulator_gives(board: str) -> None:
    """A sample of the shipped table, made again, digit by digit."""
    there = gpu(board)
    found = shipped(board)
    assert found is not None
    sample = (1, 16, axis(there)[-1])
    rows = [row for _, some in runs(machine_of(there), sample) for row in some]
    again = parse(table(there, rows), "again")
    kept = np.isin(found.warps, sample)
    assert found.time[kept].tolist() == again.time.tolist()
    assert found.transactions[kept].tolist() == again.transactions.tolist()
    assert found.comments == again.comments
    assert len(found.time) == 12 * len(axis(there))


@pytest.mark.full
@pytest.mark.parametrize("board", shipped_boards())
def test_shipped_data_are_made_by_the_command(board: str, tmp_path: Path) -> None:
    out = tmp_path / "runs.csv"
    assert call("simulate", "--gpu", board, "-o", str(out)).exit_code == 0
    assert out.read_text() == (ROOT / "src" / "warpbound" / "partition_benchmarks" / f"{board}.csv").read_text()


def test_fit_gives_four_regressions_with_their_statistics(tmp_path: Path) -> None:
    done = call("fit", "--format", "json")
    found = msgspec.json.decode(done.stdout)
    assert list(found["regressions"]) == list(GROUPS)
    for name, one in found["regressions"].items():
        rows = TABLE.group(name)
        other = regression.fit(TABLE.warps[rows], TABLE.word[rows], TABLE.time[rows])
        assert (one["points"], one["degrees_of_freedom"]) == (72, 68)
        assert one["r_squared"] == other.r_squared
        assert list(one["predictors"]) == ["slope", "two_byte", "four_byte", "constant"]
        assert one["predictors"]["slope"]["coefficient"] == other.coefficients[0]
        assert one["predictors"]["slope"]["standard_error"] == other.standard_errors[0]
        assert one["predictors"]["slope"]["t"] == other.t[0]
        assert one["predictors"]["slope"]["p"] == other.p[0]
        assert one["selected"] == list(one["predictors"])  # as in the paper, nothing is insignificant
    text = call("fit").stdout
    assert "camped writes: 72 runs" in text
    file = tmp_path / "mine.csv"
    file.write_text((ROOT / "src" / "warpbound" / "partition_benchmarks" / "gtx280.csv").read_text())
    assert call("fit", str(file)).stdout == text
    assert asked(*TRANSPOSE, "--warps", "8", "--data", str(file)) == asked(*TRANSPOSE, "--warps", "8")


def test_a_slope_for_each_size_fits_better() -> None:
    for published, by_size in zip(fits(TABLE).values(), fits(TABLE, "by-size").values(), strict=True):
        assert by_size.rmse < published.rmse
    with pytest.raises(CommandError, match="published"):
        fits(TABLE, "cubic")


HEADER = "operation,word_bytes,pattern,warps_per_sm,time_s,transactions\n"


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "is empty"),
        ("a,b\n", "line 1: there is no column operation"),
        (HEADER, "has no runs"),
        (HEADER + "read,2,spread,1\n", "line 2: too few values"),
        (HEADER + "load,2,spread,1,1,1\n", "line 2: 'load, spread' is not known"),
        (HEADER + "read,3,spread,1,1,1\n", "line 2: words of 3 bytes"),
        ("# made by hand\n" + HEADER + "read,2,spread,1,-1,1\n", "line 3: time_s '-1' is not a positive number"),
        (HEADER + "read,2,spread,x,1,1\n", "warps_per_sm 'x'"),
        (HEADER + "read,2,spread,1,1,1\nread,2,spread,2,1,3\n", "not proportional"),
    ],
)
def test_wrong_tables_are_told_where(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "runs.csv"
    file.write_text(text)
    with pytest.raises(InputError, match="runs.csv") as told:
        read(file)
    assert said in str(told.value)


def test_a_table_without_one_group_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "runs.csv"
    whole = (ROOT / "src" / "warpbound" / "partition_benchmarks" / "gtx280.csv").read_text()
    file.write_text("\n".join(line for line in whole.splitlines() if "write,8,camped" not in line))
    done = call("fit", str(file))
    assert done.exit_code == 1
    assert "writes with the camped pattern" in done.stderr


# --- measured runs ---


def measurement(tmp_path: Path) -> Path:
    """The shipped table as a raw file of `warpbound measure`."""
    facts = Facts("NVIDIA H200", "9.0", "1", 30, 1, 1, 1, 2048, 32, 1, 1, 1, 1.0, 1.0)
    columns = zip(TABLE.operation, TABLE.word, TABLE.pattern, TABLE.warps, TABLE.time, strict=True)
    records = [
        Record(
            {"kernel": str(kind), "width": int(word), "spread": int(pattern == "spread"), "warps": int(warps)},
            {"seconds": float(time)}, 1, 0.0, 1e9,
        )
        for kind, word, pattern, warps, time in columns
    ]  # fmt: skip
    other = Record({"kernel": "stride_scan", "stride": 128}, {"seconds": 1.0}, 1, 0.0, 1e9)
    path = tmp_path / "camping.json"
    save(RawFile("camping", facts, "full", "2026-01-01", (), (*records, other)), path)
    return path


def test_measured_runs_are_fitted_as_simulated_ones_are(tmp_path: Path) -> None:
    found = read(measurement(tmp_path))
    np.testing.assert_allclose(found.time, TABLE.time, rtol=1e-6)
    assert found.transactions.tolist() == TABLE.transactions.tolist()
    assert found.comments == ("CampProf's micro-benchmarks measured on NVIDIA H200, 2026-01-01.",)
    assert call("fit", str(measurement(tmp_path))).exit_code == 0
    assert ITERATIONS // 16 == ACCESSES
    answered = asked(*TRANSPOSE, "--warps", "64", "--gpu", "h200", "--data", str(measurement(tmp_path)))
    assert answered["warps_per_sm"][-1] == 64


@pytest.mark.parametrize("text", ["{", "{}", '{"device": {"name": "x", "sm_count": 1}, "records": []}'])
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="mine"):
        measured(text, "mine.json")


# --- validation ---


def errors(pattern: Any, blocks: tuple[int, ...], camping: str) -> Any:
    known = Known("sample", camping, tuple((pattern, each) for each in blocks))
    return judged(known, timed(known, MACHINE), TABLE, "by-size")


def test_kernels_free_of_camping_are_near_the_best_case() -> None:
    """The paper: 11.7 % for GEM."""
    known = Known("GEM", "free", tuple((gem(960, 32, 256, 128), each) for each in (1, 4, 8, 16, 32)))
    for form in ("by-size", "published"):
        assert judged(known, timed(known, MACHINE), TABLE, form).best_error < 0.15
    found = errors(transpose(512, diagonal=True), (1, 2, 3, 4), "free")
    assert found.best_error < 0.15
    assert (np.abs(found.degrees) < 0.15).all()


def test_a_kernel_that_camps_is_at_the_worst_case() -> None:
    found = errors(camped_copy(480, 16, MACHINE), (4, 8, 16), "camped")
    assert found.worst_error < 0.02
    assert (found.degrees > 0.9).all()


def test_the_line_of_a_mixed_kernel_foretells_its_other_configurations() -> None:
    """The paper: 9.3 % for Clique-Counter."""
    found = errors(transpose(512, diagonal=False), (1, 2, 3, 4), "mixed")
    assert found.line_error < 0.12
    assert ((found.degrees > 0.1) & (found.degrees < 0.5)).all()


def test_the_five_kernels_of_the_validation_do_what_their_names_say() -> None:
    found = {one.name: one for one in kernels(MACHINE)}
    assert [one.camping for one in found.values()] == ["free", "free", "camped", "mixed", "mixed"]
    assert counters(found["GEM"].runs[0][0])["gld_128b"] == 960 * 64
    assert found["transpose, diagonal"].warps.tolist() == [8, 16, 24, 32]


def test_a_band_that_is_closed_everywhere_has_no_line() -> None:
    known = Known("one warp", "mixed", tuple((gem(30, 8, 256, 32), each) for each in (1, 2)))
    closed = dataclasses.replace(TABLE, time=TABLE.warps * TABLE.word)  # of all four groups alike
    found = judged(known, timed(known, MACHINE), closed, "by-size")
    assert (found.band.worst == found.band.best).all()
    assert math.isnan(found.line_error)


@pytest.mark.full
def test_validate_prints_every_kernel() -> None:
    done = call("validate", "--format", "json")
    found = msgspec.json.decode(done.stdout)
    assert [one["kernel"] for one in found["kernels"]] == [one.name for one in kernels(MACHINE)]
    assert "copy in one partition" in call("validate").stdout


# --- from a kernel ---


@pytest.mark.cuda
def test_counters_and_time_come_from_a_kernel() -> None:
    source, plan = (str(ROOT / "examples" / f"transpose_tiled.{end}") for end in ("cu", "toml"))
    found = asked(source, "--launch", plan)
    said = launch(plan)
    elements = said.grid[0] * said.grid[1] * 1024
    assert found["counters"]["gld_64"] == found["counters"]["gst_64"] == elements / 16
    assert found["configuration"]["block"] == 256
    assert found["configuration"]["time_s"] > 0
    assert 0.1 < found["degree"] < 0.9
    assert any("blocks were executed" in note for note in found["notes"])
    assert found["proof"]["memory_bound"]
    assert found["proof"]["spread_s"] < found["configuration"]["time_s"]


@pytest.mark.cuda
@pytest.mark.parametrize("plan, advice", [("sdk_transpose", "diagonal"), ("sdk_transpose_diagonal", "Leave its")])
def test_the_sdk_transposes_are_told_apart(plan: str, advice: str) -> None:
    """Section 5.3: rows of blocks camp when they write, diagonal ones do not; both are memory-bound."""
    folder = ROOT / "examples/papers"
    found = asked(str(folder / "sdk_transpose.cu"), "--launch", str(folder / f"{plan}.toml"))
    assert found["proof"]["memory_bound"]
    assert advice in found["advice"]
    assert (found["degree"] > 0.1) == (plan == "sdk_transpose")
    assert not any("blocks were executed" in note for note in found["notes"])  # the whole grid was


@pytest.mark.parametrize("grid, wave, waves", [(100, 60, 2), (1000, 60, 4), (121, 60, 2), (5000, 7, 300)])
def test_sampled_blocks_come_in_waves_from_all_over_the_grid(grid: int, wave: int, waves: int) -> None:
    blocks = sampled_blocks(grid, wave, waves)
    assert blocks[0] == 0
    assert blocks[-1] == grid - 1
    assert blocks == sorted(set(blocks))
    assert len(blocks) <= max(wave * waves, min(grid, wave * waves))
    following = np.diff(blocks) == 1
    assert following.mean() >= 1 - 2 / wave


@pytest.mark.cuda
def test_the_clique_counter_counts_the_cliques_of_its_graph() -> None:
    folder = ROOT / "examples/papers"
    plan = launch(folder / "clique_counter.toml")
    program = warpbound.compile(folder / "clique_counter.cu", "t4", defines={"SIZE": "3"})
    total, _ = count_cliques(random_graph(1920, 15360), 3)
    assert warpbound.run(program, plan)["total"].tolist() == [total]


@pytest.mark.cuda
def test_a_time_that_was_measured_takes_the_place_of_the_simulated_one() -> None:
    source, plan = (str(ROOT / "examples" / f"saxpy.{end}") for end in ("cu", "toml"))
    assert asked(source, "--launch", plan, "--time", "0.01")["configuration"]["time_s"] == 0.01


@pytest.mark.cuda
def test_rows_of_eight_partitions_camp_and_rows_of_one_do_not(tmp_path: Path) -> None:
    """A block copies 256 bytes; the next one those after them, or those eight partitions further."""
    copy = tmp_path / "copy.cu"
    copy.write_text(
        "__global__ void copy(const float *in, float *out, int row) {\n"
        "  int i = blockIdx.x * row + threadIdx.x;\n"
        "  out[i] = in[i];\n}\n"
    )
    arrays = ("--arg", "in=f32[300000]:ones", "--arg", "out=f32[300000]")
    words = (str(copy), "--grid", "480", "--block", "64", *arrays)
    free, camped = (asked(*words, "--arg", f"row={row}") for row in (64, 512))
    assert free["counters"] == camped["counters"]
    assert free["degree"] < 0.25
    assert camped["degree"] > 0.7


def test_run_of_a_pattern_is_within_its_band() -> None:
    pattern = transpose(512, diagonal=True)
    found = {name.removesuffix("b"): float(count) for name, count in counters(pattern).items()}
    there = band(found, np.array([32.0]), TABLE)
    assert there.best[0] * 0.9 < simulate(pattern, MACHINE, 4).seconds < there.worst[0]
