"""Views of a run: a timeline in text, spans of each warp, a summary."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.result.simulation import MemoryRequests, SimulationOutcome, WarpLatency, WarpsOverTime
from warpbound.simulate.experiment import Experiment
from warpbound.simulate.warp_simulation import Outcome
from warpbound.simulate.warp_state import Reason

WIDTH = 100          # characters of a timeline
LINES = 64           # warps of a timeline
COARSEST = 8         # most cycles that a character represents; of a longer run the timeline shows the beginning
ISSUES, WAITS, IDLE = "#", "-", "."
INTERVALS = 60       # of a run, of which the summary has the mean occupancy of each
PERCENTILES = (0, 5, 25, 50, 75, 95, 100)
WORDS = {ISSUES: "issues or computes", WAITS: "waits for memory", IDLE: "waits for something else"}
KEY = ", ".join(f"{mark} {words}" for mark, words in WORDS.items())


def timeline(x: Experiment, outcome: Outcome, width: int = WIDTH) -> Iterator[str]:
    """A line for each warp in the log; each character represents as many cycles as fit, blank where the warp is not
    resident."""
    per_mark = int(np.ceil(outcome.cycles / width))
    per_mark = per_mark if 1 <= per_mark <= COARSEST else 1
    last = min(outcome.cycles, float(per_mark * width))
    scale = f", {per_mark} to a mark" if per_mark > 1 else ""
    yield f"cycles 0 to {last:g}" + (f" of {outcome.cycles:.7g}" if last < outcome.cycles else "") + scale
    warps = [int(warp) for warp in np.unique(outcome.log["warp"][outcome.log["cycle"] < last])][:LINES]
    digits = len(str(warps[-1])) if warps else 1
    for warp in warps:
        yield f"warp {warp:{digits}d} |{_line(x, outcome, warp, per_mark, width)}"
    yield KEY


def _line(x: Experiment, outcome: Outcome, warp: int, per_mark: int, width: int) -> str:
    marks = [" "] * width
    end = outcome.ended[warp] if not np.isnan(outcome.ended[warp]) else outcome.cycles
    own = outcome.log[outcome.log["warp"] == warp]
    requests, issues = own[own["kind"] == "request"], own[own["kind"] == "issue"]
    lasting = np.array([step.issue for step in x.steps])[issues["step"]]
    _fill(marks, IDLE, outcome.started[warp], end, per_mark)
    for begin, until in zip(_served_from(x, requests), requests["until"], strict=True):
        _fill(marks, WAITS, begin, until, per_mark)
    for begin, cycles in zip(issues["cycle"], lasting, strict=True):
        if cycles > 0:
            _fill(marks, ISSUES, begin, begin + cycles, per_mark)
    return "".join(marks).rstrip()


def spans(x: Experiment, outcome: Outcome, last: float) -> Iterator[tuple[int, float, float, str]]:
    """What each warp of the log does up to cycle `last`: (warp, from, to, one of WORDS), no two at a time.

    A warp is in memory while its transactions are served; if no instruction sends any, while it waits on a long
    scoreboard.
    """
    lasting = np.array([step.issue for step in x.steps])
    for warp in np.unique(outcome.log["warp"][outcome.log["cycle"] < last]).tolist():
        own = outcome.log[outcome.log["warp"] == warp]
        requests, issues = own[own["kind"] == "request"], own[own["kind"] == "issue"]
        end = min(last, outcome.cycles if np.isnan(outcome.ended[warp]) else outcome.ended[warp])
        waiting = (_served_from(x, requests), requests["until"])
        if not any(step.access for step in x.steps):
            stalled = issues[issues["reason"] == Reason.LONG_SCOREBOARD.name.lower()]
            waiting = (_behind(issues["cycle"] + lasting[issues["step"]], stalled["cycle"]), stalled["until"])
        issuing = (issues["cycle"], issues["cycle"] + lasting[issues["step"]])
        life = np.array([outcome.started[warp], end])
        cuts = np.unique(np.clip(np.concatenate([life, *waiting, *issuing]), *life))
        middle = (cuts[:-1] + cuts[1:]) / 2
        kinds = np.where(_within(middle, *issuing), ISSUES, np.where(_within(middle, *waiting), WAITS, IDLE))
        changes = np.flatnonzero(kinds[1:] != kinds[:-1]) + 1
        turns = [0, *changes.tolist(), len(kinds)] if len(kinds) else []
        for first, behind in pairwise(turns):
            yield warp, float(cuts[first]), float(cuts[behind]), WORDS[str(kinds[first])]


def _behind(ends: NDArray[np.float64], moments: NDArray[np.float64]) -> NDArray[np.float64]:
    """The last of `ends`, in order, up to each moment."""
    return np.asarray(ends[np.maximum(0, np.searchsorted(ends, moments, side="right") - 1)])


def _within(
    moments: NDArray[np.float64], begins: NDArray[np.float64], ends: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Whether any span that has begun has not ended yet, for each moment."""
    started = np.searchsorted(np.sort(begins), moments, side="right")
    return np.asarray(started > np.searchsorted(np.sort(ends), moments, side="right"))


