"""A listing as nvdisasm prints it (`-c`, best with `-hex -gi`) into sections of instructions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from warpbound.errors import InputError
from warpbound.program.instruction import Instruction, Operand, Place, control_word
from warpbound.program.operands import split_instruction

FIRST_ARCH = 70  # the first with 128-bit instructions that carry their own control word

_TARGET = re.compile(r"^\s*\.target\s+sm_(\d+)([af]?)")
_SECTION = re.compile(r'^\s*\.section\s+"?\.text\.([^",]+)')
_OTHER_SECTION = re.compile(r"^\s*\.section\s")
_LABEL = re.compile(r"^([.$\w]+):")
_INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;\s*(?:/\*\s*0x([0-9a-f]{16})\s*\*/)?\s*$")
_HIGH_WORD = re.compile(r"^\s*/\*\s*0x([0-9a-f]{16})\s*\*/\s*$")
_PLACE = re.compile(r'File "([^"]*)", line (\d+)')
_REGISTERS = re.compile(r"SHI_REGISTERS=(\d+)")
_ENTRY = re.compile(r'^\s*\.other\s+([^,]+),@"[^"]*STO_CUDA_ENTRY')
_TABLE = "BRANCH_TARGETS"  # what nvdisasm says behind an indirect branch
_TARGET_NAME = re.compile(r"`\(([^)@\s]+)")


@dataclass
class Section:
    """One `.text` section of a listing while it is read; resources are None where the listing does not say."""

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
        """Addresses of the device functions that stand behind the kernel in its section."""
        return frozenset(at for name, at in self.labels.items() if not name.startswith(".") and at)


@dataclass(frozen=True)
class Listing:
    """What a listing holds: its architecture (90 for sm_90) and its sections in order."""

    arch: int | None
    variant: str
    sections: tuple[Section, ...]


def read_listing(text: str, source: str) -> Listing:
    """Parse a whole listing; `source` names it in errors.

    Raises InputError where an instruction line stands outside any section, where the addresses of a
    section jump, or where no instruction is found.
    """
    arch, variant = None, ""
    sections: list[Section] = []
    reading = Reader(source)
    for number, line in enumerate(text.splitlines(), start=1):
        if found := _TARGET.match(line):
            arch, variant = understood(int(found[1]), source), found[2]
        elif found := _SECTION.match(line):
            sections.append(Section(found[1].strip(), number))
            reading.enter(sections[-1])
        elif _OTHER_SECTION.match(line):
            reading.enter(None)
        else:
            reading.line(number, line)
    if not any(section.instructions for section in sections):
        raise InputError(
            f"{source}: no instruction found.",
            "A listing must be what `nvdisasm -c -hex` prints, with its .section lines.",
        )
    return Listing(arch, variant, tuple(resolve(section) for section in sections))


def understood(arch: int, source: str) -> int:
    """The architecture, where its instructions can be read. Raises InputError for those before Volta."""
    if arch < FIRST_ARCH:
        raise InputError(
            f"{source} is a listing for sm_{arch}, whose instructions are of another form.",
            f"Give the source, or a listing for sm_{FIRST_ARCH} or later.",
        )
    return arch


class Reader:
    """The state between two lines of a section: where we are in the source, the instruction still open."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.section: Section | None = None
        self.place: Place | None = None
        self.place_open = False
        self.low: int | None = None

    def enter(self, section: Section | None) -> None:
        """What follows belongs to another section, or to none that matters."""
        self.section, self.place, self.low = section, None, None

    def line(self, number: int, line: str) -> None:
        """Take in the next line of the listing."""
        if found := _INSTRUCTION.match(line):
            self._instruction(number, found)
        elif self.section is None:
            return
        elif (found := _HIGH_WORD.match(line)) and self.low is not None:
            self._high_word(int(found[1], 16))
        elif "//##" in line:
            self._source_line(line)
        elif found := _LABEL.match(line):
            self.section.labels[found[1]] = self._next_address()
        elif found := _REGISTERS.search(line):
            self.section.registers = int(found[1])
        elif (found := _ENTRY.match(line)) and found[1].strip() == self.section.name:
            self.section.entry = True

    def _next_address(self) -> int:
        assert self.section is not None
        done = self.section.instructions
        return done[-1].address + 16 if done else 0

    def _instruction(self, number: int, found: re.Match[str]) -> None:
        if self.section is None:
            raise InputError(
                f"{self.source}, line {number}: an instruction outside any .text section.",
                "Keep the .section lines that nvdisasm prints, so that kernels can be told apart.",
            )
        address, expected = int(found[1], 16), self._next_address()
        if address != expected:
            raise InputError(
                f"{self.source}, line {number}: address {address:#x} where {expected:#x} was due.",
                "The listing has lost or repeated lines; print it again.",
            )
        guard, opcode, modifiers, operands = split_instruction(found[2])
        self.low = int(found[3], 16) if found[3] else None
        self.place_open = False
        self.section.instructions.append(
            Instruction(address, opcode, modifiers, operands, found[2], guard=guard, place=self.place)
        )

    def _high_word(self, high: int) -> None:
        assert self.section is not None
        assert self.low is not None
        last = self.section.instructions[-1]
        self.section.instructions[-1] = replace(last, control=control_word(high), encoding=(self.low, high))
        self.low = None

    def _source_line(self, line: str) -> None:
        """One `//##` line per level of inlining, the innermost first; each says where it was inlined itself."""
        found = _PLACE.search(line)
        if found:
            place = Place(found[1], int(found[2]))
            self.place = _wrap(self.place, place) if self.place_open else place
            self.place_open = True


def _wrap(inner: Place | None, outer: Place) -> Place:
    """`inner` with `outer` put around its outermost level."""
    return outer if inner is None else Place(inner.file, inner.line, _wrap(inner.outer, outer))


def resolve(section: Section) -> Section:
    """Give every label operand the address it stands for."""
    section.instructions = [
        replace(one, operands=tuple(_addressed(section, x) for x in one.operands))
        if any(x.kind == "label" or _TABLE in x.text for x in one.operands)
        else one
        for one in section.instructions
    ]
    return section


def _addressed(section: Section, operand: Operand) -> Operand:
    if _TABLE in operand.text:
        names = re.findall(r"[.$\w]+", operand.text.partition(_TABLE)[2])
        known = ((name, section.labels[name]) for name in names if name in section.labels)
        targets = tuple(Operand("label", name, index=0, value=address) for name, address in known)
        return replace(operand, kind="targets", terms=targets)
    found = _TARGET_NAME.search(operand.text)
    address = section.labels.get(found[1]) if operand.kind == "label" and found else None
    return operand if address is None else replace(operand, value=address, index=0)


def kernels(listing: Listing) -> Iterator[Section]:
    """The sections that can be launched: those marked as entries, or all when none is marked."""
    marked = [section for section in listing.sections if section.entry]
    yield from marked or (section for section in listing.sections if section.instructions)
