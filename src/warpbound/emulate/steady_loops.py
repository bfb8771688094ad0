"""Loops that may reach a steady state: their deciding values are only added, multiplied, moved and compared.

Models   Natural loops, with branches, barriers and loops inside. Instructions whose values nobody needs are counted and
         have addresses. Every other instruction reads nothing that an iteration changes, or maps it linearly (modulo
         2**32: sums, products, moves, comparisons of integers), or reads the same value in every iteration. Once two
         steps of every register at every place are equal, all later ones are, until a comparison changes its result or
         a word wraps around: a product of two words with equal steps has a constant second difference.
Omits    Loops with atomics, calls or returns inside; needed values from memory.
"""

from collections.abc import Iterable, Set

from warpbound.emulate.counted_iterations import compared
from warpbound.program.instruction import PT, RZ, Instruction, Operand
from warpbound.program.kernel import Program
from warpbound.program.registers import reads, writes
from warpbound.quick_dataclasses import dataclass

ADDING = frozenset({"add", "multiply_add", "shifted_add", "move", "to_uniform"})  # rules of address arithmetic
NOT_LINEAR = frozenset({"HI", "CC", "SX32", "64"})  # modifiers of such instructions
HALVES = frozenset({"HI", "SX32"})  # allowed of sums with a shift, as long as the shifted number does not wrap around
NUMBERS = ("register", "uniform", "immediate", "constant")
SPACES = frozenset({"global", "shared"})  # of accesses without values
PASSED = ("branch", "barrier", "convergence", "target", "scheduling", "fence")  # kinds that change no register
WHO = ("SR_TID.", "SR_CTAID.", "SR_NTID.", "SR_NCTAID.", "SR_LANEID", "SR_CgaCtaId", "SRZ")  # registers that stay
Names = frozenset[str]


@dataclass(frozen=True)
class SteadyLoop:
    """first : its first instruction. body : all its instructions. changed : registers and predicates that an iteration
    may change and that are needed. comparisons : of numbers that may change. writers : instruction -> what it writes of
    `changed`. fixed : instruction -> what it reads of `changed`, if that has to be the same in every iteration."""

    first: int
    body: frozenset[int]
    changed: tuple[str, ...]
    comparisons: frozenset[int]
    writers: dict[int, tuple[str, ...]]
    fixed: dict[int, tuple[str, ...]]


def steady_loops(program: Program, removable: Set[int], inside: Set[int]) -> dict[int, SteadyLoop]:
    """The loops that may become steady, by their first instruction.

    removable : instructions whose values nobody needs. inside : those that may be reached.
    """
    loops = {}
    code, blocks = program.instructions, program.flow.blocks
    for loop in program.flow.loops:
        body = inside & {at for number in loop.blocks for at in range(blocks[number].first, blocks[number].last)}
        if blocks[loop.header].first in body and all(_fits(code[at], is_needed=at not in removable) for at in body):
            loops[blocks[loop.header].first] = _steady_loop(code, blocks[loop.header].first, frozenset(body), removable)
    return loops


def _steady_loop(code: tuple[Instruction, ...], first: int, body: frozenset[int], removable: Set[int]) -> SteadyLoop:
    places = sorted(at for at in body if at not in removable and code[at].traits.kind not in PASSED)
    changing = _changing([code[at] for at in places])
    moving = [at for at in places if not _invariant(code[at], changing)]
    comparisons = frozenset(at for at in moving if _compares(code[at]))
    linear = {at for at in moving if code[at].traits.compares == "predicate" or is_linear(code[at])}
    fixed = {at: _of(reads(code[at]), changing) for at in moving if at not in comparisons | linear}
    writers = {at: names for at in places if (names := _of(writes(code[at]), changing))}
    return SteadyLoop(first, body, tuple(sorted(changing)), comparisons, writers, fixed)


def _of(names: Iterable[str], changing: Names) -> tuple[str, ...]:
    return tuple(name for name in names if name in changing)


