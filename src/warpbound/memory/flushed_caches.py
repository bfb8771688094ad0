"""A launch whose caches were flushed before it and are not waited for after it, as Nsight Compute counts it.

Source   Counters of public reports (docs/accuracy/nsight.md). Others' data: launches that write next to nothing write
         0.5 MB on a GTX 1660 SUPER (L2 of 1.6 MB) and 1.0 MB on an RTX 3060 Laptop (3.1 MB); a copy of 16.8 MB writes
         8.0 MB on an RTX 4090 (75.5 MB), where its own data fit. Own data: sums of two arrays and copies leave as much
         behind as `l2_cyclic_reuse` has it. Instructions: blocks on one SM with 384 to 2432 bytes of code read 2.7 to
         5.2 KB beside their data.
Models   A part of L2 holds changed lines of others, which a launch replaces in proportion to the data that it brings,
         once the lines that a flush leaves free are full. Of its own changed lines those stay that L2 still has: they
         stay longer than lines that are only read. Instructions and constants come from DRAM once.
Omits    What the launch before has left.
"""

from dataclasses import replace

from warpbound.memory.l2_cyclic_reuse import READ_STAYS
from warpbound.memory.traffic_counts import Traffic

OTHERS = 0.25        # of L2: changed lines of others, by those launches 0.24 to 0.37
FREE = 0.05          # of L2: lines that a flush leaves free; launches of a few KB write next to nothing
CONSTANTS_B = 2560.0  # constant banks and tables of the driver, beside the code itself


def between_flushes(traffic: Traffic, l2_bytes: float, code_bytes: float) -> Traffic:
    """The traffic with DRAM's share of it as it is between two flushes; code_bytes : of the kernel's instructions."""
    if l2_bytes <= 0:
        return replace(traffic, dram_bytes_read=traffic.dram_bytes_read + CONSTANTS_B + code_bytes)
    changed = traffic.left_in_l2_bytes / min(1.0, l2_bytes / max(1.0, traffic.touched_bytes))
    only_read = max(0.0, traffic.touched_bytes - changed, traffic.dram_bytes_read - changed)
    stays = min(changed, l2_bytes * changed / max(1.0, changed + READ_STAYS * only_read))
    replaced = min(1.0, max(0.0, (changed + only_read) / l2_bytes - FREE) / (1.0 - FREE))
    written_B = max(0.0, traffic.dram_bytes_written - stays) + OTHERS * l2_bytes * replaced
    return replace(
        traffic,
        dram_bytes_read=traffic.dram_bytes_read + CONSTANTS_B + code_bytes,
        dram_bytes_written=written_B,
        left_in_l2_bytes=stays,
    )
