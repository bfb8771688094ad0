"""The second example: what the compiler makes of the loop."""

from warpbound.models.interval_analysis.scoreboard import latency
from warpbound.reproduce.interval_analysis.code import device, issue_and_ready, listing
from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """The comments of the listing."""
    return {**issue_and_ready(given), "L, to the next iteration": latency(listing(given), device(given))}
