"""The mechanisms of the suite, their sources, and the plan of a run."""

from collections.abc import Iterable
from importlib import import_module
from math import ceil
from typing import cast

from warpbound.errors import CommandError
from warpbound.measure import corpus, wgmma
from warpbound.measure.case import Buffer, Case, Mechanism, Unit
from warpbound.measure.device import Facts
from warpbound.measure.kernel_text import prelude
from warpbound.measure.sampling import EFFORTS
from warpbound.quick_dataclasses import dataclass

MECHANISMS = {  # in the order of a run: what matters most comes first
    name: cast(Mechanism, import_module(f"warpbound.measure.{name}"))
    for name in (
        "pointer_chase", "occupancy", "stream", "launch", "instruction_mix", "wgmma", "loaded_latency",
        "latency_distribution", "l2_partitions", "one_block", "synthetic_family", "mixes", "cache_bandwidth",
        "shared_patterns", "global_patterns", "costs", "camping", "hong_kim", "x_model", "instruction_cache", "corpus",
    )
}  # fmt: skip
ONE_ARCHITECTURE = {"wgmma": wgmma.ARCH}  # mechanism -> the only architecture that has its instructions
PER_CASE_S = 4e-3  # host time of a case: buffers, launches, reading back
PER_STAMP_S = 4e-7  # host time of a warp's stamps in a sample
FILL_S = {"order": 1e-8, "noise": 3e-10, "argument": 1.2e-9}  # per byte of a buffer by Buffer.fill: host and copy
SPARE = 0.5         # share of the time of a call that is planned for; the rest is reserve


def units(mechanism: str) -> dict[str, Unit]:
    """The sources of a mechanism, by unit name."""
    only = ONE_ARCHITECTURE.get(mechanism)
    options = () if only is None else (f"-arch=sm_{only}a",)
    own = {mechanism: Unit(prelude() + MECHANISMS[mechanism].source(), options=options, only=only)}
    return own | corpus.units() if mechanism == "corpus" else own


def select(only: str | None) -> tuple[str, ...]:
    """Mechanism names separated by commas; all mechanisms for None. CommandError for an unknown name."""
    if only is None:
        return tuple(MECHANISMS)
    names = tuple(name.strip() for name in only.split(",") if name.strip())
    for name in names:
        if name not in MECHANISMS:
            raise CommandError(f"there is no mechanism {name!r}.", f"There are {', '.join(MECHANISMS)}.")
    return names


@dataclass(frozen=True)
class PlannedMechanism:
    """One mechanism's part of a run: its cases, and the expected seconds of each."""

    mechanism: str
    cases: tuple[Case, ...]
    case_seconds: tuple[float, ...]

    @property
    def seconds(self) -> float:
        """Expected seconds of all cases."""
        return sum(self.case_seconds)


def plan(names: Iterable[str], facts: Facts, effort: str) -> list[PlannedMechanism]:
    """Cases and expected times of a run."""
    planned, allocated = [], frozenset[Buffer]()
    for name in names:
        cases, seconds = tuple(MECHANISMS[name].cases(facts, effort)), []
        for case in cases:  # the buffers of the previous case are reused
            seconds.append(expected(case, effort) + sum(map(fill_seconds, set(case.buffers) - allocated)))
            allocated = frozenset(case.buffers)
        planned.append(PlannedMechanism(name, cases, tuple(seconds)))
    return planned


def expected(case: Case, effort: str) -> float:
    """Seconds of a case with the usual number of samples, once its data are in place."""
    stopping = EFFORTS[effort]
    samples = max(3.0, min(2.0 * stopping.fewest, stopping.seconds / case.seconds))
    stamps = case.run.warps * PER_STAMP_S if case.reading == "stamps" else 0.0
    return samples * (case.seconds + stamps) + PER_CASE_S


def fill_seconds(buffer: Buffer) -> float:
    """Seconds to fill a buffer."""
    return buffer.size * FILL_S.get(buffer.fill.partition(" ")[0], 0.0)


def calls(planned: list[PlannedMechanism], within: float) -> list[tuple[tuple[str, ...], float]]:
    """Mechanisms and expected seconds of each call; no call needs more than SPARE of `within` seconds, and a longer
    mechanism continues in calls of its own."""
    budget, split = SPARE * within, list[tuple[tuple[str, ...], float]]()
    for part in planned:
        if split and split[-1][1] + part.seconds <= budget:
            split[-1] = ((*split[-1][0], part.mechanism), split[-1][1] + part.seconds)
        else:
            count = max(1, ceil(part.seconds / budget))
            split += [((part.mechanism,), part.seconds / count)] * count
    return split
