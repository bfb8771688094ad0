"""Reads from the two register banks of a sub-core, per instruction.

Source   a bank holds the registers of one parity and hands one of them, of all lanes, over per cycle; each source slot
         keeps the last register of each bank that it is told to keep: Huerta et al., MICRO 2025,
         doi:10.1145/3725843.3756041, section 5.3 (RTX A6000). That two banks are all: Jia et al., arXiv:1804.06826.
Models   reads in the order of the code, as one warp makes them.
Omits    other warps that overwrite a slot; dependence on the kind of instruction and on the operand's role, for which
         the source found no rule that holds in all cases; reads that are late or early by a few cycles.
"""

from collections.abc import Sequence

from warpbound.program.instruction import RZ, Instruction, Operand
from warpbound.program.registers import reads, results

BANKS = 2
_IN_A_SLOT = ("register", "uniform", "immediate", "float", "constant")


def bank_reads(instructions: Sequence[Instruction]) -> list[tuple[int, int]]:
    """Registers that each instruction reads from the even and from the odd bank, without hits in the operand cache."""
    cached: dict[tuple[int, int], int] = {}
    result = []
    for instruction in instructions:
        slots = [(slot, x) for slot, x in enumerate(_sources(instruction)) if x.kind == "register" and x.index != RZ]
        saved = {x.index for slot, x in slots if cached.get((slot, x.index % BANKS)) == x.index}
        for slot, x in slots:
            cached[slot, x.index % BANKS] = x.index if "reuse" in x.suffixes else RZ
        odd = [index % BANKS for index in _read(instruction) if index not in saved]
        result.append((len(odd) - sum(odd), sum(odd)))
    return result


def _sources(instruction: Instruction) -> list[Operand]:
    return [x for x in instruction.operands[results(instruction) :] if x.kind in _IN_A_SLOT]


def _read(instruction: Instruction) -> list[int]:
    return [int(name[1:]) for name in reads(instruction) if name[0] == "R" and name[1:].isdigit()]
