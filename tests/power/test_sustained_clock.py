"""The clock that a board holds: the highest step within the limit, against a search by hand and against readings."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpbound.machine import gpu
from warpbound.power import Activity, clock_steps, held, least_energy, operation_at, power_parameters, watts
from warpbound.power.calibrate import Reading, calibrated, readings

A40 = power_parameters(gpu("a40"))
ON_CHIP = Activity(3e12)


def scaled(clocks: np.ndarray) -> np.ndarray:
    """Times of a launch of one second at the highest clock that the SMs alone decide."""
    return clocks[0] / clocks


@given(st.floats(120.0, 400.0), st.floats(1e11, 2e13))
def test_the_highest_step_within_the_limit(limit: float, instructions: float) -> None:
    x, clocks = Activity(instructions), clock_steps(A40)
    found = operation_at(A40, x, clocks, scaled(clocks), limit)
    allowed = [clock for clock in clocks if watts(A40, x, clocks[0] / clock, clock) <= limit]
    assert found.clock_hz == (allowed[0] if allowed else clocks[-1])
    assert (found.limiter == "step") == (found.clock_hz == A40.highest_hz)
    assert found.joules == pytest.approx(found.watts * found.seconds)


@given(st.floats(1e11, 2e13))
def test_a_lower_limit_never_raises_the_clock(instructions: float) -> None:
    x, clocks = Activity(instructions), clock_steps(A40)
    rates = [operation_at(A40, x, clocks, scaled(clocks), limit).clock_hz for limit in (350.0, 300.0, 250.0, 200.0)]
    assert rates == sorted(rates, reverse=True)


def test_the_interval_of_the_clock_holds_the_clock() -> None:
    clocks = clock_steps(A40)
    found = held(A40, Activity(1.4e13), clocks, scaled(clocks), 300.0)
    assert found.slow_hz < found.operation.clock_hz < found.fast_hz
    sure = held(replace(A40, spread=0.0), Activity(1.4e13), clocks, scaled(clocks), 300.0)
    assert sure.slow_hz == sure.fast_hz == sure.operation.clock_hz == found.operation.clock_hz


def test_steps_too_fine_to_count_are_coarser() -> None:
    fine = clock_steps(replace(A40, step_hz=1.0))
    assert len(fine) <= 10_002
    assert fine[0] == A40.highest_hz
    assert fine[-1] == pytest.approx(clock_steps(A40)[-1], rel=0.05)


def test_steps_fall_by_one_step_from_the_highest() -> None:
    clocks = clock_steps(A40)
    assert clocks[0] == 1740e6
    assert set(np.round(np.diff(clocks))) == {-15e6}


def test_a_board_of_two_clocks_drops_to_the_lower() -> None:
    pcie = power_parameters(gpu("a100-pcie-40gb"))
    assert pcie is not None
    clocks = clock_steps(pcie)
    assert list(clocks) == [1410e6, 765e6]
    assert operation_at(pcie, Activity(2e13), clocks, scaled(clocks), pcie.tdp).clock_hz == 765e6


def test_the_clock_of_least_energy_is_at_or_above_none_that_takes_less() -> None:
    clocks = clock_steps(A40)
    best = least_energy(A40, ON_CHIP, clocks, scaled(clocks))
    joules = watts(A40, ON_CHIP, scaled(clocks), clocks) * scaled(clocks)
    assert best.joules == pytest.approx(joules.min())
    assert 0.5 < best.clock_hz / A40.highest_hz < 1.0  # standing power is spread over less time at a higher clock


def seconds_per_operation(rows: list[Reading], row: Reading, clocks: np.ndarray) -> np.ndarray:
    """By the roofline of the board's own readings, per operation: DRAM's rate, or that of the SMs at the clock."""
    bytes_each = row.dram / row.operations
    fastest = max(other.operations / other.clock_hz for other in rows)
    each_dram = bytes_each / max(other.dram for other in rows)
    return np.maximum(each_dram, 1.0 / (fastest * clocks))


@pytest.mark.parametrize(("board", "within"), [("a40", 0.02), ("l40s", 0.04), ("l40", 0.13)])
def test_clocks_below_the_highest(board: str, within: float) -> None:
    """The A40's parameters come from its first board alone, the clocks from the others as well."""
    rows = readings()
    fit = calibrated([row for row in rows if row.device == "0" or row.board == "l40s"])[board]
    own = [row for row in rows if row.board == board]
    clocks, errors = clock_steps(fit), []
    for row in own:
        if row.clock_hz == fit.highest_hz:
            continue
        x = Activity(row.instructions / (2 * row.steps + 2), dram_bytes=row.dram / row.operations)
        seconds = seconds_per_operation(own, row, clocks)
        errors.append(operation_at(fit, x, clocks, seconds, fit.tdp).clock_hz / row.clock_hz - 1)
    assert np.mean(np.abs(errors)) < within
