"""What an iteration of a loop passes on to the next one, by the path it takes, where that is linear.

Models   Along a path, a register that is read before it is written comes from the iteration before. If every such
         register is at the end of the path a sum of such registers and of values that no iteration changes, the
         iterations apply one affine map again and again: as soon as two steps are equal, all later ones are.
Omits    Carried values from memory, of products of two changing values, or that a changing predicate chooses; sums
         with carries. A carried predicate is let through: it must go into no carried value, only into branches and
         guards, of which the caller knows from elsewhere what they decide.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import partial

from warpbound.emulate.stack_slots import covers_slots, spilled_registers
from warpbound.emulate.steady_loops import HALVES, PASSED, is_linear, says_who, sources_of
from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program
from warpbound.program.registers import guard_of, reads, writes

FIXED, LINEAR, OTHER = 0, 1, 2  # the same in every iteration; of equal steps, if what is carried is; neither
Slots = Mapping[int, tuple[str, ...]]
KindOf = Callable[[str], int]
Guard = tuple[str, int, bool]  # a predicate, how often it was written before, whether its opposite is meant


def carried_values(program: Program, path: Sequence[int], in_slice: Set[int], slots: Slots) -> tuple[str, ...] | None:
    """The registers and slots of the stack that are carried; None if one of them may not be linear.

    path : instructions of an iteration. in_slice : instructions whose values are computed. slots : of accesses to them.
    """
    code = program.instructions
    own = [at for at in path if at in in_slice and code[at].traits.kind not in PASSED]
    kinds = _Kinds(frozenset(name for at in own for name in _targets(code[at], slots.get(at, ()))))
    for at in own:
        guard = kinds.guard(code[at])
        results = list(_results(code[at], slots.get(at, ()), partial(kinds.of, guard=guard)))
        for name, kind in results:
            kinds.assign(name, kind, guard)
    return kinds.result()


class _Kinds:
    """The kinds of registers and slots at one place of the path; changing : those that it writes."""

    def __init__(self, changing: frozenset[str]) -> None:
        self.changing = changing
        self.whole: dict[str, int] = {}  # written for all lanes so far
        self.part: dict[tuple[str, Guard], int] = {}  # for those lanes that a guard lets through
        self.versions = Counter[str]()
        self.before: dict[str, None] = {}  # read before they are written

    def of(self, name: str, guard: Guard | None = None) -> int:
        """The kind of a value that an instruction under this guard reads."""
        if name in self.whole or name not in self.changing:
            return self.whole.get(name, FIXED)
        if guard is not None and (name, guard) in self.part:
            return self.part[name, guard]
        if "P" in name:
            return OTHER
        self.before[name] = None
        return OTHER if any(own == name for own, _ in self.part) else LINEAR

    def guard(self, x: Instruction) -> Guard | None:
        """The guard under which an instruction writes."""
        names = guard_of(x)
        return (names[0], self.versions[names[0]], x.guard.invert) if names and x.guard else None

    def assign(self, name: str, kind: int, guard: Guard | None) -> None:
        """An instruction under this guard writes a value of that kind."""
        self.versions[name] += 1
        if guard is None:
            self.whole[name] = kind
        elif name in self.whole:
            self.whole[name] = max(self.whole[name], kind) if self.of(guard[0]) == FIXED else OTHER
        elif (name, opposite := (*guard[:2], not guard[2])) in self.part:
            other = self.part[name, opposite]
            self.whole[name] = max(other, kind) if self.of(guard[0]) == FIXED else OTHER
        else:
            self.part[name, guard] = kind

    def result(self) -> tuple[str, ...] | None:
        """As `carried_values`; what a guard writes for some lanes alone is carried for the others."""
        in_part = {name for name, _ in self.part if name not in self.whole and "P" not in name}
        if in_part or any(self.whole[name] == OTHER for name in self.before):
            return None
        return tuple(self.before)


def _targets(x: Instruction, slots: tuple[str, ...]) -> tuple[str, ...]:
    return slots if x.traits.kind == "store" else writes(x)


def _results(x: Instruction, slots: tuple[str, ...], kind_of: KindOf) -> Iterator[tuple[str, int]]:
    """What an instruction writes, each with its kind."""
    if slots and (registers := spilled_registers(x)):
        pairs = zip(slots, registers, strict=True)
        if x.traits.kind == "store":
            yield from ((slot, kind_of(register) if covers_slots(x) else OTHER) for slot, register in pairs)
        else:
            yield from ((register, kind_of(slot)) for slot, register in pairs)
        return
    guards = guard_of(x)
    of_sources = max((kind_of(name) for name in reads(x) if name not in guards), default=FIXED)
    kind = of_sources if _keeps(x, of_sources, kind_of) else OTHER
    yield from ((name, OTHER if "P" in name and kind == LINEAR else kind) for name in _targets(x, slots))


def _keeps(x: Instruction, of_sources: int, kind_of: KindOf) -> bool:
    """Whether its result is of the kind of its sources."""
    kind = x.traits.kind
    if of_sources == FIXED:
        stays = x.traits.is_arithmetic or kind == "constant" or x.traits.is_global_load
        return stays or (kind == "special_register" and says_who(x)) or kind == "store"
    if of_sources == OTHER or not is_linear(x) or not HALVES.isdisjoint(x.modifiers):
        return False
    if sum("P" not in name for name in writes(x)) > 1:
        return False  # the upper word is not linear
    factors = [name for operand in sources_of(x)[:2] for name in _names_of(operand.kind, operand.index)]
    return x.traits.affine != "multiply_add" or sum(kind_of(name) != FIXED for name in factors) <= 1


def _names_of(kind: str, index: int) -> tuple[str, ...]:
    return (f"{'UR' if kind == 'uniform' else 'R'}{index}",) if kind in ("register", "uniform") else ()
