"""Points of a sweep against the answers of `analyze` to each of them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import warpbound
from warpbound.analysis import Settings
from warpbound.analysis.answer import analyze_kernel
from warpbound.machine import PARAMETERS, override
from warpbound.sweeping import storage
from warpbound.sweeping.board_arrays import ARRAYS
from warpbound.sweeping.plan import plan
from warpbound.sweeping.predictions import configurations
from warpbound.sweeping.work_units import work_units
from warpbound.time_model.flow_balance import MANY, Flow, Queue, balance

pytestmark = pytest.mark.cuda

EXAMPLES = Path(__file__).parents[2] / "examples"
PLAN = """
gpus = ["h200", "rtx-4090"]
[[kernels]]
source = "{examples}/{name}.cu"
[parameters]
{parameters}
[prices]
h200 = 3.6
"""
ALL_ARRAYS = """
dram_bandwidth = ["0.5x", "2x"]
dram_mix_cost = [0.3]
l2_bandwidth = ["0.25x", "1.5x"]
l2_write_cost = [2]
atomic_rate = [0.1, 1]
"""


def made(tmp_path, parameters, name="saxpy"):
    file = tmp_path / "plan.toml"
    file.write_text(PLAN.format(examples=EXAMPLES, name=name, parameters=parameters))
    return plan(file)


def answers(one):
    return [(unit, found) for unit in work_units(one) for found in configurations(one, unit)]


def asked(unit, found, point):
    """The answer of `analyze` at one point."""
    board = override(warpbound.gpu(found.gpu), {name: float(values[point]) for name, values in found.points.items()})
    program = warpbound.compile(
        unit.subject.source, found.gpu, kernel=unit.subject.kernel, defines=dict(unit.subject.options.defines)
    )
    return analyze_kernel(program, board, unit.tunings[0].launch, Settings(clock=found.facts["clock_MHz"]))


@pytest.mark.parametrize("name", ["saxpy", pytest.param("histogram", marks=pytest.mark.broad)])
def test_parameters_as_arrays_give_the_times_of_single_answers(tmp_path, name):
    one = made(tmp_path, ALL_ARRAYS, name)
    for unit, found in answers(one):
        for point in (0, one.points_per_configuration - 1):
            single = asked(unit, found, point)
            assert found.numbers["time_s"][point] == pytest.approx(single.time_s, rel=1e-12)
            assert found.words["bottleneck"][point] == single.bottleneck


@pytest.mark.broad
def test_parameters_that_change_the_work_give_the_times_of_single_answers(tmp_path):
    one = made(tmp_path, 'l2_size = ["0.25x", "4x"]\nsm_count = ["0.5x"]\ndram_bandwidth = ["1x", "2x"]')
    for unit, found in answers(one):
        for point in range(one.points_per_configuration):
            single = asked(unit, found, point)
            assert found.numbers["time_s"][point] == pytest.approx(single.time_s, rel=1e-12)
            assert found.numbers["warps_per_sm"][point] == single.occupancy.warps_per_sm


def test_a_board_with_its_own_values_is_answered_as_analyze_does(tmp_path):
    one = made(tmp_path, "")
    ((unit, found), *_) = answers(one)
    program = warpbound.compile(unit.subject.source, found.gpu)
    single = analyze_kernel(program, found.gpu, unit.tunings[0].launch)
    (row,) = storage.table(one, replace(unit, boards=unit.boards[:1], points=1), [found]).to_pylist()
    assert row["time_s"] == row["own_time_s"] == pytest.approx(single.time_s, rel=1e-12)
    assert row["energy_J"] == pytest.approx(single.energy_J, rel=1e-12)
    assert row["power_W"] == pytest.approx(single.power_W, rel=1e-12)
    assert row["cost"] == pytest.approx(3.6 * single.time_s / 3600)


def test_long_arrays_have_the_rates_of_single_numbers():
    """Their bracket is halved, that of short ones cut into pieces: the same to the last bit."""
    demands = np.random.default_rng(0).uniform(1e-9, 1e-6, MANY)

    def rates(some):
        return balance(Flow(4.0, 2e-6, {"dram": Queue(some, 3e-7), "l2": Queue(2e-7, 1e-8, 0.5)})).rate

    long = rates(demands)
    for place in range(0, MANY, 31):
        assert rates(demands[place : place + 1])[0] == long[place]


def test_every_parameter_of_an_array_is_in_the_catalogue():
    assert set(ARRAYS) <= set(PARAMETERS)
