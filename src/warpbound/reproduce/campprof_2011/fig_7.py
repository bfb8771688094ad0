"""Figure 7: the pipeline of GEM's warps through the partitions, from a run of the simulator."""

import numpy as np
from numpy.typing import NDArray

from warpbound.machine import gpu
from warpbound.reproduce.item import Given, Numbers
from warpbound.simulate.partition_patterns import gem
from warpbound.simulate.partition_views import steps
from warpbound.simulate.partitions import Machine, machine_of, simulate

STEP = 1e-6  # s, of one transaction
AT_ONCE = 1e15  # cycles/s: the SMs take no time


def numbers(given: Given) -> Numbers:
    """The first ten steps, and when the pipeline is full."""
    found = table(given)
    shown = {f"step {number}": _words(row) for number, row in enumerate(found[:10].tolist(), 1)}
    return shown | {"steps until all partitions are in use": 1 + int(np.flatnonzero((found > 0).all(axis=1))[0])}


def table(given: Given) -> NDArray[np.int64]:
    """Warp from 1 on in each partition at each step, 0 for none, (steps, partitions)."""
    board = machine_of(gpu(given["gpu"]))
    machine = Machine(
        sm_count=given["warps"], clock=AT_ONCE, partitions=board.partitions, width=board.width,
        bandwidth=board.partitions * board.width / STEP, transit=0.0, port_cycles=0.0, in_flight=1, block_start=0.0,
    )  # fmt: skip
    return steps(simulate(gem(given["warps"], given["pieces"]), machine, 1), STEP)


def _words(row: list[int]) -> str:
    return " ".join(str(warp) if warp else "-" for warp in row)
