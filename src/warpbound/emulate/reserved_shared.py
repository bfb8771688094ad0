"""Accesses to the part of shared memory that the system reserves, by constant addresses.

From sm_90 on a block's first kilobyte of shared memory is the system's. Code for tensor memory counts there which
columns are in use; no variable of a kernel lies there, so no other access reads or changes these words.

Models   Constants and the start of the block's window (`ULEA UR6, SR_CgaCtaId, 0x40, 0x18`), forwards through the
         control flow: an address is reserved where every path to it computes the same constant below the kilobyte.
Omits    Sums of several registers.
"""

from collections.abc import Sequence

from warpbound.program.control_flow import Block
from warpbound.program.cubin import reserved_shared_B
from warpbound.program.instruction import RZ, Instruction, Operand
from warpbound.program.kernel import Program
from warpbound.program.registers import writes

WINDOW_BITS = 0x18  # by which the number of the block in its cluster is shifted
_NUMBER, _RANK, _ADDRESS = "number", "rank", "address"
Constant = tuple[str, int]  # kind, and the number or the offset in the block's window
Constants = dict[str, Constant]
_PREFIX = {"register": "R", "uniform": "UR"}


def reserved_accesses(program: Program) -> frozenset[int]:
    """Instructions that access reserved shared memory and nothing else."""
    code, size_B = program.instructions, reserved_shared_B(program.arch)
    if not size_B or not any(instruction.traits.kind == "tensor_memory" for instruction in code):
        return frozenset()
    result = set[int]()
    for block, constants in zip(program.flow.blocks, _entering(code, program.flow.blocks), strict=True):
        for at in range(block.first, block.last):
            if constants is not None:
                if "shared" in code[at].traits.spaces and _is_below(code[at], constants, size_B):
                    result.add(at)
                _step(constants, code[at])
    return frozenset(result)


def _entering(code: Sequence[Instruction], blocks: Sequence[Block]) -> list[Constants | None]:
    """The constants that registers hold where each block begins; None of blocks that are not reached."""
    entering: list[Constants | None] = [None] * len(blocks)
    waiting = [0] if blocks else []
    if blocks:
        entering[0] = {}
    while waiting:
        number = waiting.pop()
        constants = dict(entering[number] or {})
        for at in range(blocks[number].first, blocks[number].last):
            _step(constants, code[at])
        for other in blocks[number].follows:
            before = entering[other]
            both = constants if before is None else dict(before.items() & constants.items())
            if both != before:
                entering[other] = dict(both)
                waiting.append(other)
    return entering


def _step(constants: Constants, instruction: Instruction) -> None:
    result = None if instruction.guard else _result(constants, instruction)
    names = writes(instruction)
    for name in names:
        constants.pop(name, None)
    if result is not None:
        constants[names[0]] = result


def _result(constants: Constants, instruction: Instruction) -> Constant | None:
    """The constant that an instruction computes."""
    sources = [_constant(constants, operand) for operand in instruction.operands[1:]]
    if instruction.opcode in ("S2UR", "S2R"):
        return (_RANK, 0) if instruction.operands[1].text == "SR_CgaCtaId" else None
    if instruction.opcode in ("UMOV", "MOV"):
        return sources[0]
    if instruction.opcode == "IMAD" and all(x.index == RZ for x in instruction.operands[1:3]):  # a move by another pipe
        return sources[2]
    if instruction.opcode in ("ULEA", "LEA") and not instruction.modifiers and len(sources) == 3:
        rank, start, shift = sources
        if rank == (_RANK, 0) and start is not None and start[0] == _NUMBER and shift == (_NUMBER, WINDOW_BITS):
            return _ADDRESS, start[1]
    return None


def _constant(constants: Constants, operand: Operand) -> Constant | None:
    if operand.kind == "immediate":
        return _NUMBER, int(operand.value)
    if operand.kind not in _PREFIX or operand.negate or operand.invert or operand.index == RZ:
        return None
    return constants.get(f"{_PREFIX[operand.kind]}{operand.index}")


def _is_below(instruction: Instruction, constants: Constants, size_B: int) -> bool:
    """Whether its only address is a constant below the size."""
    places = [x for x in instruction.operands if x.kind == "memory"]
    if len(places) != 1 or len(places[0].terms) != 1:
        return False
    start = _constant(constants, places[0].terms[0])
    return start is not None and start[0] == _ADDRESS and 0 <= start[1] + int(places[0].value) <= size_B - 16
