"""The sustained clock in answers: which clock, its source and limiter, watts, joules, what-ifs, interval."""

import pytest

import warpbound
from warpbound.analysis import Settings
from warpbound.analysis.answer import analyze_kernel
from warpbound.errors import InputError
from warpbound.result.kernel import KernelResult

pytestmark = pytest.mark.cuda
MULTIPLY_ADDS = """
extern "C" __global__ void spin(float *y, int turns) {
    float a = y[threadIdx.x], b = a, c = a, d = a;
    for (int i = 0; i < turns; ++i) {
        a = a * 0.5f + b; b = b * 0.5f + c; c = c * 0.5f + d; d = d * 0.5f + a;
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}
"""


def answer(gpu: str, **settings: object) -> KernelResult:
    program = warpbound.compile(MULTIPLY_ADDS, gpu)
    launch = warpbound.launch(grid=4096, block=256, args={"y": "f32[1048576]", "turns": 100})
    return analyze_kernel(program, gpu, launch, Settings(**settings))


def test_a_board_at_its_limit_runs_slower_and_says_why() -> None:
    held = answer("a40")
    assert (held.clock_source, held.clock_limiter) == ("sustained", "power")
    assert held.clock_MHz < 1740
    assert 0.95 * 300 < held.power_W <= 300
    assert held.energy_J == pytest.approx(held.power_W * held.time_s)
    free = answer("a40", clock="boost")
    assert (free.clock_source, free.clock_limiter) == ("boost", "given")
    assert free.power_W > 300
    assert free.time_s == pytest.approx(held.time_s * held.clock_MHz / 1740, rel=0.02)


def test_what_other_limits_would_make_of_it() -> None:
    held = answer("a40")
    found = {row.change: row.speedup for row in held.whatifs if "power limit" in row.change or "energy" in row.change}
    faster = {change: speedup for change, speedup in found.items() if speedup > 1}
    slower = {change: speedup for change, speedup in found.items() if speedup < 1}
    assert any(change.startswith("a power limit") for change in faster)
    assert {change.partition(",")[0] for change in slower} == {"a power limit of 220 W", "the clock of least energy"}
    tight = answer("a40", power_limit_W=220.0)
    assert tight.power_W <= 220
    assert held.time_s / tight.time_s == pytest.approx(slower["a power limit of 220 W"], rel=0.01)


def test_a_board_whose_power_is_unknown_runs_at_boost_and_says_so() -> None:
    plain = answer("t4")
    assert (plain.clock_source, plain.clock_MHz, plain.power_W) == ("boost", 1590, None)
    assert any("the power of NVIDIA T4 is not known" in note or "the power of Tesla T4" in note
               for note in plain.confidence.assumed)  # fmt: skip
    with pytest.raises(InputError, match="has no power parameters"):
        answer("t4", power_limit_W=50.0)


def test_the_interval_is_wider_where_the_clock_is_in_doubt() -> None:
    held, given = answer("l4"), answer("l4", clock=answer("l4").clock_MHz)
    assert held.time_s == pytest.approx(given.time_s, rel=1e-6)
    assert (given.clock_source, given.clock_limiter) == ("given", "given")
    assert held.time_interval_s[0] < given.time_interval_s[0]
    assert held.time_interval_s[1] > given.time_interval_s[1]
    assert "the clock under load" in {doubt.parameter for doubt in held.doubts}
