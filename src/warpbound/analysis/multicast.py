"""Clusters whose blocks share what the copy engine fetches: each part is read from L2 once and sent to several blocks.

Source   PTX ISA, cp.async.bulk with .multicast::cluster: one copy from global memory to the same place in the shared
         memory of several blocks of a cluster.
Models   Data that two neighbouring sampled blocks both copy: in a cluster of two each block copies half of it; in one
         of 2 x 2, half of the data shared along x and half of those shared along y. Everything else stays.
Omits    The wait for the blocks of a cluster; SMs that a cluster leaves idle.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from warpbound.analysis.case import Case
from warpbound.analysis.static import Work
from warpbound.analysis.timing import times_of
from warpbound.distinct_values import among, distinct
from warpbound.emulate import Trace
from warpbound.emulate.trace import Accesses
from warpbound.identity_cache import remember
from warpbound.quick_dataclasses import dataclass
from warpbound.result.what_if import WhatIf
from warpbound.whatif import WORTH
from warpbound.workload import Workload

CHANGE = "clusters of {size} blocks with multicast copies"
WHY = "{share:.0f} % of what a block copies, a neighbour copies too: L2 is read once for both"
SECTOR_B = np.uint64(32)
LEAST = 0.05  # least share of a block's copies that a neighbour copies, too


@dataclass(frozen=True)
class Shared:
    """What neighbouring blocks copy both.

    copied : of what L2 sends, by the copy engine; along_x, along_y : of that, what the neighbour along the axis copies
    too; 0 where the grid has no pairs along it.
    """

    copied: float
    along_x: float
    along_y: float


@remember(1)
def shared_copies(case: Case, work: Work) -> Shared | None:
    """The copies of blocks that copy in bulk and are in no cluster; None for clusters, and where nothing is copied."""
    if work.sample_run is None or work.focus.warps is None or case.blocks is None or case.launch is None:
        return None
    trace, sample, traffic = work.sample_run
    grid, code = sample.grid or case.launch.grid, case.program.instructions
    copying = np.array([x.traits.kind == "bulk_copy" and "global" in x.traits.loads for x in code])
    if (case.program.cluster or case.launch.cluster or (1, 1, 1)) != (1, 1, 1) or not copying.any():
        return None
    from_l2 = traffic.by_instruction.sectors_from[:, 1:].sum(axis=1)
    if not from_l2.sum():
        return None
    shares = [_shared(trace, copying, stride) if extent % 2 == 0 else 0.0
              for extent, stride in ((grid[0], 1), (grid[1], grid[0]))]  # fmt: skip
    return Shared(float(from_l2[copying].sum() / from_l2.sum()), *shares)


def multicast_changes(case: Case, work: Work) -> Iterator[WhatIf]:
    """Clusters of two blocks along x or y, and of 2 x 2, where blocks without a cluster copy the same as neighbours."""
    both = shared_copies(case, work)
    if both is None:
        return
    of_two = {"2 x 1": both.along_x, "1 x 2": both.along_y}
    best = max(of_two, key=lambda size: of_two[size])
    of_four = both.along_x + both.along_y if both.along_x and both.along_y else 0.0
    for size, share in {best: of_two[best], "2 x 2": of_four}.items():
        if not LEAST <= share <= 1.0:
            continue
        changed = read_once(work.focus, both.copied * share)
        before, after = times_of(case, work, [(work.focus, case.place), (changed, case.place)])
        if before / after >= WORTH:
            yield WhatIf(CHANGE.format(size=size), before / after, WHY.format(share=100 * share))


def read_once(work: Workload, shared: float) -> Workload:
    """The same work if L2 sends data that two blocks request once; shared : their share of all that L2 sends."""
    rest, memory = 1.0 - shared / 2, work.memory
    return work.with_memory(l2_sectors_read=rest * memory.l2_sectors_read, l2_sectors_far=rest * memory.l2_sectors_far)


def _shared(trace: Trace, copying: NDArray[np.bool_], stride: int) -> float:
    """The share of the sectors that a sampled block copies which the one `stride` further on copies too."""
    accesses = trace.accesses["global"]
    rows = accesses.rows(copying[accesses.instruction])
    blocks = trace.warps[rows.warp, 0]
    sample_blocks = set(distinct(blocks).tolist())
    first = min((block for block in sample_blocks if block + stride in sample_blocks), default=None)
    if first is None:
        return 0.0
    own, other = (_sectors(rows.rows(blocks == block)) for block in (first, first + stride))
    return float(among(own, other).mean())


def _sectors(rows: Accesses) -> NDArray[np.uint64]:
    """Numbers of the sectors that these accesses request."""
    return distinct(rows.addresses[rows.active] // SECTOR_B)
