"""Straight-line code of growing length in a loop: where instructions no longer come from the nearest cache."""

from collections.abc import Iterator

import numpy as np

from warpbound.measure.case import Axis, Case, Findings, Record, Step, chosen, stamps_of
from warpbound.measure.device import Facts

LENGTHS = tuple(1 << k for k in range(7, 15))  # FFMA in the loop; 16 B each
INSTRUCTIONS = 1 << 17  # executed by every warp at least
TURNS = 40              # of the loop at least: the first one may fetch all of it from far away
WARPS = (1, 4, 16)
CHAINS = 4


def source() -> str:
    """CUDA C++, one kernel per length."""
    return "#define X4(x) x x x x\n#define X32(x) X4(X4(x x))\n" + "\n".join(map(_kernel, LENGTHS))


def _kernel(length: int) -> str:
    once = "".join(f'"fma.rn.f32 %{j}, %{j}, %4, %5;"' for j in range(CHAINS))
    thirty_two = f'asm volatile(X4(X4({once} {once})) : "+f"(x0), "+f"(x1), "+f"(x2), "+f"(x3) : "f"(one), "f"(zero));'
    per_asm = 32 * CHAINS
    return f"""KERNEL straight_{length}(u64 *stamps, int rounds, float zero, float one) {{
    float x0 = one + threadIdx.x, x1 = x0 + one, x2 = x1 + one, x3 = x2 + one;
    u64 start = cycle();
    #pragma unroll 1
    for (int i = 0; i < rounds; i++) {{
        #pragma unroll
        for (int k = 0; k < {length // per_asm}; k++) {thirty_two}
    }}
    wait_for(__float_as_uint(x0 + x1 + x2 + x3));
    stamp(stamps, start, cycle());
}}
"""


def turns(length: int) -> int:
    """Of the loop."""
    return max(TURNS, INSTRUCTIONS // length)


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Length x warps per SM."""
    for length in LENGTHS:
        for warps in WARPS:
            args = ("stamps", np.int32(turns(length)), np.float32(0.0), np.float32(1.0))
            step = Step(f"straight_{length}", (facts.sm_count,), 32 * warps, args)
            axes: dict[str, Axis] = {"length": length, "warps": warps}
            yield Case(axes, step, "stamps", (stamps_of(step.warps),), seconds=5e-4)


def per_instruction(record: Record) -> float:
    """Cycles of one SM for one instruction of one warp."""
    length = int(record.axes["length"])
    return float(record.value["duration"]) / (turns(length) * length * float(record.axes["warps"]))


def extract(records: list[Record], facts: Facts) -> Findings:
    """Cycles per instruction by the length of the code, and the longest code that runs at full speed."""
    figures: dict[str, object] = {}
    for warps in WARPS:
        mine = chosen(records, warps=warps)
        if mine:
            best = min(map(per_instruction, mine))
            fits = max(int(r.axes["length"]) for r in mine if per_instruction(r) <= 1.1 * best)
            figures[f"{warps} warps"] = {"full speed up to [B]": 16 * fits, "curve [B, cycles per instruction]": [
                [16 * int(r.axes["length"]), round(per_instruction(r), 3)] for r in mine]}  # fmt: skip
    return Findings({}, figures)
