"""Facts of an opcode from its print."""

from warpbound.isa.opcodes import (
    OpcodeFacts,
    opcode_facts,
)


def facts(instruction: str, arch: int) -> OpcodeFacts:
    opcode, *modifiers = instruction.split(".")
    return opcode_facts(opcode, tuple(modifiers), arch)
