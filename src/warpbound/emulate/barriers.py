"""Block barriers: BAR.SYNC, BAR.ARV and BAR.RED, counted in threads of each block."""


import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.emulate.lane_groups import Groups
from warpbound.emulate.lane_queries import some
from warpbound.emulate.state import LANES, Mask, State
from warpbound.quick_dataclasses import dataclass


@dataclass
class Barrier:
    """One barrier number in every block of the chunk."""

    lanes: Mask  # that wait
    resume: NDArray[np.int32]
    predicate: Mask  # what each waiting lane brought to a reduction
    arrived: NDArray[np.int64]  # threads that came without waiting, per block
    threads: NDArray[np.int64]  # threads, per block; 0: all that live


class Barriers:
    """All barriers of a chunk of blocks of `lanes_per_block` lanes."""

    def __init__(self, x: State, groups: Groups, lanes_per_block: int) -> None:
        self.x = x
        self.groups = groups
        self.lanes_per_block = lanes_per_block
        self.block_count = x.lane_count // lanes_per_block
        self.open: dict[int, Barrier] = {}
        self.count = np.zeros(x.lane_count, np.uint32)  # results of BAR.RED as each lane reads them
        self.all = np.zeros(x.lane_count, np.bool_)
        self.any = np.zeros(x.lane_count, np.bool_)
        self.last_kind = "POPC"

    def idle(self) -> bool:
        return not any(some(barrier.lanes) for barrier in self.open.values())

    def _barrier(self, number: int) -> Barrier:
        if number not in self.open:
            lanes, blocks = self.x.lane_count, self.block_count
            self.open[number] = Barrier(
                np.zeros(lanes, bool), np.zeros(lanes, np.int32), np.zeros(lanes, bool),
                np.zeros(blocks, np.int64), np.zeros(blocks, np.int64),
            )  # fmt: skip
        return self.open[number]

    def wait(self, number: int, lanes: Mask, resume: int, threads: int, predicate: Mask | None) -> None:
        """Lanes wait at a barrier for `threads` of their block (0: all that live)."""
        barrier = self._barrier(number)
        barrier.lanes |= lanes
        barrier.resume[lanes] = resume
        barrier.predicate[lanes] = predicate[lanes] if predicate is not None else False
        barrier.threads[self._blocks(lanes)] = threads
        self._check(barrier)

    def arrive(self, number: int, lanes: Mask, threads: int) -> None:
        """Lanes are counted at a barrier and go on."""
        barrier = self._barrier(number)
        whole = np.repeat(lanes.reshape(-1, LANES).any(axis=1), LANES)
        barrier.arrived += self._per_block(whole)
        barrier.threads[self._blocks(lanes)] = threads
        self._check(barrier)

    def recheck(self) -> None:
        """After lanes ended."""
        for barrier in self.open.values():
            if some(barrier.lanes):
                self._check(barrier)

    def _blocks(self, lanes: Mask) -> Mask:
        return np.asarray(lanes.reshape(self.block_count, self.lanes_per_block).any(axis=1))

    def _per_block(self, lanes: Mask) -> NDArray[np.int64]:
        return np.asarray(lanes.reshape(self.block_count, self.lanes_per_block).sum(axis=1))

    def _check(self, barrier: Barrier) -> None:
        alive = self.groups.alive
        waiting = self._per_block(barrier.lanes)
        arrivals = waiting
        if (barrier.threads > 0).any():  # a warp counts as 32 threads once all of it that lives is there
            complete = np.repeat(~(alive & ~barrier.lanes).reshape(-1, LANES).any(axis=1), LANES)
            present = np.repeat(barrier.lanes.reshape(-1, LANES).any(axis=1), LANES)
            arrivals = self._per_block(barrier.lanes | (complete & present))
        all_live = self._per_block(alive)
        enough = np.where(
            barrier.threads > 0, arrivals + barrier.arrived >= barrier.threads, waiting + barrier.arrived >= all_live
        ) & (waiting + barrier.arrived > 0)
        enough &= (waiting > 0) | (barrier.arrived >= np.maximum(barrier.threads, 1))
        if not enough.any():
            return
        barrier.arrived[enough] = 0
        released = barrier.lanes & np.repeat(enough, self.lanes_per_block)
        if some(released):
            self._reduce(barrier, released)
            barrier.lanes &= ~released
            for at in distinct(barrier.resume[released]):
                self.groups.park(released & (barrier.resume == at), int(at))

    def _reduce(self, barrier: Barrier, released: Mask) -> None:
        """Results of a reduction over the lanes that leave a barrier, for each of them to read."""
        brought = barrier.predicate & released
        counts = self._per_block(brought)
        full = counts == self._per_block(released)
        for row, value in ((self.count, counts), (self.all, full), (self.any, counts > 0)):
            np.copyto(row, np.repeat(value, self.lanes_per_block).astype(row.dtype), where=released)
