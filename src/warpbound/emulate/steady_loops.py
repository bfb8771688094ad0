"""Loops whose rounds may reach a steady state: what decides in them is only added, moved and compared.

Models   Loops of one basic block. What nobody needs the value of is counted and has addresses; every other instruction
         either reads nothing that a round changes, or maps it linearly (modulo 2**32): sums, products with what stays,
         moves, comparisons of integers. Once two steps of every register are equal, all later ones are, until a
         comparison changes its result or a word wraps around.
Omits    Loops with branches, barriers or atomics inside; needed values from memory; shifts to the right, logic and
         floating-point numbers of what a round changes.
"""

from collections.abc import Set

from warpbound.emulate.counted_rounds import compared
from warpbound.program.instruction import PT, RZ, Instruction, Operand
from warpbound.program.kernel import Program
from warpbound.program.registers import reads, writes
from warpbound.quick_dataclasses import dataclass

ADDING = frozenset({"add", "multiply_add", "shifted_add", "move"})  # rules of address arithmetic
NOT_LINEAR = frozenset({"HI", "CC", "SX32", "64"})  # modifiers of such instructions
HALVES = frozenset({"HI", "SX32"})  # allowed of sums with a shift, as long as the shifted number does not wrap around
NUMBERS = ("register", "uniform", "immediate", "constant")
SPACES = ("global", "shared")  # of accesses without values
Names = frozenset[str]


@dataclass(frozen=True)
class SteadyLoop:
    """first, branch : its first instruction and its jump back. changed : registers and predicates that a round may
    change and that are needed. comparisons : of numbers that may change. writers : instruction -> what it writes of
    `changed`."""

    first: int
    branch: int
    changed: tuple[str, ...]
    comparisons: tuple[int, ...]
    writers: dict[int, tuple[str, ...]]


def steady_loops(program: Program, removable: Set[int]) -> dict[int, SteadyLoop]:
    """The loops that may become steady, by their first instruction.

    removable : instructions whose values nobody needs.
    """
    found = {}
    code = program.instructions
    for number, block in enumerate(program.flow.blocks):
        branch = block.last - 1
        if number not in block.follows or branch <= block.first or code[branch].traits.kind != "branch":
            continue
        body = range(block.first, branch)
        changing = _changing([code[at] for at in body if at not in removable])
        if all(_fits(code[at], changing, needed=at not in removable) for at in body):
            needed = [at for at in body if at not in removable]
            writers = {at: tuple(name for name in writes(code[at]) if name in changing) for at in needed}
            compares = [at for at in needed if _compares(code[at]) and not _invariant(code[at], changing)]
            own = {at: names for at, names in writers.items() if names}
            found[block.first] = SteadyLoop(block.first, branch, tuple(sorted(changing)), tuple(compares), own)
    return found


def _changing(needed: list[Instruction]) -> Names:
    """What a round may change: not what is computed anew from what stays."""
    changing = frozenset(name for one in needed for name in writes(one))
    while True:
        left = frozenset(name for one in needed if not _invariant(one, changing) for name in writes(one))
        if left == changing:
            return changing
        changing = left


def _compares(instruction: Instruction) -> bool:
    return instruction.traits.compares == "integer"


def _invariant(one: Instruction, changing: Names) -> bool:
    return changing.isdisjoint(reads(one))


def _fits(one: Instruction, changing: Names, *, needed: bool) -> bool:
    """Whether a round of a steady loop may have this instruction."""
    traits = one.traits
    if not needed:
        return traits.is_arithmetic or (traits.kind in ("load", "store") and traits.spaces[0] in SPACES)
    if not traits.is_arithmetic:
        return traits.kind == "constant" and _invariant(one, changing)
    if _invariant(one, changing) or traits.compares == "predicate":
        return True
    if _compares(one):
        return "64" not in one.modifiers and all(_is_plain(x) for x in compared(one))
    return _is_linear(one, changing)


def _is_plain(operand: Operand) -> bool:
    whole = operand.kind != "constant" or (isinstance(operand.bank, int) and not operand.terms)
    return whole and operand.kind in NUMBERS and not (operand.negate or operand.absolute or operand.invert)


def _is_linear(one: Instruction, changing: Names) -> bool:
    traits = one.traits
    shifted = traits.affine == "shifted_add"
    if traits.affine not in ADDING or not (NOT_LINEAR - (HALVES if shifted else frozenset())).isdisjoint(one.modifiers):
        return False
    sources = sources_of(one)
    if any(x.absolute for x in one.operands) or (shifted and (sources[0].negate or sources[0].invert)):
        return False
    carries = any(x.kind.endswith("predicate") and x.index != PT for x in one.operands[:3])
    if carries and (traits.affine == "multiply_add" or any(x.negate or x.invert for x in sources)):
        return False
    summed = [x for x in sources if not (x.kind in ("register", "uniform") and x.index == RZ)]
    if traits.affine != "multiply_add":
        return shifted or not carries or len(summed) < 3
    factors = [x for x in sources[:2] if x.kind in ("register", "uniform") and _name(x.kind, x.index) in changing]
    return len(factors) < 2


def sources_of(one: Instruction) -> list[Operand]:
    """What an instruction with one result reads, without predicates."""
    return [x for x in one.operands[1:] if "predicate" not in x.kind]


def shift_of(one: Instruction) -> int | None:
    """By how much the first source is shifted to the left, where its high part or a carry matters; None elsewhere."""
    sources = sources_of(one)
    if one.traits.affine != "shifted_add" or not sources or sources[-1].kind != "immediate":
        return None
    return int(sources[-1].value)


def _name(kind: str, index: int) -> str:
    return f"{'R' if kind == 'register' else 'UR'}{index}"
