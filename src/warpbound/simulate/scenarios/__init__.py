"""The papers' own pictures and examples as experiments: PAPER:ITEM -> Scenario."""

import difflib
import re

from warpbound.errors import CommandError
from warpbound.simulate.scenarios import hong_kim_2009, interval_analysis, volkov_2016
from warpbound.simulate.scenarios.scenario import Scenario

__all__ = ["SCENARIOS", "Scenario", "scenarios"]

SCENARIOS = {
    f"{paper}:{item}": make
    for paper, items in {
        "hong_kim_2009": hong_kim_2009.SCENARIOS,
        "volkov_2016": volkov_2016.SCENARIOS,
        "interval_analysis": interval_analysis.SCENARIOS,
    }.items()
    for item, make in items.items()
}


def scenarios(name: str) -> dict[str, Scenario]:
    """The scenario of that name, or all whose names begin with it: fig-5 is fig-5a and fig-5b, but not fig-5.1.

    Raises CommandError with the nearest names where there is none.
    """
    matches = [name] if name in SCENARIOS else [other for other in SCENARIOS if _part_of(name, other)]
    if matches:
        return {each: SCENARIOS[each]() for each in matches}
    near = difflib.get_close_matches(name, SCENARIOS, n=3, cutoff=0.3)
    raise CommandError(
        f"There is no scenario {name!r}.",
        f"Did you mean {' or '.join(near)}?" if near else "`warpbound simulate` lists them.",
    )


def _part_of(name: str, other: str) -> bool:
    return other.startswith(name) and ":" in name and re.fullmatch(r"[a-z]?(-.*)?", other[len(name) :]) is not None
