"""Parses bare SASS listings, as papers and forums print them: instructions and labels, perhaps addresses.

The code becomes one kernel called `listing`, for the requested machine.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from warpbound.errors import InputError
from warpbound.isa.opcodes import opcode_facts
from warpbound.machine import Gpu
from warpbound.program.instruction import Control, Instruction, Operand
from warpbound.program.instruction_encoding import follows, instruction_bytes
from warpbound.program.jump_targets import label_targets, leads
from warpbound.program.nvdisasm_lines import Section
from warpbound.program.nvdisasm_listing import Listing, finished, reader_of
from warpbound.quick_dataclasses import dataclass

KERNEL = "listing"

_TOLD = re.compile(r"^[^\S\n]*(?:\.target\s|\.section\s|Function\s*:)|__global__|^[^\S\n]*#\s*include", re.M)
_ADDRESS = re.compile(r"(?:/\*\s*(?:0x)?([0-9a-f]{2,16})\s*\*/|(0x[0-9a-f]+|\d[0-9a-f]{3,15}):?(?=\s))\s*", re.I)
_LABEL = re.compile(r"([.$A-Za-z_][.$\w]*)\s?:\s*")
_CODE = re.compile(r"(?:@!?(?:U?P[T\d]|C\d\.\w+)\s+)?([A-Z][A-Z0-9_]*)((?:\.\w+)*)(?=\s|$)[^;{}]*$")
_ENCODING = re.compile(r"/\*\s*(0x[0-9a-f]{16})\s*\*/", re.I)
_REMARK = re.compile(r"//.*|#.*|/\*(?!\s*(?:0x)?[0-9a-f]+\s*\*/).*?(?:\*/|$)", re.I)
_CONTROL = re.compile(r"\[?B([0-5-]{6}):R([0-5-]):W([0-5-]):([Y-]):S(\d\d)\]?\s*")
_ENOUGH = 0.8  # the part of the lines that must be known instructions or labels for a text to be a listing


@dataclass(frozen=True)
class _Line:
    """The parts of one line; missing parts are empty."""

    number: int
    control: re.Match[str] | None
    address: int | None
    label: str
    code: str
    encoding: str
    opens: bool  # with the brace that begins a pair
    closes: bool

    @property
    def mnemonic(self) -> tuple[str, tuple[str, ...]] | None:
        """Opcode and modifiers; None where the code has not the form of an instruction."""
        match = _CODE.match(self.code)
        return (match[1], tuple(match[2].split(".")[1:])) if match else None


def is_raw_sass(text: str, machine: Gpu) -> bool:
    """Whether a text is mostly instructions and names neither a kernel nor an architecture."""
    if _TOLD.search(text):
        return False
    lines = [line for line in _lines(text) if line.code or line.label]
    mnemonics = [line.mnemonic for line in lines if line.mnemonic]
    good = sum(opcode_facts(*opcode, machine.arch).is_known for opcode in mnemonics)
    return good > 0 and good + sum(not line.code for line in lines) >= _ENOUGH * len(lines)


def read_bare(text: str, source: str, machine: Gpu) -> Listing:
    """One section of instructions, numbered anew from address 0.

    Raises InputError where a line is no instruction, lines are lost or a jump leads nowhere.
    """
    arch, size = machine.arch, instruction_bytes(machine.arch)
    reader, section = reader_of(arch, source), Section(KERNEL, 1)
    reader.enter(section)
    new_addresses: dict[int, int] = {}  # address as printed -> address here
    last: int | None = None
    for line in _lines(text):
        here = size * len(section.instructions)
        if line.label:
            section.labels[line.label] = here
        if line.code:
            if line.mnemonic is None:
                raise _no_instruction(line, source)
            if line.address is not None:
                if last is not None and not follows(arch, last, line.address):
                    raise InputError(
                        f"{source}, line {line.number}: address {line.address:#x} where {last + size:#x} was due.",
                        "The listing has lost or repeated lines; give all of it.",
                    )
                last = line.address
                new_addresses[line.address] = here
            brace, unbrace = "{ " * line.opens, " }" * line.closes
            reader.line(line.number, f"/*{here:04x}*/ {brace}{line.code} ;{unbrace} {line.encoding}")
            if line.control:
                section.instructions[-1] = replace(section.instructions[-1], control=_control(line.control))
        elif line.encoding:
            reader.line(line.number, line.encoding)
    section.instructions = [_led(instruction, section, new_addresses, source) for instruction in section.instructions]
    return Listing(arch, "", (label_targets(finished(section, arch)),))


def _no_instruction(line: _Line, source: str) -> InputError:
    return InputError(
        f"{source}, line {line.number}: `{line.code[:40]}` is not an instruction.",
        "Give instructions, labels and comments (//) only, one a line and none left out.",
    )


def _lines(text: str) -> Iterator[_Line]:
    for number, whole in enumerate(text.splitlines(), start=1):
        line = _REMARK.sub("", whole).strip()
        encoding = _ENCODING.search(line)
        line = _ENCODING.sub("", line).strip()
        control = _CONTROL.match(line)
        line = line[control.end() :] if control else line
        address = _ADDRESS.match(line)
        line = line[address.end() :] if address else line
        label = _LABEL.match(line)
        braced = (line[label.end() :] if label else line).strip("; \t")
        code = braced.removeprefix("{").removesuffix("}").strip("; \t")
        place = int(address[1] or address[2], 16) if address else None
        yield _Line(
            number,
            control,
            place,
            label[1] if label else "",
            code,
            f"/* {encoding[1]} */" if encoding else "",
            opens=braced.startswith("{"),
            closes=braced.endswith("}") and not re.search(r"\{[\d,]*\}$", braced),
        )


def _control(match: re.Match[str]) -> Control:
    """The control word as assemblers of the community write it: B01----:R-:W2:Y:S04."""
    wait, read_scoreboard, write_scoreboard, yields, stall = match.groups()
    return Control(
        stall=int(stall) & 15,
        yields=yields == "Y",
        write_scoreboard=None if write_scoreboard == "-" else int(write_scoreboard),
        read_scoreboard=None if read_scoreboard == "-" else int(read_scoreboard),
        wait=tuple(int(board) for board in wait if board != "-"),
        reuse=0,
    )


def _place_of(address: int, new_addresses: dict[int, int], section: Section) -> int | None:
    """New address of a printed one; a control word's address becomes that of the instruction behind it."""
    early = len(section.instructions) > 1 and section.instructions[1].address == 8
    return new_addresses.get(address, new_addresses.get(address + 8) if early else None)


