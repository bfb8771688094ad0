"""What follows from values that some instructions load: the branches and the addresses that they decide.

Models   Registers and predicates, forwards through the control flow; shared and local memory each as one value.
Omits    Global memory (see passed_on); what depends only on which way a branch went.
"""

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

import numpy as np

from warpbound.emulate.trace import Trace
from warpbound.program.control_flow import calls
from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program
from warpbound.program.register_sets import RegisterSets

_ON_CHIP = frozenset({"shared", "local"})  # spaces that are followed, each as one value
_TURNS = frozenset({"branch", "exit", "call", "return"})  # kinds of instructions that lead elsewhere
_LINES = 5  # that a sentence names


@dataclass(frozen=True)
class Decided:
    """Indices of the instructions whose way, or whose address, depends on the values."""

    branches: tuple[int, ...]
    addresses: tuple[int, ...]


def decided(program: Program, loads: Set[int]) -> Decided:
    """What the values that `loads` (indices of instructions) bring decide."""
    code, names, before = program.instructions, program.register_sets, held_before(program, loads)
    branches = [
        i for i, instruction in enumerate(code) if instruction.traits.kind in _TURNS and before[i] & names.reads[i]
    ]
    addresses = [
        i for i, instruction in enumerate(code) if before[i] and before[i] & names.of(_address_registers(instruction))
    ]
    return Decided(tuple(branches), tuple(addresses))


def held_before(program: Program, loads: Set[int]) -> list[int]:
    """The registers that hold something of what `loads` bring where each instruction executes, also by way of
    shared and local memory; sets as of `program.register_sets`."""
    code, reads = program.instructions, program.register_sets.reads
    sources, spaces = set(loads), set[str]()
    while True:
        before = before_each(program, sources)
        stores = {
            i
            for i, instruction in enumerate(code)
            if before[i] & reads[i] or (i in loads and instruction.traits.kind == "copy")
        }
        stored = _ON_CHIP.intersection(space for i in stores for space in code[i].traits.stores)
        if stored <= spaces:
            return before
        spaces |= stored
        sources |= {i for i, instruction in enumerate(code) if instruction.traits.loads & spaces}


def draws_work(program: Program) -> bool:
    """Whether what atomics on global memory return decides branches: tickets, queues of work, locks."""
    atomics = {i for i, instruction in enumerate(program.instructions) if instruction.traits.kind == "atomic"}
    draws = {i for i in atomics if program.instructions[i].traits.is_global_load}
    return bool(draws) and bool(decided(program, draws).branches)


@dataclass(frozen=True)
class Held:
    """Registers that are tainted: always, and those that are but where a guard holds, under which clean values were
    written; guard -> set, none of them empty."""

    always: int = 0
    but: Mapping[str, int] = field(default_factory=dict)

    def where(self, guard: str) -> int:
        """The registers that are tainted where the guard holds."""
        found = self.always
        for other, names in self.but.items():
            if not guard or other != guard:
                found |= names
        return found

    def cleaned(self, written: int, guard: str) -> "Held":
        """After clean values were written under the guard, or everywhere."""
        anywhere = self.where("") & written
        if not anywhere:
            return self
        but = {other: left for other, names in self.but.items() if (left := names & ~written)}
        if guard:
            but[guard] = but.get(guard, 0) | anywhere
        return Held(self.always & ~written, but)

    def after(self, written: int, names: RegisterSets) -> "Held":
        """Once a predicate is another, what was clean where it held is no longer known to be."""
        changed = [guard for guard in self.but if names.bits.get(guard.lstrip("!"), 0) & written]
        if not changed:
            return self
        but = {guard: held for guard, held in self.but.items() if guard not in changed}
        return Held(reduce(or_, (self.but[guard] for guard in changed), self.always), but)

    def joined(self, other: "Held") -> "Held":
        """What is tainted on one way or the other."""
        but = dict(self.but)
        for guard, names in other.but.items():
            but[guard] = but.get(guard, 0) | names
        return Held(self.always | other.always, but)


