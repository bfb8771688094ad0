"""Watts of a board: standing power, power that follows the clock, energy of each instruction and byte.

Source   CMOS: energy of a switch is C V^2. The voltage of a board is lowest up to a knee and rises with the clock
         above it (A. Afzal and others, Wattlytics, arXiv:2604.08182: power of A40 and A100 is linear in the clock up to
         810 to 975 MHz and quadratic above). Parameters of the boards: `calibrate`.
Models   W = standing + v^2 (clocked f / f_top + energies of instructions and on-chip bytes) + energy of DRAM bytes
Omits    temperature (leakage of a hotter chip), the values in registers, boards that differ from others of their kind
         (eight A100 SXM differ by 8 %), SMs without work, voltages of the memory.
"""

from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from warpbound.board_parameters import PARAMETERS, UNITS
from warpbound.bounds import Real
from warpbound.machine import Gpu
from warpbound.power.activity import Activity
from warpbound.quick_dataclasses import dataclass

OWN_SPREAD, TAKEN_SPREAD = 0.05, 0.12  # relative standard uncertainty of watts: of a board that was fitted, of others
NEEDED = tuple(name for name, parameter in PARAMETERS.items() if parameter.watts_need)
FIT_PARAMETERS = tuple(name for name in NEEDED if name != "tdp")  # parameters that are fitted to readings of watts


@dataclass(frozen=True)
class PowerParameters:
    """One board: W, Hz, J per instruction of a thread, J per operation, J per byte, and shares.

    drop_hz : the one clock below the highest, of boards that know no others at their limit; else None.
    spread : relative standard uncertainty of predicted watts.
    """

    tdp: float                 # W
    highest_hz: float
    step_hz: float
    standing_power: float      # P0  [W]
    clocked_power: float       # Pc  [W] at the highest clock
    voltage_floor: float       # v0  [1] of the voltage at the highest clock
    voltage_knee: float        # k   [1] of the highest clock
    instruction_energy: float  # e_i [J]
    tensor_energy: float       # e_t [J]
    shared_energy: float       # e_s [J/B]
    l1_energy: float           # e_1 [J/B]
    l2_energy: float           # e_2 [J/B]
    dram_energy: float         # e_d [J/B]
    drop_hz: float | None = None
    spread: float = OWN_SPREAD


def power_parameters(board: Gpu) -> PowerParameters | None:
    """None where the board's file does not give them."""
    if any(board.get(name) is None for name in NEEDED):
        return None
    is_fitted = board.parameters["standing_power"].how != "assumed"
    return PowerParameters(
        highest_hz=board.get("highest_clock") or board.value("boost_clock"),
        step_hz=_value("clock_step", board),
        drop_hz=board.get("drop_clock"),
        spread=OWN_SPREAD if is_fitted else TAKEN_SPREAD,
        **{field.name: _value(field.name, board) for field in fields(PowerParameters) if field.name in PARAMETERS},
    )


def _value(name: str, board: Gpu) -> float:
    """The board's value or the model's, base unit."""
    own = board.get(name)
    return PARAMETERS[name].default * UNITS[PARAMETERS[name].units[0]] if own is None else own


def voltage(p: PowerParameters, clock_hz: Real) -> NDArray[np.float64]:
    """Share of the voltage at the highest clock."""
    above = (np.divide(clock_hz, p.highest_hz) - p.voltage_knee) / (1.0 - p.voltage_knee)
    return np.asarray(p.voltage_floor + (1.0 - p.voltage_floor) * np.clip(above, 0.0, 1.0))


def watts(p: PowerParameters, x: Activity, seconds: Real, clock_hz: Real) -> NDArray[np.float64]:
    """Mean power while launches that do `x` follow each other every `seconds`; everything broadcasts."""
    on_chip = (
        p.instruction_energy * x.thread_instructions + p.tensor_energy * x.tensor_operations
        + p.shared_energy * x.shared_bytes + p.l1_energy * x.l1_bytes + p.l2_energy * x.l2_bytes
    )  # fmt: skip
    clocked = p.clocked_power * np.divide(clock_hz, p.highest_hz)
    switched = voltage(p, clock_hz) ** 2 * (clocked + np.divide(on_chip, seconds))
    return np.asarray(p.standing_power + switched + np.divide(p.dram_energy * x.dram_bytes, seconds))
