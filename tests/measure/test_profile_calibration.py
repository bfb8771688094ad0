"""A board's file from reports: what counters determine comes back, the rest is the relative's."""

from pathlib import Path

import pytest

from support.command_line import ANSWERED, FAILED, ask
from support.profile_writer import Value, WrittenLaunch, write_report
from warpbound.l2_clock import IN_STEP
from warpbound.machine import gpu

DEVICE: dict[str, Value] = {
    "device__attribute_compute_capability_major": 8, "device__attribute_compute_capability_minor": 9,
    "device__attribute_multiprocessor_count": 92, "device__attribute_clock_rate": 2520000,
    "device__attribute_memory_clock_rate": 9001000, "device__attribute_global_memory_bus_width": 384,
    "device__attribute_l2_cache_size": 96 << 20, "device__attribute_total_memory": 48 << 30,
}  # fmt: skip


def streaming(rate_GBs: float, stores: float = 4.0) -> WrittenLaunch:
    """100 us of reads; `stores` sectors a request, so many requests that each sector takes an SM 10 cycles."""
    sectors = 100e-6 * 1.44e9 * 92 / 10
    metrics: dict[str, Value] = {
        "gpu__time_duration.sum": 100e3, "gpc__cycles_elapsed.avg.per_second": 1.44e9,
        "dram__bytes_read.sum": rate_GBs * 1e9 * 100e-6, "dram__bytes_write.sum": 0.0,
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": sectors,
        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": sectors / stores,
    }  # fmt: skip
    return WrittenLaunch("k", (1000, 1, 1), (256, 1, 1), metrics)


def report(path: Path, *launches: WrittenLaunch, name: str = "NVIDIA L20") -> str:
    return str(write_report(path, launches, b"", name, DEVICE))


def test_what_counters_determine(tmp_path: Path) -> None:
    out = tmp_path / "l20.toml"
    path = report(tmp_path / "a.ncu-rep", streaming(800), streaming(780), streaming(100), streaming(90, stores=32))
    answer = ask("calibrate", path, "--like", "l40", "-o", str(out))
    assert answer.code == ANSWERED, answer.err
    board, like = gpu(out), gpu("l40")
    assert board.name == "NVIDIA L20"
    assert board.value("sm_count") == 92
    assert board.value("l2_size") == 96 << 20
    assert board.value("base_clock") == pytest.approx(1.44e9)
    assert board.value("dram_bandwidth") == pytest.approx(2 * 9.001e9 * 384 / 8, rel=1e-3)
    assert board.value("dram_achievable_bandwidth") == pytest.approx(800e9)
    assert board.value("store_piece_cost") == pytest.approx(10.0, rel=1e-3)
    assert board.value("l1_latency") == like.value("l1_latency")
    rate = board.parameters["dram_achievable_bandwidth"]
    assert (rate.how, "2 launches, which spread by 2.5 %" in rate.note) == ("measured", True)
    assert "a.ncu-rep" in rate.source
    assert ask("gpus", "--check", str(out)).code == ANSWERED


def test_the_rate_of_l2_is_that_of_the_boost_clock(tmp_path: Path) -> None:
    """200 M sectors in 1 ms are 6.4 TB/s, at 1 GHz instead of 0.94 x 2.52."""
    metrics: dict[str, Value] = {
        "gpu__time_duration.sum": 1e6, "gpc__cycles_elapsed.avg.per_second": 1.44e9, "lts__t_sectors.sum": 2e8,
        "lts__t_sectors.avg.pct_of_peak_sustained_elapsed": 80.0, "lts__cycles_elapsed.avg.per_second": 1e9,
    }  # fmt: skip
    out = tmp_path / "l20.toml"
    path = report(tmp_path / "a.ncu-rep", WrittenLaunch("k", (1000, 1, 1), (256, 1, 1), metrics))
    answer = ask("calibrate", path, "--like", "l40", "-o", str(out))
    assert answer.code == ANSWERED, answer.err
    boost_GHz = gpu("l40").value("boost_clock") / 1e9
    assert gpu(out).value("l2_bandwidth") == pytest.approx(6.4e12 * IN_STEP * boost_GHz, rel=1e-3)


def test_refusals(tmp_path: Path) -> None:
    one, other = report(tmp_path / "a.ncu-rep", streaming(800)), report(tmp_path / "b.ncu-rep", streaming(1), name="x")
    for words, told in (
        ((one, other, "--like", "l40"), "several boards"),
        ((one, "--like", "a40"), "compute capability 8.9"),
        ((one,), "NVIDIA L20 is not in the catalogue"),
    ):
        refused = ask("calibrate", *words, "-o", str(tmp_path / "out.toml"))
        assert (refused.code, told in refused.err) == (FAILED, True), refused.err
