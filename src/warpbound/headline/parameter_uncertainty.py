"""How sure the headline prediction is: the spread of each parameter, and what it makes of a time.

Source   fitted parameters: half of what they change between fits to every other block size. Taken from relatives: half
         of what two calibrated boards with the same kind of memory differ by, the mean of three pairs, at least 2 % for
         capacities and 10 % for the rest, more where one board alone has a value. A launch gap: the launch cost it
         is made from, where that was measured. The board's own latencies and rates: the scatter usual
         for the way the value became known, or half the median distance to what other sources say, if that is more;
         an assumed rate of L1: six measured boards reach 97.5 to 100 % of the path that their architecture has. What
         crosses L2 was measured by one source alone: as unsure as L2's rate is where there are several.
Omits    correlation between parameters; the error of the model itself, which measured launches tell
         (docs/model-notes/prediction-intervals.md).
"""

from dataclasses import fields
from statistics import median

import numpy as np
from numpy.typing import NDArray

from warpbound.headline.parameters import FITTED, SCALED, Known, Parameters
from warpbound.machine import Gpu, Quantity

VARIED = (*FITTED, *SCALED)
SPREADS = {  # parameter -> relative standard uncertainty where fitted, where taken from relatives
    "block_start": (0.07, 0.10), "store_cost": (0.15, 0.15), "latency_spread": (0.15, 0.26),
    "dram_wait_read": (0.07, 0.47), "dram_wait_mixed": (0.15, 0.48), "dram_read_capacity": (0.01, 0.02),
    "dram_write_capacity": (0.01, 0.02), "dram_mix_cost": (0.10, 0.52), "launch_gap": (0.02, 0.20),
    "block_interval": (0.02, 0.20), "l2_write_cost": (0.05, 0.30),
}  # fmt: skip
GAP_FROM_COST = 0.05  # of a launch gap, where the board's own launch cost was measured
SAME_PATH = 0.03      # of an assumed rate of L1: the path is the architecture's
SCATTER = {"vendor": 0.005, "measured": 0.01, "published": 0.05, "assumed": 0.15}  # how -> relative, of one value
ONE_SOURCE = 0.08     # of a rate of L2: median over the eight measured boards of which several sources give one
OF_RULES = {  # no board's value -> relative
    "atomic_rate": 0.5,   # steps on one line, beyond the architectures where they were measured
    "l1_lookups": 0.03,   # root mean square distance of `memory.banks` from the A100's counters, where lines bind
}
OF_UPDATES = (0.05, (75, 86))  # relative, of steps on one line where `parameters.ATOMICS` was measured
MEASURED_BY = {  # parameter -> the mechanism of `warpbound measure` that finds it
    "block_start": "stream", "store_cost": "stream", "latency_spread": "stream", "dram_wait_read": "stream",
    "dram_wait_mixed": "stream", "dram_read_capacity": "stream", "dram_write_capacity": "stream",
    "dram_mix_cost": "stream", "launch_gap": "launch", "block_interval": "launch", "l2_write_cost": "cache_bandwidth",
    "l1_latency": "pointer_chase", "l2_latency": "pointer_chase", "l2_far_latency": "pointer_chase",
    "dram_latency": "pointer_chase", "shared_latency": "instruction_mix", "l1_bandwidth": "cache_bandwidth",
    "l2_bandwidth": "cache_bandwidth", "l2_far_bandwidth": "cache_bandwidth", "l1_lookups": "global_patterns",
}  # fmt: skip


def spread(name: str, found: Known, board: Gpu) -> float:
    """Relative standard uncertainty of one parameter of VARIED."""
    if name in SPREADS:
        return _of_a_relative(name, board) if name in found.assumed else SPREADS[name][0]
    if name == "atomic_rate" and board.arch in OF_UPDATES[1]:
        return OF_UPDATES[0]
    if name in OF_RULES:
        return OF_RULES[name]
    quantity = board.parameters.get(name)
    if quantity is None:
        return 0.0
    if name == "l2_far_bandwidth" and not quantity.others:
        return max(ONE_SOURCE, of_quantity(quantity))
    if name == "l1_bandwidth" and quantity.how == "assumed":
        return max(SAME_PATH, half_distance(quantity))
    return of_quantity(quantity)


def _of_a_relative(name: str, board: Gpu) -> float:
    if name == "launch_gap" and board.parameters["launch_cost"].how == "measured":
        return GAP_FROM_COST
    return SPREADS[name][1]


def of_quantity(quantity: Quantity) -> float:
    """Of a board's value: scatter usual for how it became known, or half the median distance to other claims."""
    return max(SCATTER[quantity.how], half_distance(quantity))


def half_distance(quantity: Quantity) -> float:
    """To what other sources say, the median; 0 where none does, or the value was typed."""
    claims = [abs(claim.value / quantity.value - 1.0) for claim in quantity.others]
    return median(claims) / 2 if claims and quantity.source != "command line" else 0.0


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
