"""The notes' latencies by simulation."""

from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.played import played


def numbers(given: Given) -> Numbers:
    """Cycles of one interval."""
    return {name: played("interval_analysis", scenario).cycles for name, scenario in given["scenarios"].items()}
