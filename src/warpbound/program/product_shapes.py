"""Shapes of tcgen05's products, which their opcodes do not name: from the constant that describes each to the hardware.

Source   PTX ISA, "Instruction descriptor" of tcgen05.mma. That compilers move it into a uniform register shortly before
         was read off code of sm_100a.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from warpbound.program.instruction import Instruction

_PRODUCT = re.compile(r"UTC[A-Z]MMA$")
_STEP_B = 32  # of a row of A along the depth
_BITS = {"UTCHMMA": 16, "UTCQMMA": 8, "UTCIMMA": 8, "UTCOMMA": 4}
_TF32 = 2
_TYPES = {("UTCHMMA", 1): ("BF16",), ("UTCHMMA", _TF32): ("TF32",)}
SHAPE = re.compile(r"\d+x\d+x\d+$")


def with_product_shapes(code: Sequence[Instruction]) -> tuple[Instruction, ...]:
    """The code with rows x columns x depth and the type among the modifiers of each product whose descriptor is the
    constant that was last moved into its register."""
    if not any(_PRODUCT.match(instruction.opcode) for instruction in code):
        return tuple(code)
    last: dict[int, int] = {}
    result = []
    for instruction in code:
        first = instruction.operands[0] if instruction.operands else None
        if _PRODUCT.match(instruction.opcode):
            instruction = _with_shape(instruction, last)
        elif instruction.opcode == "UMOV" and first is not None and instruction.operands[-1].kind == "immediate":
            last[first.index] = int(instruction.operands[-1].value)
        elif first is not None and first.kind == "uniform":
            last.pop(first.index, None)
        result.append(instruction)
    return tuple(result)


def _with_shape(instruction: Instruction, last: dict[int, int]) -> Instruction:
    described = next((x for x in instruction.operands if x.text.startswith("idesc")), None)
    word = last.get(described.terms[0].index) if described is not None and described.terms else None
    if word is None:
        return instruction
    rows, columns, type_ = (word >> 24 & 31) << 4, (word >> 17 & 63) << 3, word >> 7 & 7
    bits = 32 if (instruction.opcode, type_) == ("UTCHMMA", _TF32) else _BITS[instruction.opcode]
    depth = _STEP_B * 8 // bits << (word >> 2 & 1)  # twice of a sparse factor
    words = (f"{rows}x{columns}x{depth}", *_TYPES.get((instruction.opcode, type_), ()))
    return replace(instruction, modifiers=(*instruction.modifiers, *words))
