"""Branches, calls, barriers and exits.

A control handler returns the index of the instruction at which the whole group continues, None for the next one, or
STOP if its lanes were parked, wait or have exited. It evaluates its own guard.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from warpbound.distinct_values import distinct
from warpbound.emulate.barriers import Barriers
from warpbound.emulate.device_runtime import served
from warpbound.emulate.lane_groups import Groups
from warpbound.emulate.lane_queries import every, some
from warpbound.emulate.operand_access import (
    Read,
    Site,
    predicate,
    raw,
    unsupported,
    write_predicate,
    write_words,
)
from warpbound.emulate.semantics import directs
from warpbound.emulate.state import LANES, Mask, State, Value, ballots
from warpbound.program.instruction import RZ, Operand

STOP = -1
Move = Callable[[State], int | None]


class Flow:
    """Interface through which control handlers redirect the lanes of a chunk."""

    def __init__(self, x: State, alive: Mask, lanes_per_block: int, cluster: int = 1) -> None:
        self.groups = Groups(x, alive)
        self.barriers = Barriers(x, self.groups, lanes_per_block)
        self.cluster_barriers = Barriers(x, self.groups, lanes_per_block * cluster)
        self.polled = False

    def end(self, lanes: Mask) -> None:
        self.groups.alive &= ~lanes
        self.groups.recheck()
        self.barriers.recheck()
        self.cluster_barriers.recheck()


Build = Callable[[Site, Flow, int], Move]


def conditions_of(here: Site) -> list[Read]:
    conditions = [
        operand for operand in here.instruction.operands if operand.kind in ("predicate", "uniform_predicate")
    ]
    if here.instruction.guard is not None:
        conditions.append(here.instruction.guard)
    return [predicate(operand, here) for operand in conditions if operand.index != 7 or operand.invert]


def lanes_where(x: State, conditions: list[Read]) -> Mask | None:
    """The active lanes where all conditions hold; None for every active one."""
    if not conditions:
        return None
    lanes: Value = conditions[0](x)
    for condition in conditions[1:]:
        lanes = lanes & condition(x)
    if not np.ndim(lanes):
        return None if lanes else np.zeros(x.selected_lanes, bool)
    if x.mask is not None:
        lanes = lanes & x.mask
        return None if every(lanes == x.mask) else lanes
    return None if every(lanes) else lanes


@directs("BRA JMP")
def branch(here: Site, flow: Flow, at: int) -> Move:
    """BRA and JMP, also .U, .DIV and .CONV."""
    if here.has("DIV", "CONV"):
        return _branch_on_convergence(here, flow, at)
    target, conditions = _target(here), conditions_of(here)

    def move(x: State) -> int | None:
        lanes = lanes_where(x, conditions)
        if lanes is None:
            return target
        if not some(lanes):
            return None
        flow.groups.park(x.spread(x.active() & ~lanes), at + 1)
        flow.groups.park(x.spread(lanes), target, polling=flow.polled and target <= at)
        flow.polled = flow.polled and target > at
        return STOP

    return move


def guards_of(here: Site) -> list[Read]:
    return [] if here.instruction.guard is None else [predicate(here.instruction.guard, here)]


def _target(here: Site) -> int:
    for operand in here.instruction.operands:
        if operand.kind == "label" and operand.index == 0:
            return int(operand.value) // 16
        if operand.kind == "label":
            return _outer_target(here, operand)
    raise unsupported(here.instruction)


def _outer_target(here: Site, operand: Operand) -> int:
    raise unsupported(here.instruction, f", target {operand.text}")


def _branch_on_convergence(here: Site, flow: Flow, at: int) -> Move:
    """Warps in which a lane of the mask is elsewhere or has a false guard take BRA.DIV, the others BRA.CONV.

    Derived from compiled code: the guard marks the lanes that agree on a mask. If some disagree, BRA.DIV leads to the
    slow path, and BRA.CONV does not lead to the fast one.
    """
    target, conditions = _target(here), guards_of(here)
    source = next((operand for operand in here.instruction.operands if operand.kind in ("uniform", "register")), None)
    mask_of = raw(source, here) if source is not None and source.index != RZ else None
    inverted = source is not None and source.invert
    diverged_jumps = here.has("DIV")

    def move(x: State) -> int | None:
        agreeing = lanes_where(x, conditions)
        here_now = np.repeat(ballots(x.active() if agreeing is None else agreeing), LANES)
        lane_mask: Value = np.uint32(0) if mask_of is None else mask_of(x)
        lane_mask = np.invert(lane_mask) if inverted else lane_mask
        living = np.repeat(ballots(x.of_selected(flow.groups.alive)), LANES)
        diverged = (living & lane_mask & ~here_now) != 0
        lanes = x.active() & (diverged if diverged_jumps else ~diverged)
        if not some(lanes):
            return None
        if every(lanes == x.active()):
            return target
        flow.groups.park(x.spread(x.active() & ~lanes), at + 1)
        flow.groups.park(x.spread(lanes), target)
        return STOP

    return move


class DivergedWarp(Exception):
    """A warp has taken a branch that only diverged warps take."""


def never_taken(move: Move) -> Move:
    """The branch, which ends the execution where a warp takes it. Raises DivergedWarp."""

    def stay(x: State) -> None:
        if move(x) is not None:
            raise DivergedWarp

    return stay


@directs("CALL")
def call(here: Site, flow: Flow, at: int) -> Move:
    """CALL: earlier instructions have put the return address into registers. A function pointer is an offset into the
    kernel's code, from constant bank 2."""
    if any(operand.kind in ("register", "uniform") for operand in here.instruction.operands):
        return served(here, indirect(here, flow, at), partial(_end, flow))
    return branch(here, flow, at)


