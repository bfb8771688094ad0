"""Scheduling of lanes: groups parked at program counters, waits for reconvergence, fairness.

A group is a set of lanes of any warps at one instruction. The group at the smallest address runs
first, so that lanes reconverge; this is only a batching heuristic. A group that polls (it ran an atomic,
a strong load or a YIELD, perhaps waited at a barrier, and jumped back), or that has jumped back TURNS times
while others could run, is put behind the others; among such groups, the one that waited longest runs first.
So locks are released and flags are set, whatever the order of the code.
"""

from collections.abc import Iterator
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.emulate.lane_queries import some
from warpbound.emulate.state import LANES, Mask, State, ballots
from warpbound.quick_dataclasses import dataclass

TURNS = 64  # backward jumps before a group that is not alone must let others run
WARPSYNC = -1  # in place of a barrier register
PATIENCE = 8  # picks of nothing but polling groups before lanes at a plain BSYNC are let go


@dataclass
class Parked:
    """Lanes that can run; `since` is the pick at which they were parked."""

    lanes: Mask
    since: int
    polling: bool


@dataclass
class Wait:
    """Lanes that wait to reconverge: where each continues, and the lanes of its warp that it waits for."""

    lanes: Mask
    resume: NDArray[np.int32]
    need: NDArray[np.uint32]
    plain: Mask = field(repr=False)


def same_mask_per_warp(lanes: Mask, masks: NDArray[np.uint32]) -> Iterator[tuple[NDArray[np.uint32], Mask]]:
    """Splits `lanes` so that all lanes of one warp share a mask; yields that mask for every lane, and the part."""
    rest = lanes.copy()
    while some(rest):
        first = rest.reshape(-1, LANES).argmax(axis=1) + np.arange(0, len(rest), LANES)
        lane_masks = np.repeat(masks[first], LANES)
        alike = rest & (masks == lane_masks)
        yield lane_masks, alike
        rest &= ~alike


def _fewest(need: NDArray[np.uint32], lanes: Mask) -> int:
    return int(np.bitwise_count(need[lanes]).min())


