"""Matrix products of a warp group out of shared memory (wgmma, sm_90 alone): cycles of each, by width and groups."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from warpbound.measure.case import Axis, Case, Findings, Found, Record, Step, chosen, stamps_of
from warpbound.measure.device import Facts
from warpbound.measure.instruction_mix.loop import around

ARCH = 90
WIDTHS = (64, 128, 256)   # N of m64nNk16
GROUPS = (1, 2, 3, 4)     # of four warps, per SM
REGISTERS, BESIDE = 65536, 40  # of an SM; of a thread beside the sums, at most
DEPTH, HEIGHT = 16, 64
REPEATED = 16             # in the loop, before the group is waited for
ROUNDS = 32
SHARED_B = 16 << 10
LEADING, STRIDE = 128, 256  # bytes between core matrices, no swizzle; what they hold does not matter, it is all zeros


def source() -> str:
    """CUDA C++ for sm_90a, one kernel per width."""
    return "\n".join(map(_kernel, WIDTHS))


def _kernel(width: int) -> str:
    """D = A B + D, FP16 in, FP32 sums, A and B by descriptors."""
    registers = width // 2
    names = ", ".join(f"%{i}" for i in range(registers))
    sums = ", ".join(f'"+f"(d[{i}])' for i in range(registers))
    product = (
        f"wgmma.mma_async.sync.aligned.m{HEIGHT}n{width}k{DEPTH}.f32.f16.f16 "
        f"{{{names}}}, %{registers}, %{registers + 1}, 1, 1, 1, 0, 0;"
    )
    ahead = f"""    __shared__ __align__(1024) u32 words[{SHARED_B // 4}];
    for (int i = threadIdx.x; i < {SHARED_B // 4}; i += blockDim.x) words[i] = zero;
    __syncthreads();
    u64 left = ((u32)__cvta_generic_to_shared(words) & 0x3ffffu) >> 4;
    left |= (u64)({LEADING} >> 4) << 16 | (u64)({STRIDE} >> 4) << 32;
    u64 right = left + ({HEIGHT * DEPTH * 2} >> 4);
    float d[{registers}] = {{}};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
"""
    once = f' asm volatile("{product}" : {sums} : "l"(left), "l"(right));'
    after = """
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
"""
    seen = " ^ ".join(f"__float_as_uint(d[{i}])" for i in range(registers))
    return around(f"wgmma_{width}", ahead, once, REPEATED, seen, after)


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Width x warp groups per SM; nothing on other architectures."""
    if facts.arch != ARCH:
        return
    for width in WIDTHS:
        for groups in [one for one in GROUPS if 128 * one * (width // 2 + BESIDE) <= REGISTERS]:
            args = ("stamps", np.int32(ROUNDS), np.uint32(0), np.uint32(0), np.uint32(0))
            step = Step(f"wgmma_{width}", (facts.sm_count,), 128 * groups, args)
            axes: dict[str, Axis] = {"width": width, "groups": groups, "warps": 4 * groups}
            yield Case(axes, step, "stamps", (stamps_of(step.warps),), seconds=1e-4)


def cycles(record: Record) -> float:
    """Of one warp group for one product."""
    return float(record.value["latency"]) / (ROUNDS * REPEATED)


def fma_per_cycle(record: Record) -> float:
    """Of an SM."""
    products = ROUNDS * REPEATED * float(record.axes["groups"])
    return products * HEIGHT * DEPTH * float(record.axes["width"]) / float(record.value["duration"])


def extract(records: list[Record], facts: Facts) -> Findings:
    """The best rate; cycles and rates by width and warp groups."""
    rows: dict[str, Any] = {
        f"m{HEIGHT}n{width}k{DEPTH} [groups, cycles, FMA/cycle/SM]": [
            [int(r.axes["groups"]), round(cycles(r), 2), round(fma_per_cycle(r), 1)] for r in mine
        ] for width in WIDTHS if (mine := chosen(records, width=width))
    }  # fmt: skip
    if not rows:
        return Findings()
    best = max(map(fma_per_cycle, records))
    return Findings({"tensor_fp16": Found(best, "FMA/cycle/SM", "wgmma out of shared memory, zeros")}, rows)
