"""Energy-consuming activity of a launch: instructions of threads, operations of tensor cores, bytes moved."""

from warpbound.quick_dataclasses import dataclass
from warpbound.workload import Workload

SECTOR_B, WAVEFRONT_B = 32.0, 128.0
WARP = 32.0


@dataclass(frozen=True)
class Activity:
    """Counts of one launch, or of one second.

    thread_instructions : of active lanes; one of FP64 counts twice, because its operands are twice as wide.
    l1_bytes, l2_bytes : that L1 or L2 serves itself; bytes from the next level count there. dram_bytes : both ways.
    """

    thread_instructions: float
    tensor_operations: float = 0.0
    shared_bytes: float = 0.0
    l1_bytes: float = 0.0
    l2_bytes: float = 0.0
    dram_bytes: float = 0.0


def activity(work: Workload) -> Activity:
    """Of the whole launch of this work; of one unit of it where the launch is not known.

    Omits    the contents of registers: values that do not change take less energy than random ones.
    """
    memory, times = work.memory, work.warps or 1.0
    dram = memory.dram_bytes_read + memory.dram_bytes_written
    l2 = SECTOR_B * (memory.l2_sectors_read + memory.l2_sectors_written)
    l1 = SECTOR_B * (memory.l1_sectors_load + memory.l1_sectors_store)
    wavefronts = memory.shared_wavefronts_load + memory.shared_wavefronts_store
    return Activity(
        thread_instructions=times * (work.thread_instructions + WARP * work.by_pipe.get("fp64", 0.0)),
        tensor_operations=times * work.flop.get("tensor", 0.0),
        shared_bytes=times * WAVEFRONT_B * wavefronts,
        l1_bytes=times * max(0.0, l1 - l2),
        l2_bytes=times * max(0.0, l2 - dram),
        dram_bytes=times * dram,
    )
