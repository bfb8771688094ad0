"""Cost of barriers, votes, atomics, fences and divergent branches: cycles of a warp, by warps per block."""

from collections.abc import Iterator

import numpy as np

from warpbound.measure.case import Buffer, Case, Findings, Record, Step, by_axis, matching, stamped
from warpbound.measure.device import Facts
from warpbound.measure.kernel_text import kernel_file, timed_kernel, unrolled
from warpbound.quick_dataclasses import dataclass

WARPS = (1, 2, 4, 8, 16, 32)
ROUNDS = 8


@dataclass(frozen=True)
class Cost:
    """A repeated statement. opcode : of the machine instruction that carries it out, by its first letters."""

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


def source() -> str:
    """CUDA C++, one kernel per cost."""
    return kernel_file(__name__) + "\n".join(
        timed_kernel(f"cost_{name}", "u32 *out, u32 stay, int rounds", "SETUP", unrolled(cost.repeated, cost.statement),
                     "x + words[0] + (mine == out)") for name, cost in COSTS.items()
    )  # fmt: skip


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Cost x warps of the one block of each SM."""
    for name in COSTS:
        for warps in WARPS:
            args = ("stamps", "out", np.uint32(0), np.int32(ROUNDS))
            out = Buffer("out", 4 * facts.sm_count * 32 * warps, "zeros")
            step = Step(f"cost_{name}", (facts.sm_count,), 32 * warps, args)
            yield stamped({"cost": name, "warps": warps}, step, out, seconds=5e-4)


def cycles(record: Record) -> float:
    """Cycles of a warp for one statement."""
    return record.number("latency") / (ROUNDS * COSTS[str(record.axes["cost"])].repeated)


def extract(records: list[Record], facts: Facts) -> Findings:
    """Cycles by warps per block."""
    return Findings({}, {name: by_axis(sweep, "warps", cycles, 2) for name in COSTS
                         if (sweep := matching(records, cost=name))})  # fmt: skip
