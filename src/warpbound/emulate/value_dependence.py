"""Forward taint: the branches and addresses that depend on the values which some instructions load.

Models   Registers and predicates, forwards through the control flow; shared and local memory each as one value.
Omits    Global memory (see store_to_load); control dependence; branches to a trap, or to the slow path of a division.
"""

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import field
from functools import reduce
from operator import or_

import numpy as np

from warpbound.distinct_values import distinct
from warpbound.emulate.fast_paths import fast_paths
from warpbound.emulate.shared_order import shared_order
from warpbound.emulate.trace import Trace
from warpbound.program.control_flow import calls
from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program
from warpbound.program.register_sets import RegisterSets
from warpbound.quick_dataclasses import dataclass

_ON_CHIP = frozenset({"shared", "local", "tensor"})  # spaces that are followed, each as one value
_TURNS = frozenset({"branch", "exit", "call", "return"})  # kinds of instructions that lead elsewhere
_LINES = 5  # most source lines that a sentence names
Reach = Callable[[Set[int], int], bool]  # stores to shared memory, a load from it


@dataclass(frozen=True)
class Dependents:
    """Indices of the branches, and of the memory instructions whose addresses depend on the values."""

    branches: tuple[int, ...]
    addresses: tuple[int, ...]


def dependents_of(program: Program, loads: Set[int], reach: Reach | None = None) -> Dependents:
    """The branches and addresses that depend on what `loads` (indices of instructions) load. reach : as below."""
    code, names, before = program.instructions, program.register_sets, tainted_before(program, loads, reach)
    checks = _checks(program).union(fast_paths(program), _last_users(program))
    branches = [
        i
        for i, instruction in enumerate(code)
        if instruction.traits.kind in _TURNS and before[i] & names.reads[i] and i not in checks
    ]
    addresses = [
        i for i, instruction in enumerate(code) if before[i] and before[i] & names.of(address_registers(instruction))
    ]
    return Dependents(tuple(branches), tuple(addresses))


def _checks(program: Program) -> set[int]:
    """Branches that lead to a trap on one side: they decide whether the launch fails, not how much it does."""
    code, blocks = program.instructions, program.flow.blocks
    traps = {n for n, b in enumerate(blocks) if any(code[i].opcode == "BPT" for i in range(b.first, b.last))}
    while more := {n for n, b in enumerate(blocks) if n not in traps and b.follows and traps.issuperset(b.follows)}:
        traps |= more
    return {blocks[n].last - 1 for n in range(len(blocks)) if n not in traps and traps.intersection(blocks[n].follows)}


def _last_users(program: Program) -> set[int]:
    """Exits before code that only invalidates mbarriers: the last user of a cuda::pipeline ends its barriers."""
    code, result, only_ends = program.instructions, set[int](), False
    for at in reversed(range(len(code))):
        if code[at].traits.is_exit and code[at].guard is not None and only_ends:
            result.add(at)
        ends = code[at].traits.is_exit or (code[at].opcode == "SYNCS" and "CCTL" in code[at].modifiers)
        only_ends = ends and (only_ends or code[at].guard is None)
    return result


def tainted_before(program: Program, loads: Set[int], reach: Reach | None = None) -> list[int]:
    """The registers that depend on `loads` before each instruction, also through shared and local memory; sets as of
    `program.register_sets`.

    reach : whether what some stores write to shared memory may be what a load reads, as an execution has shown.
    """
    code, reads = program.instructions, program.register_sets.reads
    sources, order = set(loads), shared_order(program)
    while True:
        before = taint(program, sources)
        stores = {
            i
            for i, instruction in enumerate(code)
            if before[i] & reads[i] or (i in loads and instruction.traits.kind in ("copy", "bulk_copy"))
        }
        spaces = _ON_CHIP.intersection(space for i in stores for space in code[i].traits.stores)
        shared = {i for i in stores if "shared" in code[i].traits.stores}
        more = {
            i
            for i, instruction in enumerate(code)
            if i not in sources
            and (instruction.traits.loads & (spaces - {"shared"})
                 or ("shared" in instruction.traits.loads and (from_ := order.sources(shared, {i}))
                     and (reach is None or reach(from_, i))))
        }
        if not more:
            return before
        sources |= more


def brings_from_outside(instruction: Instruction) -> bool:
    """Whether it loads from global memory; an atomic of block scope (.SM) does not count: it serves the threads of one
    block, such as the users of a cuda::pipeline."""
    of_block = instruction.traits.kind == "atomic" and "SM" in instruction.modifiers
    return instruction.traits.is_global_load and not of_block


def draws_work_from_counter(program: Program) -> bool:
    """Whether branches depend on what atomics on global memory return: work counters, queues, locks."""
    code = program.instructions
    draws = {i for i, x in enumerate(code) if x.traits.kind == "atomic" and brings_from_outside(x)}
    return bool(draws) and bool(dependents_of(program, draws).branches)


