"""The path of some blocks with sums that tell, at every jump back to a loop, what each warp has executed by then.

A sum weights every instruction with a random odd number of 64 bits: equal sums are equal counts, but for a chance of
2**-60. One sum counts executions, the other the lanes that take part. The emulator's counts give the same sums.
"""

import math

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.block_hashes import odd_numbers
from warpbound.emulate.block_path import Path
from warpbound.emulate.broadcast_registers import Code, Mask
from warpbound.emulate.counted_iterations import CountedLoop
from warpbound.emulate.launch_memory import Memory
from warpbound.emulate.state import LANES
from warpbound.identity_cache import remember
from warpbound.kernel_launch import Launch
from warpbound.program.control_flow import always
from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program

Sums = NDArray[np.uint64]  # (2, warps): of executions, of lanes that take part
Lanes = dict[int, NDArray[np.int64]]  # by instruction: of each warp
CONTROL = ("branch", "exit", "return", "call")  # whose lanes follow from what is executed after them


@remember(1)
def weights_of(program: Program) -> Sums:
    """Weights of the instructions for both sums, (2, instructions).

    Lanes of guarded arithmetic, which has counts of its own, and of control do not count.
    """
    code = program.instructions
    weights = np.stack([odd_numbers(seed, len(code)) for seed in (1, 2)])
    for at, x in enumerate(code):
        if (not always(x) and x.traits.is_arithmetic) or x.traits.kind in CONTROL:
            weights[1, at] = 0
    return weights


class CodeWithGuards(Code):
    """Code of which the guards of arithmetic are evaluated, too; but for those of `without`."""

    def __init__(self, program: Program, memory: Memory, without: frozenset[int]) -> None:
        super().__init__(program, memory)
        self.without = without

    @property
    def uncounted(self) -> frozenset[int]:
        """The arithmetic whose guards are not evaluated."""
        return self.without


class CountedPath(Path):
    """Path of all threads of some blocks.

    arrivals : loop -> the sums of all warps, block by block, at each jump back to its first instruction. off : the same
    for the lanes that known guards of arithmetic have switched off, by instruction.
    """

    def __init__(self, code: Code, launch: Launch, blocks: NDArray[np.int64], loops: tuple[int, ...]) -> None:
        warps = -(-math.prod(launch.block) // LANES)
        super().__init__(code, launch, blocks, np.arange(warps * LANES).reshape(1, warps, LANES))
        self.weights = weights_of(code.program)
        self.before = np.concatenate([np.zeros((2, 1), np.uint64), np.cumsum(self.weights, axis=1)], axis=1)
        self.executions, self.active = np.zeros((2, len(blocks), warps), np.uint64)
        self.arrivals: dict[int, list[Sums]] = {at: [] for at in loops}
        self.off: dict[int, list[Lanes]] = {at: [] for at in loops}
        self.switched_off: Lanes = {}  # so far
        self.unknown = set[int]()  # instructions whose guards are not known

    def _arrive(self, at: int) -> None:
        if at in self.arrivals:
            self.arrivals[at].append(np.stack([self.executions.ravel(), self.active.ravel()]))
            self.off[at].append({own: lanes.ravel() for own, lanes in self.switched_off.items()})

    def _count(self, first: int, last: int, lanes: Mask) -> None:
        super()._count(first, last, lanes)
        if np.ndim(lanes):
            each = np.count_nonzero(lanes, axis=2).astype(np.uint64) * np.uint64(self.width // lanes.shape[2])
        else:
            each = np.full((1, 1), self.width, np.uint64)
        executions, active = self.before[:, last] - self.before[:, first]
        self.executions += executions * (each > 0)
        self.active += active * each

    def _count_omitted(self, loop: CountedLoop, iterations: NDArray[np.int64]) -> None:
        super()._count_omitted(loop, iterations)
        count = np.broadcast_to(iterations, (1, 1, 1)) if not np.ndim(iterations) else iterations
        executions, active = self.before[:, loop.branch + 1] - self.before[:, loop.header]
        each = count.sum(axis=2) * (self.width // count.shape[2])
        self.executions += executions * count.max(axis=2).astype(np.uint64)
        self.active += active * each.astype(np.uint64)

    def _guard(self, at: int, instruction: Instruction) -> Mask | None:
        holds = super()._guard(at, instruction)
        if holds is None:
            self.unknown.add(at)
            self.switched_off.pop(at, None)
        return holds

    def _switch_off(self, at: int, holds: Mask) -> None:
        off = np.asarray(self.x.mask & ~holds)
        lanes = np.broadcast_to(off, (len(self.length), self.warps, self.width)).sum(axis=2)
        if self.weights[1, at]:
            self.active -= self.weights[1, at] * lanes.astype(np.uint64)
        elif at not in self.unknown:
            self.switched_off[at] = self.switched_off.get(at, 0) + lanes

    def _follow_few(self, lanes: Mask, share: float) -> None:
        """All blocks continue together: they are few."""
