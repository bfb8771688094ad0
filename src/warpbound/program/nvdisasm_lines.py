"""Parses lines that nvdisasm prints (`-c`, best with `-hex -gi`) into the instructions of a section."""

import re
from dataclasses import dataclass, field, replace

from warpbound.errors import InputError
from warpbound.program.instruction import Instruction, Place, control_word
from warpbound.program.operands import split_instruction

_LABEL = re.compile(r"^([.$\w]+):")
_INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(\S[^;]*)?;\s*(?:/\*\s*0x([0-9a-f]{16})\s*\*/)?\s*$")
_HIGH_WORD = re.compile(r"^\s*/\*\s*0x([0-9a-f]{16})\s*\*/\s*$")
_PLACE = re.compile(r'File "([^"]*)", line (\d+)')
_REGISTERS = re.compile(r"SHI_REGISTERS=(\d+)")
_ENTRY = re.compile(r'^\s*\.other\s+([^,]+),@"[^"]*STO_CUDA_ENTRY')


@dataclass
class Section:
    """One `.text` section of a listing while it is parsed; resources that the listing does not contain are None."""

    name: str
    line: int
    entry: bool = False
    registers: int | None = None
    shared_bytes: int | None = None
    local_bytes: int = 0
    labels: dict[str, int] = field(default_factory=dict)
    instructions: list[Instruction] = field(default_factory=list)

    @property
    def functions(self) -> frozenset[int]:
        """Addresses of the device functions behind the kernel in its section."""
        return frozenset(at for name, at in self.labels.items() if not name.startswith(".") and at)


class Reader:
    """The state between two lines of a section: the place in the source, the instruction still open."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.section: Section | None = None
        self.place_of_source: Place | None = None
        self.place_open = False
        self.low: int | None = None

    def enter(self, section: Section | None) -> None:
        """The following lines belong to another section, or to one that is not read."""
        self.section, self.place_of_source, self.low = section, None, None

    def line(self, number: int, line: str) -> None:
        """Take in the next line of the listing."""
        if match := _INSTRUCTION.match(line):
            self._instruction(number, match)
        elif self.section is None:
            return
        elif (match := _HIGH_WORD.match(line)) and self.low is not None:
            self._high_word(int(match[1], 16))
        elif "//##" in line:
            self._source_line(line)
        elif match := _LABEL.match(line):
            self.section.labels[match[1]] = self._next_address()
        elif match := _REGISTERS.search(line):
            self.section.registers = int(match[1])
        elif (match := _ENTRY.match(line)) and match[1].strip() == self.section.name:
            self.section.entry = True

    def outside(self, number: int) -> InputError:
        """The error for an instruction outside any kernel."""
        return InputError(
            f"{self.source}, line {number}: an instruction outside any .text section.",
            "Keep the .section lines that nvdisasm prints, so that kernels can be distinguished.",
        )

    def lost(self, number: int, address: int, due: int) -> InputError:
        """The error for an address that does not follow the one before."""
        return InputError(
            f"{self.source}, line {number}: address {address:#x} where {due:#x} was due.",
            "The listing has lost or repeated lines; print it again.",
        )

    def _next_address(self) -> int:
        assert self.section is not None
        instructions = self.section.instructions
        return instructions[-1].address + 16 if instructions else 0

    def _instruction(self, number: int, match: re.Match[str]) -> None:
        if self.section is None:
            raise self.outside(number)
        address, next_address = int(match[1], 16), self._next_address()
        if address != next_address:
            raise self.lost(number, address, next_address)
        text = (match[2] or "").rstrip()
        guard, opcode, modifiers, operands = split_instruction(text)
        self.low = int(match[3], 16) if match[3] else None
        self.place_open = False
        self.section.instructions.append(
            Instruction(address, opcode, modifiers, operands, text, guard=guard, place=self.place_of_source)
        )

    def _high_word(self, high: int) -> None:
        assert self.section is not None
        assert self.low is not None
        last = self.section.instructions[-1]
        self.section.instructions[-1] = replace(last, control=control_word(high), encoding=(self.low, high))
        self.low = None

    def _source_line(self, line: str) -> None:
        """One `//##` line per level of inlining, the innermost first; each states where it was inlined itself."""
        match = _PLACE.search(line)
        if match:
            place = Place(match[1], int(match[2]))
            self.place_of_source = _wrap(self.place_of_source, place) if self.place_open else place
            self.place_open = True


def _wrap(inner: Place | None, outer: Place) -> Place:
    """`inner` with `outer` put around its outermost level."""
    return outer if inner is None else Place(inner.file, inner.line, _wrap(inner.outer, outer))
