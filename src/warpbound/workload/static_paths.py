"""Paths of a warp from the code alone: one path through the kernel, and its loops."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from warpbound.program import Program
from warpbound.program.control_flow import Loop, always, calls
from warpbound.program.instruction import Instruction
from warpbound.quick_dataclasses import dataclass
from warpbound.workload.loop_paths import LoopPaths

DEEPEST_CALL = 8
LONGEST_OF_CALLS = 20_000  # instructions to which calls may lengthen a path; further calls are not followed
NOTE = "branches: the longer side, every loop once, slow paths of division and square root left out"


@dataclass(frozen=True)
class LoopPath:
    """One loop: the instructions of an iteration in order, its depth, its first and last source line."""

    number: int
    depth: int
    parent: int | None
    stream: tuple[int, ...]
    lines: tuple[int, int]
    innermost: bool


def whole(program: Program) -> tuple[int, ...]:
    """Instruction indices along the longest path through the kernel, loops once."""
    if not program.instructions:
        return ()
    calls_followed = _Calls(program, _loop_paths(program))
    return calls_followed.stream(calls_followed.paths.whole(0), 0)


def loops(program: Program) -> tuple[LoopPath, ...]:
    """Every loop of the kernel, outermost first; an iteration of an outer loop runs inner loops once."""
    nests = program.flow.loops
    inner = {loop.parent for loop in nests}
    calls_followed = _Calls(program, _loop_paths(program))
    return tuple(
        LoopPath(
            number=number,
            depth=loop.depth,
            parent=loop.parent,
            stream=calls_followed.stream(calls_followed.paths.once(number), 0),
            lines=_lines(program, loop),
            innermost=number not in inner,
        )
        for number, loop in enumerate(nests)
    )


def between_barriers(program: Program, loop: LoopPath) -> tuple[tuple[int, ...], ...]:
    """The stretches of one iteration that end at a barrier of the block, in order.

    What follows the last barrier belongs to the first stretch of the next iteration. None where no barrier is met, or
    where an inner loop meets one: its own iterations are divided then.
    """
    stops = [n for n, index in enumerate(loop.stream) if program.instructions[index].traits.is_block_barrier]
    if not stops:
        return ()
    inside = {index for inner in loops(program) if inner.parent == loop.number for index in inner.stream}
    if any(loop.stream[n] in inside for n in stops):
        return ()
    turned = (*loop.stream[stops[-1] + 1 :], *loop.stream[: stops[-1] + 1])
    lasting = np.diff([-1, *stops]) + [len(loop.stream) - 1 - stops[-1], *[0] * (len(stops) - 1)]
    ends = np.cumsum(lasting).tolist()
    return tuple(turned[begin:end] for begin, end in pairwise([0, *ends]))


def _loop_paths(program: Program) -> LoopPaths:
    graph = program.flow
    return LoopPaths(
        graph,
        weights=tuple(float(block.last - block.first) for block in graph.blocks),
        avoid=_slow_paths(program),
        ends=frozenset(
            n for n, block in enumerate(graph.blocks) if program.instructions[block.last - 1].traits.is_exit
        ),
    )


class _Calls:
    """Paths through a kernel with the instructions of the called functions in place of the calls.

    Omits    calls deeper than DEEPEST_CALL, and those that would lengthen a path beyond LONGEST_OF_CALLS instructions.
    """

    def __init__(self, program: Program, paths: LoopPaths) -> None:
        self.program, self.paths = program, paths
        self._starts = {program.instructions[block.first].address: i for i, block in enumerate(program.flow.blocks)}
        self._functions: dict[tuple[int, int], tuple[int, ...]] = {}

    def stream(self, path: Sequence[int], depth: int) -> tuple[int, ...]:
        """Instructions of the blocks on a path, and of the functions that they call."""
        stream: list[int] = []
        blocks = self.paths.graph.blocks
        for block in path:
            for index in range(blocks[block].first, blocks[block].last):
                stream.append(index)
                callee = self._callee(self.program.instructions[index])
                if callee is not None and depth < DEEPEST_CALL:
                    body = self._function(callee, depth + 1)
                    stream += body if len(stream) + len(body) <= LONGEST_OF_CALLS else ()
        return tuple(stream)

    def _function(self, block: int, depth: int) -> tuple[int, ...]:
        """The path through a function, the same for all calls from one depth."""
        if (block, depth) not in self._functions:
            self._functions[block, depth] = self.stream(self.paths.whole(block), depth)
        return self._functions[block, depth]

    def _callee(self, instruction: Instruction) -> int | None:
        """First block of the called function, if it is the user's own and in this kernel."""
        if not calls(instruction) or _is_slow(instruction) or not always(instruction):
            return None
        targets = [int(x.value) for x in instruction.operands if x.kind == "label" and x.index == 0]
        return self._starts.get(targets[0]) if targets else None


def _slow_paths(program: Program) -> frozenset[int]:
    """Blocks that call the compiler's own subroutines (odd divisors and the like), or a failed assertion's."""
    return frozenset(
        number
        for number, block in enumerate(program.flow.blocks)
        if any(_is_slow(instruction) for instruction in program.instructions[block.first : block.last])
    )


def _is_slow(instruction: Instruction) -> bool:
    return (
        calls(instruction) and ("$__internal" in instruction.text or "__assertfail" in instruction.text)
    ) or instruction.traits.kind == "trap"


def _lines(program: Program, loop: Loop) -> tuple[int, int]:
    """First and last source line of a loop's instructions, in the kernel's own file; (0, 0) when unknown."""
    return line_span([program.instructions[i] for b in loop.blocks for i in _range(program, b)])


def _range(program: Program, block: int) -> range:
    return range(program.flow.blocks[block].first, program.flow.blocks[block].last)


def line_span(instructions: Sequence[Instruction]) -> tuple[int, int]:
    """First and last line, in the file most instructions come from."""
    main = main_file(instructions)
    lines = [each.place.outermost.line for each in instructions if each.place and each.place.outermost.file == main]
    return (min(lines), max(lines)) if lines else (0, 0)


def main_file(instructions: Sequence[Instruction]) -> str:
    """The file most instructions come from; empty where none is known."""
    files = [each.place.outermost.file for each in instructions if each.place]
    return max(sorted(set(files)), key=files.count, default="")
