"""What answers take for a parameter that a board's file does not give, and where that comes from.

Source   `parameters` for what the headline prediction was fitted with; STAND_INS and ONE_IF_ABSENT of board_parameters
         for what is another parameter, or 1; the architecture's tables for widths, issue rate, latencies by class.
"""

from collections.abc import Callable
from dataclasses import dataclass

from warpbound.board_parameters import ONE_IF_ABSENT, PARAMETERS, STAND_INS, UNITS
from warpbound.headline.parameters import ATOMICS, FITTED, Parameters, known, relatives
from warpbound.isa.latency_classes import NUMBERS, stated
from warpbound.isa.timings import timing
from warpbound.machine import Gpu
from warpbound.workload.files.lanes import FIRST_IN_THE_TABLES, OWN_WIDTH, alu_latency, issue_rate, width
from warpbound.workload.records import HAND_OVER

ARCHITECTURE, MODEL = "the architecture", "the model, which does without it"
AS_GOOD_AS_NONE = "the model, which knows no end to them: one for each thread"
OTHER_BOARD = "rtx-3090, where it was measured"
_WARP = 32


@dataclass(frozen=True)
class StandIn:
    """value : in `unit`. origin : in words, after "from"."""

    value: float
    unit: str
    origin: str


def stand_ins(board: Gpu) -> dict[str, StandIn]:
    """By parameter, for each that the board has no value for although answers on it take one; in catalogue order."""
    fitted = known(board).values
    absent = (name for name in PARAMETERS if name not in board.parameters)
    found = {name: _stand_in(name, board, fitted) for name in absent}
    return {name: one for name, one in found.items() if one is not None}


def _stand_in(name: str, board: Gpu, fitted: Parameters) -> StandIn | None:
    unit = PARAMETERS[name].units[0]
    if name in FITTED:
        value = getattr(fitted, name) / UNITS[unit]
        return StandIn(float(value), unit, " and ".join(relatives(name, board)))
    if name in STAND_INS:
        quantity = board.parameters.get(STAND_INS[name])
        return None if quantity is None else StandIn(quantity.value, quantity.unit, STAND_INS[name])
    if name in ONE_IF_ABSENT:
        return StandIn(1.0, unit, MODEL) if ONE_IF_ABSENT[name] in board.parameters else None
    if name in _OTHERS:
        found, origin = _OTHERS[name]
        value = found(board)
    else:
        value, origin = _of_architecture(name, board), ARCHITECTURE
    return StandIn(value, unit, origin) if value else None


def _of_architecture(name: str, board: Gpu) -> float:
    """0 where it has no such thing."""
    if name in _RULES:
        return _RULES[name](board)
    if name in _DISTANCES:
        table = timing(board.arch, board.key)
        return (table.get(_DISTANCES[name]) if table else None) or 0.0
    if name in _PIPES:
        same = name == "alu_lanes" and board.arch < FIRST_IN_THE_TABLES  # as those for FP32
        return 0.0 if same else width(board, _PIPES[name])
    lacks = name == "tensor_latency" and "tensor_fp16" not in board.parameters
    return 0.0 if lacks or name not in NUMBERS else stated(name, board.arch)


_PIPES = {own: pipe for pipe, own in OWN_WIDTH.items()}
_DISTANCES = {"issue_gap": "gap", "reissue_cost": "reissue"}
_RULES: dict[str, Callable[[Gpu], float]] = {"issue_width": issue_rate, "alu_latency": alu_latency}
_OTHERS: dict[str, tuple[Callable[[Gpu], float], str]] = {
    "miss_registers": (lambda board: float(_WARP * board.limits.max_warps_per_sm), AS_GOOD_AS_NONE),
    "atomic_rate": (lambda _: ATOMICS, OTHER_BOARD),
    "store_piece_cost": (lambda board: HAND_OVER if board.arch >= FIRST_IN_THE_TABLES else 0.0, OTHER_BOARD),
}