def _led(instruction: Instruction, section: Section, new_addresses: dict[int, int], source: str) -> Instruction:
    """Jumps to labels by their bare names, and to addresses as they were printed."""
    if not leads(instruction) or instruction.opcode == "RET":
        return instruction
    operands = list(instruction.operands)
    for i, operand in enumerate(operands):
        if operand.kind == "other" and operand.text.strip("`'()") in section.labels:
            operands[i] = Operand("label", operand.text, index=0, value=section.labels[operand.text.strip("`'()")])
        elif operand.kind == "immediate" and i == len(operands) - 1:
            target = _place_of(int(operand.value), new_addresses, section) if new_addresses else int(operand.value)
            size = section.instructions[1].address if len(section.instructions) > 1 else 16
            if target is None or not 0 <= target < size * len(section.instructions) or target % size:
                raise InputError(
                    f"{source}: `{instruction.text}` leads to {operand.text}, where no instruction is.",
                    "Give the whole listing, with its addresses or with labels.",
                )
            operands[i] = replace(operand, value=target)
    if not any(x.kind in ("label", "immediate", "register") for x in operands):
        raise InputError(
            f"{source}: `{instruction.text}` leads to no label of the listing.", "Give the line with its label."
        )
    return replace(instruction, operands=tuple(operands))
