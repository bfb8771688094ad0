"""Clusters whose blocks share what the copy engine fetches: each part is read from L2 once and sent to several blocks.

Source   PTX ISA, cp.async.bulk with .multicast::cluster: one copy from global memory to the same place in the shared
         memory of several blocks of a cluster.
Models   What neighbouring sampled blocks copy both: in a cluster of two each copies half of it, in one of 2 x 2 half of
         what the neighbour along x copies too, and half of what the one along y does. Everything else stays.
Omits    The wait for the blocks of a cluster; SMs that a cluster leaves idle.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from warpbound.analysis.case import Case
from warpbound.analysis.static import Work
from warpbound.analysis.timing import times_of
from warpbound.distinct_values import distinct
from warpbound.emulate import Trace
from warpbound.result.what_if import WhatIf
from warpbound.whatif import WORTH

CHANGE = "clusters of {size} blocks with multicast copies"
WHY = "{share:.0f} % of what a block copies, a neighbour copies too: L2 is read once for both"
LEAST = 0.05  # of what a block copies, that a neighbour has to copy too


def multicast_changes(case: Case, work: Work) -> Iterator[WhatIf]:
    """Where blocks copy in bulk, alone, and neighbours copy the same: clusters of two along x or y, and of 2 x 2."""
    if work.sample_run is None or work.focus.warps is None or case.blocks is None or case.launch is None:
        return
    trace, sample, traffic = work.sample_run
    grid, code, reads = sample.grid or case.launch.grid, case.program.instructions, work.focus.memory.l2_sectors_read
    copying = np.array([x.traits.kind == "bulk_copy" and "global" in x.traits.loads for x in code])
    if (case.program.cluster or case.launch.cluster or (1, 1, 1)) != (1, 1, 1) or not copying.any() or not reads:
        return
    from_l2 = traffic.by_instruction.sectors_from[:, 1:].sum(axis=1)
    copied = float(from_l2[copying].sum() / from_l2.sum()) if from_l2.sum() else 0.0
    shares = [_shared(trace, copying, stride) if extent % 2 == 0 else 0.0
              for extent, stride in ((grid[0], 1), (grid[1], grid[0]))]  # fmt: skip
    of_two = {"2 x 1": shares[0], "1 x 2": shares[1]}
    best = max(of_two, key=lambda size: of_two[size])
    for size, share in {best: of_two[best], "2 x 2": sum(shares) if all(shares) else 0.0}.items():
        if not LEAST <= share <= 1.0:
            continue
        rest = 1.0 - copied * share / 2
        changed = work.focus.with_memory(
            l2_sectors_read=rest * reads, l2_sectors_far=rest * work.focus.memory.l2_sectors_far
        )
        before, after = times_of(case, work, [(work.focus, case.place), (changed, case.place)])
        if before / after >= WORTH:
            yield WhatIf(CHANGE.format(size=size), before / after, WHY.format(share=100 * share))


def _shared(trace: Trace, copying: NDArray[np.bool_], stride: int) -> float:
    """The share of the places that a sampled block copies from which the block `stride` further on copies too."""
    accesses = trace.accesses["global"]
    rows = accesses.rows(copying[accesses.instruction])
    blocks = trace.warps[rows.warp, 0]
    places = {block: distinct(rows.base[blocks == block]) for block in distinct(blocks).tolist()}
    pairs = [(block, block + stride) for block in places if block + stride in places]
    shares = [np.isin(places[first], places[second]).mean() for first, second in pairs if len(places[first])]
    return float(np.mean(shares)) if shares else 0.0