def _served_from(x: Experiment, requests: NDArray[np.void]) -> NDArray[np.float64]:
    """When memory began to serve the transactions, if their latency is known; else when they arrived."""
    fixed = np.array([step.access is None or step.access.spread == 0 for step in x.steps])[requests["step"]]
    latency = np.array([step.latency for step in x.steps])[requests["step"]]
    return np.where(fixed, requests["until"] - latency, requests["cycle"])


def _fill(marks: list[str], mark: str, begin: float, until: float, per_mark: int) -> None:
    first, last = int(begin // per_mark), int(np.ceil(until / per_mark))
    for place in range(max(0, first), min(len(marks), last)):
        marks[place] = mark


def logged(x: Experiment) -> Experiment:
    """The experiment with a log just large enough for a timeline."""
    return replace(x, log_rows=20_000)


def summary(x: Experiment, outcome: Outcome) -> SimulationOutcome:
    """The outcome as an answer."""
    lived = outcome.latencies
    total = sum(outcome.stalls.values())
    return SimulationOutcome(
        cycles=outcome.cycles,
        warps=int(np.count_nonzero(~np.isnan(outcome.started))),
        complete=outcome.complete,
        occupancy=outcome.occupancy,
        occupancy_over_time=_over_time(outcome),
        instructions_per_cycle=float(outcome.rates.sum()),
        rates=_by_name(x, outcome.rates),
        warp_latency=WarpLatency(mean=float(lived.mean()) if len(lived) else None, percentiles=_percentiles(lived)),
        memory=MemoryRequests(
            transactions=outcome.requests,
            latency=outcome.request_latency if outcome.requests else None,
            waiting=outcome.request_waiting if outcome.requests else None,
            in_flight=outcome.in_memory,
            latency_percentiles=request_percentiles(outcome),
        ),
        stalls={name: cycles / total if total else 0.0 for name, cycles in outcome.stalls.items()},
        events=outcome.events,
    )


def _over_time(outcome: Outcome) -> WarpsOverTime:
    intervals = max(1, min(INTERVALS, int(outcome.cycles)))
    return WarpsOverTime(interval=outcome.cycles / intervals, warps=outcome.mean_occupancy(intervals).tolist())


def _by_name(x: Experiment, rates: NDArray[np.float64]) -> dict[str, float]:
    """Instructions per cycle by name; instructions of equal names are added up."""
    by_name: dict[str, float] = {}
    for step, rate in zip(x.steps, rates, strict=True):
        by_name[step.name] = by_name.get(step.name, 0.0) + float(rate)
    return by_name


def _percentiles(values: NDArray[np.float64]) -> dict[str, float]:
    if not len(values):
        return {}
    return {str(p): float(v) for p, v in zip(PERCENTILES, np.percentile(values, PERCENTILES), strict=True)}


def request_percentiles(outcome: Outcome) -> dict[str, float]:
    """Latencies of the logged transactions, waiting included; empty without a log."""
    return _percentiles(outcome.request_latencies)


def events(outcome: Outcome) -> list[dict[str, Any]]:
    """The log, a row each."""
    names = outcome.log.dtype.names or ()
    return [dict(zip(names, row, strict=True)) for row in outcome.log.tolist()]
