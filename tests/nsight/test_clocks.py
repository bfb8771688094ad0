"""Clocks of a profiled launch: the measured ones, mended where the passes were of unequal length."""

from pathlib import Path

import pytest

from support.profile_writer import Value, WrittenLaunch, write_report
from warpbound.machine import gpu
from warpbound.nsight.clocks import clocks_of, duration_s
from warpbound.nsight.report_file import ProfiledLaunch, read_report


def launch_with(folder: Path, metrics: dict[str, Value]) -> ProfiledLaunch:
    one = WrittenLaunch("k", (1, 1, 1), (32, 1, 1), metrics)
    return read_report(write_report(folder / "a.ncu-rep", [one], b"", "board", {})).launches[0]


@pytest.mark.parametrize(
    "board, sm_MHz, dram_MHz, mended_MHz",
    [
        ("rtx-4090", 2235, 10251, 2235),  # as they are under CUDA
        ("rtx-4090", 1716, 7887, 2216),   # all clocks seem lower by one factor
        ("rtx-4090", 2600, 7887, 2600),   # above the base clock nothing is mended
        ("t4", 585, 4640, 585),           # nor at it
    ],
)  # fmt: skip
def test_sm_clock(tmp_path: Path, board: str, sm_MHz: float, dram_MHz: float, mended_MHz: float) -> None:
    own: dict[str, Value] = {
        "gpc__cycles_elapsed.avg.per_second": sm_MHz * 1e6, "dram__cycles_elapsed.avg.per_second": dram_MHz * 1e6,
    }  # fmt: skip
    clocks = clocks_of(launch_with(tmp_path, own), gpu(board))
    assert clocks.sm_hz == pytest.approx(mended_MHz * 1e6, rel=1e-3)
    assert clocks.stretch == pytest.approx(max(1.0, clocks.sm_hz / (sm_MHz * 1e6)))


def test_the_largest_of_the_counters_counts(tmp_path: Path) -> None:
    own: dict[str, Value] = {
        "gpu__time_duration.sum": 10_000.0, "gpc__cycles_elapsed.max": 5850, "smsp__cycles_elapsed.avg.per_second": 5e8,
    }  # fmt: skip
    launch = launch_with(tmp_path, own)
    assert duration_s(launch) == pytest.approx(1e-5)
    assert clocks_of(launch, gpu("t4")).sm_hz == pytest.approx(585e6)


def test_l2_is_mended_with_the_sms(tmp_path: Path) -> None:
    own: dict[str, Value] = {
        "gpc__cycles_elapsed.avg.per_second": 1116e6, "dram__cycles_elapsed.avg.per_second": 5000e6,
        "lts__cycles_elapsed.avg.per_second": 1000e6,
    }  # fmt: skip
    clocks = clocks_of(launch_with(tmp_path, own), gpu("rtx-4090"))
    assert clocks.stretch > 1.5
    assert clocks.l2_hz == pytest.approx(1e9 * clocks.stretch)


def test_without_a_clock_it_is_the_base_clock(tmp_path: Path) -> None:
    clocks = clocks_of(launch_with(tmp_path, {}), gpu("t4"))
    assert (clocks.sm_hz, clocks.l2_hz, clocks.dram_hz) == (585e6, None, None)
    assert "base clock" in clocks.notes[0]
