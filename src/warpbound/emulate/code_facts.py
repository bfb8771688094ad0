"""Facts of a kernel's code that the emulator needs, found once for all its launches."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.launch_memory import stack_bytes
from warpbound.emulate.livelock import polls, writes
from warpbound.emulate.value_dependence import draws_work_from_counter
from warpbound.program.instruction import RZ, Instruction
from warpbound.program.kernel import Program
from warpbound.program.registers import lane_bytes

Banks = Mapping[int, NDArray[np.uint32]]
Place = tuple[int, int, int]  # bank, first word, last word + 1
_WIDE = 8  # registers of one operand, where the compiler's own number is not known
ANY = -1  # represents every bank and for every word


class CodeFacts:
    """Facts about the code of one kernel."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.translated: dict[object, Any] = {}  # for another engine, by the addresses that the code holds

    @cached_property
    def polls(self) -> list[bool]:
        """Of each instruction, whether a loop around it may wait for other threads."""
        return [polls(instruction) for instruction in self.program.instructions]

    @cached_property
    def writes(self) -> list[bool]:
        """Of each instruction, whether it may change memory or a barrier."""
        return [writes(instruction) for instruction in self.program.instructions]

    @cached_property
    def marked(self) -> list[bool]:
        """Of each instruction, whether it polls or writes."""
        return [any(pair) for pair in zip(self.polls, self.writes, strict=True)]

    @cached_property
    def meeting(self) -> frozenset[int]:
        """The instructions at which the lanes of a warp meet again."""
        return frozenset(i for i, x in enumerate(self.program.instructions) if x.traits.reconverges)

    @cached_property
    def registers(self) -> int:
        """Registers of a lane, up to the last one that an instruction with several registers reaches."""
        return max(self.program.registers, self._reached("register", 1 if self.program.registers else _WIDE))

    @cached_property
    def uniform_registers(self) -> int:
        """Uniform registers of a warp, counted in the same way."""
        return max(8, self._reached("uniform", _WIDE))

    def _reached(self, kind: str, more: int) -> int:
        operands = (x for each in self.program.instructions for y in each.operands for x in (y, *y.terms))
        return max((x.index + more for x in operands if x.kind == kind and x.index < RZ), default=0)

    @cached_property
    def stack_B(self) -> int:
        """Local memory per thread."""
        return stack_bytes(self.program)

    @cached_property
    def draws_work(self) -> bool:
        """Whether the blocks draw their work from a counter."""
        return draws_work_from_counter(self.program)

    @cached_property
    def constants(self) -> list[tuple[Place, ...]]:
        """The places in constant banks on which the handler of each instruction depends."""
        return [tuple(_places(instruction)) for instruction in self.program.instructions]

    def unchanged(self, before: Banks, now: Banks) -> list[bool]:
        """Of each instruction, whether the constants that its handler reads are unchanged."""
        differing = {bank: _differing(before.get(bank), now.get(bank)) for bank in {*before, *now}}

        def same(bank: int, first: int, end: int) -> bool:
            words = differing.get(bank, frozenset())
            if ANY in (bank, first) or ANY in words:
                return bank != ANY and not words
            return words.isdisjoint(range(first, end))

        return [all(same(*place) for place in places) for places in self.constants]


def _places(instruction: Instruction) -> Iterator[Place]:
    traits = instruction.traits
    if traits.kind in ("texture", "surface"):  # which the image describes
        yield ANY, ANY, ANY
    size_B = max(4, lane_bytes(instruction)) if traits.kind == "constant" else 8
    for operand in instruction.operands:
        for each in (operand, *operand.terms):
            if each.kind == "constant":
                bank, at = each.bank if isinstance(each.bank, int) else ANY, int(each.value)
                yield (bank, ANY, ANY) if each.terms else (bank, at // 4, -(-(at + size_B) // 4))


def _differing(before: Any, now: Any) -> frozenset[int]:
    """The words that differ; ANY where the banks have not the same size."""
    if before is None or now is None or len(before) != len(now):
        return frozenset([ANY])
    return frozenset(np.flatnonzero(before != now).tolist())
