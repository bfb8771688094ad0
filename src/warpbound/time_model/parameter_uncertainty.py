"""Uncertainty of the time model: the spread of each parameter, and its effect on the time.

Source   Fitted parameters: half their change between fits to every other block size. Values from relatives: half
         of what two calibrated boards with the same kind of memory differ by, the mean of three pairs, at least 2 % for
         capacities and 10 % for the rest, more where one board alone has a value (`Parameter.spread` has both). A
         launch gap: the launch cost it is made from, where that was measured. The board's own latencies and rates: the
         usual scatter of the way it was measured, or half the median distance to what other sources give, if that is
         more. An assumed L1 rate: six measured boards reach 97.5 to 100 % of the path of their architecture. One source
         alone measured the rate across L2: it is as unsure as the L2 rate is where there are several sources.
Omits    correlation between parameters; the error of the model itself, which measured launches give
         (docs/model-notes/prediction-intervals.md).
"""

from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from warpbound.board_parameters import PARAMETERS
from warpbound.machine import Gpu, Quantity
from warpbound.time_model.parameters import VARIED, FittedParameters, Parameters

GAP_FROM_COST = 0.05  # spread of a launch gap if the board's own launch cost was measured
SAME_PATH = 0.03      # spread of an assumed rate of L1: the width of the path is the architecture's
SCATTER = {"vendor": 0.005, "measured": 0.01, "published": 0.05, "assumed": 0.15}  # how -> relative, of one value
ONE_SOURCE = 0.08     # spread of a rate of L2 with one source: median over the eight measured boards with several
L1_LOOKUPS = 0.03     # root mean square distance of `memory.banks` from the A100's counters, where lines bind


def measured_by(name: str) -> str | None:
    """The mechanism of `warpbound measure` that would narrow this uncertainty; None where none would."""
    if name == "l1_lookups":
        return "global_patterns"
    return next(iter(PARAMETERS[name].measured_by), None) if name in PARAMETERS else None


def spread(name: str, own_fit: FittedParameters, board: Gpu) -> float:
    """Relative standard uncertainty of one parameter of VARIED."""
    if name == "l1_lookups":
        return L1_LOOKUPS
    if (spreads := PARAMETERS[name].spread) is not None:
        where_measured, elsewhere = spreads
        if name == "launch_gap" and name in own_fit.assumed and board.parameters["launch_cost"].how == "measured":
            return GAP_FROM_COST
        archs = PARAMETERS[name].default_archs
        from_own_fit = board.arch in archs if archs else name not in own_fit.assumed
        return where_measured if from_own_fit else elsewhere
    quantity = board.parameters.get(name)
    if quantity is None:
        return 0.0
    if name == "l2_far_bandwidth" and not quantity.others:
        return max(ONE_SOURCE, of_quantity(quantity))
    if name == "l1_bandwidth" and quantity.how == "assumed":
        return max(SAME_PATH, half_distance(quantity))
    return of_quantity(quantity)


def of_quantity(quantity: Quantity) -> float:
    """Relative standard uncertainty of a board's value: the scatter of its kind, or half the distance to others."""
    return max(SCATTER[quantity.how], half_distance(quantity))


def half_distance(quantity: Quantity) -> float:
    """Half the median distance to other sources' values; 0 where there are none, or the value was typed."""
    claims = sorted(abs(claim.value / quantity.value - 1.0) for claim in quantity.others)
    if not claims or quantity.source == "command line":
        return 0.0
    middle = len(claims) // 2
    return (claims[middle] + claims[~middle]) / 2 / 2  # `statistics` and NumPy's median load more than an answer needs


def varied(own_fit: FittedParameters, board: Gpu) -> Parameters:
    """Every field an array: first the value, then, for each of VARIED in turn, one spread down and one up."""
    rows = np.ones((1 + 2 * len(VARIED), len(VARIED)))
    for index, name in enumerate(VARIED):
        rows[1 + 2 * index, index] -= spread(name, own_fit, board)
        rows[2 + 2 * index, index] += spread(name, own_fit, board)
    changed = {name: getattr(own_fit.values, name) * rows[:, i] for i, name in enumerate(VARIED)}
    same = {f.name: getattr(own_fit.values, f.name) for f in fields(Parameters) if f.name not in VARIED}
    return Parameters(**changed, **same)


def uncertainties(times: NDArray[np.float64]) -> dict[str, float]:
    """Parameter -> half the difference that it makes, from times evaluated at `varied`; in the unit of `times`."""
    return {name: float(abs(times[2 + 2 * i] - times[1 + 2 * i]) / 2) for i, name in enumerate(VARIED)}
