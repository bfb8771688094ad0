"""The mechanisms of the suite, their sources, and the plan of a run."""

from dataclasses import dataclass

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
    one_block,
    pointer_chase,
    shared_patterns,
    stream,
    synthetic_family,
    wgmma,
    x_model,
)
from warpbound.measure.case import Case, Mechanism, Unit
from warpbound.measure.device import Facts
from warpbound.measure.sampling import EFFORTS
from warpbound.measure.texts import prelude

MECHANISMS: dict[str, Mechanism] = {  # in the order of a run: what matters most comes first
    "pointer_chase": pointer_chase,
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
    """One mechanism's part of a run: cases and expected seconds."""

    mechanism: str
    cases: tuple[Case, ...]
    seconds: float


def plan(names: tuple[str, ...], facts: Facts, effort: str) -> list[Planned]:
    """What a run will do."""
    planned = []
    for name in names:
        cases = tuple(MECHANISMS[name].cases(facts, effort))
        planned.append(Planned(name, cases, sum(expected(case, effort) for case in cases)))
    return planned


def expected(case: Case, effort: str) -> float:
    """Seconds that a case takes with the usual number of repeats."""
    stopping = EFFORTS[effort]
    samples = max(3.0, min(2.0 * stopping.fewest, stopping.seconds / case.seconds))
    made = sum(buffer.size for buffer in case.buffers if buffer.fill == "order") / 4 * 6e-8
    stamps = case.run.warps * PER_STAMP_S if case.reading == "stamps" else 0.0
    return samples * (case.seconds + stamps) + made + PER_CASE_S
