"""Matrix products of a warp group from shared memory (wgmma, sm_90 only): cycles by width and number of groups."""

from collections.abc import Iterator

import numpy as np

from warpbound.measure.case import Case, Estimate, Findings, Record, Step, curve, matching, stamped
from warpbound.measure.device import Facts
from warpbound.measure.instruction_mix import OPERANDS
from warpbound.measure.kernel_text import timed_kernel, unrolled

ARCH = 90
WIDTHS = (64, 128, 256)   # N of m64nNk16
GROUPS = (1, 2, 3, 4)     # of four warps, per SM
REGISTERS, BESIDE = 65536, 40  # of an SM; of a thread beside the accumulators, at most
DEPTH, HEIGHT = 16, 64
REPEATED = 16             # products between two waits
ROUNDS = 32
SHARED_B = 16 << 10
LEADING, STRIDE = 128, 256  # bytes between core matrices, no swizzle; the contents are all zeros


def source() -> str:
    """CUDA C++ for sm_90a, one kernel per width."""
    return "\n".join(map(_kernel, WIDTHS))


def _kernel(width: int) -> str:
    """D = A B + D, FP16 inputs, FP32 accumulators, A and B by descriptors."""
    registers = width // 2
    names = ", ".join(f"%{i}" for i in range(registers))
    sums = ", ".join(f'"+f"(d[{i}])' for i in range(registers))
    product = (
        f"wgmma.mma_async.sync.aligned.m{HEIGHT}n{width}k{DEPTH}.f32.f16.f16 "
        f"{{{names}}}, %{registers}, %{registers + 1}, 1, 1, 1, 0, 0;"
    )
    setup = f"""__shared__ __align__(1024) u32 words[{SHARED_B // 4}];
    for (int i = threadIdx.x; i < {SHARED_B // 4}; i += blockDim.x) words[i] = zero;
    __syncthreads();
    u64 left = ((u32)__cvta_generic_to_shared(words) & 0x3ffffu) >> 4;
    left |= (u64)({LEADING} >> 4) << 16 | (u64)({STRIDE} >> 4) << 32;
    u64 right = left + ({HEIGHT * DEPTH * 2} >> 4);
    float d[{registers}] = {{}};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");"""
    body = unrolled(REPEATED, f'asm volatile("{product}" : {sums} : "l"(left), "l"(right));') + """
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");"""
    result = " ^ ".join(f"__float_as_uint(d[{i}])" for i in range(registers))
    return timed_kernel(f"wgmma_{width}", OPERANDS, setup, body, result)


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Width x warp groups per SM; no case on other architectures."""
    for width in WIDTHS if facts.arch == ARCH else ():
        for groups in [count for count in GROUPS if 128 * count * (width // 2 + BESIDE) <= REGISTERS]:
            args = ("stamps", np.int32(ROUNDS), np.uint32(0), np.uint32(0), np.uint32(0))
            step = Step(f"wgmma_{width}", (facts.sm_count,), 128 * groups, args)
            yield stamped({"width": width, "groups": groups, "warps": 4 * groups}, step)


def cycles(record: Record) -> float:
    """Cycles of one warp group for one product."""
    return record.number("latency") / (ROUNDS * REPEATED)


def fma_per_cycle(record: Record) -> float:
    """Multiply-adds of an SM per cycle."""
    products = ROUNDS * REPEATED * record.number("groups")
    return products * HEIGHT * DEPTH * record.number("width") / record.number("duration")


def extract(records: list[Record], facts: Facts) -> Findings:
    """The best rate; cycles and rates by width and warp groups."""
    rows = {f"m{HEIGHT}n{width}k{DEPTH} [groups, cycles, FMA/cycle/SM]":
            curve(sweep, "groups", (cycles, 2), (fma_per_cycle, 1))
            for width in WIDTHS if (sweep := matching(records, width=width))}  # fmt: skip
    if not rows:
        return Findings()
    best = Estimate(max(map(fma_per_cycle, records)), "FMA/cycle/SM", "wgmma out of shared memory, zeros")
    return Findings({"tensor_fp16": best}, rows)
