"""Which lanes run next: groups parked at program counters, waits for convergence, fairness.

A group is a set of lanes of any warps at one instruction. The group at the smallest address runs
first, so that lanes meet again; that is a batching heuristic only. A group that polls (it ran an atomic,
a strong load or a YIELD and jumped back) or has jumped back TURNS times while others could run is put
behind the others, and among such groups the one that waited longest runs. So locks are released and
flags are set, whatever the order of the code.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.state import LANES, Mask, State, ballots

TURNS = 64  # backward jumps before a group that is not alone must let others run
PATIENCE = 8  # picks of nothing but polling groups before lanes at a plain BSYNC are let go


@dataclass
class Parked:
    """Lanes that can run; `since` is the pick at which they were parked."""

    lanes: Mask
    since: int
    polling: bool


@dataclass
class Wait:
    """Lanes that wait to converge: where each goes on, and the lanes of its warp that it needs."""

    lanes: Mask
    resume: NDArray[np.int32]
    need: NDArray[np.uint32]
    plain: Mask = field(repr=False)


class Groups:
    """The lanes of a chunk that do not execute at the moment."""

    def __init__(self, x: State, alive: Mask) -> None:
        self.x = x
        self.alive = alive
        self.ready: dict[int, Parked] = {}
        self.converging: dict[int, Wait] = {}  # by barrier register; WARPSYNC under -1
        self.picks = 0
        self.only_polling = 0

    # --- running ---

    def park(self, lanes: Mask, at: int, *, polling: bool = False) -> None:
        """Lanes go on at instruction `at` when their turn comes."""
        here = self.ready.get(at)
        if here is None:
            self.ready[at] = Parked(lanes.copy(), self.picks, polling)
        else:
            here.lanes |= lanes
            here.polling = here.polling and polling

    def pick(self) -> tuple[int, Mask] | None:
        """Take the next group out: its instruction and lanes; None when no lane can run."""
        if not self.ready:
            return None
        self.picks += 1
        eager = [at for at, group in self.ready.items() if not group.polling]
        if eager:
            at = min(eager)
            self.only_polling = 0
        else:
            self.only_polling += 1
            if self.only_polling > PATIENCE and self._release_plain():
                return self.pick()
            at = min(self.ready, key=lambda place: self.ready[place].since)
        return at, self.ready.pop(at).lanes

    def _release_plain(self) -> bool:
        """Let lanes go on that wait at a BSYNC without a promise of convergence, as the hardware's YIELD does.

        Who comes there later must not wait for them.
        """
        released = False
        for key, wait in self.converging.items():
            lanes = wait.lanes & wait.plain
            if lanes.any():
                self._resume(wait, lanes)
                self.leave(key, lanes)
                released = True
        return released

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
        """After lanes ended or left a barrier: whoever waited for them only goes on."""
        for key, wait in self.converging.items():
            if wait.lanes.any():
                self._check(key, wait)

    def leave(self, register: int, lanes: Mask) -> None:
        """BREAK: lanes take themselves out of the barrier of the lanes they share it with."""
        row = self.x.convergence[register]
        leaving = np.repeat(ballots(lanes), LANES)
        row &= ~leaving
        wait = self.converging.get(register)
        if wait is not None:
            wait.need &= ~leaving
            self._check(register, wait)

    def _check(self, key: int, wait: Wait) -> None:
        arrived = np.repeat(ballots(wait.lanes), LANES)
        missing = wait.need & np.repeat(ballots(self.alive), LANES) & ~arrived
        free = wait.lanes & (missing == 0)
        if free.any():
            self._resume(wait, free)

    def _resume(self, wait: Wait, lanes: Mask) -> None:
        wait.lanes &= ~lanes
        for at in np.unique(wait.resume[lanes]):
            self.park(lanes & (wait.resume == at), int(at))

    def waiting(self) -> bool:
        return any(wait.lanes.any() for wait in self.converging.values())
