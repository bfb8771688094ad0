"""Which instructions of a trace need no values: their results decide no address, no branch, no lane.

A trace holds counts, lanes and addresses. What is only added up and stored may stay away from it: such arithmetic is
counted, such loads and stores leave their addresses, and no number is computed.

Models   Liveness backwards through the control flow, where only what decides uses anything; the contents of global,
         shared and local memory each as one value.
Omits    Code that calls functions: all of it needs its values.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from warpbound.isa.traits import GENERIC
from warpbound.program.control_flow import calls
from warpbound.program.instruction import PT, RZ, Instruction, Operand
from warpbound.program.kernel import Program
from warpbound.program.registers import predicate_mask, reads, writes

_UNKNOWN_WIDTH = 16  # registers that an operand may stand for where `registers` does not know its width
_KNOWN = frozenset({
    "integer", "predicate", "float", "conversion", "matrix", "collective", "special_register", "load", "store", "copy",
    "constant", "branch", "exit", "convergence", "target", "fence", "cache_control", "scheduling",
})  # fmt: skip
_NAMES = {"register": ("R", RZ), "uniform": ("UR", RZ), "predicate": ("P", PT), "uniform_predicate": ("UP", PT)}

Names = frozenset[str]


@dataclass(frozen=True)
class Use:
    """One instruction: registers that it reads for its result, and whatever becomes of that (`decides`); those that
    it may write, and those that it writes in every lane; spaces of memory whose contents it takes and changes.

    free : it does nothing but that, so that it needs no values unless its result or its space does.
    guard : the predicate under which all that happens, which it reads in any case (held_by).
    """

    reads: Names
    decides: Names
    writes: Names
    surely: Names
    loads: frozenset[str]
    stores: frozenset[str]
    free: bool
    guard: str
    held_by: Names


def undecided(program: Program) -> frozenset[int]:
    """Indices of the arithmetic and the accesses of memory that need no values."""
    code = program.instructions
    if any(calls(instruction) for instruction in code):
        return frozenset()
    uses = [_use(instruction) for instruction in code]
    unsure = _read_unwritten(program, uses)
    spaces: frozenset[str] = frozenset()
    while True:
        needed = {i for i, use in enumerate(uses) if not use.free or use.stores & spaces} | unsure
        needed = _with_their_sources(program, uses, needed)
        result = frozenset(space for i in needed for space in uses[i].loads)
        if result <= spaces:
            return frozenset(range(len(code))) - needed
        spaces |= result


def _use(instruction: Instruction) -> Use:
    traits = instruction.traits
    loads, stores = traits.loads, traits.stores
    if traits.kind in ("atomic", "reduction"):
        loads = stores
    if traits.kind == "load" and "CONSTANT" in instruction.modifiers:  # what the kernel does not write
        loads = frozenset()
    arithmetic = traits.is_arithmetic
    free = arithmetic or bool(loads or stores or traits.loads)
    if not free and any(x.kind == "memory" for x in instruction.operands):
        loads = frozenset(GENERIC)
    inputs, outputs = frozenset(reads(instruction)), frozenset(writes(instruction))
    surely = outputs
    if not _widths_known(instruction):
        surely = frozenset()
        inputs |= _named([x for y in instruction.operands for x in (y, *y.terms)], _UNKNOWN_WIDTH)
        outputs |= _named([x for x in instruction.operands if x.kind != "memory"], _UNKNOWN_WIDTH)
    guard = _named([instruction.guard] if instruction.guard else [], 1)
    decides = guard if arithmetic else guard | _of_addresses(instruction) | _predicates(instruction) if free else inputs
    return Use(inputs - guard, decides - guard, outputs, surely, loads, stores, free, _guard(instruction), guard)


def _guard(instruction: Instruction) -> str:
    if instruction.guard is None:
        return ""
    return "!" * instruction.guard.invert + "".join(_names(instruction.guard, 1))


def _widths_known(instruction: Instruction) -> bool:
    """Whether `registers` knows how many registers each operand stands for."""
    traits, modifiers = instruction.traits, set(instruction.modifiers)
    if traits.kind not in _KNOWN or "256" in modifiers or (traits.affine == "multiply_add" and "HI" in modifiers):
        return False
    if traits.all_predicates and predicate_mask(instruction) is None:
        return False
    return traits.width != "" or not traits.is_arithmetic or modifiers.isdisjoint(("64", "U64", "S64"))


def _named(operands: Iterable[Operand], width: int) -> Names:
    return frozenset(name for operand in operands for name in _names(operand, width))


def _names(operand: Operand, width: int) -> Iterator[str]:
    if operand.kind in _NAMES:
        prefix, last = _NAMES[operand.kind]
        for index in range(operand.index, min(last, operand.index + (width if last == RZ else 1))):
            yield f"{prefix}{index}"


def _of_addresses(instruction: Instruction) -> Names:
    """Registers of addresses; each address of global memory may be the first of two."""
    parts = [x for y in instruction.operands if y.kind == "memory" for x in (*y.terms, y.bank)]
    return _named([x for x in parts if isinstance(x, Operand)], 2 if "global" in instruction.traits.spaces else 1)


def _predicates(instruction: Instruction) -> Names:
    return _named([x for x in instruction.operands if "predicate" in x.kind], 1)


def _with_their_sources(program: Program, uses: Sequence[Use], first: set[int]) -> set[int]:
    """`first`, and the instructions whose results go into what decides, or into those."""
    blocks = program.flow.blocks
    needed = set(first)
    live: list[Names] = [frozenset()] * len(blocks)
    changed = True
    while changed:
        changed = False
        for number in reversed(range(len(blocks))):
            block = blocks[number]
            held = frozenset().union(*(live[other] for other in block.follows))
            for i in reversed(range(block.first, block.last)):
                use = uses[i]
                held = _whatever_holds(held, use)
                if i not in needed and not use.writes.isdisjoint(name.partition(" ")[0] for name in held):
                    needed.add(i)
                    changed = True
                held = _less(held, use) | _under(use.reads if i in needed else use.decides, use.guard) | use.held_by
            if held != live[number]:
                live[number] = held
                changed = True
    return needed


def _read_unwritten(program: Program, uses: Sequence[Use]) -> set[int]:
    """Instructions that may read a register that nothing has written: the trace tells of them."""
    blocks = program.flow.blocks
    written: list[Names | None] = [None] * len(blocks)  # on every way to the block; None: no way is known yet
    waiting = [0] if blocks else []
    if blocks:
        written[0] = frozenset()
    unsure: set[int] = set()
    while waiting:
        number = waiting.pop()
        held = written[number] or frozenset()
        for i in range(blocks[number].first, blocks[number].last):
            use = uses[i]
            missing = {name for name in use.reads if name[0] == "R"} - held
            if missing and not (use.guard and _under(frozenset(missing), use.guard) <= held):
                unsure.add(i)
            held = frozenset(name for name in held if not _on(name, use)) | _under(use.surely, use.guard)
        for other in blocks[number].follows:
            before = written[other]
            after = held if before is None else before & held
            if after != before:
                written[other] = after
                waiting.append(other)
    return unsure


# A name alone holds in every lane; "R6 !P0" only where !P0 does, as a guarded instruction has read or written it there.


def _under(names: Names, guard: str) -> Names:
    return frozenset(f"{name} {guard}" for name in names) if guard else names


def _on(name: str, use: Use) -> bool:
    """Whether a name holds where a predicate does that the instruction writes."""
    return " " in name and name.partition(" ")[2].lstrip("!") in use.writes


def _whatever_holds(held: Names, use: Use) -> Names:
    """Before a predicate is written it says nothing of what is wanted where it holds then."""
    return frozenset(name.partition(" ")[0] if _on(name, use) else name for name in held)


def _less(held: Names, use: Use) -> Names:
    """Without what the instruction writes in every lane, or in every lane where its guard holds."""
    if use.guard:
        return held - _under(use.surely, use.guard)
    return frozenset(name for name in held if name.partition(" ")[0] not in use.surely)
