"""Control flow of one kernel: basic blocks, dominators, natural loops.

Source   Dominators by iteration to a fixed point over reverse postorder (Cooper, Harvey, Kennedy,
         "A Simple, Fast Dominance Algorithm", 2001); natural loops as in Aho et al., section 9.6.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from warpbound.program.instruction import PT, Instruction
from warpbound.quick_dataclasses import dataclass

_CONDITION = re.compile(r"!?C\d")  # a condition register of 1.x
_REJOINS = "S"  # before Maxwell: a modifier of any instruction that ends a divergent stretch


@dataclass(frozen=True)
class Block:
    """Instructions first .. last - 1 (indices), run one after the other; `follows` are block numbers."""

    first: int
    last: int
    follows: tuple[int, ...]


@dataclass(frozen=True)
class Loop:
    """A natural loop: header block, all blocks of its body, depth (1 = outermost), enclosing loop."""

    header: int
    blocks: frozenset[int]
    depth: int
    parent: int | None


@dataclass(frozen=True)
class Flow:
    """Blocks in program order, which of them can be reached, immediate dominators, loops outermost first."""

    blocks: tuple[Block, ...]
    reachable: frozenset[int]
    dominators: tuple[int | None, ...]
    loops: tuple[Loop, ...]


def always(instruction: Instruction) -> bool:
    """Whether every thread that reaches a branch, exit or call takes it."""
    if any(_CONDITION.match(x.text) for x in (instruction.guard, *instruction.operands) if x and x.kind == "other"):
        return False
    conditions = [x for x in (instruction.guard, *instruction.operands) if x is not None and "predicate" in x.kind]
    plain = all(x.index == PT and not x.invert for x in conditions)
    return plain and not {"DIV", "CONV"} & set(instruction.modifiers)


def jumps(instruction: Instruction) -> bool:
    """Whether it jumps within the kernel: a branch, or the end of a divergent region (.S)."""
    if instruction.traits.kind == "branch":
        return True
    return _REJOINS in instruction.modifiers and any(x.kind == "label" and x.index == 0 for x in instruction.operands)


def leaves(instruction: Instruction) -> bool:
    """Whether threads that execute it leave the kernel: exit, return, trap."""
    traits = instruction.traits
    return traits.is_exit or (traits.kind == "trap" and "TRAP" in instruction.modifiers)


def calls(instruction: Instruction) -> bool:
    """Whether it calls a function."""
    return instruction.traits.kind == "call"


def calls_that_return(code: Sequence[Instruction]) -> frozenset[int]:
    """The calls, without those of functions that begin with a trap: checks around allocations of tensor memory."""
    traps = {instruction.address for instruction in code if instruction.traits.kind == "trap"}

    def is_check(call: Instruction) -> bool:
        return any(x.kind == "label" and int(x.value) in traps for x in call.operands)

    return frozenset(at for at, instruction in enumerate(code) if calls(instruction) and not is_check(instruction))


def flow(instructions: Sequence[Instruction], labels: Iterable[int], functions: Iterable[int] = ()) -> Flow:
    """Blocks and loops of a kernel.

    labels : the addresses that carry a label, where a branch without a table may lead.
    functions : where device functions begin, to which a call by address may lead.
    """
    at = {instruction.address: i for i, instruction in enumerate(instructions)}
    starts = _starts(instructions, at, labels)
    number = {first: b for b, first in enumerate(starts)}
    label_blocks = {number[at[a]] for a in labels if a in at}
    ends = [*starts[1:], len(instructions)] if starts else []
    blocks = tuple(
        Block(first, last, _follows(instructions[last - 1], last, at, number, label_blocks))
        for first, last in zip(starts, ends, strict=True)
    )
    roots = [0, *_callees(instructions, at, number, functions)] if blocks else []
    order = reverse_postorder(roots, lambda block: blocks[block].follows)
    dominators = _dominators(blocks, order, set(roots))
    return Flow(blocks, frozenset(order), dominators, _loops(blocks, order, dominators))


def _target(instruction: Instruction, at: dict[int, int]) -> int | None:
    for operand in instruction.operands:
        if operand.kind == "label" and operand.index == 0:
            return at.get(int(operand.value))
    return None


def _starts(instructions: Sequence[Instruction], at: dict[int, int], labels: Iterable[int]) -> list[int]:
    starts = {0} | {at[a] for a in labels if a in at}
    for i, instruction in enumerate(instructions):
        if jumps(instruction) or calls(instruction) or leaves(instruction):
            starts.add(i + 1)
            target = _target(instruction, at)
            if target is not None:
                starts.add(target)
    return sorted(s for s in starts if s < len(instructions))


def _follows(
    last: Instruction, after: int, at: dict[int, int], number: dict[int, int], label_blocks: set[int]
) -> tuple[int, ...]:
    through = (number[after],) if after in number else ()
    if jumps(last):
        target = _target(last, at)
        targets: tuple[int, ...] = (number[target],) if target is not None else ()
        if last.traits.indirect:
            targets = _listed(last, at, number) or tuple(sorted(label_blocks))
        return targets if always(last) else tuple(dict.fromkeys(through + targets))
    if leaves(last):
        return () if always(last) else through
    return through


def _listed(last: Instruction, at: dict[int, int], number: dict[int, int]) -> tuple[int, ...]:
    """Blocks that the table of an indirect branch names; none where it is not printed."""
    labels = (label for operand in last.operands if operand.kind == "targets" for label in operand.terms)
    return tuple(sorted({number[at[int(label.value)]] for label in labels if int(label.value) in at}))


def _callees(
    instructions: Sequence[Instruction], at: dict[int, int], number: dict[int, int], functions: Iterable[int]
) -> list[int]:
    sites = [instruction for instruction in instructions if calls(instruction)]
    targets = {_target(site, at) for site in sites}
    if any(operand.kind in ("register", "uniform") for instruction in sites for operand in instruction.operands):
        targets |= {at.get(address) for address in functions}
    return sorted({number[t] for t in targets if t is not None and t in number} - {0})


def reverse_postorder(roots: Sequence[int], follows: Callable[[int], Sequence[int]]) -> list[int]:
    """The nodes that the roots lead to, each before those that only follow it."""
    visited: set[int] = set()
    post: list[int] = []
    for root in reversed(roots):
        if root in visited:
            continue
        visited.add(root)
        path = [(root, iter(follows(root)))]
        while path:
            node, rest = path[-1]
            step = next((n for n in rest if n not in visited), None)
            if step is None:
                post.append(path.pop()[0])
            else:
                visited.add(step)
                path.append((step, iter(follows(step))))
    return post[::-1]


def _dominators(blocks: Sequence[Block], order: Sequence[int], roots: set[int]) -> tuple[int | None, ...]:
    """Immediate dominators; None for roots and for blocks that cannot be reached.

    Several roots hang under one virtual root, number -1.
    """
    rank = {-1: -1} | {node: i for i, node in enumerate(order)}
    before: dict[int, list[int]] = {node: [-1] if node in roots else [] for node in order}
    for node in order:
        for after in blocks[node].follows:
            before[after].append(node)
    dominator: dict[int, int] = {-1: -1}
    changed = True
    while changed:
        changed = False
        for node in order:
            reached = [p for p in before[node] if p in dominator]
            common = reached[0]
            for other in reached[1:]:
                while common != other:
                    if rank[common] > rank[other]:
                        common = dominator[common]
                    else:
                        other = dominator[other]
            if dominator.get(node) != common:
                dominator[node] = common
                changed = True
    return tuple(None if dominator.get(b, -1) == -1 else dominator[b] for b in range(len(blocks)))


def dominates(flow_dominators: Sequence[int | None], above: int, below: int) -> bool:
    """Whether every path to block `below` leads through block `above`."""
    node: int | None = below
    while node is not None and node != above:
        node = flow_dominators[node]
    return node == above


def _loops(blocks: Sequence[Block], order: Sequence[int], dominators: tuple[int | None, ...]) -> tuple[Loop, ...]:
    before: dict[int, list[int]] = {node: [] for node in order}
    for node in order:
        for after in blocks[node].follows:
            before[after].append(node)
    bodies: dict[int, set[int]] = {}
    for node in order:
        for header in blocks[node].follows:
            if dominates(dominators, header, node):
                body = bodies.setdefault(header, {header})
                pending = [node]
                while pending:
                    block_number = pending.pop()
                    if block_number not in body:
                        body.add(block_number)
                        pending.extend(before[block_number])
    headers = sorted(bodies, key=lambda h: (-len(bodies[h]), h))
    loops: list[Loop] = []
    for header in headers:
        around = [i for i, outer in enumerate(loops) if header in outer.blocks and header != outer.header]
        parent = max(around, key=lambda i: loops[i].depth, default=None)
        depth = 1 if parent is None else loops[parent].depth + 1
        loops.append(Loop(header, frozenset(bodies[header]), depth, parent))
    return tuple(loops)
