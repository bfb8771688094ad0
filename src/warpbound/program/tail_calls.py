"""Calls that never return, as jumps.

Compilers leave some loops by `CALL.REL.NOINC` to a label of the same kernel from which no RET can be reached: threads
go on there and end. Such a call is a branch, and everything that follows the flow of the kernel takes it for one. On
the way there may be calls of functions that do return, a division's for one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from warpbound.program.control_flow import always, calls, jumps, leaves
from warpbound.program.instruction import Instruction

BRANCH = "BRA"


def tail_calls_as_branches(instructions: Sequence[Instruction]) -> tuple[Instruction, ...]:
    """The instructions, with calls that never return as branches; their text stays."""
    at = {instruction.address: i for i, instruction in enumerate(instructions)}
    verdicts: dict[int, bool] = {}

    def is_jump(instruction: Instruction) -> bool:
        place = _place(instruction, at)
        if instruction.traits.kind != "call" or place is None:
            return False
        if place not in verdicts:
            verdicts[place] = _ends(instructions, place, at)
        return verdicts[place]

    return tuple(
        replace(instruction, opcode=BRANCH, modifiers=()) if is_jump(instruction) else instruction
        for instruction in instructions
    )


def _place(instruction: Instruction, at: dict[int, int]) -> int | None:
    """Where a direct jump or call leads; None for others."""
    labels = [x for x in instruction.operands if x.kind == "label" and x.index == 0]
    indirect = any(x.kind in ("register", "uniform") for x in instruction.operands)
    return at.get(int(labels[0].value)) if labels and not indirect else None


def _ends(
    instructions: Sequence[Instruction], start: int, at: dict[int, int], entered: frozenset[int] = frozenset()
) -> bool:
    """Whether all paths from an instruction end the threads, and none returns or leads to an unknown place.

    entered : places that are being examined; a path that comes back to one of them does not return there.
    """
    pending, visited = [start], set[int]()
    while pending:
        place = pending.pop()
        if place in visited:
            continue
        visited.add(place)
        if place >= len(instructions):
            return False
        following = _following(instructions, place, at, entered | {start})
        if following is None:
            return False
        pending += following
    return True


def _following(
    instructions: Sequence[Instruction], place: int, at: dict[int, int], visited: frozenset[int]
) -> Iterable[int] | None:
    """Where an instruction may lead; None where it returns, or where that is not known."""
    instruction = instructions[place]
    if instruction.traits.kind == "return" or instruction.traits.indirect:
        return None
    if leaves(instruction):
        return [] if always(instruction) else [place + 1]
    if not jumps(instruction) and not calls(instruction):
        return [place + 1]
    target = _place(instruction, at)
    if target is None:
        return None
    if calls(instruction) and target not in visited and not _ends(instructions, target, at, visited):
        return [place + 1]  # a function, which returns
    return [target] if always(instruction) and jumps(instruction) else [target, place + 1]
