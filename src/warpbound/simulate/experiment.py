"""Description of an experiment with warps on one SM: machine, instructions, streams of the warps, launch."""

from collections.abc import Mapping
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from warpbound.quick_dataclasses import dataclass
from warpbound.simulate.warp_state import DRAWS, Reason

Table = NDArray[np.float64]  # quantiles of a distribution of mean 1, ascending, (DRAWS,)


def deterministic() -> Table:
    """Always 1."""
    return np.ones(DRAWS)


def exponential() -> Table:
    """The exponential distribution: each entry is the mean of its share of the draws, so that the mean is exact."""
    v = 1.0 - np.linspace(0.0, 1.0, DRAWS + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        integral = np.where(v > 0, v * np.log(v), 0.0) - v  # of ln v over v
    return np.asarray(np.diff(integral) * DRAWS)


def two_exponentials(variation: float) -> Table:
    """Two exponential branches with balanced means and a squared coefficient of variation of at least 1."""
    if variation <= 1.0:
        return exponential()
    share = 0.5 * (1.0 + np.sqrt((variation - 1.0) / (variation + 1.0)))
    u = (np.arange(DRAWS) + 0.5) / DRAWS
    low, high = np.zeros(DRAWS), np.full(DRAWS, 1e4 * variation)
    for _ in range(80):
        middle = 0.5 * (low + high)
        beyond = share * np.exp(-2 * share * middle) + (1 - share) * np.exp(-2 * (1 - share) * middle)
        low, high = np.where(beyond > 1 - u, middle, low), np.where(beyond > 1 - u, high, middle)
    return np.asarray(low / low.mean())


def empirical(shares: NDArray[np.float64], values: NDArray[np.float64]) -> Table:
    """Linear between measured quantiles: `values` at `shares` from 0 to 1, both ascending; scaled to mean 1."""
    samples = np.interp((np.arange(DRAWS) + 0.5) / DRAWS, shares, values)
    return np.asarray(samples / samples.mean())


@dataclass(frozen=True)
class Pipe:
    """A unit that accepts one instruction at a time.

    shared : one for the SM, else one for each scheduler. ahead : cycles of work that may wait in front of it.
    """

    name: str
    shared: bool = False
    ahead: float = 0.0


@dataclass(frozen=True)
class Station:
    """A server in the memory system; transactions pass the stations in sequence. `service` varies around its mean."""

    name: str
    service: Table = field(default_factory=deterministic)


@dataclass(frozen=True)
class Machine:
    """One SM and its share of the memory system.

    policy : round_robin, greedy_then_oldest, greedy_then_youngest or oldest. room : transactions that may be in
    memory at once, 0 for any number. tail : of the random part of a transaction's latency.
    """

    schedulers: int = 1
    policy: str = "greedy_then_oldest"
    pipes: tuple[Pipe, ...] = ()
    stations: tuple[Station, ...] = ()
    room: int = 0
    tail: Table = field(default_factory=exponential)


@dataclass(frozen=True)
class Access:
    """Memory access of an instruction.

    lines : transactions. offset : cycles from issue until they reach memory. spread : mean of the random part of the
    latency of each, cycles. demand : station -> cycles that one of them takes there.
    An instruction with an offset must be the only writer of its token until another instruction waits for it.
    """

    lines: int = 1
    offset: float = 0.0
    spread: float = 0.0
    demand: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """One kind of instruction; cycles.

    issue : the scheduler is taken. stall : until the same warp may issue again. pipe, busy : the unit, and how long
    it is taken. latency : until the result is available, from the start of execution or from memory. writes, waits :
    the result's name, and those of results that must be available first. frees, source_wait : name that is up until the
    sources are read. barrier : waits for the block, then `latency`. pairs : the next instruction may issue in the same
    cycle. tail : as the last instruction, until the warp ends. blames : what waiting for the result counts as; throttle
    : what waiting for the pipe does.
    """

    name: str
    issue: float = 1.0
    stall: float = 1.0
    pipe: str = ""
    busy: float = 0.0
    latency: float = 0.0
    access: Access | None = None
    writes: str = ""
    waits: tuple[str, ...] = ()
    frees: str = ""
    source_wait: float = 0.0
    barrier: bool = False
    pairs: bool = False
    tail: float = 0.0
    blames: Reason = Reason.WAIT
    throttle: Reason = Reason.MATH_PIPE_THROTTLE


@dataclass(frozen=True)
class Stream:
    """Instructions of a warp: indices into Experiment.steps, in order, `repeats` times."""

    steps: tuple[int, ...] | NDArray[np.int64]
    repeats: int = 1


@dataclass(frozen=True)
class Launch:
    """Blocks on one SM.

    warps : for each warp of a block its place in Experiment.streams; several rows for blocks that differ, in turn.
    resident : blocks at a time; blocks : in all. A block whose last warp has ended is replaced by the next,
    `block_start` cycles later. block_interval : least cycles between the starts of two blocks. offsets : cycles at
    which the warps of the first blocks start, counted from their block's; absent: 0.
    """

    warps: tuple[tuple[int, ...], ...]
    resident: int = 1
    blocks: int = 1
    block_start: float = 0.0
    block_interval: float = 0.0
    offsets: tuple[float, ...] = ()


@dataclass(frozen=True)
class Experiment:
    """A complete, deterministic experiment: the same experiment gives the same events.

    warm : cycle from which issued instructions are counted. horizon : cycle at which the run stops, None for the end of
    all blocks. log_rows : most events in the log.
    """

    machine: Machine
    steps: tuple[Step, ...]
    streams: tuple[Stream, ...]
    launch: Launch
    seed: int = 1
    warm: float = 0.0
    horizon: float | None = None
    log_rows: int = 0
