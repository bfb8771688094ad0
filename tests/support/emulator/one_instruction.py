"""Executes single instructions, written as nvdisasm prints them, on chosen register contents."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from warpbound.emulate.handlers import PLAIN
from warpbound.emulate.operand_access import Constants, site
from warpbound.emulate.state import State
from warpbound.program.instruction import Instruction
from warpbound.program.operands import split_instruction

M32, M64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


def instruction(text: str, at: int = 0) -> Instruction:
    """An instruction from its print, the `at`-th of its kernel."""
    guard, opcode, modifiers, operands = split_instruction(text)
    return Instruction(16 * at, opcode, modifiers, operands, text, guard)


def execute(
    text: str, registers: Mapping[int, Any], predicates: Mapping[int, Any] | None = None, arch: int = 80
) -> State:
    """The state of one warp after an instruction; register values are given for all lanes or lane by lane."""
    one = instruction(text)
    x = State(1, 64)
    for index, value in registers.items():
        x.put(index, np.asarray(value, np.uint32) if np.ndim(value) else np.uint32(value & M32))
    for index, value in (predicates or {}).items():
        x.put_predicate(index, np.asarray(value, bool) if np.ndim(value) else np.bool_(value))
    with x.arithmetic():
        PLAIN[one.opcode](site(one, Constants({}), arch))(x)
    return x


def word(x: State, register: int) -> int:
    """A register of lane 0."""
    return int(x.rows[register][0])


def pair(x: State, register: int) -> int:
    """64 bits of two registers of lane 0."""
    return word(x, register) | word(x, register + 1) << 32


def flag(x: State, predicate: int) -> bool:
    return bool(x.predicates[predicate][0])
