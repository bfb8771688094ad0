"""Runs an experiment on one SM; the outcome."""

import numpy as np
from numpy.typing import NDArray

from warpbound.errors import InputError
from warpbound.quick_dataclasses import dataclass
from warpbound.simulate.experiment import Experiment
from warpbound.simulate.flat_state import Whole, flatten
from warpbound.simulate.numba_jit import column, compiled
from warpbound.simulate.warp_loop import play

# isort: off
from warpbound.simulate.warp_state import (
    AREA, EVENTS, ISSUED, LIFE, LIVE, LOG, LOG_WIDTH, LOGGED, MEMORY_AREA, MEMORY_WAIT, NOW, REASONS, REQUESTS, TICK,
    Happening, Reason,
)  # fmt: skip
# isort: on

LOG_ROW = np.dtype(
    [
        ("cycle", "f8"), ("kind", "U7"), ("slot", "i4"), ("warp", "i4"), ("step", "i4"), ("until", "f8"),
        ("reason", "U18"),
    ]
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """Result of a run; cycles.

    cycles : from the first start to the end. started, ended : of each warp of the launch, NaN where it did not.
    issued : instructions of each kind counted from `warm` on. counted_cycles : cycles in which they were. stalls : warp
    cycles by Reason. occupancy : mean resident warps. requests :
    transactions; mean latency of one, and mean waiting time within it. in_memory : mean transactions there. log :
    events in order of time; until: when an instruction became ready, or a transaction is back. complete : whether all
    blocks ended.
    """

    cycles: float
    started: NDArray[np.float64]
    ended: NDArray[np.float64]
    issued: NDArray[np.int64]
    counted_cycles: float
    stalls: dict[str, float]
    occupancy: float
    requests: int
    request_latency: float
    request_waiting: float
    in_memory: float
    events: int
    log: NDArray[np.void]
    complete: bool

    @property
    def rates(self) -> NDArray[np.float64]:
        """Instructions of each kind per cycle, (steps,)."""
        return self.issued / self.counted_cycles if self.counted_cycles > 0 else np.zeros(len(self.issued))

    @property
    def latencies(self) -> NDArray[np.float64]:
        """Cycles of every warp that ended, in the order of the launch."""
        return (self.ended - self.started)[~np.isnan(self.ended)]

    @property
    def request_latencies(self) -> NDArray[np.float64]:
        """Cycles of every transaction in the log, waiting included."""
        requests = self.log[self.log["kind"] == "request"]
        return np.asarray(requests["until"] - requests["cycle"], np.float64)

    def occupancy_over_time(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Cycles at which the number of warps changes, and the number from there on."""
        came = self.started[~np.isnan(self.started)]
        ends = self.ended[~np.isnan(self.ended)]
        times = np.concatenate([came, ends])
        steps = np.concatenate([np.ones(len(came), np.int64), -np.ones(len(ends), np.int64)])
        moments, place = np.unique(times, return_inverse=True)
        change = np.zeros(len(moments), np.int64)
        np.add.at(change, place, steps)
        return moments, np.cumsum(change)

    def mean_occupancy(self, intervals: int) -> NDArray[np.float64]:
        """Mean resident warps in each of this many equal parts of the run, (intervals,)."""
        edges = np.linspace(0.0, self.cycles, intervals + 1)
        moments, warps = self.occupancy_over_time()
        at = np.append(moments, max(self.cycles, moments[-1])) if len(moments) else np.array([0.0, self.cycles])
        area = np.concatenate([[0.0], np.cumsum(np.diff(at) * warps)]) if len(moments) else np.zeros(2)
        return np.asarray(np.diff(np.interp(edges, at, area)) / np.maximum(np.diff(edges), 1e-300), np.float64)


def run(x: Experiment) -> Outcome:
    """Run an experiment. Raises InputError for what does not fit together, and where all warps wait for ever."""
    memory = column(flatten(x))
    compiled(play)(memory)
    return _outcome(x, np.asarray(memory, np.int64))


def run_short(x: Experiment) -> Outcome:
    """The same without Numba: faster for so few instructions that loading Numba would take longer."""
    memory = flatten(x).tolist()
    play(memory)
    return _outcome(x, np.asarray(memory, np.int64))


def _outcome(x: Experiment, whole: Whole) -> Outcome:
    warps = x.launch.blocks * len(x.launch.warps[0])
    lives = whole[whole[LIFE] : whole[LIFE] + 2 * warps].reshape(-1, 2)
    started, ended = np.where(lives < 0, np.nan, lives / TICK).T
    complete = not np.isnan(ended).any()
    if not complete and x.horizon is None:
        raise InputError(
            f"{whole[LIVE]} warps wait for ever after cycle {whole[NOW] / TICK:.0f}.",
            "A barrier that not all warps of the block reach, or a result that nothing writes.",
        )
    cycles = float(whole[NOW]) / TICK if not complete else float(np.max(ended))
    requests = int(whole[REQUESTS])
    reasons = whole[whole[REASONS] : whole[REASONS] + len(Reason)] / TICK
    return Outcome(
        cycles=cycles,
        started=started,
        ended=ended,
        issued=whole[whole[ISSUED] : whole[ISSUED] + len(x.steps)],
        counted_cycles=max(0.0, cycles - x.warm),
        stalls={reason.name.lower(): float(cycles) for reason, cycles in zip(Reason, reasons, strict=True)},
        occupancy=float(whole[AREA]) / TICK / cycles if cycles else 0.0,
        requests=requests,
        request_latency=float(whole[MEMORY_AREA]) / TICK / requests if requests else 0.0,
        request_waiting=float(whole[MEMORY_WAIT]) / TICK / requests if requests else 0.0,
        in_memory=float(whole[MEMORY_AREA]) / TICK / cycles if cycles else 0.0,
        events=int(whole[EVENTS]),
        log=_log(whole[whole[LOG] : whole[LOG] + whole[LOGGED] * LOG_WIDTH]),
        complete=complete,
    )


def _log(flat: Whole) -> NDArray[np.void]:
    rows = flat.reshape(-1, LOG_WIDTH)
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    log = np.zeros(len(rows), LOG_ROW)
    kinds = np.array([kind.name.lower() for kind in Happening])
    reasons = np.array([reason.name.lower() for reason in Reason])
    log["cycle"], log["until"] = rows[:, 0] / TICK, rows[:, 5] / TICK
    log["kind"], log["reason"] = kinds[rows[:, 1]], reasons[rows[:, 6]]
    log["slot"], log["warp"], log["step"] = rows[:, 2], rows[:, 3], rows[:, 4]
    return log
