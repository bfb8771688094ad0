"""Shapes of tcgen05's products, which their opcodes do not name: from the constant that describes each to the hardware.

Source   PTX ISA, "Instruction descriptor" of tcgen05.mma. That compilers move it into a uniform register shortly before
         was read off code of sm_100a.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from warpbound.program.instruction import Instruction

_STEP_B = 32  # bytes of a row of A along the depth of one instruction
_BITS = {"fp16": 16, "fp8": 8, "int8": 8, "fp4": 4}  # bits of an element of the factors
_HALF, _TF32 = "fp16", 2  # the operand type whose products take others too, by the descriptor
_TYPES = {1: ("BF16",), _TF32: ("TF32",)}
SHAPE = re.compile(r"\d+x\d+x\d+$")


def with_product_shapes(code: Sequence[Instruction]) -> tuple[Instruction, ...]:
    """The code with rows x columns x depth, the type and SP among the modifiers of each product whose descriptor is the
    constant that was last moved into its register."""
    if not any(_is_product(instruction) for instruction in code):
        return tuple(code)
    last: dict[int, int] = {}
    result = []
    for instruction in code:
        first = instruction.operands[0] if instruction.operands else None
        if _is_product(instruction):
            instruction = _with_shape(instruction, last)
        elif instruction.opcode == "UMOV" and first is not None and instruction.operands[-1].kind == "immediate":
            last[first.index] = int(instruction.operands[-1].value)
        elif first is not None and first.kind == "uniform":
            last.pop(first.index, None)
        result.append(instruction)
    return tuple(result)


def _is_product(instruction: Instruction) -> bool:
    return instruction.traits.kind == "tensor_memory" and bool(instruction.traits.tensor)


def _with_shape(instruction: Instruction, last: dict[int, int]) -> Instruction:
    described = next((x for x in instruction.operands if x.text.startswith("idesc")), None)
    word = last.get(described.terms[0].index) if described is not None and described.terms else None
    if word is None:
        return instruction
    rows, columns, type_ = (word >> 24 & 31) << 4, (word >> 17 & 63) << 3, word >> 7 & 7
    operands = instruction.traits.tensor
    bits = 32 if (operands, type_) == (_HALF, _TF32) else _BITS[operands]
    depth = _STEP_B * 8 // bits << (word >> 2 & 1)  # twice of a sparse factor
    sparse = ("SP",) if word >> 2 & 1 else ()
    words = (f"{rows}x{columns}x{depth}", *(_TYPES.get(type_, ()) if operands == _HALF else ()), *sparse)
    return replace(instruction, modifiers=(*instruction.modifiers, *words))
