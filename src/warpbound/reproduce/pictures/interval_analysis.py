"""The lecture notes: their cycle tables as timelines of the simulation."""

from warpbound.report.figures.picture import Drawable
from warpbound.reproduce.item import ItemInputs
from warpbound.reproduce.scenarios import warp_timeline

PAPER = "interval_analysis"


def simulated(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """The cycle tables as timelines."""
    return tuple(warp_timeline(PAPER, scenario) for scenario in dict.fromkeys(inputs["scenarios"].values()))
