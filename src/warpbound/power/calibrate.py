"""Fits the power parameters of boards to watts and clocks that were read under load.

Source   watts.csv, which names its own. Voltages of A40, A100 and H100 kinds: A. Afzal and others, Wattlytics
         (AyeshaAfzal91/PerfPerTCO @52b7d69, Inputs/DVFS_PARAMS.js), power against clock for GROMACS on an A40 and an
         A100: linear up to 975 and 810 MHz; above, the part that grows is 1.21 times the line at 1400 and 1.9 times at
         1740 MHz (A40), 1.29 at 1200 and 1.94 at 1410 MHz (A100), the square of the voltage. A GH200 is taken to be as
         both in the mean, since nobody read it below its highest clock.
Models   one energy per instruction for all boards, one per byte of DRAM for HBM and for GDDR6; relative errors, each
         board with the same weight. Where the clock is below the highest, the mean power is the limit: the readings are
         the greatest of 21.
Omits    loads other than multiply-adds and streams.
"""

import csv
from collections.abc import Collection, Mapping
from dataclasses import replace
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from warpbound.machine import gpu
from warpbound.power.activity import Activity
from warpbound.power.draw import PowerParameters, watts
from warpbound.quick_dataclasses import dataclass
from warpbound.time_model.least_squares import least_squares
from warpbound.time_model.parameters import stacked

Array = NDArray[np.float64]
VOLTAGES: Mapping[str, tuple[float, float]] = {  # board -> floor, knee
    "a100-sxm-40gb": (0.72, 0.77), "a40": (0.72, 0.735), "gh200": (0.72, 0.75),
}  # fmt: skip
HUNDRED, TENTH_NANO = 100.0, 1e-10  # units of the unknowns: W, J/B
TEN_PICO = 1e-11
SHARED_START, SHARED_LOW, SHARED_HIGH = (1.2, 0.8, 1.2), (0.5, 0.4, 0.6), (2.5, 1.5, 2.0)
OWN_START, OWN_LOW, OWN_HIGH = (0.6, 0.5), (0.5, 0.0), (1.1, 1.6)  # standing: 50 W is what such boards take idle
CURVE_START, CURVE_LOW, CURVE_HIGH = (0.8, 0.85), (0.65, 0.6), (0.95, 0.96)


@dataclass(frozen=True)
class Reading:
    """One row of watts.csv: rates in operations and bytes per second, Hz, W.

    instructions : of a thread for each pair of words, which takes 2 steps + 2 operations.
    """

    board: str
    device: str
    steps: int
    instructions: float
    operations: float
    dram: float
    clock_hz: float
    watts: float

    @property
    def activity(self) -> Activity:
        """Of one second."""
        pairs = self.operations / (2.0 * self.steps + 2.0)
        return Activity(pairs * self.instructions, dram_bytes=self.dram)


def readings() -> tuple[Reading, ...]:
    """All rows of watts.csv."""
    text = (files("warpbound.power") / "watts.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return tuple(
        Reading(
            row["board"], row["device"], int(row["steps"]), float(row["instructions"]), 1e9 * float(row["Gop/s"]),
            1e9 * float(row["GB/s"]), 1e6 * float(row["MHz"]), float(row["W"]),
        )
        for row in rows
    )  # fmt: skip


def mean_watts(x: Reading) -> float:
    """The limit where the clock is below the highest, else the reading."""
    board = gpu(x.board)
    return min(x.watts, board.value("tdp")) if x.clock_hz < top_hz(x.board) else x.watts


def top_hz(board: str) -> float:
    """The highest clock of a board, Hz."""
    return gpu(board).get("highest_clock") or gpu(board).value("boost_clock")


def calibrated(rows: Collection[Reading]) -> dict[str, PowerParameters]:
    """Board -> its parameters, from these rows."""
    boards = tuple(dict.fromkeys(row.board for row in rows))
    weights = {board: sum(row.board == board for row in rows) ** -0.5 for board in boards}

    def errors(unknown: Array) -> Array:
        by_board = _parameters(unknown, boards)
        return np.array([weights[row.board] * relative_error(by_board[row.board], row) for row in rows])

    start, low, high = (np.array(edge) for edge in _ranges(boards))
    return _parameters(least_squares(errors, start, low, high), boards)


def relative_error(p: PowerParameters, row: Reading) -> float:
    """Of the watts at the row's own rates and clock."""
    return float(watts(p, row.activity, 1.0, row.clock_hz)) / mean_watts(row) - 1.0


def _ranges(boards: Collection[str]) -> tuple[list[float], list[float], list[float]]:
    start, low, high = list(SHARED_START), list(SHARED_LOW), list(SHARED_HIGH)
    for board in boards:
        start += OWN_START if board in VOLTAGES else (*OWN_START, *CURVE_START)
        low += OWN_LOW if board in VOLTAGES else (*OWN_LOW, *CURVE_LOW)
        high += OWN_HIGH if board in VOLTAGES else (*OWN_HIGH, *CURVE_HIGH)
    return start, low, high


def _parameters(unknown: Array, boards: Collection[str]) -> dict[str, PowerParameters]:
    """The unknowns: energies of an instruction, of a byte of GDDR6 and of HBM; then those of each board."""
    instruction, gddr, hbm, *own = (float(value) for value in unknown)
    result: dict[str, PowerParameters] = {}
    for board in boards:
        standing, clocked = own[:2]
        curve = VOLTAGES.get(board) or (own[2], own[3])
        own = own[2:] if board in VOLTAGES else own[4:]
        result[board] = replace(
            BLANK,
            tdp=gpu(board).value("tdp"), highest_hz=top_hz(board), standing_power=HUNDRED * standing,
            clocked_power=HUNDRED * clocked, voltage_floor=curve[0], voltage_knee=curve[1],
            instruction_energy=TEN_PICO * instruction,
            dram_energy=TENTH_NANO * (hbm if stacked(gpu(board)) else gddr),
        )  # fmt: skip
    return result


BLANK = PowerParameters(
    tdp=0.0, highest_hz=1.0, step_hz=15e6, standing_power=0.0, clocked_power=0.0, voltage_floor=1.0, voltage_knee=0.0,
    instruction_energy=0.0, tensor_energy=0.0, shared_energy=0.0, l1_energy=0.0, l2_energy=0.0, dram_energy=0.0,
)  # fmt: skip
