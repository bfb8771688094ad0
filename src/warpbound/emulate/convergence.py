"""Convergence within a warp: BSSY, BSYNC, BREAK, BMOV and WARPSYNC."""

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.control_flow import STOP, Flow, Move, conditions_of, lanes_where
from warpbound.emulate.lane_groups import WARPSYNC
from warpbound.emulate.lane_queries import every, some
from warpbound.emulate.operand_access import Read, Site, raw, unsupported, write_words
from warpbound.emulate.semantics import directs
from warpbound.emulate.state import LANES, State, ballots, whole


def _barrier_register(here: Site) -> int:
    return next(operand.index for operand in here.instruction.operands if operand.kind == "barrier")


@directs("BSSY")
def set_convergence(here: Site, flow: Flow, at: int) -> Move:
    """BSSY: the barrier register names the lanes that are here together."""
    register = _barrier_register(here)

    def move(x: State) -> int | None:
        row = x.convergence[register]
        if x.mask is None and x.index is None:
            row.fill(0xFFFFFFFF)
        else:
            x.assign(row, np.repeat(ballots(x.active()), LANES))
        return None

    return move


@directs("BSYNC")
def await_convergence(here: Site, flow: Flow, at: int) -> Move:
    """BSYNC: wait for the lanes that the barrier register names."""
    register, conditions = _barrier_register(here), conditions_of(here)
    plain = not here.has("RECONVERGENT", "RELIABLE")

    def move(x: State) -> int | None:
        lanes, row = lanes_where(x, conditions), x.convergence[register]
        if lanes is None and _here_and_no_other(x, x.of_selected(row)):
            return None
        if lanes is not None:
            if not some(lanes):
                return None
            flow.groups.park(x.spread(x.active() & ~lanes), at + 1)
        waiting = x.spread(x.active() if lanes is None else lanes)
        flow.groups.converge(register, waiting, at + 1, row, plain=plain)
        return STOP

    return move


def _here_and_no_other(x: State, lanes: NDArray[np.uint32]) -> bool:
    """Whether the executing lanes are exactly those that each of them waits for; not so deeper in a recursion."""
    if x.mask is None:
        return every(lanes == 0xFFFFFFFF)
    return every((lanes == np.repeat(ballots(x.mask), LANES))[x.mask])


@directs("BREAK")
def leave_convergence(here: Site, flow: Flow, at: int) -> Move:
    """BREAK."""
    register, conditions = _barrier_register(here), conditions_of(here)

    def move(x: State) -> int | None:
        lanes = lanes_where(x, conditions)
        flow.groups.leave(register, x.spread(x.active() if lanes is None else lanes))
        return None

    return move


@directs("WARPSYNC")
def synchronise_warp(here: Site, flow: Flow, at: int) -> Move:
    """WARPSYNC: wait for the lanes of a mask (.ALL: of the warp); .EXCLUSIVE, .COLLECTIVE: other masks later."""
    source = next(
        (operand for operand in here.instruction.operands if operand.kind in ("register", "uniform", "immediate")), None
    )
    mask_of = None if source is None or here.has("ALL") else raw(source, here)
    if mask_of is not None and here.has("EXCLUSIVE", "COLLECTIVE"):
        return _synchronise_in_turn(flow, at, mask_of)

    def move(x: State) -> int | None:
        if x.mask is None:
            return None
        need = np.full(x.lane_count, 0xFFFFFFFF, np.uint32)
        if mask_of is not None:
            x.assign(need, mask_of(x))
        flow.groups.converge(WARPSYNC, x.spread(x.active()), at + 1, need, plain=False)
        return STOP

    return move


def _synchronise_in_turn(flow: Flow, at: int, mask_of: Read) -> Move:
    """In every warp, the lanes of one mask continue as soon as all lanes that it names are here."""

    def move(x: State) -> int | None:
        masks, here_now = whole(x, mask_of(x)), x.active()
        first = here_now.reshape(-1, LANES).argmax(axis=1) + np.arange(0, x.selected_lanes, LANES)
        alike = here_now & (masks == np.repeat(masks[first], LANES))
        living = np.repeat(ballots(x.of_selected(flow.groups.alive)), LANES)
        complete = alike & (masks & living & ~np.repeat(ballots(alike), LANES) == 0)
        before = flow.groups.ready.get(at + 1)
        if before is not None:
            complete &= np.repeat(ballots(x.of_selected(before.lanes)), LANES) == 0
        if every(complete == here_now):
            return None
        missing = alike & (masks & living & ~np.repeat(ballots(here_now), LANES) != 0)
        later = here_now & ~complete & ~missing
        for lanes, place, polling in ((complete, at + 1, False), (later, at, True)):
            if some(lanes):
                flow.groups.park(x.spread(lanes), place, polling=polling)
        if some(missing):
            need = np.zeros(x.lane_count, np.uint32)
            x.assign(need, masks)
            flow.groups.converge(WARPSYNC, x.spread(missing), at, need, plain=False)
        return STOP

    return move


@directs("BMOV")
def move_barrier(here: Site, flow: Flow, at: int) -> Move:
    """BMOV between a barrier register and a register; .CLEAR empties the barrier register."""
    target, source = here.instruction.operands[:2]
    if target.kind == "barrier":
        reader = raw(source, here)

        def restore(x: State) -> int | None:
            x.assign(x.convergence[target.index], reader(x))
            flow.groups.saved = True
            return None

        return restore
    write, register, clear = write_words(target), source.index, here.has("CLEAR")
    if source.kind != "barrier":
        raise unsupported(here.instruction)

    def save(x: State) -> int | None:
        write(x, x.of_selected(x.convergence[register]).copy())
        if clear:
            x.assign(x.convergence[register], np.uint32(0))
        return None

    return save
