"""What-ifs: changes of the code or of the launch, each predicted like the launch itself, ranked by speedup."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from warpbound.predict import Place, Prediction, predict
from warpbound.residency import Residency
from warpbound.result.what_if import WhatIf
from warpbound.whatif import launch_changes
from warpbound.whatif.alternative import Alternative
from warpbound.whatif.code_changes import (
    COALESCED,
    EASINGS,
    MORE,
    Repeated,
    demand_reductions,
    kept_in_register,
    nearer,
    of_the_work,
    pair,
)
from warpbound.whatif.launch_changes import DOUBLED, FILL, LARGER
from warpbound.whatif.parallelism import ahead, items, separable, worthwhile_degrees
from warpbound.workload import Workload

__all__ = ["Alternative", "Repeated", "Seconds", "WhatIf", "whatifs"]

WORTH = 1.005  # speedups below this are not worth a line
TOGETHER = 0.8  # demand of the second resource, as a share of the first's, from which on both are eased at once
OF_THE_LAUNCH = (FILL, LARGER)  # changes of the grid behind which others may bind
NEARER_WORTH = 1.02  # speedup if all avoidable misses of L1 were hits, from which on cache changes are tried

# the times of launches of each work at its place
Seconds = Callable[[Sequence[tuple[Workload, Place]]], Sequence[float]]
Gains = Callable[[Sequence[Alternative]], Sequence[float]]
Judged = tuple[Alternative, float]  # with its speedup


def whatifs(  # noqa: PLR0913  (what is asked for late is each a question of its own)
    work: Workload,
    place: Place,
    residency: Residency | None,
    seconds: Seconds | None = None,
    choices: Callable[[], Iterable[Alternative]] = tuple,
    of_l2: Callable[[], Iterable[Alternative]] = tuple,
    chain: Callable[[], float] | None = None,
    cycles: Mapping[str, float] | None = None,
    again: Repeated | None = None,
    once: float = 0.0,
    scattered: float = 0.0,
) -> tuple[WhatIf, ...]:
    """Every change that helps by half a per cent or more, the best first.

    seconds : gives the time of a launch; by default the bounds' own time, or their rates if the number of warps is not
    known. choices : other uses of the caches; each takes as long as following all addresses once more, so they are
    computed only if data kept on the SM would help. of_l2 : the same for L2, if less DRAM traffic would help. chain :
    loads of a warp that must come one after the other; computed only if fewer waits for memory would help. cycles : SM
    cycles of each resource per unit of work, from which the reasons and joint bottlenecks follow; by default the
    bounds' own, without queues. again : accesses that a register would save. once : different sectors that a block
    loads, over all that it loads. scattered : sectors that gathers need beyond those that would hold their bytes, over
    all.
    """
    present = predict(work, place)
    charged = present.cycles | dict(cycles or {})
    gains = _gains(work, place, present, seconds)
    single = (
        *_single(work, place, residency, charged, (once, scattered)),
        *_timed(work, place, residency, seconds),
        *(ahead(work, place, residency) if chain is not None else ()),
        *(_kept(work, place, again) if again else ()),
    )
    both = pair(work, place, charged, TOGETHER)
    alternatives = _judged((*single, *([both] if both else [])), gains)
    together = [alternatives.pop()] if both else []
    alternatives = _possible(alternatives, work, chain)
    alternatives = [each for each, stays in zip(alternatives, worthwhile_degrees(alternatives), strict=True) if stays]
    on_the_sm = nearer(work, place)  # however blocks share what they load
    if on_the_sm and gains([on_the_sm])[0] >= NEARER_WORTH:
        alternatives += _judged(tuple(choices()), gains)
    if any(each.change == EASINGS["dram"][1] and gain >= NEARER_WORTH for each, gain in alternatives):
        alternatives += _judged(tuple(of_l2()), gains)
    together += _judged(_in_two_steps(alternatives, (once, scattered)), gains)
    return tuple(sorted(_worth_a_line(alternatives, together, residency), key=lambda w: -w.speedup))


def _worth_a_line(
    alternatives: Sequence[Judged], together: Sequence[Judged], residency: Residency | None
) -> Iterator[WhatIf]:
    """Single changes that help, and the best pair of each kind where it helps more than both of its changes."""
    gains = {each.change: speedup for each, speedup in alternatives}
    pairs = [
        (each, speedup) for each, speedup in together
        if speedup >= MORE * max((gain for change, gain in gains.items() if change in each.change), default=1.0)
    ]  # fmt: skip
    steps = [row for row in pairs if any(words in row[0].change for words in OF_THE_LAUNCH)]
    best = max(steps, key=lambda row: row[1], default=None)
    for each, speedup in (*alternatives, *(row for row in pairs if row not in steps or row is best)):
        if speedup >= WORTH:
            warps = round(each.place.warps_per_sm) if residency is not None and residency.blocks_per_sm else None
            yield WhatIf(each.change, speedup, each.why, warps_per_sm=warps)


def _in_two_steps(alternatives: Sequence[Judged], shares: tuple[float, float]) -> Iterator[Alternative]:
    """A change of the grid together with one of the code: a resource that the grid hides may then bind."""
    gains = {each.change: speedup for each, speedup in alternatives}
    for first, speedup in alternatives:
        if speedup < WORTH or not any(words in first.change for words in OF_THE_LAUNCH):
            continue
        for other in of_the_work(first.work, first.place, *shares):
            order = (first, other) if speedup >= gains.get(other.change, 1.0) else (other, first)
            change, why = ("; and ".join(parts) for parts in zip(*((x.change, x.why) for x in order), strict=True))
            yield replace(
                other, change=change, why=why, units=first.units * other.units,
                work_share=first.work_share * other.work_share, apart=first.apart,
            )  # fmt: skip


def _judged(many: Sequence[Alternative] | Iterator[Alternative], gains: Gains) -> list[Judged]:
    alternatives = tuple(many)
    return list(zip(alternatives, map(float, gains(alternatives)), strict=True))


def _possible(alternatives: Sequence[Judged], work: Workload, chain: Callable[[], float] | None) -> list[Judged]:
    """Changes without those that a chain of loads forbids, and without those that only a chain needs."""
    cuts = any(speedup >= WORTH and each.apart > 1 for each, speedup in alternatives)
    longest = chain() if chain is not None and cuts else 0.0
    chained = not separable(work, longest)
    return [
        (each, speedup) for each, speedup in alternatives
        if (chained if each.change == DOUBLED else separable(work, longest, each.apart))
    ]  # fmt: skip


def _single(
    work: Workload, place: Place, residency: Residency | None, cycles: Mapping[str, float], shares: tuple[float, float]
) -> Iterator[Alternative]:
    """One change at a time."""
    if residency is not None and residency.blocks_per_sm > 0:
        yield from launch_changes.occupancy(work, place, residency)
        yield from launch_changes.larger_blocks(work, place, residency)
        yield from launch_changes.more_blocks(work, place, residency)
    yield from items(work, place, residency)
    yield from of_the_work(work, place, *shares)
    yield from demand_reductions(work, place, cycles)


def _kept(work: Workload, place: Place, again: Repeated) -> Iterator[Alternative]:
    """A sum in a register, and the same with coalesced accesses if both apply."""
    alone = kept_in_register(work, place, again)
    yield alone
    for other in of_the_work(alone.work, place):
        if other.change == COALESCED:
            yield replace(other, change=f"{other.change}; and {alone.change}", why=f"{other.why}; {alone.why}")


def _timed(work: Workload, place: Place, residency: Residency | None, seconds: Seconds | None) -> Iterator[Alternative]:
    """Changes that only a time can judge: the shape of the grid, faster clocks."""
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
        return [before[0] * change.work_share / time for change, time in zip(many, times, strict=True)]

    return by_time


def _by_bounds(change: Alternative, present: Prediction) -> float:
    changed = predict(change.work, change.place)
    if present.time_s is not None and changed.time_s is not None:
        return present.time_s * change.work_share / changed.time_s
    return change.units * changed.rate / present.rate

