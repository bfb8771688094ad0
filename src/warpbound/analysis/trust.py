"""How far to trust a time, and where it goes: doubts, what was judged, stall reasons, as plain values of the report."""

from dataclasses import replace

from warpbound.analysis.accuracy import Kind, expected
from warpbound.analysis.case import Case
from warpbound.headline import LaunchPrediction
from warpbound.headline.parameter_uncertainty import measured_by
from warpbound.memory.traffic_counts import Errors
from warpbound.result.kernel import ParameterDoubt, Stall
from warpbound.workload import Workload

MOST = 4         # doubts that are named
WORTH = 0.001    # shares below this are left out
KEPT = "what L2 keeps from launch to launch"
AROUND_L2 = (0.5, 1.5)  # footprints, as shares of L2, of which a launch finds an uncertain part of its data there
SECTOR_B = 32.0


def stalls_entry(timed: LaunchPrediction, clock_hz: float) -> list[Stall]:
    """Where the time of a warp's slot goes, the largest part first; shares add up to 1."""
    total = sum(timed.stalls.values())
    rows = sorted(timed.stalls.items(), key=lambda item: -item[1])
    return [
        Stall(reason, seconds * clock_hz, seconds / total)
        for reason, seconds in rows
        if seconds >= WORTH * total
    ]


def doubts_entry(timed: LaunchPrediction) -> list[ParameterDoubt]:
    """What makes most of the interval: relative standard uncertainty of the time, and what would shrink it."""
    rows = sorted(timed.doubts.items(), key=lambda item: -item[1])[:MOST]
    return [
        ParameterDoubt(name, seconds / timed.time_s, name in timed.assumed, measured_by(name))
        for name, seconds in rows
        if seconds >= WORTH * timed.time_s
    ]


def judged(case: Case, timed: LaunchPrediction | None) -> Kind | None:
    """What validation says of launches like this one; None where too few were measured."""
    return None if timed is None else expected(case.gpu.key, timed.bottleneck)


def widened(found: LaunchPrediction, name: str, other: LaunchPrediction) -> LaunchPrediction:
    """The same with an interval that covers `other`'s, too: the prediction if `name` is otherwise than taken."""
    edges = (*found.interval, *other.interval)
    doubts = found.doubts | {name: abs(other.time_s - found.time_s)}
    return replace(found, interval=(min(edges), max(edges)), doubts=doubts)


def shifted(work: Workload, errors: Errors, by: float) -> Workload:
    """The work with so many standard errors more traffic behind L1; all counts err together."""
    memory, each = work.memory, by / (work.warps or 1.0)
    return work.with_memory(
        l2_sectors_read=min(memory.l1_sectors_load, max(0.0, memory.l2_sectors_read + each * errors.l2_sectors_read)),
        dram_bytes_read=max(0.0, memory.dram_bytes_read + each * errors.dram_bytes_read),
        dram_bytes_written=max(0.0, memory.dram_bytes_written + each * errors.dram_bytes_written),
    )


def unkept(case: Case, work: Workload) -> Workload | None:
    """The work if L2 kept nothing from the launch before; None where that is no question."""
    memory, warps = work.memory, work.warps or 0.0
    low, high = AROUND_L2
    if case.settings.cache != "warm" or not low < memory.touched_bytes * warps / case.gpu.value("l2_size") < high:
        return None
    moved = memory.l2_sectors_read + memory.l2_sectors_written
    reading = memory.l2_sectors_read / moved if moved else 0.0
    read = min(SECTOR_B * memory.l2_sectors_read, memory.touched_bytes * reading)
    written = min(SECTOR_B * memory.l2_sectors_written, memory.touched_bytes * (1.0 - reading))
    return work.with_memory(
        dram_bytes_read=max(memory.dram_bytes_read, read), dram_bytes_written=max(memory.dram_bytes_written, written)
    )

