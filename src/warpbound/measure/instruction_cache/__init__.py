"""Instruction caches: straight-line code of growing length in a loop."""

from collections.abc import Iterator

import numpy as np

from warpbound.measure.case import Case, Findings, Record, Step, matching, stamped
from warpbound.measure.device import Facts
from warpbound.measure.kernel_text import timed_kernel, unrolled

LENGTHS = tuple(1 << k for k in range(7, 15))  # FFMA in the loop, 16 B each
INSTRUCTIONS = 1 << 17  # least number that a warp executes
TURNS = 40              # least iterations of the loop: the first one may fetch all instructions from far away
WARPS = (1, 4, 16)
CHAINS = 4


def source() -> str:
    """CUDA C++, one kernel per length."""
    ffma = "".join(f'"fma.rn.f32 %{j}, %{j}, %4, %5;"' for j in range(CHAINS))
    block = f'asm volatile(X4(X4({ffma} {ffma})) : "+f"(x0), "+f"(x1), "+f"(x2), "+f"(x3) : "f"(one), "f"(zero));'
    setup = "float x0 = one + threadIdx.x, x1 = x0 + one, x2 = x1 + one, x3 = x2 + one;"
    return "#define X4(x) x x x x\n" + "\n".join(
        timed_kernel(f"straight_{length}", "int rounds, float zero, float one", setup,
                     unrolled(length // (32 * CHAINS), block), "__float_as_uint(x0 + x1 + x2 + x3)")
        for length in LENGTHS
    )  # fmt: skip


def turns(length: int) -> int:
    """Iterations of the loop."""
    return max(TURNS, INSTRUCTIONS // length)


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Length x warps per SM."""
    for length in LENGTHS:
        for warps in WARPS:
            args = ("stamps", np.int32(turns(length)), np.float32(0.0), np.float32(1.0))
            step = Step(f"straight_{length}", (facts.sm_count,), 32 * warps, args)
            yield stamped({"length": length, "warps": warps}, step, seconds=5e-4)


def per_instruction(record: Record) -> float:
    """Cycles of an SM for one instruction of one warp."""
    length = int(record.axes["length"])
    return record.number("duration") / (turns(length) * length * record.number("warps"))


def extract(records: list[Record], facts: Facts) -> Findings:
    """Cycles per instruction by the length of the code, and the longest code that runs at full speed."""
    figures: dict[str, object] = {}
    for warps in WARPS:
        if sweep := matching(records, warps=warps):
            sizes, cycles = [16 * int(r.axes["length"]) for r in sweep], list(map(per_instruction, sweep))
            pairs = list(zip(sizes, cycles, strict=True))
            figures[f"{warps} warps"] = {
                "full speed up to [B]": max(size for size, each in pairs if each <= 1.1 * min(cycles)),
                "curve [B, cycles per instruction]": [[size, round(each, 3)] for size, each in pairs],
            }
    return Findings({}, figures)
