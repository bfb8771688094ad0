"""The synthetic family in the simulator and by the models: the experiment that anyone can repeat.

`reference(setting)` is a reference for `comparison`, which compares any model with the simulated machine.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.machine import Gpu
from warpbound.result.simulation import FamilyPoint
from warpbound.simulate.synthetic_family import DEFAULT, Setting, loads_per_cycle, throughput
from warpbound.synthetic_family.comparison import whole_warps
from warpbound.synthetic_family.machine import THREADS, Machine, on_board
from warpbound.synthetic_family.predictors import Throughput, basic

Curve = NDArray[np.float64]


def reference(setting: Setting = DEFAULT) -> Throughput:
    """What the simulated SM does, as a throughput that models are compared with."""

    def simulated(machine: Machine, warps: Real, alpha: Real) -> Curve:
        return throughput(machine, warps, alpha, setting)

    return simulated


def rows(
    board: Gpu, alphas: Sequence[float], warps: tuple[int, int] | None, setting: Setting
) -> Iterator[tuple[str, Iterator[FamilyPoint]]]:
    """For each alpha its title and its rows: loads and additions per cycle and SM, simulated and by the basic model."""
    machine = on_board(board)
    counts = range(warps[0], min(warps[1], machine.max_warps) + 1) if warps else whole_warps(machine).astype(int)
    for alpha in alphas:
        yield f"alpha {alpha:g}", _rows(machine, alpha, [int(n) for n in counts], setting)


def _rows(machine: Machine, alpha: float, warps: Sequence[int], setting: Setting) -> Iterator[FamilyPoint]:
    for n in warps:
        loads = loads_per_cycle(machine, n, alpha, setting)
        yield FamilyPoint(
            alpha=alpha,
            warps_per_sm=n,
            loads_per_cycle=loads,
            adds_per_cycle=THREADS * alpha * loads,
            model_loads_per_cycle=float(basic(machine, n * setting.ilp, alpha)),
        )