def before_each(program: Program, sources: Set[int]) -> list[int]:
    """The registers that hold something of the sources' values where each instruction executes, by iteration; sets
    as of `program.register_sets`."""
    code, blocks, names = program.instructions, program.flow.blocks, program.register_sets
    before = [0] * len(code)
    if not sources:
        return before
    guards, follows = [guard_name(instruction) for instruction in code], _follows(program)
    entering = [Held()] * len(blocks)
    waiting = list(range(len(blocks)))
    while waiting:
        number = waiting.pop(0)
        held = entering[number]
        for i in range(blocks[number].first, blocks[number].last):
            written = names.writes[i]
            before[i] = held.where(guards[i]) if held.but else held.always
            if i in sources or names.reads[i] & before[i]:
                held = Held(held.always | written, held.but)
            elif held.but or held.always & written:
                held = held.cleaned(written, guards[i])
            if held.but:
                held = held.after(written, names)
        for other in follows[number]:
            after = entering[other].joined(held)
            if after != entering[other]:
                entering[other] = after
                if other not in waiting:
                    waiting.append(other)
    return before


def guard_name(instruction: Instruction) -> str:
    if instruction.guard is None:
        return ""
    prefix = "UP" if instruction.guard.kind.startswith("uniform") else "P"
    return f"{'!' * instruction.guard.invert}{prefix}{instruction.guard.index}"


def _follows(program: Program) -> list[tuple[int, ...]]:
    """The blocks after each block; a return leads behind every call."""
    code, blocks = program.instructions, program.flow.blocks
    behind = tuple(n + 1 for n, block in enumerate(blocks[:-1]) if calls(code[block.last - 1]))
    return [block.follows + behind * (code[block.last - 1].traits.kind == "return") for block in blocks]


def _address_registers(instruction: Instruction) -> frozenset[str]:
    names = set[str]()
    for operand in instruction.operands:
        if operand.kind in ("memory", "constant"):
            for term in operand.terms:
                prefix = {"register": "R", "uniform": "UR"}.get(term.kind)
                names |= {f"{prefix}{term.index}"} if prefix and term.index < 255 else set()
    return frozenset(names)


# --- said in words ---


def deciding_arrays(program: Program, trace: Trace, without: Set[str] = frozenset()) -> tuple[str, ...]:
    """A sentence for each array whose contents decide branches or addresses: other contents may mean other work.

    without : names of arrays that are not asked about.
    """
    seen = trace.accesses["global"]
    loads = np.array([instruction.traits.is_global_load for instruction in program.instructions])[seen.instruction]
    first, at = seen.active.argmax(axis=1), np.arange(len(seen.active))
    places = seen.addresses[at, first]
    said = []
    for name, start, size in trace.arrays:
        if name in without:
            continue
        inside = loads & (places >= np.uint64(start)) & (places < np.uint64(start + size))
        if not inside.any():
            continue
        text = _dependents(program, set(np.unique(seen.instruction[inside]).tolist()))
        if text:
            said.append(f"{text} depend on the contents of '{name}'")
    return tuple(said)


def unknowns(
    program: Program, unknown: Mapping[str, Set[int]], brings: Callable[[Set[int]], Set[int]]
) -> tuple[str, ...]:
    """A sentence for each kind of unknown contents: who read it, what was assumed, what depends on it.

    unknown : what was read -> indices of the instructions that read it; brings : these and the loads of what they
    made the kernel store.
    """
    return tuple(_sentence(program, name, loads, brings(loads)) for name, loads in unknown.items())


def _sentence(program: Program, name: str, loads: Set[int], brought: Set[int]) -> str:
    text, dependents = f"{name} read{_lines(program, loads)} and taken as 0", _dependents(program, brought)
    return f"{text}; {dependents} depend on it" if dependents else text


def _dependents(program: Program, loads: Set[int]) -> str:
    """The branches and addresses that loads decide, with their lines; nothing where there are none."""
    result = decided(program, loads)
    return " and ".join(
        f"{what}{_lines(program, which)}"
        for what, which in (("branches", result.branches), ("addresses", result.addresses))
        if which
    )


def _lines(program: Program, indices: Iterable[int]) -> str:
    """ " in line 3" or " in lines 3, 5"; nothing where no line is known."""
    places = (program.instructions[i].place for i in indices)
    lines = sorted({place.outermost.line for place in places if place is not None})
    if not lines:
        return ""
    shown = ", ".join(str(line) for line in lines[:_LINES]) + ", ..." * (len(lines) > _LINES)
    return f" in line{'s' * (len(lines) > 1)} {shown}"
