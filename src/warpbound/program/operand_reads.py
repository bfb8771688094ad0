"""Reads of warpgroup products (wgmma) from shared memory.

Source   PTX ISA, "Asynchronous warpgroup level matrix instructions": A is 64 rows, B N columns of 32 bytes each; B is
         in shared memory, A there or in registers; of a sparse A half is kept, and columns have 64 bytes.
         Shared memory delivers 128 bytes per cycle and SM to them, as to
         loads: m64nNk16 with both factors in shared memory takes 16 + N / 4 cycles on an H100 up to N = 64, N / 2
         beyond, within 5 % (revollllt/flash-vla @311fc61, hardware-unit-test, sm90/unit-mma.md).
Omits    Bank conflicts of layouts without a swizzle; what tcgen05 reads.
"""

import re

from warpbound.program.instruction import Instruction

ROW_B, ROWS = 32, 64
CYCLE_B = 128  # that shared memory of an SM delivers in a cycle
_COLUMNS = re.compile(r"64x(\d+)x\d+$")


def operand_cycles(instruction: Instruction) -> float:
    """SM cycles in which shared memory delivers the factors of a warpgroup's product; 0 of other instructions."""
    shape = next(filter(None, map(_COLUMNS.match, instruction.modifiers)), None)
    if instruction.traits.kind != "warpgroup_matrix" or shape is None:
        return 0.0
    first = next((x for x in instruction.operands[1:] if x.kind != "predicate"), None)
    rows = ROWS if first is not None and first.text.startswith("gdesc") else 0
    deeper = 2 if "SP" in instruction.modifiers else 1
    return ROW_B * (rows + deeper * int(shape[1])) / CYCLE_B
