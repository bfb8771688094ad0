"""Global loads of a warp under every stride and offset, from L1 and from L2: cycles of the SM for each."""

from collections.abc import Iterator

import numpy as np

from warpbound.measure.case import Axis, Buffer, Case, Findings, Record, Step, by_axis, matching, stamped
from warpbound.measure.device import Facts
from warpbound.measure.kernel_text import timed_kernel, unrolled

STRIDES = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 33, 64)  # words between lanes
QUICK_STRIDES = (0, 1, 2, 4, 8, 16, 32)
OFFSETS = (1, 2, 4, 8, 16, 31)                           # words, at stride 1
LEVELS = {"l1": "ca", "l2": "cg"}
WINDOW = 16 << 10   # bytes that all warps of an SM touch
WARPS = 32
ROUNDS = 16
REPEATED = 16
CHAINS = 2  # of one warp
GET = """// All entries are 0: the next address depends on the entry and stays the same.
#define GET(how, at) asm volatile("ld.global." #how ".u32 %0, [%1];" : "=r"(x) : "l"(at)); at += x;
"""


def source() -> str:
    """CUDA C++, one kernel per level."""
    setup = "const u32 *at = array + offset + (threadIdx.x & 31) * stride, *too = at;\n    u32 x;"
    return GET + "\n".join(
        timed_kernel(f"gather_{level}", "const u32 *array, u32 stride, u32 offset, int rounds", setup,
                     unrolled(REPEATED // CHAINS, f"GET({how}, at) GET({how}, too)"), "(u32)(u64)at + (u32)(u64)too")
        for level, how in LEVELS.items()
    )  # fmt: skip


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Level x stride, and offsets of one word to a line."""
    pairs = [(stride, 0) for stride in (QUICK_STRIDES if effort == "quick" else STRIDES)] + [(1, o) for o in OFFSETS]
    for level in LEVELS:
        for stride, offset in pairs:
            args = ("stamps", "array", np.uint32(stride), np.uint32(offset), np.int32(ROUNDS))
            step = Step(f"gather_{level}", (facts.sm_count,), 32 * WARPS, args)
            axes: dict[str, Axis] = {"level": level, "stride": stride, "offset": offset}
            yield stamped(axes, step, Buffer("array", WINDOW, "zeros"))


def cycles(record: Record) -> float:
    """Cycles of an SM for one load of a warp."""
    return record.number("duration") / (WARPS * ROUNDS * REPEATED)


def extract(records: list[Record], facts: Facts) -> Findings:
    """Cycles per load by stride and by offset in words."""
    figures = {}
    for level in LEVELS:
        figures[f"{level} stride"] = by_axis(matching(records, level=level, offset=0), "stride", cycles, 3)
        figures[f"{level} offset"] = by_axis(matching(records, level=level, stride=1), "offset", cycles, 3)
    return Findings({}, figures)
