"""The value that predictions use for a parameter that a board's file does not give, and where the value comes from.

Source   `Parameter.fallback` of board_parameters: the calibrated boards (`parameters`), another parameter, tables of
         the architecture for widths, issue rate and latencies, or a default of the model.
"""

from collections.abc import Callable

from warpbound.board_parameters import LATENCIES, PARAMETERS, UNITS
from warpbound.isa.latency_classes import architecture_latency
from warpbound.isa.timings import timing
from warpbound.machine import Gpu
from warpbound.memory.counters import HAND_OVER
from warpbound.quick_dataclasses import dataclass
from warpbound.time_model.parameters import Parameters, fitted_parameters, relatives
from warpbound.workload.files.lanes import FIRST_IN_THE_TABLES, alu_latency, issue_rate, width

ARCHITECTURE = "the architecture"
_WARP = 32
_TIMINGS = {"issue_gap": "gap", "reissue_cost": "reissue"}  # parameter -> key of isa/timings.toml
_RULES: dict[str, Callable[[Gpu], float]] = {  # of board_parameters.toml
    "issue rate": issue_rate,
    "addition": alu_latency,
    "one of each thread": lambda board: float(_WARP * board.limits.max_warps_per_sm),
    "hand-over to L1": lambda board: HAND_OVER if board.arch >= FIRST_IN_THE_TABLES else 0.0,
}


@dataclass(frozen=True)
class Fallback:
    """value : in `unit`. origin : description, to follow the word "from"."""

    value: float
    unit: str
    origin: str


def parameter_fallbacks(board: Gpu) -> dict[str, Fallback]:
    """Parameter -> fallback, for each that the board lacks although predictions use it; in catalogue order."""
    own_parameters = fitted_parameters(board).values
    fallbacks = {name: _fallback(name, board, own_parameters) for name in PARAMETERS if name not in board.parameters}
    return {name: fallback for name, fallback in fallbacks.items() if fallback is not None}


def _fallback(name: str, board: Gpu, own_parameters: Parameters) -> Fallback | None:
    parameter = PARAMETERS[name]
    kind, unit = parameter.fallback, parameter.units[0]
    if kind == "relatives":
        value = getattr(own_parameters, name) / UNITS[unit]
        return Fallback(float(value), unit, " and ".join(relatives(name, board)))
    if kind in PARAMETERS:
        quantity = board.parameters.get(kind)
        return None if quantity is None else Fallback(quantity.value, quantity.unit, kind)
    if kind == "model":
        useless = parameter.default_with and parameter.default_with not in board.parameters
        useless = useless or board.arch < parameter.first_arch
        value = 0.0 if useless else parameter.default or _RULES[parameter.rule](board)
    else:
        value = _of_architecture(name, board)
    return Fallback(value, unit, parameter.origin or ARCHITECTURE) if value else None


def _of_architecture(name: str, board: Gpu) -> float:
    """In the parameter's first unit; 0 where the architecture has no such thing."""
    if rule := PARAMETERS[name].rule:
        return _RULES[rule](board)
    if name in _TIMINGS:
        table = timing(board.arch, board.key)
        return (table.get(_TIMINGS[name]) if table else None) or 0.0
    if PARAMETERS[name].lanes:
        as_fp32 = name == "alu_lanes" and board.arch < FIRST_IN_THE_TABLES
        return 0.0 if as_fp32 else width(board, PARAMETERS[name].decides)
    lacks = name == "tensor_latency" and "tensor_fp16" not in board.parameters
    return 0.0 if lacks or name not in LATENCIES else architecture_latency(name, board.arch)
