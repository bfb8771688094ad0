"""The paper's validation (section 6.2) against the simulator: kernels known to be free of camping, camped, and mixed.

Each kernel does the same work at every number of active warps. The best case is judged by those known to be free, the
worst by one that camps altogether, the application line by all starting points of the mixed ones. The paper has GEM,
none, and Clique-Counter; the transposes and the camped copy are added.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.camping.prediction import Band, band
from warpbound.model_inputs.partition_benchmarks import Benchmarks
from warpbound.models.campprof_2011 import (
    application_lines,
    degree_of_camping,
    extrapolation_errors,
    geometric_mean,
    relative_errors,
)
from warpbound.quick_dataclasses import dataclass
from warpbound.simulate.partition_graph import clique_counter, count_cliques, random_graph
from warpbound.simulate.partition_patterns import camped_copy, counters, gem, transpose
from warpbound.simulate.partitions import Machine, Pattern, simulate

WARPS = 960                            # of a launch without blocks of its own: 32 for each of 30 SMs
AXIS = (1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32)  # active warps per SM, where a block is one warp
GEM_PIECES = 64
SIDE = 1024                            # of a transposed matrix
COPIES = 32                            # reads and writes of a warp
VERTICES, EDGES, CLIQUE = 15360, 30720, 4  # one vertex for each thread of 16 warps per SM, four neighbours of each
BLOCKS = (1, 2, 3, 4)                  # of 8 warps, on an SM
CLIQUE_WARPS = tuple(range(1, 17))     # "16 possible execution configurations": one block of an SM
CENTRE = 12                            # "the starting point for extrapolation is at 12 active warps"


@dataclass(frozen=True)
class Known:
    """A kernel whose camping is known: free, camped or mixed. `runs` are its configurations: pattern, blocks per SM."""

    name: str
    camping: str
    runs: tuple[tuple[Pattern, int], ...]

    @property
    def warps(self) -> NDArray[np.float64]:
        """Active warps per SM of each configuration."""
        return np.array([blocks * pattern.block_warps for pattern, blocks in self.runs], dtype=np.float64)


@dataclass(frozen=True)
class Judged:
    """Times [s] and band of a kernel at each configuration, (n,); geometric-mean errors as fractions.

    best_error and worst_error are of those bounds; line_error is of the application line from every starting point.
    lines : the application line from each configuration at each, (n, n), by the counters of the first [s].
    """

    application: Known
    times: NDArray[np.float64]
    band: Band
    lines: NDArray[np.float64]
    best_error: float
    worst_error: float
    line_error: float

    @property
    def degrees(self) -> NDArray[np.float64]:
        """Of camping, (n,); NaN where the band is closed."""
        return np.asarray(degree_of_camping(self.times, self.band.best, self.band.worst))


def kernels(machine: Machine) -> tuple[Known, ...]:
    """Two that are known to be free of camping, one that is camped, two mixed ones."""
    _, words = count_cliques(random_graph(VERTICES, EDGES), CLIQUE)
    cliques = tuple((clique_counter(words, machine.sm_count, warps), 1) for warps in CLIQUE_WARPS)
    return (
        Known("GEM", "free", _each(gem(WARPS, GEM_PIECES, machine.width, machine.width // 2), AXIS)),
        Known("transpose, diagonal", "free", _each(transpose(SIDE, diagonal=True), BLOCKS)),
        Known("copy in one partition", "camped", _each(camped_copy(WARPS, COPIES, machine), AXIS)),
        Known("transpose, coalesced", "mixed", _each(transpose(SIDE, diagonal=False), BLOCKS)),
        Known("clique counter", "mixed", cliques),
    )


def _each(pattern: Pattern, blocks_per_sm: tuple[int, ...]) -> tuple[tuple[Pattern, int], ...]:
    return tuple((pattern, blocks) for blocks in blocks_per_sm)


def timed(kernel: Known, machine: Machine) -> NDArray[np.float64]:
    """Its time at each configuration, (n,) [s]."""
    return np.array([simulate(pattern, machine, blocks).seconds for pattern, blocks in kernel.runs])


def judged(kernel: Known, times: NDArray[np.float64], table: Benchmarks, form: str) -> Judged:
    """The band of a kernel against its times; each configuration's band is of its own counters."""
    bands = [band(_counted(pattern), kernel.warps, table, form) for pattern, _ in kernel.runs]
    best, worst = (np.array([getattr(each, name) for each in bands]) for name in ("best", "worst"))
    own = Band(kernel.warps, np.diagonal(best), np.diagonal(worst))
    opened = own.worst > own.best
    opened_partitions = np.ix_(opened, opened)
    errors = extrapolation_errors(times[opened], best[opened_partitions], worst[opened_partitions])
    return Judged(
        kernel,
        times,
        own,
        application_lines(times, best, worst),
        geometric_mean(relative_errors(own.best, times)),
        geometric_mean(relative_errors(own.worst, times)),
        geometric_mean(errors) if errors.size else float("nan"),
    )


def _counted(pattern: Pattern) -> dict[str, float]:
    return {name.removesuffix("b"): float(count) for name, count in counters(pattern).items()}
