"""Parses pre-Volta listings: 8-byte instructions, braces around dual-issue pairs, separate control words."""

import re
from bisect import bisect_left
from collections import defaultdict
from dataclasses import replace

from warpbound.program.instruction import Instruction, Operand, decoded_control
from warpbound.program.instruction_encoding import control_field, follows, group_size, instruction_bytes, is_paired
from warpbound.program.nvdisasm_lines import Reader, Section
from warpbound.program.operands import split_instruction

_LINE = re.compile(r"\s*/\*\s*([0-9a-f]{4,16})\s*\*/(.+)", re.I)
_REMARK = re.compile(r"/\*.*?(?:\*/|$)")  # encodings, which stand before the instruction or behind it
_ENCODING = re.compile(r"/\*\s*0x([0-9a-f]{16})\s*\*/\s*$", re.I)
_WORD = re.compile(r"\s*/\*\s*0x([0-9a-f]{16})\s*\*/\s*$", re.I)
_SPACED = re.compile(r"(\b(?:[cg]|global\d+|local|const\d*)|\])\s+\[")  # c [0x0] [0x20], as cuobjdump 4 printed it
_TRUE = re.compile(r"(?<![\w.])pt(?![\w.])")
_REJOIN = "SSY"  # instructions that set the address to which .S jumps


class EarlyReader(Reader):
    """The same for code of an architecture before 7.0."""

    def __init__(self, source: str, arch: int) -> None:
        super().__init__(source)
        self.arch = arch
        self.word: int | None = None  # the control word of the instructions that follow
        self.place = 0  # how many of them have been read
        self.inside = False  # between the braces of a pair
        self.swapped = False  # whether a control word stood where the encoding of the last instruction should

    def enter(self, section: Section | None) -> None:
        super().enter(section)
        self.word, self.inside, self.swapped = None, False, False

    def line(self, number: int, line: str) -> None:
        if (match := _LINE.match(line)) and (code := _REMARK.sub("", match[2]).strip("; \t")):
            self._word_in_its_place(match[2])
            self._early(number, int(match[1], 16), code)
        elif self.section is not None and (match := _WORD.match(line)):
            if not self.swapped:
                self.word, self.place = int(match[1], 16), 0
            self.swapped = False
        else:
            super().line(number, line)

    def _word_in_its_place(self, text: str) -> None:
        """Inside a pair cuobjdump prints the control word behind the next instruction, and its encoding after that."""
        match = _ENCODING.search(text)
        self.swapped = self.inside and self.word is not None and self.place == group_size(self.arch) and bool(match)
        if self.swapped and match:
            self.word, self.place = int(match[1], 16), 0

    def _next_address(self) -> int:
        assert self.section is not None
        instructions = self.section.instructions
        return instructions[-1].address + instruction_bytes(self.arch) if instructions else 0

    def _early(self, number: int, address: int, code: str) -> None:
        if self.section is None:
            raise self.outside(number)
        instructions = self.section.instructions
        if instructions and not follows(self.arch, instructions[-1].address, address):
            raise self.lost(number, address, self._next_address())
        text = code.removeprefix("{").removesuffix("}").strip("; \t")
        guard, opcode, modifiers, operands = split_instruction(plain(text))
        self.inside = (self.inside or code.startswith("{")) and not code.endswith("}")
        instruction = Instruction(address, opcode, modifiers, operands, text, guard=guard, place=self.place_of_source)
        self.section.instructions.append(self._controlled(replace(instruction, pairs=self.inside)))

    def _controlled(self, instruction: Instruction) -> Instruction:
        if self.word is None:
            return instruction
        field = control_field(self.arch, self.word, self.place)
        control = None if field is None else decoded_control(field)
        together = is_paired(self.arch, self.word, self.place) if control is None else control.stall == 0
        self.place += 1
        return replace(instruction, control=control, pairs=instruction.pairs or together)


def plain(text: str) -> str:
    """One instruction as later disassemblers print it."""
    return _TRUE.sub("PT", _SPACED.sub(r"\1[", text))


def rejoined(section: Section) -> Section:
    """Give jumps that leave a loop, continue it or end a divergent stretch the address that was set before.

    Source   NVIDIA, CUDA Binary Utilities, Fermi to Pascal: PBK, PCNT and SSY push an address, BRK, CONT and SYNC
             (before Maxwell: any instruction with .S) pop it. Taken as the nearest one before it in the listing.
    """
    _onto_instructions(section)
    targets: defaultdict[str, list[int]] = defaultdict(list)
    for place, instruction in enumerate(section.instructions):
        traits = instruction.traits
        if traits.kind == "target":
            targets[instruction.opcode] += [
                int(x.value) for x in instruction.operands if x.kind == "label" and x.index == 0
            ][:1]
        opener = traits.target_set_by or (_REJOIN if "S" in instruction.modifiers and traits.kind != "branch" else "")
        if opener:
            section.instructions[place] = _leading(instruction, targets[opener], section, place, opener)
    return section


def _leading(instruction: Instruction, addresses: list[int], section: Section, place: int, opener: str) -> Instruction:
    ahead = [address for address in addresses if address > instruction.address]
    targets = addresses if opener == "PCNT" else ahead
    if not targets:
        if "S" in instruction.modifiers and not instruction.traits.target_set_by:
            return instruction
        behind = section.instructions[place + 1 : place + 2]
        targets = [behind[0].address] if behind else []
    if not targets:
        return instruction
    section.labels.setdefault(f".L_{targets[-1]:x}", targets[-1])
    return replace(
        instruction, operands=(*instruction.operands, Operand("label", f"{targets[-1]:#x}", index=0, value=targets[-1]))
    )


def _onto_instructions(section: Section) -> None:
    """Addresses of control words, where labels may stand, become those of the instructions behind them."""
    addresses = [instruction.address for instruction in section.instructions]

    def behind(address: int) -> int:
        place = bisect_left(addresses, address)
        return addresses[place] if place < len(addresses) and addresses[place] - address <= 8 else address

    section.labels = {name: behind(address) for name, address in section.labels.items()}
    section.instructions = [
        replace(
            instruction,
            operands=tuple(replace(x, value=behind(int(x.value))) if _leads(x) else x for x in instruction.operands),
        )
        if any(map(_leads, instruction.operands))
        else instruction
        for instruction in section.instructions
    ]


def _leads(operand: Operand) -> bool:
    return operand.kind == "label" and operand.index == 0