class Groups:
    """The parked and waiting lanes of a chunk."""

    def __init__(self, x: State, alive: Mask) -> None:
        self.x = x
        self.alive = alive
        self.ready: dict[int, Parked] = {}
        self.converging: dict[int, Wait] = {}  # by barrier register, or WARPSYNC
        self.picks = 0
        self.only_polling = 0
        self.polled: Mask | None = None  # lanes that polled and then waited, before they jumped back
        self.saved = False  # whether a barrier register was saved and brought back
        self.meeting: frozenset[int] = frozenset()  # instructions that each part of a warp executes as it arrives

    # --- running ---

    def park(self, lanes: Mask, at: int, *, polling: bool = False) -> None:
        """Lanes go on at instruction `at` when their turn comes."""
        here = self.ready.get(at)
        if here is None:
            self.ready[at] = Parked(lanes.copy(), self.picks, polling)
        else:
            if at in self.meeting and self.x.recorder is not None:
                both = lanes.reshape(-1, LANES).any(axis=1) & here.lanes.reshape(-1, LANES).any(axis=1)
                self.x.recorder.arrive(at, np.flatnonzero(both))
            here.lanes |= lanes
            here.polling = here.polling and polling

    def pick(self) -> tuple[int, Mask] | None:
        """Take the next group out: its instruction and lanes; None when no lane can run."""
        if not self.ready and not self._release_left():
            return None
        self.picks += 1
        eager = [at for at, group in self.ready.items() if not group.polling]
        if eager:
            at = min(eager)
            self.only_polling = 0
        else:
            self.only_polling += 1
            if self.only_polling > PATIENCE and (self._release_plain() or self.saved and self._release_left()):
                return self.pick()
            at = min(self.ready, key=lambda place: self.ready[place].since)
        return at, self.ready.pop(at).lanes

    def _release_left(self) -> bool:
        """Release lanes that wait for lanes which have left: a BREAK does not change a mask that a call had saved, and
        the compiler emits none where it knows that the whole warp leaves, or that no lane does.

        Only lanes that wait to converge themselves can have left; of several waits, the one for fewest lanes is inner.
        """
        waiting = np.zeros_like(self.alive)
        for wait in self.converging.values():
            waiting |= wait.lanes
        stuck, best = np.repeat(ballots(self.alive & ~waiting), LANES), None
        for key, wait in self.converging.items():
            for need, alike in same_mask_per_warp(wait.lanes & (wait.need & stuck == 0), wait.need):
                if key != WARPSYNC and (best is None or _fewest(need, alike) < best[0]):
                    best = _fewest(need, alike), key, alike
        if best is None:
            return False
        _, key, lanes = best
        self._resume(self.converging[key], lanes)
        self.leave(key, lanes)
        return True

    def _release_plain(self) -> bool:
        """Release lanes that wait at a BSYNC without a promise of convergence, as the hardware's YIELD does.

        Lanes that come there later must not wait for them.
        """
        released = False
        for key, wait in self.converging.items():
            lanes = wait.lanes & wait.plain
            if some(lanes):
                self._resume(wait, lanes)
                self.leave(key, lanes)
                released = True
        return released

    def remember_polling(self) -> None:
        """Note that the lanes of the group that ran have polled; they remain marked while they wait for others."""
        lanes = self.x.spread(self.x.active())
        self.polled = lanes.copy() if self.polled is None else self.polled | lanes

    def have_polled(self) -> bool:
        """Whether a lane of the group that runs now polled before it waited."""
        if self.polled is None:
            return False
        lanes = self.x.spread(self.x.active())
        before = some(self.polled & lanes)
        rest = self.polled & ~lanes
        self.polled = rest if some(rest) else None
        return before

    # --- convergence ---

    def converge(self, key: int, lanes: Mask, resume: int, need: NDArray[np.uint32], *, plain: bool) -> None:
        """Lanes wait until every living lane of their warp that `need` names waits under the same key."""
        wait = self.converging.get(key)
        if wait is None:
            count = len(lanes)
            none = np.zeros(count, bool)
            wait = Wait(none, np.zeros(count, np.int32), np.zeros(count, np.uint32), none.copy())
            self.converging[key] = wait
        wait.lanes |= lanes
        wait.resume[lanes] = resume
        wait.need[lanes] = need[lanes]
        wait.plain[lanes] = plain
        self._check(key, wait)

    def recheck(self) -> None:
        """Releases lanes that waited only for lanes which have since exited or left the barrier."""
        for key, wait in self.converging.items():
            if some(wait.lanes):
                self._check(key, wait)

    def leave(self, register: int, lanes: Mask) -> None:
        """BREAK: lanes take themselves out of the barrier of the lanes they share it with."""
        row, wait = self.x.convergence[register], self.converging.get(register)
        for lanes_of_mask, alike in same_mask_per_warp(lanes, row):
            leaving = np.repeat(ballots(alike), LANES)
            for masks in (row,) if wait is None else (row, wait.need):
                masks[masks == lanes_of_mask] &= ~leaving[masks == lanes_of_mask]
        if wait is not None:
            self._check(register, wait)

    def _check(self, key: int, wait: Wait) -> None:
        free = self._complete(wait) if key == WARPSYNC else self._together(wait)
        if some(free):
            self._resume(wait, free)

    def _complete(self, wait: Wait) -> Mask:
        """Lanes whose needed lanes all wait for them, too, and possibly for others."""
        own = np.uint32(1) << (np.arange(len(wait.lanes)) % LANES).astype(np.uint32)
        arrived = np.zeros_like(wait.need)
        for need, alike in same_mask_per_warp(wait.lanes, wait.need):
            arrived |= np.where(need & own, np.repeat(ballots(alike), LANES), np.uint32(0))
        missing = wait.need & np.repeat(ballots(self.alive), LANES) & ~arrived
        return np.asarray(wait.lanes & (missing == 0))

    def _together(self, wait: Wait) -> Mask:
        """Lanes whose needed lanes all wait for the same set: recursion reuses a barrier register."""
        living, free = ballots(self.alive), np.zeros_like(wait.lanes)
        for need, alike in same_mask_per_warp(wait.lanes, wait.need):
            free |= alike & (need & np.repeat(living & ~ballots(alike), LANES) == 0)
        return free

    def _resume(self, wait: Wait, lanes: Mask) -> None:
        wait.lanes &= ~lanes
        for at in distinct(wait.resume[lanes]):
            self.park(lanes & (wait.resume == at), int(at))

    def waiting(self) -> bool:
        return any(some(wait.lanes) for wait in self.converging.values())
