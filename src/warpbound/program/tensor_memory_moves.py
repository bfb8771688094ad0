"""Loads and stores of tensor memory by warps (tcgen05.ld, tcgen05.st): columns, and how long they occupy its port.

Source   PTX ISA, "tcgen05.ld": a warp reaches the 32 rows of its own sub-core, cells of 4 bytes; shapes.
         Rates: loads 53 to 57 bytes per cycle and warp, stores 97 to 131 TB/s of the chip, 85 to 115 bytes per cycle
         and warp, with one warp on each sub-core of a B300 (ademeure/QuickRunCUDA @126e052,
         b300_clean/06_tensor_cores.md and CURIOSITY_LIST_V4.md, D7).
Models   The next powers of two, 64 and 128 bytes per cycle, on all boards with tensor memory. Only one source has
         measured them, and arXiv 2512.02189 states 16 TB/s for loads and 8 TB/s for stores without their conditions.
Omits    What tcgen05.mma reads and writes there: measured products are not slower for it.
"""

import re

from warpbound.program.instruction import Instruction

CELLS_B = 128             # 32 rows of a column
LOADED_B, STORED_B = 64.0, 128.0  # per cycle of a sub-core
PACKED = frozenset({"PACK16BIT", "EXPAND16BIT"})
_COUNT = re.compile(r"x(\d+)$")
_REGISTERS = {"16dp128bit": 2, "16dp256bit": 4}  # of a lane for .x1


def moved_shape(instruction: Instruction) -> list[str]:
    """The modifiers that name a shape; none where each lane has a row."""
    return [word for word in instruction.modifiers if not _COUNT.match(word) and word not in PACKED]


def columns_moved(instruction: Instruction) -> int:
    """Columns of 32 rows that a load or store of tensor memory by a warp fills."""
    times = next((int(match[1]) for match in map(_COUNT.match, instruction.modifiers) if match), 1)
    registers = times * _REGISTERS.get("".join(moved_shape(instruction)), 1)
    return registers * 2 if PACKED & set(instruction.modifiers) else registers


def port_cycles(instruction: Instruction) -> float:
    """Cycles for which a load or store of a warp occupies its sub-core's part of tensor memory; 0 of others."""
    if instruction.traits.width != "columns" or instruction.traits.kind != "tensor_memory":
        return 0.0
    rate_B = STORED_B if "tensor" in instruction.traits.stores else LOADED_B
    return CELLS_B * columns_moved(instruction) / rate_B
