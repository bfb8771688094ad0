"""Parameters of a board that a sweep varies as arrays, because they change neither what a warp does nor its traffic.

Models   rates and waits of device memory, rates of L2 and of atomics. All other parameters (cache sizes, SMs,
         latencies, clocks, lanes) change the work: for each of their values it is computed again from the same executed
         blocks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.board_parameters import varied_with
from warpbound.l2_clock import RATES
from warpbound.machine import Gpu, override
from warpbound.time_model.parameters import Parameters, fitted_parameters

Array = NDArray[np.float64]
_DRAM, _L2, _ATOMICS = varied_with("dram"), varied_with("l2"), varied_with("atomics")
GROUPS = (_DRAM, _L2, _ATOMICS)  # parameters of a group change the same fields of `Parameters`
ARRAYS = tuple(name for group in GROUPS for name in group)
_RATIOS = tuple(name for name in _L2 if name in RATES)  # fields that are times of the board's own value
_FIELDS = {
    _DRAM: tuple(name for name in _DRAM if name in {field.name for field in fields(Parameters)}),
    _L2: _L2,
    _ATOMICS: _ATOMICS,
}


def parameters_at(board: Gpu, columns: Mapping[str, Array]) -> Parameters:
    """The parameters of the time model at points; columns : parameter of ARRAYS -> values in the board's unit,
    (points,)."""
    values = own = fitted_parameters(board).values
    for group in GROUPS:
        names = [name for name in group if name in columns]
        if names:
            values = replace(values, **_changed((board, own), names, _FIELDS[group], columns))
    return values


def _changed(
    own: tuple[Gpu, Parameters], names: Sequence[str], fields: Sequence[str], columns: Mapping[str, Array]
) -> dict[str, Any]:
    """Fields at the points: each combination of a group's values is looked up once."""
    numbers = np.zeros(len(columns[names[0]]), dtype=np.int64)  # of the combination that each point has
    for name in names:
        values, place = np.unique(columns[name], return_inverse=True)
        numbers = numbers * len(values) + place.ravel()
    _, first, place = np.unique(numbers, return_index=True, return_inverse=True)
    values_at = [_at(own, {name: float(columns[name][row]) for name in names}, fields) for row in first]
    return {field: np.array([each[field] for each in values_at])[place.ravel()] for field in fields}


def _at(own: tuple[Gpu, Parameters], settings: Mapping[str, float], fields: Sequence[str]) -> dict[str, float]:
    board, values = own
    changed = override(board, settings)
    if not settings.keys().isdisjoint(_DRAM):  # others may follow these
        values = fitted_parameters(changed).values
    at_point = {field: float(np.asarray(getattr(values, field))) for field in fields}
    at_point |= {field: changed.value(field) for field in fields if field in settings}
    return at_point | {field: _ratio(changed, board, field) for field in _RATIOS if field in fields}


def _ratio(changed: Gpu, board: Gpu, name: str) -> float:
    """A rate over the board's own; a board without a far side has the rate of L2 there."""
    now, before = (each.get(name) or each.value("l2_bandwidth") for each in (changed, board))
    return now / before