def _changing(code: list[Instruction]) -> Names:
    """Registers that an iteration may change, without those computed anew from unchanged ones."""
    changing = frozenset(name for x in code for name in writes(x))
    while True:
        varying = frozenset(name for x in code if not _invariant(x, changing) for name in writes(x))
        if varying == changing:
            return changing
        changing = varying


def _compares(instruction: Instruction) -> bool:
    plain = "64" not in instruction.modifiers and all(_is_plain(x) for x in compared(instruction))
    return instruction.traits.compares == "integer" and plain


def _invariant(instruction: Instruction, changing: Names) -> bool:
    return changing.isdisjoint(reads(instruction))


def _fits(x: Instruction, *, is_needed: bool) -> bool:
    """Whether a steady loop may contain this instruction."""
    traits = x.traits
    if traits.kind in PASSED:
        return _meets_whole(x) and not (traits.indirect or {"RED", "ARV", "DIV", "CONV"} & set(x.modifiers))
    if traits.is_arithmetic:
        return not is_needed or traits.kind != "collective"
    if traits.kind == "constant" or (traits.kind == "special_register" and says_who(x)):
        return True
    return not is_needed and traits.kind in ("load", "store", "copy") and SPACES.issuperset(traits.spaces)


def _meets_whole(x: Instruction) -> bool:
    """Whether it is no barrier, or one at which all lanes that it waits for are known beforehand."""
    if x.traits.kind not in ("barrier", "convergence") or x.traits.is_block_barrier:
        return True
    return x.opcode == "BSYNC" or (x.opcode == "WARPSYNC" and not reads(x))


def says_who(instruction: Instruction) -> bool:
    return all(x.text.startswith(WHO) for x in instruction.operands if x.kind == "special")


def _is_plain(operand: Operand) -> bool:
    whole = operand.kind != "constant" or (isinstance(operand.bank, int) and not operand.terms)
    return whole and operand.kind in NUMBERS and not (operand.negate or operand.absolute or operand.invert)


def is_linear(instruction: Instruction) -> bool:
    traits = instruction.traits
    if traits.affine == "funnel_shift":
        return _shifts_to_the_left(instruction)
    shifted = traits.affine == "shifted_add"
    wrong = NOT_LINEAR - (HALVES if shifted else frozenset())
    if traits.affine not in ADDING or not wrong.isdisjoint(instruction.modifiers):
        return False
    sources = sources_of(instruction)
    if any(x.absolute for x in instruction.operands) or (shifted and (sources[0].negate or sources[0].invert)):
        return False
    carries = any(x.kind.endswith("predicate") and x.index != PT for x in instruction.operands[:3])
    if carries and (traits.affine == "multiply_add" or any(x.negate or x.invert for x in sources)):
        return False
    summed = [x for x in sources if not (x.kind in ("register", "uniform") and x.index == RZ)]
    return traits.affine == "multiply_add" or shifted or not carries or len(summed) < 3


def _shifts_to_the_left(x: Instruction) -> bool:
    """Whether a funnel shift multiplies its first source by a constant power of two, modulo 2**32."""
    low, amount, high = sources_of(x)
    is_word = {"L", "U32"}.issubset(x.modifiers) and NOT_LINEAR.isdisjoint(x.modifiers)
    is_plain = not (low.negate or low.invert or low.absolute)
    brings_zeros = high.kind in ("register", "uniform") and high.index == RZ
    return is_word and is_plain and brings_zeros and amount.kind == "immediate"


def sources_of(instruction: Instruction) -> list[Operand]:
    """The operands that an instruction with one result reads, without predicates."""
    return [x for x in instruction.operands[1:] if "predicate" not in x.kind]


def shift_of(instruction: Instruction) -> int | None:
    """By how much the first source is shifted to the left, where its high part or a carry matters; None elsewhere."""
    sources = sources_of(instruction)
    if instruction.traits.affine != "shifted_add" or not sources or sources[-1].kind != "immediate":
        return None
    return int(sources[-1].value)
