"""What-if of warps with roles: copies requested by warps of their own, where warps that multiply request them.

Models   The block of `workload.copy_warps`, timed as every block; as many blocks of an SM as registers and threads of
         the new warps admit.
Omits    What a compiler makes of the changed code: in some loops that also ask for copies, ptxas waits for each wgmma.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from warpbound.analysis.case import WARP, Case
from warpbound.analysis.pipelines import recorded_rings
from warpbound.analysis.static import Work
from warpbound.analysis.timing import times_of, warps_per_block
from warpbound.emulate import Trace
from warpbound.emulate.mbarrier_log import MbarrierLog
from warpbound.program import Program
from warpbound.residency import occupancy
from warpbound.result.what_if import WhatIf
from warpbound.whatif import WORTH
from warpbound.workload.copy_warps import Instructions, with_copy_warps

ONE, SEVERAL = "a warp for copies alone", "{warps} warps for copies alone"
WHY = "warps that multiply refill the stages, by {instructions:.0f} instructions each time, and wait until each is free"


def copy_warp_changes(case: Case, work: Work) -> Iterator[WhatIf]:
    """Where warps that multiply ask for copies, and the block has no cluster."""
    from warpbound.analysis.executed import average_work, served_by, unheld_waits  # a fifth of a static answer to load

    if work.focus.warps is None or case.blocks is None or work.sample_run is None:
        return
    trace, sample, traffic = work.sample_run
    before = trace.mbarrier_log
    rings = recorded_rings(case, trace, unheld_waits(case, traffic), served_by(traffic))
    after = with_copy_warps(before, rings, _instructions(case.program)) if before else None
    if before is None or after is None:
        return
    more = len(after.blocks) - len(before.blocks)
    warps_per_sm = _resident_warps(case, more)
    place = replace(case.place, warps_per_sm=float(warps_per_sm))
    changed = average_work(case, _traced(trace, before, after), sample, traffic)
    times = times_of(case, work, [(work.focus, case.place), (changed, place)]) if warps_per_sm else [1.0, 1.0]
    if times[0] / times[1] >= WORTH:
        fewer = sum(map(len, before.streams)) - sum(map(len, after.streams[:-more]))
        why = WHY.format(instructions=fewer / sum(len(ring.fills) for ring in rings))
        yield WhatIf(ONE if more == 1 else SEVERAL.format(warps=more), times[0] / times[1], why)


def _resident_warps(case: Case, more: int) -> int:
    """Warps of an SM, without the new ones, if each block has so many more; 0 for impossible blocks."""
    threads, program = case.threads_per_block + WARP * more, case.program
    if threads > case.gpu.limits.max_threads_per_block or case.launch is None:
        return 0
    return warps_per_block(case) * occupancy(
        case.gpu, threads, program.registers, program.shared_bytes + case.launch.smem, case.launch.carveout,
        barriers=program.barriers, tensor_columns=program.tensor_columns, grid_blocks=case.blocks,
    ).blocks_per_sm  # fmt: skip


def _instructions(program: Program) -> Instructions:
    code = list(enumerate(program.instructions))
    return Instructions(
        frozenset(at for at, each in code if each.traits.is_block_barrier),
        frozenset(at for at, each in code if each.traits.tensor),
        frozenset(at for at, each in code if "shared" in each.traits.stores and each.traits.kind == "store"),
    )


def _traced(trace: Trace, before: MbarrierLog, after: MbarrierLog) -> Trace:
    """The trace with the changed streams of the block's own warps."""
    rows = np.flatnonzero(np.isin(trace.warps[:, 0], before.blocks)).tolist()
    own = dict(zip(rows, after.streams, strict=False))
    streams = {row: own.get(row, stream) for row, stream in trace.streams.items()}
    return replace(trace, mbarrier_log=after, streams=streams)
