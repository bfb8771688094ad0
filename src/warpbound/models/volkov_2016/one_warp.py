"""One warp alone: the cycles it occupies each resource, and its longest path.

Source   V. Volkov, EECS-2016-143, sections 3.6 to 3.8; equation numbers are sections.
Models   the worksheet of Table 3.4, the execution graph of Figure 3.5, barriers and
         block replacement as additions to latency.
Omits    throughput limits inside the path, interference between warps.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.quick_dataclasses import dataclass


def busy_cycles(counts: Sequence[Real], cycles_each: Sequence[Real]) -> Real:
    """Cycles one warp occupies a resource: instructions of each kind times the cycles of that kind."""
    total: Real = 0.0
    for count, cycles in zip(counts, cycles_each, strict=True):
        total = total + np.multiply(count, cycles)  # eq. 3.6
    return total


def unit_cycles(units: Real) -> Real:
    """Cycles per warp instruction on `units` lanes of an SM."""
    return np.divide(32.0, units)  # eq. 3.6


def transfer_cycles(bytes_each: Real, bytes_per_cycle: Real) -> Real:
    """Cycles per access that moves so many bytes through an SM's share of the memory."""
    return np.divide(bytes_each, bytes_per_cycle)  # eq. 3.6


def issue_events(instructions: Real, dual_pairs: Real, reissues: Real) -> Real:
    """Issue events: a pair counts once, an access with conflicts or divergence once more."""
    singles = instructions - 2 * dual_pairs  # eq. 3.6
    return singles + dual_pairs + reissues   # eq. 3.6


def space_cycles(items: Real, residence: Real, capacity: Real) -> Real:
    """Cycles one warp occupies a store of `capacity` items, holding `items` of them for `residence` each.

    Named but not worked out in the thesis: the limit on outstanding transactions
    (chapter 8, after Shebanow's space limiters), by Little's law.
    """
    return np.divide(np.multiply(items, residence), capacity)  # eq. 8


@dataclass(frozen=True)
class Instruction:
    """One instruction of a warp, in program order."""

    name: str
    waits: tuple[tuple[int, float], ...] = ()  # (index of producer, register dependency latency) [1, cycle]
    gap: float = 0.0                           # ILP latency: least distance to the next issue     [cycle]
    loads: bool = False                        # a load, which never pairs with another load


def dual_pairs(program: Sequence[Instruction]) -> list[tuple[int, int]]:
    """Pairs issued together: greedy in program order, no dependence inside a pair, no two loads."""
    pairs, i = [], 0
    while i + 1 < len(program):
        first, second = program[i], program[i + 1]
        dependent = any(producer == i for producer, _ in second.waits)
        if dependent or (first.loads and second.loads):
            i += 1
        else:
            pairs.append((i, i + 1))
            i += 2
    return pairs


def issue_times(
    program: Sequence[Instruction], pairs: Sequence[tuple[int, int]] = ()
) -> NDArray[np.float64]:
    """Issue cycle of each instruction; the second of a pair may go with the first."""
    together = {second for _, second in pairs}
    times: list[float] = []
    for i, instruction in enumerate(program):
        gap = 0.0 if i in together or i == 0 else program[i - 1].gap
        in_order = times[-1] + gap if times else 0.0                                # eq. 3.7
        operands = [times[p] + latency for p, latency in instruction.waits]         # eq. 3.7
        times.append(max([in_order, *operands]))                                    # eq. 3.7
    return np.array(times)


def latency_bound(
    program: Sequence[Instruction],
    pairs: Sequence[tuple[int, int]] = (),
    termination: float = 0.0,
) -> float:
    """Least latency of a warp, cycles: its last issue plus the time to replace its block."""
    return float(issue_times(program, pairs)[-1]) + termination  # eq. 3.8


def after_barrier(arrivals: Sequence[float], barrier_latency: float) -> float:
    """Issue cycle of what follows a barrier that the block's warps reach at `arrivals`."""
    return max(arrivals) + barrier_latency  # eq. 3.7


def mean_latency(blocks: Sequence[Sequence[float]]) -> float:
    """Mean warp latency when every warp is held until the last one of its block ends."""
    longest = [max(warps) for warps in blocks for _ in warps]  # eq. 3.7
    return sum(longest) / len(longest)                         # eq. 3.7


def latency_per_transaction(diverged: Real, coalesced: Real, coalesced_transactions: Real) -> Real:
    """Extra cycles per transaction, from a fully diverged access (32 of them) and a coalesced one."""
    return (diverged - coalesced) / (32.0 - coalesced_transactions)  # eq. 6.7
