"""Addresses of variables inside instructions: the loader writes them into the code, as in `MOV R2, 32@lo(table)`."""

import re
from collections.abc import Mapping
from dataclasses import replace

from warpbound.program.instruction import Instruction, Operand

SYMBOL = re.compile(r"32@(lo|hi)\(\(?([\w$.]+)(?:\s*\+\s*(0x[0-9a-f]+|\d+))?\)?\)")


def with_addresses(instruction: Instruction, addresses: Mapping[str, int]) -> Instruction:
    """The instruction with the half of an address in place of each symbol that has one."""
    if not any(each.kind == "other" for each in instruction.operands):
        return instruction
    return replace(instruction, operands=tuple(_filled_in(each, addresses) for each in instruction.operands))


def symbols_of(instruction: Instruction) -> set[str]:
    """The variables whose addresses an instruction holds."""
    return {match[2] for each in instruction.operands if (match := SYMBOL.fullmatch(each.text))}


def _filled_in(operand: Operand, addresses: Mapping[str, int]) -> Operand:
    match = SYMBOL.fullmatch(operand.text)
    if match is None or match[2] not in addresses:
        return operand
    address = addresses[match[2]] + int(match[3] or "0", 0)
    half = address & 0xFFFF_FFFF if match[1] == "lo" else address >> 32
    return Operand("immediate", operand.text, value=half)
