"""Parses a listing that nvdisasm prints (`-c`, best with `-hex -gi`) into sections of instructions."""

import re
from collections.abc import Iterator
from dataclasses import replace

from warpbound.errors import InputError
from warpbound.program.instruction import Operand
from warpbound.program.instruction_encoding import FIRST_WITH_OWN_WORDS
from warpbound.program.jump_targets import label_targets
from warpbound.program.nvdisasm_lines import Reader, Section
from warpbound.program.pre_volta_sass import EarlyReader, rejoined
from warpbound.quick_dataclasses import dataclass

_TARGET = re.compile(r"^\s*\.target\s+sm_(\d+)([af]?)")
_SECTION = re.compile(r'^\s*\.section\s+"?\.text\.([^",]+)')
_OTHER_SECTION = re.compile(r"^\s*\.section\s")
_TABLE = "BRANCH_TARGETS"  # what nvdisasm states behind an indirect branch
_TARGET_NAME = re.compile(r"`\(([^)@\s]+)")


@dataclass(frozen=True)
class Listing:
    """A parsed listing: architecture (90 for sm_90) and sections in order."""

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
        if match := _TARGET.match(line):
            arch, variant = int(match[1]), match[2]
            reading = reader_of(arch, source)
        elif match := _SECTION.match(line):
            sections.append(Section(match[1].strip(), number))
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
    return Listing(arch, variant, tuple(finished(section, arch) for section in sections))


def reader_of(arch: int, source: str) -> Reader:
    """What reads the lines of code for an architecture; `source` names the listing in errors."""
    return Reader(source) if arch >= FIRST_WITH_OWN_WORDS else EarlyReader(source, arch)


def finished(section: Section, arch: int | None) -> Section:
    """The section with its labels and addresses resolved to targets."""
    if arch is None or arch >= FIRST_WITH_OWN_WORDS:
        return resolve(section)
    return rejoined(label_targets(resolve(section)))


def resolve(section: Section) -> Section:
    """Resolve every label operand to its address."""
    section.instructions = [
        replace(instruction, operands=tuple(_addressed(section, x) for x in instruction.operands))
        if any(x.kind == "label" or _TABLE in x.text for x in instruction.operands)
        else instruction
        for instruction in section.instructions
    ]
    return section


def _addressed(section: Section, operand: Operand) -> Operand:
    if _TABLE in operand.text:
        names = re.findall(r"[.$\w]+", operand.text.partition(_TABLE)[2])
        addresses = ((name, section.labels[name]) for name in names if name in section.labels)
        targets = tuple(Operand("label", name, index=0, value=address) for name, address in addresses)
        return replace(operand, kind="targets", terms=targets)
    match = _TARGET_NAME.search(operand.text)
    address = section.labels.get(match[1]) if operand.kind == "label" and match else None
    return operand if address is None else replace(operand, value=address, index=0)


def kernels(listing: Listing) -> Iterator[Section]:
    """The sections that can be launched: those marked as entries, or all when none is marked."""
    entries = [section for section in listing.sections if section.entry]
    yield from entries or (section for section in listing.sections if section.instructions)
