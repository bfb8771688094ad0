"""The paper's validation (section 6.2) against the simulator: kernels known to be free of camping, camped, and mixed.

Each kernel does the same work at every number of active warps. The best case is judged by those known to be free, the
worst by one that camps altogether, the application line by all starting points of the mixed ones. The paper has GEM,
none, and Clique-Counter; the transposes and the camped copy stand beside them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpbound.adapt.partition_benchmarks import Benchmarks
from warpbound.camping.prediction import Band, band
from warpbound.models.campprof_2011 import (
    degree_of_camping,
    extrapolation_errors,
    geometric_mean,
    relative_errors,
)
from warpbound.simulate.partition_graph import clique_counter, random_graph
from warpbound.simulate.partition_patterns import camped_copy, counters, gem, transpose
from warpbound.simulate.partitions import Machine, Pattern, simulate

WARPS = 960                            # of a launch without blocks of its own: 32 for each of 30 SMs
AXIS = (1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32)  # active warps per SM, where a block is one warp
GEM_PIECES = 64
SIDE = 1024                            # of a transposed matrix
COPIES = 32                            # reads and writes of a warp
VERTICES, EDGES = 15360, 30720         # 480 warps, four neighbours a vertex
BLOCKS = (1, 2, 3, 4)                  # of 8 warps, on an SM


@dataclass(frozen=True)
class Known:
    """A kernel whose camping is known: free, camped or mixed. `blocks_per_sm` are the configurations to run."""

    name: str
    camping: str
    pattern: Pattern
    blocks_per_sm: tuple[int, ...]

    @property
    def warps(self) -> NDArray[np.float64]:
        """Active warps per SM of each configuration."""
        return np.array(self.blocks_per_sm, dtype=np.float64) * self.pattern.block_warps


@dataclass(frozen=True)
class Judged:
    """Times [s] and band of a kernel at each configuration, (n,); geometric-mean errors as fractions.

    best_error and worst_error are of those bounds; line_error is of the application line from every starting point.
    """

    known: Known
    times: NDArray[np.float64]
    band: Band
    best_error: float
    worst_error: float
    line_error: float

    @property
    def degrees(self) -> NDArray[np.float64]:
        """Of camping, (n,); NaN where the band is closed."""
        return np.asarray(degree_of_camping(self.times, self.band.best, self.band.worst))


def kernels(machine: Machine) -> tuple[Known, ...]:
    """Two that are known to be free of camping, one that is camped, two mixed ones."""
    return (
        Known("GEM", "free", gem(WARPS, GEM_PIECES, machine.width, machine.width // 2), AXIS),
        Known("transpose, diagonal", "free", transpose(SIDE, diagonal=True), BLOCKS),
        Known("copy in one partition", "camped", camped_copy(WARPS, COPIES, machine), AXIS),
        Known("transpose, coalesced", "mixed", transpose(SIDE, diagonal=False), BLOCKS),
        Known("clique counter", "mixed", clique_counter(random_graph(VERTICES, EDGES)), AXIS[: AXIS.index(16) + 1]),
    )


def timed(known: Known, machine: Machine) -> NDArray[np.float64]:
    """Its time at each configuration, (n,) [s]."""
    return np.array([simulate(known.pattern, machine, blocks).seconds for blocks in known.blocks_per_sm])


def judged(known: Known, times: NDArray[np.float64], table: Benchmarks, form: str) -> Judged:
    """The band of a kernel against its times."""
    counted = {name.removesuffix("b"): float(count) for name, count in counters(known.pattern).items()}
    bounds = band(counted, known.warps, table, form)
    open_band = bounds.worst > bounds.best
    lines = extrapolation_errors(times[open_band], bounds.best[open_band], bounds.worst[open_band])
    return Judged(
        known,
        times,
        bounds,
        geometric_mean(relative_errors(bounds.best, times)),
        geometric_mean(relative_errors(bounds.worst, times)),
        geometric_mean(lines) if lines.size else float("nan"),
    )
