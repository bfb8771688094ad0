"""The kernels of Volkov's section 3.10 from source: NumPy's results, and the kept points of their curves."""

from typing import Any

import numpy as np
import pytest

import warpbound
from support.paths import ROOT
from warpbound.analysis.sweeps.curve import curve
from warpbound.program import programs
from warpbound.program.cuda import Options
from warpbound.reproduce import chosen

FOLDER = ROOT / "examples/papers"
(ITEM,) = chosen("volkov_2016:figs-3.7-3.11")
CURVES = ITEM.inputs["curves"]
THREADS = 64


def ran(source: str, **args: Any) -> dict[str, Any]:
    program = warpbound.compile(FOLDER / f"{source}.cu", "h200")
    return dict(warpbound.run(program, warpbound.launch(grid=2, block=THREADS // 2, args=args)))


@pytest.mark.cuda
def test_permutation_and_vector_abs_do_what_they_are_called() -> None:
    random = np.random.default_rng(4)
    b, c = random.integers(0, 99, THREADS, np.int32), random.integers(0, THREADS, THREADS, np.int32)
    assert ran("permutation", a=np.zeros(THREADS, np.int32), b=b, c=c)["a"].tolist() == b[c].tolist()
    a = random.standard_normal(THREADS).astype(np.float32)
    assert ran("vector_abs", a=a)["a"].tolist() == np.abs(a).tolist()


@pytest.mark.cuda
def test_black_scholes_prices_options() -> None:
    """A textbook's option: 42, 40, half a year, 10 %, 20 %: 4.76 and 0.81; and put-call parity for random ones."""
    random, zeros = np.random.default_rng(5), np.zeros(THREADS, np.float32)
    ranges = ((20, 60), (20, 60), (0.1, 2))
    spot, strike, years = (random.uniform(low, high, THREADS).astype(np.float32) for low, high in ranges)
    spot[0], strike[0], years[0] = 42.0, 40.0, 0.5
    found = ran("black_scholes_polynomial", spot=spot, strike=strike, years=years, call=zeros, put=zeros.copy(),
                rate=np.float32(0.1), volatility=np.float32(0.2))  # fmt: skip
    assert (found["call"][0], found["put"][0]) == (pytest.approx(4.76, abs=0.005), pytest.approx(0.81, abs=0.005))
    parity = spot - strike * np.exp(-0.1 * years)
    np.testing.assert_allclose(found["call"] - found["put"], parity, atol=2e-4)


@pytest.mark.cuda
@pytest.mark.broad
@pytest.mark.parametrize("name", CURVES)
def test_the_kept_points_are_those_of_the_curve(name: str) -> None:
    kept = CURVES[name]
    asked = warpbound.launch(FOLDER / f"{kept['launch']}.toml")
    options = Options(defines=tuple(asked.defines.items()), extra=asked.options)
    (program,) = programs(FOLDER / f"{kept['source']}.cu", warpbound.gpu(kept["board"]), asked.kernel, options)
    found = curve(program, kept["board"], asked)
    useful = np.array(found.warp_throughput_per_s) * 32 * kept["thread_bytes"] / 1e9
    assert found.warps_per_sm == kept["warps"]
    np.testing.assert_allclose(useful, kept["GB_s"], rtol=0.05)


def test_scattered_reads_stores_and_fast_mathematics_need_fewer_warps() -> None:
    """The section's three back-of-the-envelope answers."""
    ours = ITEM.numbers()
    own, other = ours["occupancy for most of its own best"], ours["occupancy for the best of the other"]
    for board in ("", ", A100"):
        assert own[f"permutation, random{board}"] < 0.85 * own[f"permutation, trivial{board}"]
        assert 40 < other[f"vector abs, all negative{board}"] < 75
    assert other["Black-Scholes, fast mathematics"] < 90
