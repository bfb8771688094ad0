"""Backward slice of a kernel: the instructions whose values no address, branch or predicate depends on.

A trace holds counts, lane masks and addresses. Instructions outside the slice are counted, and their loads and stores
record addresses, but no value is computed.

Models   Liveness backwards through the control flow from branches, addresses and guards; the contents of global,
         shared and local memory each as one value, but of slots of the stack (`stack_slots`) one for each. Instructions
         at mbarriers are all executed, and so are bulk copies, whose bytes end phases; nothing else changes or reads
         mbarriers from sm_90 on.
         Divisions and roots whose results nobody needs take their fast path (`fast_paths`).
         The assumptions of a slice (`slice_assumptions`) are checked while it is executed: a trace that refutes one is
         made again without it.
Omits    Code that calls other functions (those that begin with a trap never return): all of it is in the slice.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from functools import reduce
from operator import or_

from warpbound.emulate.fast_paths import FastPath, fast_paths, follows, reached
from warpbound.emulate.guarded_sets import PLAIN_REGISTERS, GuardedSet, bits_of, opposite
from warpbound.emulate.reserved_shared import reserved_accesses
from warpbound.emulate.shared_order import SharedOrder, shared_order
from warpbound.emulate.slice_assumptions import (
    MATRIX_LOAD,
    NOTHING,
    Assumed,
    assumed_of,
    is_plain_load,
    loads_checked,
    writes_maps,
)
from warpbound.emulate.stack_slots import FRAME, covers_slots, spilled_registers, stack_slots
from warpbound.identity_cache import remember
from warpbound.isa.traits import GENERIC
from warpbound.program.control_flow import calls_that_return
from warpbound.program.instruction import PT, RZ, Instruction, Operand
from warpbound.program.kernel import Program
from warpbound.program.registers import predicate_mask, reads, writes
from warpbound.quick_dataclasses import dataclass

_UNKNOWN_WIDTH = 16  # registers that an operand may represent where `registers` does not know its width
_KNOWN = frozenset({
    "integer", "predicate", "float", "conversion", "matrix", "collective", "special_register", "load", "store", "copy",
    "constant", "branch", "exit", "convergence", "target", "fence", "cache_control", "scheduling", "bulk_copy",
    "tensor_memory", "warpgroup_matrix",
})  # fmt: skip
_NAMES = {"register": ("R", RZ), "uniform": ("UR", RZ), "predicate": ("P", PT), "uniform_predicate": ("UP", PT)}

_LATER_HALF = "16dp32bit_t16_t31"  # a load from tensor memory to the lanes that the one before it has left out

Names = frozenset[str]


@dataclass(frozen=True)
class Use:
    """Registers and predicates that one instruction reads and writes, as sets of `guarded_sets`.

    reads : registers for its result. steers : registers that decide an address, a branch or a lane mask, whether or
    not the result is needed. writes, always_writes : registers that it may write, and those that it writes in every
    lane. loads, stores : memory spaces that it reads and changes.
    removable : has no other effect, so its value is needed only if its result or its space is.
    guard : the predicate that it executes under, "" without; guard_registers : the register of that predicate;
    steering_guard : the same, where the guard decides even if the result is not needed: the number of lanes counts.
    moves : (target, source) for each word of a spill or its reload: a source is read only where its target is needed.
    """

    reads: int
    steers: int
    writes: int
    always_writes: int
    loads: frozenset[str]
    stores: frozenset[str]
    removable: bool
    guard: str
    guard_registers: int
    steering_guard: int
    moves: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Slice:
    """unneeded : indices of the arithmetic and memory instructions outside the slice. unread : bulk copies in it whose
    bytes nobody needs. fast_paths : branches that take their fast path, because nobody needs the results of either
    path."""

    unneeded: frozenset[int]
    fast_paths: dict[int, FastPath]
    assumed: Assumed = NOTHING
    unread: frozenset[int] = frozenset()


@remember(4)
def slice_of(program: Program) -> Slice:
    """The slice of a kernel, computed once for all samples of an analysis."""
    assumed = assumed_of(program)
    own = slice_where(program, assumed)
    loads = loads_checked(program, assumed, own.unneeded | own.unread)
    if any(program.instructions[at].opcode == MATRIX_LOAD for at in loads):  # tiles are read for what is needed
        return slice_where(program, replace(assumed, tiles=frozenset()))
    return own


@remember(4)
def guarded_arithmetic(program: Program) -> frozenset[int]:
    """The arithmetic that is executed under a guard."""
    return frozenset(at for at, x in enumerate(program.instructions) if x.traits.is_arithmetic and x.guard is not None)


def slice_where(program: Program, assumed: Assumed) -> Slice:
    """The slice of a kernel under these assumptions."""
    return _slice(program, _uses(program), assumed)


@remember(4)
def slice_without_guards(program: Program, guarded: Set[int], assumed: Assumed) -> Slice:
    """The slice of a kernel if the active lanes of this arithmetic need not be known, unless its result is needed."""
    return _slice(program, [
        replace(use, steering_guard=0) if at in guarded and use.removable else use
        for at, use in enumerate(_uses(program))
    ], assumed)  # fmt: skip


def _uses(program: Program) -> list[Use]:
    reserved, slots, uses = reserved_accesses(program), stack_slots(program), list[Use]()
    for at, code in enumerate(program.instructions):
        use = _apart(_use(code)) if at in reserved else _use(code)
        uses.append(_spilling(use, code, slots[at]) if at in slots else use)
    return uses


def _spilling(use: Use, code: Instruction, slots: tuple[str, ...]) -> Use:
    """The use of an access to slots of the stack, which are registers to it."""
    words, frame = [bits_of([name]) for name in slots], bits_of([FRAME])
    registers = [bits_of([name]) for name in spilled_registers(code)] or [0] * len(slots)
    if code.traits.kind == "load":
        return replace(use, reads=frame, loads=use.loads - {"local"}, moves=tuple(zip(registers, words, strict=True)))
    every_word = bits_of(slots)
    return replace(
        use, reads=frame, writes=every_word, always_writes=every_word if covers_slots(code) else 0,
        stores=use.stores - {"local"}, moves=tuple(zip(words, registers, strict=True)),
    )  # fmt: skip


def _apart(use: Use) -> Use:
    """The use of an access to reserved shared memory: a space of its own."""
    return replace(use, loads=frozenset(map(_reserved, use.loads)), stores=frozenset(map(_reserved, use.stores)))


def _reserved(space: str) -> str:
    return "reserved" if space == "shared" else space


def _slice(program: Program, uses: list[Use], assumed: Assumed) -> Slice:
    code, fast = program.instructions, fast_paths(program)
    after = follows(program, {at: path.begin for at, path in fast.items()}, assumed.whole_warp)
    inside = reached(program, after)
    nothing = Slice(frozenset(), {}, assumed)
    if calls_that_return(code) & inside:
        return nothing
    own_maps = writes_maps(code)
    if own_maps:
        uses = [_steered(use, instruction) for use, instruction in zip(uses, code, strict=True)]
    uses = [_unsteered(use) if i in fast else use for i, use in enumerate(uses)]
    unsure = _read_unwritten(program, uses, after)
    order, sources = shared_order(program), set[int]()
    maps = {i for i, use in enumerate(uses) if own_maps and "global" in use.stores and i not in assumed.boxes}
    live = [GuardedSet() for _ in program.flow.blocks]
    while True:
        live_instructions = {i for i in inside if not uses[i].removable} | sources | unsure
        live_instructions = _with_their_sources(program, uses, live_instructions, after, live)
        more = _stores_read((uses, assumed.tiles), code, live_instructions, sources, order) | maps
        if more <= sources:
            break
        sources |= more
    starts = {block.first: names for block, names in zip(program.flow.blocks, live, strict=True)}
    if any(bits_of(path.results) & starts[path.meet].anywhere() for path in fast.values()):
        return nothing
    unread = {i for i in live_instructions - sources if code[i].traits.kind == "bulk_copy"}
    return Slice(frozenset(inside) - live_instructions, fast, assumed, frozenset(unread))


def _stores_read(
    uses_and_tiles: tuple[Sequence[Use], frozenset[int]], code: Sequence[Instruction], live_instructions: Set[int],
    sources: Set[int], order: SharedOrder,
) -> set[int]:  # fmt: skip
    """Instructions that change memory which a needed instruction may read. A bulk copy that is not among the `sources`
    so far moves contents that nobody needs. Also the stores that plain loads are assumed not to read."""
    uses, tiles = uses_and_tiles
    reading = [i for i in live_instructions if code[i].traits.kind != "bulk_copy" or i in sources]
    spaces = frozenset(space for i in reading for space in uses[i].loads)
    result = {i for i, use in enumerate(uses) if use.stores & (spaces - {"shared"})}
    if "shared" in spaces:
        stores = {i for i, use in enumerate(uses) if "shared" in use.stores} - result
        loads = {i for i in reading if "shared" in uses[i].loads}
        result |= order.sources(stores - tiles if all(is_plain_load(code[i]) for i in loads) else stores, loads)
    return result


def _use(instruction: Instruction) -> Use:
    traits = instruction.traits
    loads, stores = traits.loads, traits.stores
    if traits.kind in ("atomic", "reduction"):
        loads = frozenset() if _only_stores(instruction) else stores
    if traits.kind == "load" and "CONSTANT" in instruction.modifiers:  # what the kernel does not write
        loads = frozenset()
    if traits.kind == "warpgroup_matrix":
        loads = frozenset(("shared",))
    arithmetic = traits.is_arithmetic
    removable = arithmetic or bool(loads or stores or traits.loads)
    if "shared" in stores and (traits.kind == "bulk_copy" or instruction.opcode == "STAS"):
        removable = False  # an mbarrier waits for its bytes, whether or not anyone needs them
    elif traits.at_mbarrier:
        loads = stores = frozenset()
    elif not removable and traits.kind != "cache_control" and any(x.kind == "memory" for x in instruction.operands):
        loads = frozenset(GENERIC)
    inputs, outputs = frozenset(reads(instruction)), frozenset(writes(instruction))
    always_writes = frozenset() if _LATER_HALF in instruction.modifiers else outputs
    if not _widths_known(instruction):
        always_writes = frozenset()
        width = _width_at_most(instruction)
        inputs |= _named([x for y in instruction.operands for x in (y, *y.terms)], width)
        outputs |= _named([x for x in instruction.operands if x.kind != "memory"], max(2, width))
    guard = _named([instruction.guard] if instruction.guard else [], 1)
    if not removable or traits.kind == "bulk_copy" or (traits.kind == "tensor_memory" and traits.uniform):
        steers = inputs
    else:
        steers = guard if arithmetic else guard | _of_addresses(instruction) | _predicates(instruction)
    own = bits_of(guard)
    return Use(
        reads=bits_of(inputs) & ~own,
        steers=bits_of(steers) & ~own,
        writes=bits_of(outputs),
        always_writes=bits_of(always_writes),
        loads=loads,
        stores=stores,
        removable=removable,
        guard=_guard(instruction),
        guard_registers=own,
        steering_guard=own,
    )


def _only_stores(instruction: Instruction) -> bool:
    """Whether an atomic exchanges a value whose old value nobody reads."""
    results = [operand for operand in instruction.operands[:2] if operand.kind == "register"]
    return "EXCH" in instruction.modifiers and bool(results) and all(operand.index == RZ for operand in results)


def _steered(use: Use, instruction: Instruction) -> Use:
    """The use in a kernel that writes tensor maps itself: a bulk copy may then read one."""
    return replace(use, removable=False) if instruction.traits.kind == "bulk_copy" else use


def _unsteered(use: Use) -> Use:
    """The use of a branch that takes its fast path whatever its predicate is."""
    return replace(use, reads=0, steers=0, guard="", guard_registers=0, steering_guard=0)


def _guard(instruction: Instruction) -> str:
    if instruction.guard is None:
        return ""
    return "!" * instruction.guard.invert + "".join(_names(instruction.guard, 1))


def _widths_known(instruction: Instruction) -> bool:
    """Whether `registers` knows how many registers each operand represents."""
    traits, modifiers = instruction.traits, set(instruction.modifiers)
    if traits.kind in ("atomic", "reduction"):
        return "CAS" not in modifiers
    if traits.kind not in _KNOWN or "256" in modifiers:
        return False
    if traits.all_predicates and predicate_mask(instruction) is None:
        return False
    return traits.width != "" or not traits.is_arithmetic or modifiers.isdisjoint(("64", "U64", "S64"))


def _width_at_most(instruction: Instruction) -> int:
    """Registers of a source, where `registers` does not know; what sets up an mbarrier takes 64 bits, a test 32."""
    if not instruction.traits.at_mbarrier:
        return _UNKNOWN_WIDTH
    return 2 if "64" in instruction.modifiers else 1


def _named(operands: Iterable[Operand], width: int) -> Names:
    return frozenset(name for operand in operands for name in _names(operand, width))


def _names(operand: Operand, width: int) -> Iterator[str]:
    if operand.kind in _NAMES:
        prefix, last = _NAMES[operand.kind]
        for index in range(operand.index, min(last, operand.index + (width if last == RZ else 1))):
            yield f"{prefix}{index}"


def _of_addresses(instruction: Instruction) -> Names:
    """Registers of addresses; each register of a global address may be the first of a pair, not those of the place in
    shared memory to which a copy goes."""
    names = set[str]()
    for operand in instruction.operands:
        if operand.kind == "memory":
            to_shared = instruction.traits.kind == "copy" and operand is instruction.operands[0]
            width = 2 if "global" in instruction.traits.spaces and not to_shared else 1
            names |= _named([x for x in (*operand.terms, operand.bank) if isinstance(x, Operand)], width)
    return frozenset(names)


def _predicates(instruction: Instruction) -> Names:
    return _named([x for x in instruction.operands if "predicate" in x.kind], 1)


def _with_their_sources(
    program: Program, uses: Sequence[Use], first: set[int], after: Sequence[tuple[int, ...]], live: list[GuardedSet]
) -> set[int]:
    """`first`, and all instructions on whose results they or a branch, an address or a guard depend.

    after : the blocks that follow each. live : what is where each block begins; more is added to it.
    """
    blocks, places = program.flow.blocks, set(first)
    before = [list[int]() for _ in blocks]
    for number, others in enumerate(after):
        for other in others:
            before[other].append(number)
    waiting = {0}.union(*after) if blocks else set[int]()
    while waiting:
        number = max(waiting)
        waiting.remove(number)
        names = GuardedSet()
        for other in after[number]:
            names.include(live[other])
        for i in reversed(range(blocks[number].first, blocks[number].last)):
            _step_back(names, uses[i], i, places)
        if names != live[number]:
            live[number] = names
            waiting.update(before[number])
    return places


def _step_back(live: GuardedSet, use: Use, at: int, places: set[int]) -> None:
    """Turn the live set behind an instruction into the one before it; add it to `places` if its result is live."""
    if live.under:
        live.always |= live.take(use.writes)  # live under a predicate that it writes: so in every lane
    if use.writes and at not in places and use.writes & live.anywhere():
        places.add(at)
    sources_of_moves = 0
    for target, source in use.moves:
        sources_of_moves |= source if target & live.anywhere() else 0
    if use.always_writes:
        live.remove(use.always_writes, use.guard)
    sources, guard = (use.reads, use.guard_registers) if at in places else (use.steers, use.steering_guard)
    live.add(sources | sources_of_moves, use.guard)
    live.always |= guard


def _read_unwritten(program: Program, uses: Sequence[Use], after: Sequence[tuple[int, ...]]) -> set[int]:
    """Instructions that may read a register before any write: the trace reports them. after : as above."""
    blocks, code = program.flow.blocks, program.instructions
    defined_before: list[GuardedSet | None] = [None] * len(blocks)  # on every path; None: no path yet
    waiting = [0] if blocks else []
    if blocks:
        defined_before[0] = GuardedSet()
    unsure: set[int] = set()
    while waiting:
        number = waiting.pop()
        defined = (defined_before[number] or GuardedSet()).copy()
        for i in range(blocks[number].first, blocks[number].last):
            use = uses[i]
            sources = reduce(or_, (source for _, source in use.moves), use.reads)
            missing = sources & PLAIN_REGISTERS & ~defined.always
            if missing and missing & ~defined.under.get(use.guard, 0):
                unsure.add(i)
            defined.take(use.writes)
            in_either_case = use.always_writes & defined.under.get(opposite(use.guard), 0) if use.guard else 0
            defined.add(use.always_writes, use.guard)
            defined.always |= in_either_case
        last = code[blocks[number].last - 1] if blocks[number].last > blocks[number].first else None
        for other in after[number]:
            certain = _certain(defined, last, falls_through=other == number + 1)
            here = GuardedSet(defined.always | certain, defined.under)
            before = defined_before[other]
            both = here.copy() if before is None else before.common(here)
            if both != before:
                defined_before[other] = both
                waiting.append(other)
    return unsure


def _certain(defined: GuardedSet, branch: Instruction | None, *, falls_through: bool) -> int:
    """Registers defined under a predicate that a branch, taken or not, has shown to be true: after `@!P0 MOV R19, RZ`
    and `@!P0 BRA end`, R19 has been written at the end."""
    if branch is None or branch.guard is None or branch.traits.kind not in ("branch", "exit"):
        return 0
    guard = _guard(branch)
    if falls_through:
        if len(branch.operands) > 1:
            return 0
        guard = opposite(guard)
    return defined.under.get(guard, 0)
