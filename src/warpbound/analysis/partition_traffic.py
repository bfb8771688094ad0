"""How the sampled blocks' accesses spread over memory partitions, on boards whose mapping is known.

Source   memory.partitions; `memory_partitions` and `partition_width` of the GPU, which only boards before Fermi have.
Models   Blocks of the sample keep step: the k-th accesses of all their warps meet in the partitions.
Omits    Blocks that were not sampled; code of another architecture, which stands in for these boards' own, may load
         in another order.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.trace import Trace
from warpbound.machine import Gpu
from warpbound.memory.dram_partitions import PARTITION_B, concurrent_spread, spread
from warpbound.result.execution import PartitionMap, PartitionTraffic

MOST_STEPS = 256  # steps that are looked at one by one, at even distances
MAPPED_BLOCKS, MAPPED_STEPS = 32, 32  # blocks and accesses of a map of partitions


def partition_traffic(trace: Trace, gpu: Gpu) -> PartitionTraffic | None:
    """Segments of 32 bytes by partition, and how much fuller than the mean the fullest one is; None: not known.

    camping : over the whole sample; camping_at_once : at one moment, mean over the moments; 1 is even, the number of
    partitions the worst. map : of the first warp of each block, the partition of the first active lane of its k-th
    access; -1 where there is none.
    """
    count = int(gpu.get("memory_partitions") or 0)
    if not count or (gpu.get("partition_width") or PARTITION_B) != PARTITION_B:
        return None
    accesses = trace.accesses["global"]
    whole = spread(accesses.addresses, accesses.active, count)
    order = np.argsort(accesses.warp, kind="stable")
    counts = np.bincount(accesses.warp, minlength=len(trace.warps))
    step = np.empty(len(order), np.int64)
    step[order] = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    steps = int(counts.max(initial=0))
    is_kept = np.isin(step, np.linspace(0, max(0, steps - 1), min(MOST_STEPS, steps), dtype=np.int64))
    at_once = concurrent_spread(accesses.rows(is_kept).addresses, accesses.rows(is_kept).active, step[is_kept], count)
    return PartitionTraffic(
        partitions=count,
        width_bytes=PARTITION_B,
        segments=whole.segments.tolist(),
        camping=whole.camping,
        camping_at_once=float(at_once.mean()) if len(at_once) else 1.0,
        map=_map(trace, step, count),
    )


def _map(trace: Trace, step: NDArray[np.int64], count: int) -> PartitionMap:
    """blocks : their numbers; partition : a row for each."""
    accesses = trace.accesses["global"]
    warps = np.flatnonzero(trace.warps[:, 1] == 0)[:MAPPED_BLOCKS]
    row = np.full(len(trace.warps), -1)
    row[warps] = np.arange(len(warps))
    some = np.any(accesses.patterns.active, axis=1)[accesses.pattern]
    here = (row[accesses.warp] >= 0) & (step < MAPPED_STEPS) & some
    own = accesses.rows(here)
    lane = own.active.argmax(axis=1)
    address = np.take_along_axis(own.addresses, lane[:, None], axis=1)[:, 0].astype(np.int64)
    partitions = np.full((len(warps), int(step[here].max(initial=-1)) + 1), -1)
    partitions[row[accesses.warp[here]], step[here]] = address // PARTITION_B % count
    return PartitionMap(trace.warps[warps, 0].tolist(), partitions.tolist())
