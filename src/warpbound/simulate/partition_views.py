"""Views of a run of `partitions`: events in order, warps by partition and step, queues, the binding clock."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.quick_dataclasses import dataclass
from warpbound.simulate.partitions import FEMTO, Machine, Outcome, Pattern, Whole, simulate

EVENT = np.dtype([("time_s", "f8"), ("kind", "U8"), ("transaction", "i8"), ("warp", "i8"), ("partition", "i8")])
MOMENTS = ("issued", "sent", "arrived", "started", "served", "replied")
SCALED = 1.25  # factor of a clock in the proof of memory-boundedness
View = Callable[[NDArray[np.void]], None]


@dataclass(frozen=True)
class Elasticity:
    """Exponent of the speed-up with a clock: 1 in proportion, 0 none."""

    core: float
    memory: float

    @property
    def binds(self) -> str:
        """The clock that matters more."""
        return "memory" if self.memory > self.core else "core"


def events(run: Outcome) -> NDArray[np.void]:
    """Every moment of every transaction in order of time, as records of EVENT."""
    count = len(run.warp)
    records = np.empty(count * len(MOMENTS), EVENT)
    moments = [getattr(run, name) for name in MOMENTS]
    records["time_s"] = np.concatenate(moments) / FEMTO
    records["kind"] = np.repeat(MOMENTS, count)
    records["transaction"] = np.tile(np.arange(count), len(MOMENTS))
    records["warp"], records["partition"] = np.tile(run.warp, len(MOMENTS)), np.tile(run.partition, len(MOMENTS))
    return records[np.argsort(np.concatenate(moments), kind="stable")]


def show(run: Outcome, *views: View) -> None:
    """Pass every event to each view, in order."""
    for event in events(run):
        for view in views:
            view(event)


def steps(run: Outcome, length: float) -> Whole:
    """Warp (from 1) whose transaction starts in each partition in each step of `length` seconds, 0 where none does.

    Shape (steps, partitions); of several, the last one.
    """
    step = np.rint(run.started / (length * FEMTO)).astype(np.int64)
    table = np.zeros((int(step.max(initial=-1)) + 1, run.machine.partitions), np.int64)
    order = np.argsort(run.started, kind="stable")
    table[step[order], run.partition[order]] = run.warp[order] + 1
    return table


def busy(run: Outcome) -> NDArray[np.float64]:
    """Share of the run in which each partition serves, (partitions,)."""
    busy_s = np.bincount(run.partition, run.served - run.started, run.machine.partitions)
    return np.asarray(busy_s / FEMTO / run.seconds)


def queued(run: Outcome, seconds: NDArray[np.float64]) -> Whole:
    """Transactions at each partition, waiting or being served, at those times, (times, partitions)."""
    moment = np.rint(seconds * FEMTO)
    table = np.zeros((len(moment), run.machine.partitions), np.int64)
    for home in range(run.machine.partitions):
        at_partition = run.partition == home
        came = np.searchsorted(np.sort(run.arrived[at_partition]), moment, side="right")
        table[:, home] = came - np.searchsorted(np.sort(run.served[at_partition]), moment, side="right")
    return table


def elasticity(pattern: Pattern, machine: Machine, blocks_per_sm: int) -> Elasticity:
    """The proof of memory-boundedness: the run with the SMs' clock scaled, and the run with the memory's clock
    scaled."""
    normal = simulate(pattern, machine, blocks_per_sm).seconds
    core = simulate(pattern, replace(machine, clock=SCALED * machine.clock), blocks_per_sm).seconds
    faster_memory = replace(
        machine, bandwidth=SCALED * machine.bandwidth, transaction_cost=machine.transaction_cost / SCALED
    )
    memory = simulate(pattern, faster_memory, blocks_per_sm).seconds
    return Elasticity(*(float(np.log(normal / faster) / np.log(SCALED)) for faster in (core, memory)))
