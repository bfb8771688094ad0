"""Control dependence: the code between a branch and the place where its two sides meet again.

Source   Control dependence by post-dominators: J. Ferrante, K. Ottenstein and J. Warren, TOPLAS 9, 1987.
"""

from functools import cached_property

from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program

_OUTSIDE = ("texture", "surface", "bulk_copy", "tensor_memory")  # kinds that go to memory without an address operand


class ControlDependence:
    """The regions that the branches of a program decide about."""

    def __init__(self, program: Program) -> None:
        self.program = program

    @cached_property
    def block_of(self) -> list[int]:
        """Number of the basic block of each instruction."""
        numbers = [0] * len(self.program.instructions)
        for number, block in enumerate(self.program.flow.blocks):
            numbers[block.first : block.last] = [number] * (block.last - block.first)
        return numbers

    def decided_by(self, at: int) -> tuple[frozenset[int], int | None]:
        """The instructions that a branch decides about, and the one where its sides meet; None if they do not."""
        blocks = self.program.flow.blocks
        start = self.block_of[at]
        meet = self._meeting(start)
        inside, pending = set[int](), [number for number in blocks[start].follows if number != meet]
        while pending:
            number = pending.pop()
            if number not in inside:
                inside.add(number)
                pending += [other for other in blocks[number].follows if other != meet]
        region = frozenset(i for number in inside for i in range(blocks[number].first, blocks[number].last))
        return region, None if meet is None else blocks[meet].first

    def _meeting(self, start: int) -> int | None:
        """The nearest block that every path from `start` to the kernel's end passes."""
        node = self.post_dominators.get(start)
        return node if node is not None and node >= 0 else None

    @cached_property
    def post_dominators(self) -> dict[int, int]:
        """Immediate post-dominator of each reachable block; -1 is the end of the kernel."""
        blocks = self.program.flow.blocks
        reachable = sorted(self.program.flow.reachable)
        everything = frozenset({*reachable, -1})
        sets = {number: everything for number in reachable} | {-1: frozenset({-1})}
        changed = True
        while changed:
            changed = False
            for number in reversed(reachable):
                after = [sets[other] for other in blocks[number].follows] or [sets[-1]]
                if self.program.instructions[blocks[number].last - 1].traits.is_exit:
                    after.append(sets[-1])
                now = frozenset({number}).union(frozenset.intersection(*after))
                if now != sets[number]:
                    sets[number], changed = now, True
        return {
            number: max(sets[number] - {number}, key=lambda other: len(sets[other]), default=-1) for number in reachable
        }

    def matters(self, at: int) -> bool:
        """Whether the branch, guarded exit, call or return `at` decides about more than some arithmetic: a loop, an
        access to memory, a barrier."""
        code, kind = self.program.instructions, self.program.instructions[at].traits.kind
        if kind in ("call", "return"):
            return False
        region, _ = self.decided_by(at)
        return at in region or any(_lasts(code[i]) for i in region)


def _lasts(instruction: Instruction) -> bool:
    """Whether an instruction takes long enough for a branch around it to matter: memory, barriers."""
    traits = instruction.traits
    return bool(set(traits.spaces) - {"constant"}) or traits.kind in _OUTSIDE or traits.is_block_barrier
