"""The page of a measured GPU, the gates, and what is left out, from the run on a GPU whose parameters are known."""

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from support.fake_gpu import FakeGpu, Truth
from warpbound.cli import main
from warpbound.measure import board_page, quality_gates
from warpbound.measure.board_profile import Summary, attained, summarise
from warpbound.measure.case import Estimate
from warpbound.measure.runner import RawFile, save

Run = tuple[FakeGpu, Path, dict[str, RawFile]]
TRUTH = Truth()


def cells(page: str, first: str) -> list[str]:
    """The row of a table that begins with a word."""
    row = next(line for line in page.splitlines() if line.startswith(f"| {first} |"))
    return [cell.strip() for cell in row.split("|")[1:-1]]


def test_a_page_has_every_table(fake_run: Run, summary: Summary) -> None:
    page = board_page.page(summary, list(fake_run[2].values()))
    titles = [line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")]
    assert len(titles) == 16
    assert float(cells(page, "fadd")[1]) == pytest.approx(TRUTH.latencies["fadd"], rel=0.01)
    stream = cells(page, "dram stream")
    assert float(stream[1]) == pytest.approx(TRUTH.dram, rel=0.01)
    low, high = map(float, stream[8].split(" to "))
    assert low <= TRUTH.contention * TRUTH.dram <= high
    assert float(stream[9]) == pytest.approx(TRUTH.stream["dram_read_capacity"] / 1e9, rel=0.01)
    assert stream[4:6] == ["", ""]  # one load per warp is not enough for 90 % of what memory gives
    assert cells(page, "dram random")[4] == "16"
    assert "f(k), small L1" in page
    assert cells(page, "camped_reads")[1] == "slope"
    assert "nan" not in page


def test_a_page_of_little_is_short(fake_run: Run) -> None:
    raws = [fake_run[2]["launch"]]
    page = board_page.page(summarise(raws, None), raws)
    assert [line for line in page.splitlines() if line.startswith("## ")] == ["## Parameters"]


def test_the_refined_model_explains_the_family(fake_run: Run, summary: Summary) -> None:
    """The family ran on the simulated SM; what it knows of contention makes the refined model the better one."""
    rows = board_page.family(list(fake_run[2]["synthetic_family"].records), summary)
    found = board_page.errors(rows)
    assert found["refined"][0] < 0.05
    assert found["refined"][0] < 0.8 * found["basic"][0]
    least = [row for row in rows if row[1] <= 16]
    assert board_page.errors(least)["refined"][1] < 0.03


def test_camped_runs_are_slower_by_what_was_put_in(fake_run: Run) -> None:
    raw = fake_run[2]["camping"]
    table = board_page.benchmarks(raw.records, raw.device.sm_count)
    slopes = {name: fit.coefficients[0] for name, fit in board_page.fits(table).items()}
    assert slopes["camped_reads"] / slopes["reads"] == pytest.approx(TRUTH.camping, rel=0.01)
    assert slopes["camped_writes"] / slopes["writes"] == pytest.approx(TRUTH.camping, rel=0.01)


def test_cases_that_miss_their_occupancy_are_left_out(fake_run: Run) -> None:
    raw = fake_run[2]["loaded_latency"]
    assert all(attained(record, raw.device) for record in raw.records)
    broken = replace(raw.records[3], value={**raw.records[3].value, "warps": 1.0})
    elsewhere = replace(raw.records[4], value={**raw.records[4].value, "sms": 131.0})
    spoilt = replace(raw, records=(*raw.records[:3], broken, elsewhere, *raw.records[5:]))
    assert not attained(broken, raw.device)
    assert not attained(elsewhere, raw.device)
    assert summarise([spoilt], None).left_out == 2


def test_gates_name_what_is_odd(summary: Summary) -> None:
    found = dict(summary.estimates)
    found["dram_achievable_bandwidth"] = [("stream", Estimate(1000.0, "GB/s"))]
    figures = {**summary.figures, "shared_patterns: load of 4 B": {"1": 1.0, "2": 1.5}}
    figures["loaded_latency: dram stream"] = {
        "peak GB/s by chains": {"1": 2000.0, "4": 4000.0}, "needed loads in flight": {"90 %": 10}, "latency": 700.0,
    }  # fmt: skip
    said = quality_gates.gates(replace(summary, estimates=found, figures=figures))
    assert ["pins" in said[0], "conflict" in said[1], "Little" in said[2]] == [True] * 3
    good = {**figures, "shared_patterns: load of 4 B": {"1": 1.0, "2": 2.0}}
    clock = 1e6 * summary.estimates["latency_clock"][0][1].value
    warps = 1.3 * 700.0 * 4000e9 / (128 * clock * summary.facts.sm_count)
    good["loaded_latency: dram stream"] = {
        "peak GB/s by chains": {"1": 2000.0, "4": 4000.0}, "needed loads in flight": {"90 %": warps}, "latency": 700.0,
    }  # fmt: skip
    pins = 2.0 * summary.facts.memory_clock * summary.facts.memory_bus / 8 / 1e9
    found["dram_achievable_bandwidth"] = [("stream", Estimate(0.9 * pins, "GB/s"))]
    assert quality_gates.gates(replace(summary, estimates=found, figures=good)) == []
    good["occupancy: not as asked [asked: held]"] = {"7": 6}
    (line,) = quality_gates.gates(replace(summary, estimates=found, figures=good))
    assert "6 instead of 7" in line


def test_the_command_writes_the_page(fake_run: Run, tmp_path: Path) -> None:
    save(fake_run[2]["pointer_chase"], tmp_path / "pointer_chase.json")
    page = tmp_path / "docs" / "page.md"
    answer = CliRunner().invoke(main, ["measure", "--extract", "-o", str(tmp_path), "--page", str(page)])
    assert answer.exit_code == 0, answer.output
    assert page.read_text("utf-8").startswith("# NVIDIA H200, measured")


@pytest.mark.cuda
def test_the_command_judges_the_corpus(fake_run: Run, tmp_path: Path) -> None:
    raw = fake_run[2]["corpus"]
    few = tuple(r for r in raw.records if r.axes["example"] == "transpose")[:4]
    save(replace(raw, records=few), tmp_path / "corpus.json")
    answer = CliRunner().invoke(main, ["measure", "--judge", "-o", str(tmp_path)])
    assert answer.exit_code == 0, answer.output
    assert answer.stdout.startswith("catalogue: 4 launches, mean error")
    assert len(answer.stdout.splitlines()) == 5
    page = tmp_path / "page.md"
    answer = CliRunner().invoke(main, ["measure", "--extract", "-o", str(tmp_path), "--page", str(page)])
    assert answer.exit_code == 0, answer.output
    assert "## Real kernels: predicted before and after calibration" in page.read_text("utf-8")
    assert "catalogue: 4 launches, mean error" in page.read_text("utf-8")


def test_counting_without_a_profiler_is_one_sentence(tmp_path: Path) -> None:
    answer = CliRunner().invoke(main, ["measure", "--counters", "-o", str(tmp_path)])
    assert answer.exit_code != 0
    assert "Traceback" not in answer.output
