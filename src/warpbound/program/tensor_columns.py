"""Columns of tensor memory that a kernel's code allocates.

Source   PTX ISA, tcgen05.alloc: 32 to 512 columns at a time, for the block; another block of the SM waits until there
         are as many. In machine code the count is in units of 32 columns.
Models   The largest allocation whose size is a constant, set by the last instruction in front of it that writes its
         register.
Omits    Further allocations beside it, sizes that are computed.
"""

from collections.abc import Sequence

from warpbound.program.instruction import Instruction

UNIT = 32  # columns


def tensor_columns(instructions: Sequence[Instruction]) -> int:
    """Of one block; 0 where it allocates none, or where the code does not give the number."""
    return UNIT * max((_units(instructions, at) for at, x in enumerate(instructions) if _allocates(x)), default=0)


def _allocates(instruction: Instruction) -> bool:
    return instruction.opcode == "UTCATOMSWS" and "FIND_AND_SET" in instruction.modifiers


def _units(instructions: Sequence[Instruction], at: int) -> int:
    count = instructions[at].operands[-1].index
    for instruction in reversed(instructions[:at]):
        target = instruction.operands[0] if instruction.operands else None
        if target is not None and target.kind == "uniform" and target.index == count:
            value = instruction.operands[-1]
            return int(value.value) if instruction.opcode == "UMOV" and value.kind == "immediate" else 0
    return 0
