"""A report that holds what is predicted compares as equal; one that holds something else does not."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

import warpbound
from support.command_line import ANSWERED, COMMAND, FAILED, ask
from support.profiled_examples import ARGUMENTS, ELEMENTS, predicted, written
from warpbound.errors import InputError
from warpbound.machine import gpu
from warpbound.nsight.counters import COUNTERS, L1_HITS, L1_LOADS, L1_LOADS_HIT, Prediction, measured
from warpbound.nsight.launch_case import launch_case
from warpbound.nsight.report_file import Metric, read_report

pytestmark = pytest.mark.cuda
ARGS = [word for argument in ARGUMENTS for word in ("--arg", argument)]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(written(tmp_path_factory.mktemp("profile") / "saxpy.ncu-rep"))


def compared(path: str, *words: str) -> Any:
    answer = ask("compare", path, *words, "--format", "json")
    assert answer.code == ANSWERED, answer.err
    return json.loads(answer.out)


def test_what_is_predicted_compares_as_equal(report: str) -> None:
    document = compared(report, *ARGS)
    assert len(document["launches"]) == 2
    for launch in document["launches"]:
        assert launch["mode"] == "dynamic"
        ratios = {row["name"]: row["ratio"] for row in launch["counters"] if row["measured"]}
        assert ratios["gpu__time_duration.sum"] == pytest.approx(1.0)
        assert ratios == {name: pytest.approx(1.0) for name in ratios}
        assert launch["duration_s"]["measured"] == pytest.approx(predicted()[0].time_s)
    errors = {row["name"]: row for row in document["errors"]}
    assert errors["dram__bytes.sum"]["launches"] == 1  # one kernel on one board
    assert errors["smsp__inst_executed.sum"]["share"] == 1.0


def test_a_counter_that_differs_is_seen(tmp_path: Path) -> None:
    path = str(written(tmp_path / "half.ncu-rep", factor=0.5))
    document = compared(path, *ARGS)
    ratios = {row["name"]: row["ratio"] for row in document["launches"][0]["counters"]}
    assert ratios["dram__bytes_read.sum"] == pytest.approx(2.0)
    errors = {row["name"]: row for row in document["errors"]}
    assert errors["dram__bytes.sum"]["median"] == pytest.approx(1.0)
    assert errors["dram__bytes.sum"]["share"] == 0.0


def test_instructions_and_samples_by_line_and_address(report: str) -> None:
    launch = compared(report, *ARGS, "--launch-index", "1")["launches"][0]
    rows = launch["instructions"]
    assert sum(row["executed_measured"] for row in rows) == pytest.approx(predicted()[0].instructions.warp_instructions)
    assert [row["executed_measured"] for row in rows] == [pytest.approx(row["executed_predicted"]) for row in rows]
    sampled = {row["address"]: row["samples"] for row in rows if row["samples"]}
    assert sampled == {0x10: 100, 0x60: 400}
    assert sum(line["samples"] for line in launch["lines"]) == 500
    assert sum(sum(row["stalls_predicted"].values()) for row in rows) == pytest.approx(1.0)
    waits = [row["address"] for row in rows if "long scoreboard" in row["stalls_predicted"]]
    assert all("FFMA" in row["text"] for row in rows if row["address"] in waits)
    shares = {row["reason"]: row["measured"] for row in launch["stalls"]}
    assert shares["long scoreboard"] == pytest.approx(0.6)
    assert shares["wait"] == pytest.approx(0.4)


def test_analyze_takes_everything_but_arguments_from_the_report(report: str) -> None:
    answer = ask("analyze", report, *ARGS, "--format", "json")
    (result,) = json.loads(answer.out)["results"]
    assert result["time_s"] == pytest.approx(predicted()[0].time_s)
    assert (result["clock_source"], result["cache"], result["clock_MHz"]) == ("report", "cold", pytest.approx(2235))
    assert result["profile"]["dram_clock_MHz"] == pytest.approx(10251)


def test_l2_runs_at_its_own_clock(report: str) -> None:
    """The same report with an L2 of 855 MHz, on its own board and on another one, which has its base clock."""
    profile = read_report(report).launches[0]
    metric = {"lts__cycles_elapsed.avg.per_second": Metric(855e6)}
    slow = replace(profile, metrics={**profile.metrics, **metric})
    assert launch_case(profile).gpu.get("l2_clock") is None
    own = launch_case(slow)
    assert (own.gpu.get("l2_clock"), own.settings.clock) == (855e6, pytest.approx(2235))
    other = launch_case(slow, board="l40")
    assert (other.gpu.get("l2_clock"), other.settings.clock) == (None, gpu("l40").value("base_clock") / 1e6)
    assert "the report is of NVIDIA GeForce RTX 4090" in other.notes[0]
    assert (own.clocks.source, other.clocks.source) == ("report", "base")
    stranger = launch_case(replace(slow, board_name="NVIDIA Nothing 1"), board="l40")  # l40 stands in for it
    assert (stranger.gpu.get("l2_clock"), stranger.settings.clock) == (855e6, pytest.approx(2235))


def test_hits_of_l1_and_the_occupancy_that_a_larger_grid_has(report: str) -> None:
    rows = {counter.names[0]: counter for counter in COUNTERS}
    result, _, _ = predicted()
    few = msgspec.structs.replace(
        result.occupancy, blocks_per_sm=1, warps_per_sm=8, block_limits={**result.occupancy.block_limits, "grid": 1}
    )
    small = Prediction(msgspec.structs.replace(result, occupancy=few), ecc=False)
    occupancy = rows["sm__maximum_warps_per_active_cycle_pct"]
    assert occupancy.prediction(small) == occupancy.prediction(Prediction(result, ecc=False)) == 100.0
    hits = {L1_LOADS: Metric(400.0), L1_LOADS_HIT: Metric(100.0)}
    loads = replace(read_report(report).launches[0], metrics=hits)
    assert measured(loads, rows[L1_HITS]) == (L1_HITS, 25.0)


def test_without_arguments_the_code_alone_is_told(report: str) -> None:
    (result,) = json.loads(ask("analyze", report, "--format", "json").out)["results"]
    assert result["mode"] == "static"
    told = " ".join(result["profile"]["inferred"])
    assert "0: int, 1: float, 2: const float *, 3: float *" in told
    assert "all threads pass the bounds check" in told
    text = " ".join(ask("analyze", report).out.split())
    assert "--arg 0=1048576 --arg 1=1.0 --arg 2=f32[1048576] --arg 3=f32[1048576]" in text
    assert "of device memory: 10251 MHz" in text
    more = " ".join(ask("analyze", report, "--views", "confidence").out.lower().split())
    assert "all threads pass the bounds check" in more


def test_the_forms_of_compare(report: str, tmp_path: Path) -> None:
    text = ask("compare", report, *ARGS, "--launch-index", "0").out
    assert "gpu__time_duration.sum" in text
    assert "long scoreboard" in text
    page = ask("compare", report, *ARGS, "--format", "markdown").out
    assert "| saxpy | rtx-4090 |" in page
    out = tmp_path / "page.html"
    assert ask("compare", report, *ARGS, "--format", "html", "-o", str(out)).code == ANSWERED
    assert "dram__bytes_read.sum" in out.read_text()


def test_python(report: str) -> None:
    assert len(warpbound.report(report).launches) == 2
    values = {0: ELEMENTS, 1: 2.0, 2: "f32[1048576]", 3: "f32[1048576]"}
    (entry,) = warpbound.compare(report, launch_index=0, args=values)
    assert entry["duration_s"]["predicted"] == pytest.approx(predicted()[0].time_s)


def test_arguments_from_a_file(report: str, tmp_path: Path) -> None:
    file = tmp_path / "arguments.toml"
    file.write_text(f'[[launches]]\nreport = "saxpy.ncu-rep"\nlaunches = [1]\nargs = {json.dumps(ARGUMENTS)}\n')
    modes = [launch["mode"] for launch in compared(report, "--arguments", str(file))["launches"]]
    assert modes == ["static", "dynamic"]
    file.write_text('[[launches]]\nreport = "saxpy.ncu-rep"\nargs = ["0"]\n')
    refused = ask("compare", report, "--arguments", str(file))
    assert (refused.code, "arguments.toml" in refused.err) == (FAILED, True)


def test_refusals(report: str, tmp_path: Path) -> None:
    unknown = str(written(tmp_path / "unknown.ncu-rep", board="NVIDIA Nothing 1"))
    for words, code, told in (
        (("compare", report, "--kernel", "other"), FAILED, "It holds: 0"),
        (("compare", unknown), FAILED, "NVIDIA Nothing 1 is not in the catalogue"),
        (("analyze", report, "--grid", "4"), COMMAND, "--grid cannot change them"),
        (("analyze", "kernel.cu", "--launch-index", "1"), COMMAND, "--launch-index names a launch of an Nsight"),
        (("analyze", report, "kernel.cu"), COMMAND, "given together"),
    ):
        refused = ask(*words)
        assert (refused.code, told in refused.err) == (code, True), refused.err
    assert ask("compare", unknown, "--gpu", "l40").code == ANSWERED
    with pytest.raises(InputError, match="has the kernel and the index asked for"):
        warpbound.compare(report, launch_index=9)
