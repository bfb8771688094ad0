"""How sure the headline prediction is: the spread of each parameter, and what it makes of a time.

Source   fitted parameters: half of what they change between fits to every other block size. Taken from relatives: half
         of what the two calibrated boards differ by, at least 10 %, more where only one of them has a value, and half
         as much again on a board of another memory family. The board's own latencies and rates: the scatter usual
         for the way the value became known, or half the median distance to what other sources say, if that is more;
         the L2 latency of a board with a near and a far side lies anywhere in between.
         The form: chosen so that four fifths of every other judged launch of streams and launches lie inside or a few
         more (88 %, and 85 % of the launches between them); a tenth where no launch of that bottleneck was judged. On
         boards of another memory family at least 5 %: every other row of chains on G80 to Maxwell is off by 6.7 % (rms)
         of which the parameters explain a part; of the rows between them 6 of 7 lie inside.
Omits    correlation between parameters; spreads that are not symmetric.
"""

from dataclasses import fields
from statistics import median

import numpy as np
from numpy.typing import NDArray

from warpbound.headline.parameters import FITTED, SCALED, Known, Parameters
from warpbound.machine import Gpu, Quantity

VARIED = (*FITTED, *SCALED)
FORM = "the form of the model"
SPREADS = {  # parameter -> relative standard uncertainty where fitted, where taken from relatives
    "block_start": (0.07, 0.10), "store_cost": (0.15, 0.15), "latency_spread": (0.15, 0.25),
    "dram_wait_read": (0.07, 0.25), "dram_wait_mixed": (0.15, 0.40), "dram_read_capacity": (0.01, 0.05),
    "dram_write_capacity": (0.01, 0.05), "dram_mix_cost": (0.10, 0.25), "launch_gap": (0.02, 0.20),
    "block_interval": (0.02, 0.20), "l2_write_cost": (0.05, 0.30),
}  # fmt: skip
SCATTER = {"vendor": 0.005, "measured": 0.01, "published": 0.05, "assumed": 0.15}  # how -> relative, of one value
OTHER_FAMILY = 1.5   # times the spread, where no calibrated board has memory of this kind
WIDEST_HBM = 1024    # bits of the narrowest bus of stacked memory; boards with GDDR have at most half of it
FORM_ERROR = {"dram": 0.016, "latency": 0.02, "l1": 0.02, "l2": 0.03, "launch": 0.02, "block start": 0.02}
OTHER_FAMILY_FORM = 0.05  # where no calibrated board has memory of this kind
UNJUDGED_FORM = 0.10
ATOMIC_SPREAD = 0.5  # of one update per cycle, which the vendor states for Kepler alone (GK110 whitepaper, 2012)
MEASURED_BY = {  # parameter -> the mechanism of `warpbound measure` that finds it
    "block_start": "stream", "store_cost": "stream", "latency_spread": "stream", "dram_wait_read": "stream",
    "dram_wait_mixed": "stream", "dram_read_capacity": "stream", "dram_write_capacity": "stream",
    "dram_mix_cost": "stream", "launch_gap": "launch", "block_interval": "launch", "l2_write_cost": "cache_bandwidth",
    "l1_latency": "pointer_chase", "l2_latency": "pointer_chase", "dram_latency": "pointer_chase",
    "shared_latency": "instruction_mix", "l1_bandwidth": "cache_bandwidth", "l2_bandwidth": "cache_bandwidth",
}  # fmt: skip


def spread(name: str, found: Known, board: Gpu) -> float:
    """Relative standard uncertainty of one parameter of VARIED."""
    if name in SPREADS:
        taken = name in found.assumed
        return SPREADS[name][taken] * (OTHER_FAMILY if taken and not stacked(board) else 1.0)
    if name == "atomic_rate":
        return ATOMIC_SPREAD
    quantity = board.parameters.get(name)
    if quantity is None:
        return 0.0
    return max(of_quantity(quantity), far_side(board) if name == "l2_latency" else 0.0)


def far_side(board: Gpu) -> float:
    """Of the latency of L2 where it has two sides and which one holds the data is not known: anything in between."""
    far = board.get("l2_far_latency")
    return 0.0 if far is None else (far / board.value("l2_latency") - 1.0) / 12.0**0.5


def stacked(board: Gpu) -> bool:
    """Whether the memory is HBM, as on every calibrated board; GDDR where the bus is not known."""
    bus = board.get("dram_bus")
    return bus is not None and bus > WIDEST_HBM


def of_quantity(quantity: Quantity) -> float:
    """Of a board's value: scatter usual for how it became known, or half the median distance to other claims."""
    claims = [abs(claim.value / quantity.value - 1.0) for claim in quantity.others]
    return max(SCATTER[quantity.how], median(claims) / 2 if claims and quantity.source != "command line" else 0.0)


def form_error(bottleneck: str, board: Gpu) -> float:
    """Relative standard error of the model itself."""
    found = FORM_ERROR.get(bottleneck, UNJUDGED_FORM)
    return found if stacked(board) else max(found, OTHER_FAMILY_FORM)


def varied(found: Known, board: Gpu) -> Parameters:
    """Every field an array: first the value, then, for each of VARIED in turn, one spread down and one up."""
    rows = np.ones((1 + 2 * len(VARIED), len(VARIED)))
    for index, name in enumerate(VARIED):
        rows[1 + 2 * index, index] -= spread(name, found, board)
        rows[2 + 2 * index, index] += spread(name, found, board)
    changed = {name: getattr(found.values, name) * rows[:, i] for i, name in enumerate(VARIED)}
    same = {f.name: getattr(found.values, f.name) for f in fields(Parameters) if f.name not in VARIED}
    return Parameters(**changed, **same)


def uncertainties(times: NDArray[np.float64]) -> dict[str, float]:
    """Parameter -> half the difference that it makes, from times evaluated at `varied`; in the unit of `times`."""
    return {name: float(abs(times[2 + 2 * i] - times[1 + 2 * i]) / 2) for i, name in enumerate(VARIED)}
