"""Watts: what the readings say, what physics demands, and that the boards' files hold what the fit gives."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.unit_of_work import work as unit_of_work
from warpbound.machine import catalogue, gpu, override
from warpbound.power import Activity, activity, power_parameters, voltage, watts
from warpbound.power.activity import SECTOR_B, WARP
from warpbound.power.calibrate import calibrated, mean_watts, readings, relative_error
from warpbound.power.draw import FIT_PARAMETERS, OWN_SPREAD, TAKEN_SPREAD
from warpbound.workload import Memory

A40 = power_parameters(gpu("a40"))
READ = readings()
FITTED = calibrated(READ)
COUNTS = tuple(Activity(0.0).__dataclass_fields__)
amounts = st.floats(0.0, 1e13)


def test_no_work_leaves_what_stands_and_the_clocks() -> None:
    idle = float(watts(A40, Activity(0.0), 1.0, A40.highest_hz))
    assert idle == pytest.approx(A40.standing_power + A40.clocked_power)


def test_half_the_highest_clock_of_an_a40() -> None:
    """Below the knee: the lowest voltage, half of the clocks' power, each instruction at that voltage's energy."""
    x = Activity(1e12, dram_bytes=4e11)
    by_hand = A40.standing_power + 0.72**2 * (0.5 * A40.clocked_power + 11.6) + 0.4 * A40.dram_energy * 1e12
    assert float(watts(A40, x, 1.0, A40.highest_hz / 2)) == pytest.approx(by_hand, rel=1e-3)


@given(st.sampled_from(COUNTS), st.lists(amounts, min_size=6, max_size=6), st.floats(1e-6, 1.0), st.floats(0.2, 1.0))
def test_more_of_anything_takes_more(name: str, values: list[float], seconds: float, share: float) -> None:
    x = Activity(*values)
    more = replace(x, **{name: getattr(x, name) + 1e12})
    clock = share * A40.highest_hz
    assert float(watts(A40, more, seconds, clock)) > float(watts(A40, x, seconds, clock))


@given(st.floats(0.15, 0.99), st.floats(1e10, 1e13))
def test_the_same_work_in_the_same_time_takes_less_at_a_lower_clock(share: float, instructions: float) -> None:
    clocks = np.array([1.0, share]) * A40.highest_hz
    fast, slow = watts(A40, Activity(instructions), 1.0, clocks)
    assert slow < fast


def test_voltage_is_flat_to_the_knee_and_rises_to_one() -> None:
    shares = voltage(A40, np.array([0.2, A40.voltage_knee, 1.0]) * A40.highest_hz)
    assert shares == pytest.approx([A40.voltage_floor, A40.voltage_floor, 1.0])


@pytest.mark.parametrize("key", FITTED)
def test_files_of_boards_hold_what_the_fit_gives(key: str) -> None:
    own, fit = power_parameters(gpu(key)), FITTED[key]
    assert own is not None
    for name in (*FIT_PARAMETERS, "tdp", "highest_hz", "step_hz"):
        rounding = 0.3 if name == "clocked_power" else 0.0
        assert getattr(own, name) == pytest.approx(getattr(fit, name), rel=6e-3, abs=rounding), name


def test_watts_of_boards_that_no_fit_saw() -> None:
    """Fitted to the first board of each file alone; the others of A100 and A40 are held back."""
    fit = calibrated([row for row in READ if row.device == "0" or row.board == "l40s"])
    held_back = [row for row in READ if row.device != "0" and row.board != "l40s"]
    errors = {board: [abs(relative_error(fit[board], row)) for row in held_back if row.board == board] for board in fit}
    assert np.mean(errors["a40"]) < 0.02
    assert np.mean(errors["a100-sxm-40gb"]) < 0.07


def test_readings_at_the_limit_count_as_the_limit() -> None:
    slowed = [row for row in READ if row.board == "l40" and row.clock_hz < 2.4e9]
    assert len(slowed) > 8
    assert {mean_watts(row) for row in slowed} == {300.0}


def test_every_count_of_a_launch() -> None:
    memory = Memory(
        l1_sectors_load=10.0, l1_sectors_store=2.0, l2_sectors_read=5.0, l2_sectors_written=2.0, dram_bytes_read=96.0,
        dram_bytes_written=32.0, shared_wavefronts_load=3.0, shared_wavefronts_store=1.0,
    )  # fmt: skip
    counts = {"thread_instructions": 320.0, "by_pipe": {"fp64": 2.0}, "flop": {"tensor": 4096.0}, "warps": 10.0}
    work = unit_of_work(memory=memory, **counts)
    x = activity(work)
    assert x.thread_instructions == 10 * (320 + 2 * WARP)
    assert x.tensor_operations == 40960
    assert x.shared_bytes == 10 * 4 * 128
    assert x.l1_bytes == 10 * SECTOR_B * (12 - 7)
    assert x.l2_bytes == 10 * (SECTOR_B * 7 - 128)
    assert x.dram_bytes == 1280


def test_boards_without_parameters_have_no_power() -> None:
    assert power_parameters(gpu("v100-pcie")) is None
    assert power_parameters(gpu("t4")) is None


def test_all_boards_with_power_have_a_limit_above_what_stands() -> None:
    known = {key: p for key in catalogue() if (p := power_parameters(gpu(key))) is not None}
    assert len(known) >= 15
    for key, p in known.items():
        assert p.standing_power + p.clocked_power * p.voltage_floor**2 * 0.15 < p.tdp, key
        assert 0 < p.voltage_knee < 1, key
        assert 0 < p.voltage_floor < 1, key
        assert p.spread == (OWN_SPREAD if key in FITTED else TAKEN_SPREAD), key


def test_a_parameter_can_be_set() -> None:
    changed = power_parameters(override(gpu("a40"), {"tdp": 200.0, "l2_energy": 20.0}))
    assert changed is not None
    assert changed.tdp == 200.0
    assert changed.l2_energy == pytest.approx(20e-12)
