"""Global loads of one warp under every stride and offset, from L1 and from L2: cycles of the SM for each."""

from collections.abc import Iterator

import numpy as np

from warpbound.measure.case import Axis, Buffer, Case, Findings, Record, Step, chosen, stamps_of
from warpbound.measure.device import Facts

STRIDES = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 33, 64)  # words between lanes
QUICK_STRIDES = (0, 1, 2, 4, 8, 16, 32)
OFFSETS = (1, 2, 4, 8, 16, 31)                           # words, at stride 1
LEVELS = {"l1": "ca", "l2": "cg"}
WINDOW = 16 << 10   # bytes that all warps of an SM touch
WARPS = 32
ROUNDS = 16
REPEATED = 16
CHAINS = 2  # of one warp
GET = """// All entries are 0: the next address waits for the entry and is the same.
#define GET(how, at) asm volatile("ld.global." #how ".u32 %0, [%1];" : "=r"(x) : "l"(at)); at += x;
"""


def source() -> str:
    """CUDA C++, one kernel per level."""
    return GET + "\n".join(map(_kernel, LEVELS))


def _kernel(level: str) -> str:
    return f"""KERNEL gather_{level}(u64 *stamps, const u32 *array, u32 stride, u32 offset, int rounds) {{
    const u32 *at = array + offset + (threadIdx.x & 31) * stride, *too = at;
    u32 x;
    u64 start = cycle();
    #pragma unroll 1
    for (int i = 0; i < rounds; i++) {{
        #pragma unroll
        for (int k = 0; k < {REPEATED // CHAINS}; k++) {{ GET({LEVELS[level]}, at) GET({LEVELS[level]}, too) }}
    }}
    wait_for((u32)(u64)at + (u32)(u64)too);
    stamp(stamps, start, cycle());
}}
"""


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Level x stride, and offsets of one word to a line."""
    pairs = [(stride, 0) for stride in (QUICK_STRIDES if effort == "quick" else STRIDES)] + [(1, o) for o in OFFSETS]
    for level in LEVELS:
        for stride, offset in pairs:
            axes: dict[str, Axis] = {"level": level, "stride": stride, "offset": offset}
            args = ("stamps", "array", np.uint32(stride), np.uint32(offset), np.int32(ROUNDS))
            step = Step(f"gather_{level}", (facts.sm_count,), 32 * WARPS, args)
            yield Case(axes, step, "stamps", (stamps_of(step.warps), Buffer("array", WINDOW, "zeros")), seconds=1e-4)


def cycles(record: Record) -> float:
    """Of one SM for one load of a warp."""
    return float(record.value["duration"]) / (WARPS * ROUNDS * REPEATED)


def extract(records: list[Record], facts: Facts) -> Findings:
    """Cycles per load by stride and by offset in words."""
    figures = {}
    for level in LEVELS:
        mine = chosen(records, level=level)
        figures[f"{level} stride"] = {str(r.axes["stride"]): round(cycles(r), 3) for r in chosen(mine, offset=0)}
        figures[f"{level} offset"] = {str(r.axes["offset"]): round(cycles(r), 3) for r in chosen(mine, stride=1)}
    return Findings({}, figures)
