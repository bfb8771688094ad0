"""Watts of a board: standing power, power that follows the clock, energy of each instruction and byte.

Source   CMOS: energy of a switch is C V^2. The voltage of a board is lowest up to a knee and rises with the clock
         above it (A. Afzal and others, Wattlytics, arXiv:2604.08182: power of A40 and A100 is linear in the clock up to
         810 to 975 MHz and quadratic above). Parameters of the boards: `calibrate`.
Models   W = standing + v^2 (clocked f / f_top + energies of instructions and on-chip bytes) + energy of DRAM bytes
Omits    temperature (leakage of a hotter chip), the values in registers, boards that differ from others of their kind
         (eight A100 SXM differ by 8 %), SMs without work, voltages of the memory.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.board_parameters import PARAMETERS, UNITS
from warpbound.bounds import Real
from warpbound.machine import Gpu
from warpbound.power.activity import Activity
from warpbound.quick_dataclasses import dataclass

OWN_SPREAD, TAKEN_SPREAD = 0.05, 0.12  # relative standard uncertainty of watts: of a board that was fitted, of others
NEEDED = tuple(name for name, parameter in PARAMETERS.items() if parameter.watts_need)


@dataclass(frozen=True)
class PowerParameters:
    """One board: W, Hz, J per instruction of a thread, J per operation, J per byte, and shares.

    drop_hz : the one clock below the highest, of boards that know no others at their limit; else None.
    spread : relative standard uncertainty of predicted watts.
    """

    limit: float            # W
    highest_hz: float
    step_hz: float
    standing: float         # P0  [W]
    clocked: float          # Pc  [W] at the highest clock
    floor: float            # v0  [1] of the voltage at the highest clock
    knee: float             # k   [1] of the highest clock
    instruction: float      # e_i [J]
    tensor: float           # e_t [J]
    shared: float           # e_s [J/B]
    l1: float               # e_1 [J/B]
    l2: float               # e_2 [J/B]
    dram: float             # e_d [J/B]
    drop_hz: float | None = None
    spread: float = OWN_SPREAD


def power_parameters(board: Gpu) -> PowerParameters | None:
    """None where the board's file does not give them."""
    if any(board.get(name) is None for name in NEEDED):
        return None
    is_fitted = board.parameters["standing_power"].how != "assumed"
    return PowerParameters(
        limit=board.value("tdp"),
        highest_hz=board.get("highest_clock") or board.value("boost_clock"),
        step_hz=_value("clock_step", board),
        standing=board.value("standing_power"),
        clocked=board.value("clocked_power"),
        floor=board.value("voltage_floor"),
        knee=board.value("voltage_knee"),
        instruction=board.value("instruction_energy"),
        tensor=_value("tensor_energy", board),
        shared=_value("shared_energy", board),
        l1=_value("l1_energy", board),
        l2=_value("l2_energy", board),
        dram=board.value("dram_energy"),
        drop_hz=board.get("drop_clock"),
        spread=OWN_SPREAD if is_fitted else TAKEN_SPREAD,
    )


def _value(name: str, board: Gpu) -> float:
    """The board's value or the model's, base unit."""
    own = board.get(name)
    return PARAMETERS[name].default * UNITS[PARAMETERS[name].units[0]] if own is None else own


def voltage(p: PowerParameters, clock_hz: Real) -> NDArray[np.float64]:
    """Share of the voltage at the highest clock."""
    above = (np.divide(clock_hz, p.highest_hz) - p.knee) / (1.0 - p.knee)
    return np.asarray(p.floor + (1.0 - p.floor) * np.clip(above, 0.0, 1.0))


def watts(p: PowerParameters, x: Activity, seconds: Real, clock_hz: Real) -> NDArray[np.float64]:
    """Mean power while launches that do `x` follow each other every `seconds`; everything broadcasts."""
    on_chip = (
        p.instruction * x.thread_instructions + p.tensor * x.tensor_operations
        + p.shared * x.shared_bytes + p.l1 * x.l1_bytes + p.l2 * x.l2_bytes
    )  # fmt: skip
    clocked = p.clocked * np.divide(clock_hz, p.highest_hz)
    switched = voltage(p, clock_hz) ** 2 * (clocked + np.divide(on_chip, seconds))
    return np.asarray(p.standing + switched + np.divide(p.dram * x.dram_bytes, seconds))