def _end(flow: Flow, x: State) -> int:
    flow.end(x.spread(x.active()))
    return STOP


@directs("BRX BRXU")
def relative(here: Site, flow: Flow, at: int) -> Move:
    """An indirect branch to a distance from the next instruction."""
    return indirect(here, flow, at, 16 * (at + 1))


@directs("JMX RET")
def indirect(here: Site, flow: Flow, at: int, start: int = 0) -> Move:
    """Every lane jumps to the address in its register, in bytes from `start`."""
    operands = here.instruction.operands
    source = next(operand for operand in operands if operand.kind in ("register", "uniform"))
    target = raw(source, here)
    offset = start + sum(
        int(operand.value) for operand in operands
        if operand.kind == "immediate" or operand.kind == "label" and operand.index == 0
    )  # fmt: skip
    conditions = conditions_of(here)

    def move(x: State) -> int | None:
        lanes = lanes_where(x, conditions)
        goes = x.active() if lanes is None else lanes
        if not some(goes):
            return None
        targets = np.broadcast_to(target(x), x.selected_lanes).view(np.int32) + np.int32(offset)
        places = distinct(targets[goes])
        if lanes is None and len(places) == 1:
            return int(places[0]) // 16
        if lanes is not None:
            flow.groups.park(x.spread(x.active() & ~lanes), at + 1)
        for place in places:
            flow.groups.park(x.spread(goes & (targets == place)), int(place) // 16)
        return STOP

    return move


@directs("EXIT KILL")
def finish(here: Site, flow: Flow, at: int) -> Move:
    """EXIT and KILL."""
    conditions = conditions_of(here)

    def move(x: State) -> int | None:
        lanes = lanes_where(x, conditions)
        if lanes is None:
            return _end(flow, x)
        if not some(lanes):
            return None
        flow.groups.park(x.spread(x.active() & ~lanes), at + 1)
        flow.end(x.spread(lanes))
        return STOP

    return move


# --- block barriers ---


@directs("BAR")
def block_barrier(here: Site, flow: Flow, at: int) -> Move:
    """BAR: .SYNC waits, .ARV only counts, .RED waits and reduces a predicate."""
    operands = [
        operand for operand in here.instruction.operands if operand.kind in ("immediate", "register", "uniform")
    ]
    number_of = raw(operands[0], here)
    count_of = raw(operands[1], here) if len(operands) > 1 else None
    flags = [operand for operand in here.instruction.operands if operand.kind in ("predicate", "uniform_predicate")]
    value_of = predicate(flags[0], here) if here.has("RED") and flags else None
    conditions = guards_of(here)
    if not here.has("SYNC", "ARV", "RED"):
        raise unsupported(here.instruction)
    plain = count_of is None and value_of is None and not here.has("ARV")

    def move(x: State) -> int | None:
        lanes = lanes_where(x, conditions)
        if plain and lanes is None and _all_that_live(x, flow):
            return None
        goes = x.active() if lanes is None else lanes
        if not some(goes):
            return None
        numbers = np.broadcast_to(number_of(x), x.selected_lanes)
        threads = np.broadcast_to(count_of(x) if count_of else np.uint32(0), x.selected_lanes)
        value = None if value_of is None else x.spread(np.array(np.broadcast_to(value_of(x), x.selected_lanes)))
        if here.has("ARV"):
            for number in distinct(numbers[goes]):
                goes_there = goes & (numbers == number)
                flow.barriers.arrive(int(number), x.spread(goes_there), int(threads[goes_there].max()))
            return None
        if value is not None:
            flow.barriers.last_kind = "AND" if here.has("AND") else "OR"
        if lanes is not None:
            flow.groups.park(x.spread(x.active() & ~lanes), at + 1)
        for number in distinct(numbers[goes]):
            goes_there = goes & (numbers == number)
            flow.barriers.wait(int(number), x.spread(goes_there), at + 1, int(threads[goes_there].max()), value)
        return STOP

    return move


def _all_that_live(x: State, flow: Flow) -> bool:
    """Whether the group that executes is every thread of the chunk that has not ended."""
    return x.index is None and (x.mask is None or every(x.mask == flow.groups.alive))


@directs("UCGABAR_WAIT")
def cluster_barrier(here: Site, flow: Flow, at: int) -> Move:
    """UCGABAR_WAIT: wait until every thread of the cluster is here; each has arrived at the barrier before."""
    conditions = conditions_of(here)

    def move(x: State) -> int | None:
        lanes = lanes_where(x, conditions)
        if lanes is None and _all_that_live(x, flow):
            return None
        goes = x.active() if lanes is None else lanes
        if not some(goes):
            return None
        if lanes is not None:
            flow.groups.park(x.spread(x.active() & ~lanes), at + 1)
        flow.cluster_barriers.wait(0, x.spread(goes), at + 1, 0, None)
        return STOP

    return move


@directs("B2R")
def barrier_result(here: Site, flow: Flow, at: int) -> Move:
    """B2R.RESULT: the result of the block's last BAR.RED."""
    write = write_words(here.output)
    out = write_predicate(here.predicates_out[0] if here.predicates_out else None)

    def move(x: State) -> int | None:
        barriers = flow.barriers
        write(x, x.of_selected(barriers.count))
        out(x, x.of_selected(barriers.all if barriers.last_kind == "AND" else barriers.any))
        return None

    return move


@directs("YIELD NANOSLEEP")
def note_polling(here: Site, flow: Flow, at: int) -> Move:
    """YIELD and NANOSLEEP: other lane groups run before this group jumps back."""

    def move(x: State) -> int | None:
        flow.polled = True
        return None

    return move
