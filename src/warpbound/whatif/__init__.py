"""What-ifs: changes of the code or of the launch, each predicted like the launch itself, ranked by speedup."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from warpbound.predict import Place, Prediction, predict
from warpbound.residency import Residency
from warpbound.result.what_if import WhatIf
from warpbound.whatif import launch_changes
from warpbound.whatif.code_changes import (
    AHEAD,
    COALESCED,
    MORE,
    NEARER,
    WIDE,
    Alternative,
    Repeated,
    easings,
    kept_in_register,
    of_the_work,
    pair,
    separable,
    unrolled,
)
from warpbound.whatif.launch_changes import DOUBLED, FILL, HALVED
from warpbound.workload import Workload

__all__ = ["Alternative", "Repeated", "Seconds", "WhatIf", "whatifs"]

WORTH = 1.005  # speedups below this are not worth a line
TOGETHER = 0.8  # demand of the second resource, as a share of the first's, from which on both are eased at once
APART = (AHEAD, HALVED, FILL, WIDE.partition("{")[0])  # what only loads with addresses of their own allow
NEARER_WORTH = 1.02  # speedup by all of L1's misses that hits could be, from which on ways to get there are tried

# the times of launches of each work at its place
Seconds = Callable[[Sequence[tuple[Workload, Place]]], Sequence[float]]
Gains = Callable[[Sequence[Alternative]], Sequence[float]]


def whatifs(  # noqa: PLR0913  (what is asked for late is each a question of its own)
    work: Workload,
    place: Place,
    residency: Residency | None,
    seconds: Seconds | None = None,
    choices: Callable[[], Iterable[Alternative]] = tuple,
    chain: Callable[[], float] | None = None,
    cycles: Mapping[str, float] | None = None,
    again: Repeated | None = None,
) -> tuple[WhatIf, ...]:
    """Every change that helps by half a per cent or more, the best first.

    seconds : what answers for the time of a launch; by default the bounds' own time, or their rates where the
    number of warps is not known. choices : other ways to use the caches; they take as long as following all
    addresses once more each, so they are asked for only where data kept on the SM would help. chain : loads of a warp
    that must come one after the other; asked for only where fewer waits for memory would help. cycles : SM cycles per
    unit of work that the answer gives of each resource, by which both the reasons and what binds together go; by
    default the bounds' own, which know no queues. again : accesses that a register would save.
    """
    present = predict(work, place)
    charged = present.cycles | dict(cycles or {})
    gains = _gains(work, place, present, seconds)
    ahead = unrolled(work, place) if chain is not None else None
    single = (
        *_single(work, place, residency, charged),
        *_timed(work, place, residency, seconds),
        *([ahead] if ahead else []),
        *(_kept(work, place, again) if again else ()),
    )
    both = pair(work, place, charged, TOGETHER)
    changes = _whatifs((*single, *([both] if both else [])), gains)
    together = changes.pop() if both else None
    changes = list(_possible(changes, work, chain))
    if any(w.change == NEARER and w.speedup >= NEARER_WORTH for w in changes):
        changes += _whatifs(tuple(choices()), gains)
    if together is not None:
        alone = max((w.speedup for w in changes if w.change in together.change), default=1.0)
        changes += [together] if together.speedup >= MORE * alone else []
    return tuple(sorted((w for w in changes if w.speedup >= WORTH), key=lambda w: -w.speedup))


def _possible(changes: Iterable[WhatIf], work: Workload, chain: Callable[[], float] | None) -> Iterator[WhatIf]:
    """Without what a chain of loads forbids, and without what only a chain asks for."""
    cuts = {w.change for w in changes if w.speedup >= WORTH and any(words in w.change for words in APART)}
    cut = chain is None or not cuts or separable(work, chain())
    return (w for w in changes if (w.change != DOUBLED if cut else w.change not in cuts))


def _single(
    work: Workload, place: Place, residency: Residency | None, cycles: Mapping[str, float]
) -> Iterator[Alternative]:
    """One change at a time."""
    if residency is not None and residency.blocks_per_sm > 0:
        yield from launch_changes.occupancy(work, place, residency)
        yield from launch_changes.more_blocks(work, place, residency)
    yield from of_the_work(work, place)
    yield from easings(work, place, cycles)


def _kept(work: Workload, place: Place, again: Repeated) -> Iterator[Alternative]:
    """A sum in a register, and that with coalesced accesses where both are to be had."""
    alone = kept_in_register(work, place, again)
    yield alone
    for other in of_the_work(alone.work, place):
        if other.change == COALESCED:
            yield replace(other, change=f"{other.change}; and {alone.change}", why=f"{other.why}; {alone.why}")


def _timed(work: Workload, place: Place, residency: Residency | None, seconds: Seconds | None) -> Iterator[Alternative]:
    """What only a time can tell: the shape of the grid, faster clocks."""
    if seconds is None:
        return
    if residency is not None and residency.blocks_per_sm > 0:
        yield from launch_changes.whole_waves(work, place, residency)
    yield from launch_changes.clocks(work, place)


def _gains(work: Workload, place: Place, present: Prediction, seconds: Seconds | None) -> Gains:
    """How much faster alternatives do the same work."""
    if seconds is None:
        return lambda many: [_by_bounds(change, present) for change in many]
    before: list[float] = []

    def by_time(many: Sequence[Alternative]) -> list[float]:
        launches = [(change.work, change.place) for change in many]
        if not before:
            first, *times = seconds([(work, place), *launches])
            before.append(first)
        else:
            times = list(seconds(launches))
        return [before[0] * change.done / time for change, time in zip(many, times, strict=True)]

    return by_time


def _by_bounds(change: Alternative, present: Prediction) -> float:
    changed = predict(change.work, change.place)
    if present.time_s is not None and changed.time_s is not None:
        return present.time_s * change.done / changed.time_s
    return change.units * changed.rate / present.rate


def _whatifs(many: Sequence[Alternative], gains: Gains) -> list[WhatIf]:
    return [WhatIf(change.change, float(gain), change.why) for change, gain in zip(many, gains(many), strict=True)]
