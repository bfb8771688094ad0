"""A launch that finds changed lines of other kernels in L2, and ends before its own changed lines have left.

Source   Flushed, as Nsight Compute does: counters of public reports (docs/accuracy/nsight.md). Others' data: launches
         that write next to nothing write 0.5 MB on a GTX 1660 SUPER (L2 of 1.6 MB) and 1.0 MB on an RTX 3060 Laptop
         (3.1 MB); a copy of 16.8 MB writes 8.0 MB on an RTX 4090 (75.5 MB), where its own data fit. Own data: sums of
         two arrays and copies leave as much behind as `l2_cyclic_reuse` has it. Instructions: blocks on one SM with 384
         to 2432 bytes of code read 2.7 to 5.2 KB beside their data.
         Dirty: NVBench (nvbench/detail/l2flush.cuh @078919b) and llm.c (dev/cuda/common.h @0f112f1) set a buffer of
         L2's size to zero before each launch that they time, Triton's do_bench (python/triton/testing.py @0079eee) one
         of 256 MB. No number of this state is fitted.
Models   A part of L2 holds changed lines of others. Once the lines that a flush leaves free are full, a launch replaces
         them in proportion to the data that it brings. Its own changed lines that L2 still has are not written; they
         stay longer than lines that are only read. Instructions and constants come from DRAM once.
Omits    What the launch before has left in a flushed L2.
"""

from dataclasses import replace

from warpbound.memory.l2_cyclic_reuse import READ_STAYS
from warpbound.memory.traffic_counts import Traffic
from warpbound.quick_dataclasses import dataclass

CONSTANTS_B = 2560.0  # constant banks and tables of the driver, beside the code itself


@dataclass(frozen=True)
class Others:
    """Shares of L2 at the start: changed lines of others, and lines that nobody uses. notes : for a report."""

    changed: float
    free: float
    notes: tuple[str, ...] = ()


FLUSHED = Others(changed=0.25, free=0.05)  # by those launches 0.24 to 0.37; those of a few KB write next to nothing
DIRTY = Others(changed=1.0, free=0.0, notes=("L2 was overwritten before the launch, which writes those lines back",))


def dirty_bytes_in_l2(changed: float, only_read: float, l2_bytes: float, read_stays: float = READ_STAYS) -> float:
    """Bytes of a launch's own changed lines that L2 still has at its end; read_stays : as `l2_cyclic_reuse` has it, 1
    where lines leave in the order in which they came."""
    return min(changed, l2_bytes * changed / max(1.0, changed + read_stays * only_read))


def after_others(traffic: Traffic, l2_bytes: float, code_bytes: float, others: Others) -> Traffic:
    """The traffic with DRAM's share of it as it is after `others`; code_bytes :     of the kernel's instructions."""
    if l2_bytes <= 0:
        return replace(traffic, dram_bytes_read=traffic.dram_bytes_read + CONSTANTS_B + code_bytes)
    changed = traffic.left_in_l2_bytes / min(1.0, l2_bytes / max(1.0, traffic.touched_bytes))
    only_read = max(0.0, traffic.touched_bytes - changed, traffic.dram_bytes_read - changed)
    stays = dirty_bytes_in_l2(changed, only_read, l2_bytes)
    replaced = min(1.0, max(0.0, (changed + only_read) / l2_bytes - others.free) / (1.0 - others.free))
    written_B = max(0.0, traffic.dram_bytes_written - stays) + others.changed * l2_bytes * replaced
    return replace(
        traffic,
        dram_bytes_read=traffic.dram_bytes_read + CONSTANTS_B + code_bytes,
        dram_bytes_written=written_B,
        left_in_l2_bytes=stays,
        notes=(*traffic.notes, *others.notes),
    )
