"""The mechanisms of the suite, their sources, and the plan of a run."""

from dataclasses import dataclass
from math import ceil

from warpbound.errors import CommandError
from warpbound.measure import (
    cache_bandwidth,
    camping,
    corpus,
    costs,
    global_patterns,
    hong_kim,
    instruction_cache,
    instruction_mix,
    l2_partitions,
    latency_distribution,
    launch,
    loaded_latency,
    mixes,
    occupancy,
    one_block,
    pointer_chase,
    shared_patterns,
    stream,
    synthetic_family,
    wgmma,
    x_model,
)
from warpbound.measure.case import Buffer, Case, Mechanism, Unit
from warpbound.measure.device import Facts
from warpbound.measure.sampling import EFFORTS
from warpbound.measure.suite_sources import prelude

MECHANISMS: dict[str, Mechanism] = {  # in the order of a run: what matters most comes first
    "pointer_chase": pointer_chase,
    "occupancy": occupancy,
    "stream": stream,
    "launch": launch,
    "instruction_mix": instruction_mix,
    "wgmma": wgmma,
    "loaded_latency": loaded_latency,
    "latency_distribution": latency_distribution,
    "l2_partitions": l2_partitions,
    "one_block": one_block,
    "synthetic_family": synthetic_family,
    "mixes": mixes,
    "cache_bandwidth": cache_bandwidth,
    "shared_patterns": shared_patterns,
    "global_patterns": global_patterns,
    "costs": costs,
    "camping": camping,
    "hong_kim": hong_kim,
    "x_model": x_model,
    "instruction_cache": instruction_cache,
    "corpus": corpus,
}
ONE_ARCHITECTURE = {"wgmma": wgmma.ARCH}  # mechanism -> the only one that has its instructions
PER_CASE_S = 4e-3  # the host's own part: buffers, launches, reading back
PER_STAMP_S = 4e-7  # of a warp, in every sample
MADE_S = {"order": 1e-8, "noise": 3e-10, "argument": 1.2e-9}  # of a byte of a buffer, by what fills it: host and copy
SPARE = 0.5         # of the time that a call may take is planned for; the rest is for what nobody foresaw


def units(mechanism: str) -> dict[str, Unit]:
    """The sources of a mechanism, by unit name."""
    only = ONE_ARCHITECTURE.get(mechanism)
    options = () if only is None else (f"-arch=sm_{only}a",)
    own = {mechanism: Unit(prelude() + MECHANISMS[mechanism].source(), options=options, only=only)}
    return own | corpus.units() if mechanism == "corpus" else own


def select(only: str | None) -> tuple[str, ...]:
    """Mechanisms named with commas between; all of them for None."""
    if only is None:
        return tuple(MECHANISMS)
    names = tuple(name.strip() for name in only.split(",") if name.strip())
    for name in names:
        if name not in MECHANISMS:
            raise CommandError(f"there is no mechanism {name!r}.", f"There are {', '.join(MECHANISMS)}.")
    return names


@dataclass(frozen=True)
class Planned:
    """One mechanism's part of a run: cases, and the seconds expected of each."""

    mechanism: str
    cases: tuple[Case, ...]
    each: tuple[float, ...]

    @property
    def seconds(self) -> float:
        """Of all."""
        return sum(self.each)


def plan(names: tuple[str, ...], facts: Facts, effort: str) -> list[Planned]:
    """What a run will do."""
    planned, held = [], frozenset[Buffer]()
    for name in names:
        cases, each = tuple(MECHANISMS[name].cases(facts, effort)), []
        for case in cases:  # buffers of the case before serve again
            each.append(expected(case, effort) + sum(made(one) for one in set(case.buffers) - held))
            held = frozenset(case.buffers)
        planned.append(Planned(name, cases, tuple(each)))
    return planned


def expected(case: Case, effort: str) -> float:
    """Seconds that a case takes with the usual number of repeats, once its data are there."""
    stopping = EFFORTS[effort]
    samples = max(3.0, min(2.0 * stopping.fewest, stopping.seconds / case.seconds))
    stamps = case.run.warps * PER_STAMP_S if case.reading == "stamps" else 0.0
    return samples * (case.seconds + stamps) + PER_CASE_S


def made(buffer: Buffer) -> float:
    """Seconds until its contents are there."""
    return buffer.size * MADE_S.get(buffer.fill.partition(" ")[0], 0.0)


def calls(planned: list[Planned], within: float) -> list[tuple[tuple[str, ...], float]]:
    """Mechanisms and expected seconds of each call, so that none needs longer than a SPARE part of `within`; what one
    mechanism needs beyond that goes on in calls of its own."""
    room, found = SPARE * within, list[tuple[tuple[str, ...], float]]()
    for part in planned:
        if found and found[-1][1] + part.seconds <= room:
            found[-1] = ((*found[-1][0], part.mechanism), found[-1][1] + part.seconds)
        else:
            often = max(1, ceil(part.seconds / room))
            found += [((part.mechanism,), part.seconds / often)] * often
    return found
