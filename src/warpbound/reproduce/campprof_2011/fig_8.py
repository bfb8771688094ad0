"""Figure 8: partitions of the tiles that neighbouring blocks read and write, and what it does to the throughput."""

import numpy as np

from warpbound.machine import gpu
from warpbound.reproduce.item import Given, Numbers
from warpbound.simulate.partition_patterns import transpose
from warpbound.simulate.partitions import machine_of, simulate


def numbers(given: Given) -> Numbers:
    """For blocks in rows and on diagonals."""
    return {"coalesced": _one(given, diagonal=False), "diagonal": _one(given, diagonal=True)}


def _one(given: Given, *, diagonal: bool) -> Numbers:
    machine = machine_of(gpu(given["gpu"]))
    pattern = transpose(given["side"], diagonal=diagonal, blocks=given["blocks"])
    home = machine.mapping(pattern.address, machine.width, machine.partitions).reshape(-1, 2, 2)
    run = simulate(transpose(given["simulated_side"], diagonal=diagonal), machine, given["blocks_per_sm"])
    read, written = (_word(np.bincount(home[:, side].ravel(), minlength=machine.partitions)) for side in (0, 1))
    return {"read": read, "written": written, "throughput": run.throughput / 1e9}


def _word(count: np.ndarray) -> str:
    used = np.count_nonzero(count)
    return "one" if used == 1 else "all alike" if np.ptp(count) == 0 else f"{used}, unlike"
