"""What would help: changes of the work or of where it runs, each answered by the same prediction, ranked by gain."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from warpbound.predict import Place, Prediction, predict
from warpbound.residency import Residency
from warpbound.whatif import places
from warpbound.whatif.alternatives import NEARER, Alternative, easings, of_the_work, pair
from warpbound.workload import Workload

__all__ = ["Alternative", "Seconds", "WhatIf", "whatifs"]

WORTH = 1.005  # speedups below this are not worth a line
TOGETHER = 0.8  # demand of the second resource, as a share of the first's, from which on both are eased at once
NEARER_WORTH = 1.02  # speedup by all of L1's misses that hits could be, from which on ways to get there are tried
MORE = 1.05  # times the better of its two changes that a pair must gain

Seconds = Callable[[Workload, Place], float]  # the time of a launch of this work at this place


@dataclass(frozen=True)
class WhatIf:
    """A change, how much faster the work would then be (> 1 is faster), and the physical reason."""

    change: str
    speedup: float
    why: str


def whatifs(
    work: Workload,
    place: Place,
    residency: Residency | None,
    seconds: Seconds | None = None,
    choices: Callable[[], Iterable[Alternative]] = tuple,
) -> tuple[WhatIf, ...]:
    """Every change that helps by half a per cent or more, the best first.

    seconds : what answers for the time of a launch; by default the bounds' own time, or their rates where the
    number of warps is not known. choices : other ways to use the caches; they take as long as following all
    addresses once more each, so they are asked for only where data kept on the SM would help.
    """
    now = predict(work, place)
    gain = _gain(work, place, now, seconds)
    single = (*_single(work, place, residency, now), *_timed(work, place, residency, seconds))
    found = [_whatif(one, gain) for one in single]
    if any(w.change == NEARER and w.speedup >= NEARER_WORTH for w in found):
        found += [_whatif(one, gain) for one in choices()]
    both = pair(work, place, now.cycles, TOGETHER)
    if both is not None:
        together = _whatif(both, gain)
        alone = max((w.speedup for w in found if w.change in both.change), default=1.0)
        found += [together] if together.speedup >= MORE * alone else []
    return tuple(sorted((w for w in found if w.speedup >= WORTH), key=lambda w: -w.speedup))


def _single(work: Workload, place: Place, residency: Residency | None, now: Prediction) -> Iterator[Alternative]:
    """One change at a time."""
    if residency is not None and residency.blocks_per_sm > 0:
        yield from places.occupancy(work, place, residency)
        yield from places.more_blocks(work, place, residency)
    yield from of_the_work(work, place)
    yield from easings(work, place, now.cycles)


def _timed(work: Workload, place: Place, residency: Residency | None, seconds: Seconds | None) -> Iterator[Alternative]:
    """What only a time can tell: the shape of the grid, faster clocks."""
    if seconds is None:
        return
    if residency is not None and residency.blocks_per_sm > 0:
        yield from places.whole_waves(work, place, residency)
    yield from places.clocks(work, place)


def _gain(work: Workload, place: Place, now: Prediction, seconds: Seconds | None) -> Callable[[Alternative], float]:
    """How much faster an alternative does the same work."""
    if seconds is not None:
        before = seconds(work, place)
        return lambda one: before * one.done / seconds(one.work, one.place)

    def by_bounds(one: Alternative) -> float:
        then = predict(one.work, one.place)
        if now.time_s is not None and then.time_s is not None:
            return now.time_s * one.done / then.time_s
        return one.units * then.rate / now.rate

    return by_bounds


def _whatif(one: Alternative, gain: Callable[[Alternative], float]) -> WhatIf:
    return WhatIf(one.change, float(gain(one)), one.why)
