"""Registers that each instruction of a kernel reads and writes, as bit sets in Python integers."""

from collections.abc import Iterable, Sequence

from warpbound.program.instruction import Instruction
from warpbound.program.registers import reads, writes
from warpbound.quick_dataclasses import dataclass


@dataclass(frozen=True)
class RegisterSets:
    """bits : name of a register -> its bit. reads, writes : the sets of each instruction, in order."""

    bits: dict[str, int]
    reads: tuple[int, ...]
    writes: tuple[int, ...]

    def of(self, names: Iterable[str]) -> int:
        """The set of those names; one that no instruction reads or writes is in no set."""
        return sum(self.bits.get(name, 0) for name in set(names))


def register_sets(instructions: Sequence[Instruction]) -> RegisterSets:
    """The sets of a kernel's instructions, and the bits that represent its registers."""
    bits: dict[str, int] = {}

    def as_set(names: tuple[str, ...]) -> int:
        bit_set = 0
        for name in names:
            bit_set |= bits.setdefault(name, 1 << len(bits))
        return bit_set

    both = [(as_set(reads(instruction)), as_set(writes(instruction))) for instruction in instructions]
    return RegisterSets(bits, tuple(inputs for inputs, _ in both), tuple(outputs for _, outputs in both))
