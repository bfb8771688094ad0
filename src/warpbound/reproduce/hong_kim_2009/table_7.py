"""Table 7 and Figure 27: what the model is fed where instructions or paths differ."""

from warpbound.models.hong_kim_2009.paths import (
    divergent_insts,
    divergent_insts_as_published,
    m_factor,
    mean_m_factor,
)
from warpbound.models.hong_kim_2009.periods import comp_cycles
from warpbound.reproduce.item import Given, Numbers

ISSUE_CYCLES = 4.0


def numbers(given: Given) -> Numbers:
    """Factors, a mix of instructions, and blocks executed by a warp that takes three routes."""
    mix, measured = given["mix"], given["measured_factors"]
    blocks = dict.fromkeys((block for route in given["routes"] for block in route), 1.0)
    factor = mean_m_factor(mix["insts"], mix["factors"])
    return {
        "M_Factor from the manual": {name: m_factor(rate) for name, rate in given["operations_per_cycle"].items()},
        "M_Factor of section 6.2": {name: measured[name] for name in ("modulo", "integer multiplication")},
        "Comp_cycles of a mix": comp_cycles(ISSUE_CYCLES, factor, sum(mix["insts"]), 0.0),
        "blocks, rejoining": divergent_insts(given["routes"], blocks),
        "blocks, sum of all paths": divergent_insts_as_published(given["routes"], blocks),
    }
