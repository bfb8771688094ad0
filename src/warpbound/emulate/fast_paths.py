"""Branches around slow paths: calls for divisions and roots of extreme operands, and for shuffles of diverged warps.

A division or a square root of floating-point numbers is a few instructions (the fast path), and a call of a function
for operands close to zero or to infinity (the slow path). Where no address, branch or predicate depends on the result,
the operands need not be known either: a trace takes the fast path.

Up to sm_89 a shuffle in a loop is one instruction if the whole warp is there, and a function if BRA.DIV finds lanes
elsewhere. Both give the same values, so the function need not be followed.

Models   A branch around a call of arithmetic: its slow path only moves registers, calls, and comes back.
Omits    Operands that take the slow path, which costs some 50 instructions more.
"""

from collections.abc import Mapping, Set

from warpbound.emulate.control_dependence import ControlDependence
from warpbound.emulate.stack_slots import stack_slots
from warpbound.identity_cache import remember
from warpbound.program.control_flow import always, calls
from warpbound.program.kernel import Program
from warpbound.program.registers import writes
from warpbound.quick_dataclasses import dataclass

LONGEST_CALL = 24  # instructions of a slow path, without the function that it calls
_OF_ARITHMETIC = ("branch", "return", "call", "convergence", "target", "scheduling", "constant")  # kinds beside it


@dataclass(frozen=True)
class FastPath:
    """begin : the instruction at which the fast path continues. meet : where both paths join again. results : registers
    and predicates that the slow path may write. Predicates that the called function overwrites are not among them: it
    returns registers, so what these predicates held is used on neither path."""

    begin: int
    meet: int
    results: frozenset[str]


@remember(4)
def fast_paths(program: Program) -> dict[int, FastPath]:
    """The branches that decide between a fast path and a call of arithmetic, by instruction."""
    code, blocks = program.instructions, program.flow.blocks
    if not any(calls(instruction) for instruction in code):
        return {}
    control, slots, ways = ControlDependence(program), stack_slots(program), {}
    starts = {code[block.first].address: number for number, block in enumerate(blocks)}
    for number, block in enumerate(blocks):
        at = block.last - 1
        branch = code[at]
        if number not in program.flow.reachable or branch.traits.kind != "branch" or always(branch):
            continue
        if branch.traits.indirect or len(block.follows) != 2:
            continue
        _, meet = control.decided_by(at)
        if meet is None:
            continue
        end = control.block_of[meet]
        calling = [follow for follow in block.follows if _only_calls(program, follow, end)]
        if len(calling) != 1:
            continue
        way, callees = _way(program, calling[0], end, starts)
        if at not in way | callees and all(i in slots or _is_arithmetic(program, i) for i in way | callees):
            (short,) = set(block.follows) - set(calling)
            results = {name for i in way for name in (*writes(code[i]), *slots.get(i, ()))}
            results |= {name for i in callees for name in writes(code[i]) if "P" not in name}
            ways[at] = FastPath(blocks[short].first, meet, frozenset(results))
    return ways


def _only_calls(program: Program, first: int, meet: int) -> bool:
    """Whether the path from one block to another is a call between a few moves, without a branch."""
    code, blocks, way, number = program.instructions, program.flow.blocks, list[int](), first
    while number != meet:
        way += range(blocks[number].first, blocks[number].last)
        if len(blocks[number].follows) != 1 or len(way) > LONGEST_CALL:
            return False
        number = blocks[number].follows[0]
    return sum(calls(code[i]) for i in way) == 1


def _way(program: Program, first: int, meet: int, starts: Mapping[int, int]) -> tuple[frozenset[int], frozenset[int]]:
    """The instructions from a block to another one, and those of the functions that they call. starts : blocks by
    address."""
    way, callees = set[int](), set[int]()
    pending = [(first, way)]
    while pending:
        number, inside = pending.pop()
        if number == meet or number in way | callees:
            continue
        inside.add(number)
        blocks, code = program.flow.blocks, program.instructions
        pending += [(follow, inside) for follow in blocks[number].follows]
        last = code[blocks[number].last - 1]
        if calls(last):
            places = (int(x.value) for x in last.operands if x.kind == "label")
            pending += [(starts[place], callees) for place in places if place in starts]
    return _instructions(program, way), _instructions(program, callees)


def _instructions(program: Program, numbers: Set[int]) -> frozenset[int]:
    blocks = program.flow.blocks
    return frozenset(i for number in numbers for i in range(blocks[number].first, blocks[number].last))


def _is_arithmetic(program: Program, at: int) -> bool:
    traits = program.instructions[at].traits
    return traits.is_arithmetic and traits.kind != "collective" or traits.kind in _OF_ARITHMETIC


@remember(4)
def whole_warp_branches(program: Program) -> frozenset[int]:
    """The BRA.DIV that only a diverged warp takes, to code that calls a function."""
    code, blocks = program.instructions, program.flow.blocks
    parting = {at for at, x in enumerate(code) if x.traits.kind == "branch" and "DIV" in x.modifiers}
    if not parting or not any(map(calls, code)):
        return frozenset()
    control = ControlDependence(program)
    aside = {at: control.decided_by(at)[0] - set(range(at, blocks[control.block_of[at] + 1].last)) for at in parting}
    return frozenset(at for at, inside in aside.items() if any(calls(code[i]) for i in inside))


def follows(program: Program, short: Mapping[int, int], whole_warp: Set[int] = frozenset()) -> list[tuple[int, ...]]:
    """The successors of each block, where branches take fast paths (to these instructions) and those of `whole_warp`
    are not taken; blocks that are not reached then have none."""
    blocks = program.flow.blocks
    starts = {block.first: number for number, block in enumerate(blocks)}
    result: list[tuple[int, ...]] = [()] * len(blocks)
    reached, pending = set[int](), [0] if blocks else []
    while pending:
        number = pending.pop()
        if number in reached:
            continue
        reached.add(number)
        way, stays = short.get(blocks[number].last - 1), blocks[number].last - 1 in whole_warp
        after = blocks[number].follows if way is None else (starts[way],)
        result[number] = (number + 1,) if stays else after
        pending += result[number]
    return result


def reached(program: Program, after: list[tuple[int, ...]]) -> Set[int]:
    """The instructions of the blocks that are reached."""
    return _instructions(program, {0}.union(*after) if after else set())
