"""Time at every occupancy with loads served by one level, and with pipes that overlap or do not."""

import numpy as np
import pytest

import warpbound
from warpbound.analysis.sweeps.curve_range import ON_CHIP, one_by_one, ranges, side_by_side
from warpbound.errors import InputError

pytestmark = pytest.mark.cuda


@pytest.mark.parametrize("name", ["saxpy", "matmul_tiled", "transpose_naive", "stencil5", "mandelbrot"])
def test_the_estimate_lies_between_all_hits_and_all_misses(name: str) -> None:
    program = warpbound.compile(f"examples/{name}.cu", "h200")
    found = ranges(program, "h200", warpbound.launch(f"examples/{name}.toml")).range
    l1, l2, dram, estimate = (np.array(getattr(found, key)) for key in ("l1", "l2", "dram", "estimate"))
    slack = 1 + 1e-9
    assert np.all(l1 <= l2 * slack)
    assert np.all(l2 <= dram * slack)
    assert np.all(l1 <= estimate * slack)
    assert np.all(estimate <= dram * slack)
    assert np.all(np.array(found.side_by_side) <= np.array(found.one_by_one) * slack)


def test_memory_makes_the_range_of_a_stream_and_pipes_that_of_a_computation() -> None:
    launch = {name: warpbound.launch(f"examples/{name}.toml") for name in ("saxpy", "mandelbrot")}
    found = {
        name: ranges(warpbound.compile(f"examples/{name}.cu", "h200"), "h200", launch[name]).range for name in launch
    }
    assert found["saxpy"].dram[0] > 2 * found["saxpy"].l1[0]
    assert found["mandelbrot"].dram[0] < 1.01 * found["mandelbrot"].l1[0]
    assert found["mandelbrot"].one_by_one[-1] > 1.5 * found["mandelbrot"].side_by_side[-1]


def test_pipes_side_by_side_are_the_tightest_and_one_by_one_the_sum() -> None:
    cycles = {"fma": 3.0, "alu": 2.0, "lsu": 0.5}
    assert set(cycles) <= set(ON_CHIP)
    assert side_by_side(cycles) == 3.0
    assert one_by_one(cycles) == 5.5
    assert side_by_side({}) == one_by_one({}) == 0.0


def test_without_arguments_there_is_no_time_to_range_over() -> None:
    program = warpbound.compile("examples/saxpy.cu", "h200")
    with pytest.raises(InputError, match="no time without arguments"):
        ranges(program, "h200", None)
