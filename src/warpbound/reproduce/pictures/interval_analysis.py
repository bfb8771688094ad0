"""The lecture notes: their cycle tables as timelines of the simulation."""

from warpbound.report.figures.picture import Drawable
from warpbound.reproduce.item import Given
from warpbound.reproduce.scenarios import warp_timeline

PAPER = "interval_analysis"


def _tables(given: Given) -> tuple[Drawable, ...]:
    return tuple(warp_timeline(PAPER, scenario) for scenario in dict.fromkeys(given["scenarios"].values()))


PICTURES = {"simulated": _tables}
