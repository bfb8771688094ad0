"""Figures 5 to 8, 11, 24 and the programs of section 6.4 by simulation."""

from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.played import played

PAPER = "hong_kim_2009"


def numbers(given: Given) -> Numbers:
    """Cycles of every scenario, and what the text says of pairs of them."""
    free, meeting = (played(PAPER, name).cycles for name in given["barrier"])
    requests = {name: played(PAPER, scenario).cycles for name, scenario in given["requests"].items()}
    costs = {
        f"program A over B, {blocks}": played(PAPER, a).cycles - played(PAPER, b).cycles
        for blocks, (a, b) in given["programs"].items()
    }
    rising = list(costs.values())
    return {
        **{case: played(PAPER, scenario).cycles for case, scenario in given["cases"].items()},
        "barriers of Figure 11": meeting - free,
        **{f"{name} requests": cycles for name, cycles in requests.items()},
        "independent requests are sooner done": requests["independent"] < requests["dependent"],
        **costs,
        "a barrier costs more with more blocks": rising[0] < rising[1] < rising[2],
    }
