"""The range of a kernel's time at every occupancy: all loads from one level, pipes overlapped or not.

Source   the band between the best and the worst case of A. Aji, M. Daga, W. Feng, "Bounding the Effect of Partition
         Camping in GPU Kernels", CF 2011, whose section 8 asks for it beyond partition camping.
Models   all loads from L1, from L2, from DRAM, with the traffic and the latency that this means, by the time
         model; the estimate between them. Pipes of an SM that work side by side, or one after the other.
Omits    other changes that follow from misses: sectors per request stay as they are.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec

from warpbound.analysis.answer import work_of
from warpbound.analysis.case import Case, checked_case
from warpbound.analysis.settings import DEFAULT, Settings
from warpbound.analysis.static import Work
from warpbound.analysis.sweeps.curve import curve
from warpbound.analysis.timing import launch_prediction, warps_per_block
from warpbound.errors import InputError
from warpbound.kernel_launch import Launch
from warpbound.latency import LEVELS
from warpbound.machine import Gpu
from warpbound.model_inputs.resources import demand
from warpbound.program import Program
from warpbound.result.curve import OccupancyCurve, TimeRanges

SECTOR_B = 32.0
Combined = Callable[[dict[str, float]], float]
ON_CHIP = ("alu", "fma", "fp64", "xu", "tensor", "uniform", "lsu", "shared", "l1")  # what may or may not overlap


def ranges(
    program: Program,
    gpu: str | Path | Gpu,
    launch: Launch | None = None,
    settings: Settings = DEFAULT,
    warps: tuple[int, int] = (1, 64),
) -> OccupancyCurve:
    """The curve, and under `range` times in seconds at the same occupancies, one list each.

    l1, l2, dram : all loads from that level. estimate : as the caches are expected to serve them.
    side_by_side, one_by_one : by pipes and latency alone, if all pipes overlap, or none.
    Raises InputError where the launch gives no arguments: without counts there is no time.
    """
    case = checked_case(program, gpu, launch, settings)
    work = work_of(case)
    if work.whole.warps is None:
        raise InputError(f"{program.title} has no time without arguments.", "Add --launch FILE.toml.")
    estimate = curve(program, gpu, launch, settings, warps)
    blocks = estimate.blocks_per_sm
    times = TimeRanges(
        **{level: [_time(case, served_by(work, level), n) for n in blocks] for level in LEVELS},
        estimate=estimate.time_s,
        side_by_side=[_pipes(case, work, n, side_by_side) for n in blocks],
        one_by_one=[_pipes(case, work, n, one_by_one) for n in blocks],
    )
    return msgspec.structs.replace(estimate, range=times)


def served_by(work: Work, level: str) -> Work:
    """The same work with every load from one level; what is written goes to DRAM only where all comes from there."""
    whole = work.whole
    memory, waiting = whole.memory, sum(whole.parts.get(each, 0.0) for each in LEVELS)
    rest = whole.latency - waiting
    parts = dict(whole.parts) | dict.fromkeys(LEVELS, 0.0)
    parts[level] = max(0.0, work.by_level()[level] - rest)
    changed = replace(
        memory,
        l2_sectors_read=0.0 if level == "l1" else memory.l1_sectors_load,
        dram_bytes_read=SECTOR_B * memory.l1_sectors_load if level == "dram" else 0.0,
        dram_bytes_written=SECTOR_B * memory.l2_sectors_written if level == "dram" else 0.0,
    )
    return replace(work, whole=replace(whole, memory=changed, parts=parts, latency=rest + parts[level]))


def side_by_side(cycles: dict[str, float]) -> float:
    """SM cycles of one warp with all pipes overlapped."""
    return max(cycles.values(), default=0.0)


def one_by_one(cycles: dict[str, float]) -> float:
    """SM cycles of one warp with one pipe busy at a time."""
    return sum(cycles.values())


def _time(case: Case, work: Work, blocks: int) -> float | None:
    prediction = launch_prediction(case, work, blocks)
    return None if prediction is None else prediction.time_s


def _pipes(case: Case, work: Work, blocks: int, combined: Combined) -> float:
    """Seconds of the launch by latency and pipes alone: the least bounds of Volkov's section 3.6 on each SM."""
    cycles = {name: busy for name, busy in demand(work.whole, case.gpu, case.clock_hz).items() if name in ON_CHIP}
    resident = blocks * warps_per_block(case)
    each = max(work.whole.latency / resident, combined(cycles))
    return float(each * (work.whole.warps or 0.0) / case.place.active_sms / case.clock_hz)

