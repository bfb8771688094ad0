"""What barriers, atomics, fences and divergent branches cost: cycles of a warp for each, by warps per block."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from warpbound.measure.case import Axis, Buffer, Case, Findings, Record, Step, chosen, stamps_of
from warpbound.measure.device import Facts

WARPS = (1, 2, 4, 8, 16, 32)
ROUNDS = 8


@dataclass(frozen=True)
class Cost:
    """One statement, repeated; opcode : the machine instruction that carries it out, by the start of its name."""

    statement: str
    opcode: str
    repeated: int = 32


COSTS = {
    "barrier": Cost('asm volatile("bar.sync 0;" ::: "memory");', "BAR"),
    "vote": Cost('asm volatile("{ .reg .pred p; setp.ne.u32 p, %0, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"'
                 ' : "+r"(x));', "VOTE"),
    "atomic_shared_one": Cost('asm volatile("atom.shared.add.u32 %0, [%1], %0;" : "+r"(x) : "r"(same));', "ATOMS"),
    "atomic_shared_own": Cost('asm volatile("atom.shared.add.u32 %0, [%1], %0;" : "+r"(x) : "r"(base + 4 * lane));',
                              "ATOMS"),
    "atomic_global_one": Cost('asm volatile("atom.global.add.u32 %0, [%1], %0;" : "+r"(x) : "l"(whole));', "ATOM", 8),
    "atomic_global_own": Cost('asm volatile("atom.global.add.u32 %0, [%1], %0;" : "+r"(x) : "l"(mine));', "ATOM", 8),
    "reduce_global_own": Cost('asm volatile("red.global.add.u32 [%0], %1;" :: "l"(mine), "r"(x));', "RED", 8),
    "fence": Cost('asm volatile("fence.acq_rel.gpu;" ::: "memory");', "MEMBAR", 8),
    "branch": Cost("if (lane & 1) { TWELVE(XOR) } else { TWELVE(SUM) }", "BSYNC", 8),
    "branch_uniform": Cost("if ((x ^ lane) & 1) { TWELVE(SUM) } else { TWELVE(XOR) }", "BRA", 8),
}  # fmt: skip


SIDES = """#define XOR asm volatile("xor.b32 %0, %0, %1;" : "+r"(x) : "r"(stay));
#define SUM asm volatile("mad.lo.u32 %0, %0, %1, %1;" : "+r"(x) : "r"(stay));
#define TWELVE(x) x x x x x x x x x x x x
"""


def source() -> str:
    """CUDA C++, one kernel per cost."""
    return SIDES + "\n".join(_kernel(name, cost) for name, cost in COSTS.items())


def _kernel(name: str, cost: Cost) -> str:
    return f"""KERNEL cost_{name}(u64 *stamps, u32 *out, u32 stay, int rounds) {{
    __shared__ u32 words[32];
    u32 lane = threadIdx.x & 31, x = stay + lane, base = (u32)__cvta_generic_to_shared(words);
    u32 *mine = out + blockIdx.x * blockDim.x + threadIdx.x;
    u32 same = base + stay * lane, *whole = out + stay * threadIdx.x;  // one address, which the compiler does not know
    if (threadIdx.x < 32) words[lane] = 0;
    __syncthreads();
    u64 start = cycle();
    #pragma unroll 1
    for (int i = 0; i < rounds; i++) {{
        #pragma unroll
        for (int k = 0; k < {cost.repeated}; k++) {{ {cost.statement} }}
    }}
    wait_for(x + words[0] + (mine == out));
    stamp(stamps, start, cycle());
}}
"""


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Cost x warps of one block per SM."""
    for name in COSTS:
        for warps in WARPS:
            args = ("stamps", "out", np.uint32(0), np.int32(ROUNDS))
            step = Step(f"cost_{name}", (facts.sm_count,), 32 * warps, args)
            axes: dict[str, Axis] = {"cost": name, "warps": warps}
            out = Buffer("out", 4 * facts.sm_count * 32 * warps, "zeros")
            yield Case(axes, step, "stamps", (stamps_of(step.warps), out), seconds=5e-4)


def cycles(record: Record) -> float:
    """Of one warp for one of them."""
    return float(record.value["latency"]) / (ROUNDS * COSTS[str(record.axes["cost"])].repeated)


def extract(records: list[Record], facts: Facts) -> Findings:
    """Cycles by warps per block."""
    return Findings({}, {
        name: {str(r.axes["warps"]): round(cycles(r), 2) for r in mine}
        for name in COSTS if (mine := chosen(records, cost=name))
    })  # fmt: skip