@dataclass(frozen=True)
class Taint:
    """Tainted registers.

    always : tainted in every lane. unless : guard -> registers that are clean where that guard is true, because clean
    values were written under it, and tainted elsewhere; no set is empty.
    """

    always: int = 0
    unless: Mapping[str, int] = field(default_factory=dict)

    def where(self, guard: str) -> int:
        """The registers that are tainted where the guard is true."""
        tainted = self.always
        for other, names in self.unless.items():
            if not guard or other != guard:
                tainted |= names
        return tainted

    def cleaned(self, outputs: int, guard: str) -> "Taint":
        """After clean values were written under the guard; an empty guard: in every lane."""
        anywhere = self.where("") & outputs
        if not anywhere:
            return self
        unless = {other: rest for other, names in self.unless.items() if (rest := names & ~outputs)}
        if guard:
            unless[guard] = unless.get(guard, 0) | anywhere
        return Taint(self.always & ~outputs, unless)

    def after(self, outputs: int, names: RegisterSets) -> "Taint":
        """After predicates were written: what was clean under one of them counts as tainted again."""
        changed = [guard for guard in self.unless if names.bits.get(guard.lstrip("!"), 0) & outputs]
        if not changed:
            return self
        unless = {guard: state for guard, state in self.unless.items() if guard not in changed}
        return Taint(reduce(or_, (self.unless[guard] for guard in changed), self.always), unless)

    def joined(self, other: "Taint") -> "Taint":
        """What is tainted on either of two paths."""
        unless = dict(self.unless)
        for guard, names in other.unless.items():
            unless[guard] = unless.get(guard, 0) | names
        return Taint(self.always | other.always, unless)


def taint(program: Program, sources: Set[int], cut: Set[int] = frozenset()) -> list[int]:
    """The registers that depend on the results of `sources` (indices) before each instruction, by iteration to a fixed
    point; sets as of `program.register_sets`. cut : instructions whose results depend on none of what they read."""
    code, blocks, names = program.instructions, program.flow.blocks, program.register_sets
    before = [0] * len(code)
    if not sources:
        return before
    guards, follows = [guard_name(instruction) for instruction in code], _follows(program)
    entering = [Taint()] * len(blocks)
    waiting = list(range(len(blocks)))
    while waiting:
        number = waiting.pop(0)
        state = entering[number]
        for i in range(blocks[number].first, blocks[number].last):
            outputs = names.writes[i]
            before[i] = state.where(guards[i]) if state.unless else state.always
            if i in sources or (i not in cut and names.reads[i] & before[i]):
                state = Taint(state.always | outputs, state.unless)
            elif state.unless or state.always & outputs:
                state = state.cleaned(outputs, guards[i])
            if state.unless:
                state = state.after(outputs, names)
        for other in follows[number]:
            after = entering[other].joined(state)
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


def address_registers(instruction: Instruction) -> frozenset[str]:
    """The registers that make up the addresses of its operands."""
    names = set[str]()
    for operand in instruction.operands:
        if operand.kind in ("memory", "constant"):
            for term in operand.terms:
                prefix = {"register": "R", "uniform": "UR"}.get(term.kind)
                names |= {f"{prefix}{term.index}"} if prefix and term.index < 255 else set()
    return frozenset(names)


# --- sentences of the report ---


def deciding_arrays(
    program: Program, trace: Trace, reach: Reach, without: Set[str] = frozenset()
) -> tuple[str, ...]:
    """A sentence for each array whose contents decide branches or addresses, so that the work depends on them.

    reach : as of `tainted_before`. without : names of arrays to leave out.
    """
    accesses = trace.accesses["global"]
    loads = np.array([instruction.traits.is_global_load for instruction in program.instructions])[accesses.instruction]
    patterns = accesses.patterns
    lane = patterns.active.argmax(axis=1)[:, None]
    places = accesses.base + np.take_along_axis(patterns.offsets, lane, axis=1)[accesses.pattern, 0]
    sentences = []
    for name, start, size in trace.arrays:
        if name in without:
            continue
        inside = loads & (places >= np.uint64(start)) & (places < np.uint64(start + size))
        if not inside.any():
            continue
        text = _dependents(program, set(distinct(accesses.instruction[inside]).tolist()), reach)
        if text:
            sentences.append(f"{text} depend on the contents of '{name}'")
    return tuple(sentences)


def unknowns(
    program: Program, unknown: Mapping[str, Set[int]], reloads: Callable[[Set[int]], Set[int]], reach: Reach
) -> tuple[str, ...]:
    """A sentence for each kind of unknown contents: its readers, the assumption, the dependents.

    unknown : what was read -> indices of the instructions that read it. reloads : adds the loads that read values
    stored from those. reach : as of `tainted_before`.
    """
    return tuple(_sentence(program, name, loads, reloads(loads), reach) for name, loads in unknown.items())


def _sentence(program: Program, name: str, loads: Set[int], brought: Set[int], reach: Reach) -> str:
    text, dependents = f"{name} read{lines_of(program, loads)} and taken as 0", _dependents(program, brought, reach)
    return f"{text}; {dependents} depend on it" if dependents else text


def _dependents(program: Program, loads: Set[int], reach: Reach) -> str:
    """The branches and addresses that loads decide, with their lines; nothing where there are none."""
    result = dependents_of(program, loads, reach)
    return " and ".join(
        f"{what}{lines_of(program, which)}"
        for what, which in (("branches", result.branches), ("addresses", result.addresses))
        if which
    )


def lines_of(program: Program, indices: Iterable[int]) -> str:
    """ " in line 3" or " in lines 3, 5"; nothing where no line is known."""
    places = (program.instructions[i].place for i in indices)
    lines = sorted({place.outermost.line for place in places if place is not None})
    if not lines:
        return ""
    line_list = ", ".join(str(line) for line in lines[:_LINES]) + ", ..." * (len(lines) > _LINES)
    return f" in line{'s' * (len(lines) > 1)} {line_list}"
