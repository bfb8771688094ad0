"""Reads of asynchronous matrix products (wgmma, tcgen05.mma) and of tcgen05.cp from shared memory.

Source   PTX ISA, "Asynchronous warpgroup level matrix instructions": A is 64 rows, B N columns of 32 bytes each; B is
         in shared memory, A there or in registers; of a sparse A half is kept, and columns have 64 bytes. "Tensor
         Memory" and "Matrix multiplication operations" of tcgen05: the same for tcgen05.mma with its M rows, and A is
         in shared or in tensor memory; of a pair of blocks, each reads its half of A's rows and of B's columns. Shapes
         of tcgen05.cp there.
         Shared memory delivers 128 bytes per cycle and SM to them, as to loads: m64nNk16 with both factors in shared
         memory takes 16 + N / 4 cycles on an H100 up to N = 64, N / 2 beyond, within 5 % (revollllt/flash-vla @311fc61,
         hardware-unit-test, sm90/unit-mma.md); tcgen05.mma of 128 rows takes 32 + N / 4 cycles on a B200 up to N = 128,
         N / 2 beyond and with A in tensor memory, within 1.2 % (SemiAnalysisAI/microbench-blackwell @28e82f2,
         umma_throughput/full.csv).
Models   A that a product of tcgen05 finds in the collector (.collector::a::use, lastuse) is not read.
Omits    Bank conflicts of layouts without a swizzle. Whether tcgen05.cp reaches this rate is not known: copies on a
         board of sm_110 were measured at 43 bytes per cycle.
"""

import re

from warpbound.program.instruction import Instruction

ROW_B = 32
WARPS_OF_A_GROUP = 4
CYCLE_B = 128  # bytes that shared memory of an SM delivers in a cycle
_SHAPE = re.compile(r"(\d+)x(\d+)x\d+$")
_COPIED = re.compile(r"(?:\d+x)?(\d+)dp(\d+)bit")
_KEPT = "A_REUSE"
_WHOLE_COPY_B = 4096  # bytes of a copy whose shape is not named: 128 rows of 32 bytes


def operand_cycles(instruction: Instruction) -> float:
    """Cycles in which shared memory of an SM delivers what an instruction reads asynchronously; 0 of other
    instructions, and where a product's shape is not known."""
    return _read_B(instruction) / CYCLE_B


def operand_work(instruction: Instruction) -> float:
    """The same on all SMs that take part, in cycles of one sub-core of four, for each warp that issues it."""
    if instruction.traits.kind == "warpgroup_matrix":
        return operand_cycles(instruction)
    return WARPS_OF_A_GROUP * blocks_of(instruction) * operand_cycles(instruction)


def left_factor_cycles(instruction: Instruction) -> float:
    """The part of `operand_cycles` in which A arrives."""
    shape = _rows_and_columns(instruction)
    return ROW_B * shape[0] / CYCLE_B if shape else 0.0


def columns_read(instruction: Instruction) -> int:
    """Columns of B that one SM reads for a product; twice as many if it is sparse."""
    shape = _rows_and_columns(instruction)
    return shape[1] if shape else 0


def blocks_of(instruction: Instruction) -> int:
    """Blocks, and so SMs, that one instruction of tcgen05 employs."""
    return 2 if "2CTA" in instruction.modifiers else 1


def _read_B(instruction: Instruction) -> int:
    if instruction.opcode == "UTCCP":
        copied = next(filter(None, map(_COPIED.match, instruction.modifiers)), None)
        return int(copied[1]) * int(copied[2]) // 8 if copied else _WHOLE_COPY_B
    return ROW_B * sum(_rows_and_columns(instruction) or ())


def _rows_and_columns(instruction: Instruction) -> tuple[int, int] | None:
    """Runs of ROW_B that one SM reads: rows of A if they come from shared memory, columns of B; None of other
    instructions, and of unknown shapes."""
    shape = next(filter(None, map(_SHAPE.match, instruction.modifiers)), None)
    asynchronous_sums = instruction.traits.kind == "tensor_memory"  # named behind the factors
    if shape is None or not (asynchronous_sums or instruction.traits.kind == "warpgroup_matrix"):
        return None
    sources = instruction.operands if asynchronous_sums else instruction.operands[1:]
    first = next((x.text for x in sources if x.kind != "predicate"), "")
    is_read, deeper = first.startswith("gdesc") and _KEPT not in first, 2 if "SP" in instruction.modifiers else 1
    rows, columns = (int(extent) // blocks_of(instruction) for extent in shape.groups())
    return rows if is_read else 0, deeper * columns
