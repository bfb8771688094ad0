"""Levers on the time of a launch: demands made smaller, alone and together; slack, shares, interactions.

Source   L. S. Shapley, A Value for n-Person Games, 1953: shares that no order of removal decides.
Models   The time of changed work is predicted as for what-ifs. A resource is removed by leaving GONE of its demand.
Omits    Whether code exists that makes the change.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import factorial

from warpbound.model_inputs.resources import scaled_demand
from warpbound.predict import Place
from warpbound.result.goal import Interaction, LeastChange
from warpbound.whatif import Seconds
from warpbound.whatif.alternative import Alternative, without
from warpbound.whatif.code_changes import EASINGS, demand_reductions, of_the_work
from warpbound.whatif.parallelism import ahead, items
from warpbound.workload import Workload

GONE = 0.02          # share of the demand that stays; a smaller one would leave the range of the model
LEFT = tuple(step / 40 for step in range(39, 0, -1))  # shares of a demand that are tried, the largest first
MORE = (1.02, 1.05, 1.1, 1.15, 1.2, 1.3, 1.5, 2.0, 3.0, 5.0, 10.0)  # times a demand, for slack
FELT = 1.01          # times the time, from which on a change of demand is felt
MOST_PLAYERS = 7     # resources that share the time
MOST_SINGLE = 8      # changes that are paired
SYNERGY = 1.03       # times the product of two gains that a pair must reach to be named
LATENCY, REST = "latency", "launch"


@dataclass(frozen=True)
class Timed:
    """A launch whose work can change: its work, place and what gives times, s. cycles : SM cycles by resource."""

    work: Workload
    place: Place
    seconds: Seconds
    time_s: float
    cycles: Mapping[str, float]

    def times(self, works: Sequence[Workload]) -> list[float]:
        """Times of other work at the same place, relative to the same prediction of the work as it is, s."""
        if not works:
            return []
        now, *others = self.seconds([(self.work, self.place), *((each, self.place) for each in works)])
        return [self.time_s * other / now for other in others]


def scaled(work: Workload, resource: str, share: float) -> Workload:
    """The work with only a share of its demand on a resource, or of a wait of its warps."""
    if resource == LATENCY:
        return without(work, dict.fromkeys(work.parts, share))
    return scaled_demand(work, resource, share)


def resources(x: Timed) -> list[str]:
    """Resources with a demand, the tightest first; launching is left out, because no change of the code reduces it."""
    own = [name for name in x.cycles if name == LATENCY or name in EASINGS]
    return sorted(own, key=lambda name: -x.cycles[name])


def least_changes(x: Timed, target_s: float) -> list[LeastChange]:
    """Of each resource alone, and of each pair where none alone suffices, the largest demand that meets the target."""
    names = resources(x)[:MOST_PLAYERS]
    single = list(_reaching(x, [(name,) for name in names], target_s))
    return sorted(single or _reaching(x, list(combinations(names, 2)), target_s), key=lambda lever: -lever.left)


def _reaching(x: Timed, groups: Sequence[tuple[str, ...]], target_s: float) -> Iterator[LeastChange]:
    """For each group of resources the largest share of LEFT that meets the target."""
    works = [_all_scaled(x.work, group, share) for group in groups for share in LEFT]
    times = x.times(works)
    for number, group in enumerate(groups):
        own = times[number * len(LEFT) : (number + 1) * len(LEFT)]
        place_reached = next((place for place, time_s in enumerate(own) if time_s <= target_s), None)
        if place_reached is not None:
            yield LeastChange(resources=list(group), left=LEFT[place_reached], time_s=own[place_reached])


def _all_scaled(work: Workload, names: Sequence[str], share: float) -> Workload:
    for name in names:
        work = scaled(work, name, share)
    return work


def slack(x: Timed) -> dict[str, float | None]:
    """Resource -> how many times its demand may be before the time is FELT times as long; None beyond MORE."""
    names = resources(x)
    times = x.times([scaled(x.work, name, more) for name in names for more in MORE])
    answer: dict[str, float | None] = {}
    for number, name in enumerate(names):
        own = times[number * len(MORE) : (number + 1) * len(MORE)]
        within = [more for more, time_s in zip(MORE, own, strict=True) if time_s <= FELT * x.time_s]
        answer[name] = None if len(within) == len(MORE) else max(within, default=1.0)
    return answer


def shares(x: Timed) -> dict[str, float]:
    """Shapley's share of each resource in the time, s; the rest belongs to the launch. They add up to the time."""
    names = resources(x)[:MOST_PLAYERS]
    groups = [group for size in range(len(names) + 1) for group in combinations(names, size)]
    times = dict(zip(groups, x.times([_all_scaled(x.work, group, GONE) for group in groups]), strict=True))
    answer = {}
    for name in names:
        others = [other for other in names if other != name]
        answer[name] = sum(
            _weight(len(group), len(names)) * (times[group] - times[_in_order((*group, name), names)])
            for size in range(len(names))
            for group in combinations(others, size)
        )
    return answer | {REST: x.time_s - sum(answer.values())}


def _weight(size: int, players: int) -> float:
    return factorial(size) * factorial(players - size - 1) / factorial(players)


def _in_order(group: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name in group)


def interactions(x: Timed) -> list[Interaction]:
    """Pairs of what-ifs that together gain more than the product of their gains, the largest surplus first."""
    single = _changes(x.work, x.place, x.cycles)
    gains = {each.change: gain for each, gain in zip(single, _gains(x, single), strict=True)}
    best = sorted(single, key=lambda each: -gains[each.change])[:MOST_SINGLE]
    both = [combined for first, second in combinations(best, 2) if (combined := _both(x, first, second)) is not None]
    answer: list[Interaction] = []
    for (first, second, _), gain in zip(both, _gains(x, [each for _, _, each in both]), strict=True):
        alone = [gains[first], gains[second]]
        if gain >= SYNERGY * alone[0] * alone[1] and gain > SYNERGY * max(alone):
            answer.append(Interaction(changes=[first, second], alone=alone, together=gain))
    return sorted(answer, key=lambda pair: -pair.together)


def _changes(work: Workload, place: Place, cycles: Mapping[str, float]) -> list[Alternative]:
    twice = [*islice(items(work, place, None), 1), *islice(ahead(work, place, None), 1)]
    return [*of_the_work(work, place), *demand_reductions(work, place, cycles), *twice]


def _both(x: Timed, first: Alternative, second: Alternative) -> tuple[str, str, Alternative] | None:
    """The second change applied to the work of the first; None if it changes nothing any more."""
    then = next((each for each in _changes(first.work, first.place, x.cycles) if each.change == second.change), None)
    return None if then is None else (first.change, second.change, then)


def _gains(x: Timed, changes: Sequence[Alternative]) -> list[float]:
    if not changes:
        return []
    now, *times = x.seconds([(x.work, x.place), *((each.work, each.place) for each in changes)])
    return [now * each.work_share / time_s for each, time_s in zip(changes, times, strict=True)]
