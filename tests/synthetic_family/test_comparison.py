"""Models against a reference on the synthetic family: ratios, needed occupancy, cusps, measured samples."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.paths import ROOT
from warpbound.errors import InputError
from warpbound.machine import catalogue, gpu
from warpbound.models.volkov_2016 import mixes
from warpbound.reproduce import chosen
from warpbound.reproduce.volkov_2016.machines import machines
from warpbound.simulate import synthetic_family
from warpbound.synthetic_family import comparison, machine, predictors
from warpbound.synthetic_family.machine import Machine
from warpbound.synthetic_family.predictors import PREDICTORS

THESIS = machines(chosen("volkov_2016:fig-4.5")[0].inputs)
EVERYWHERE = {name: model for name, model in PREDICTORS.items() if name != "volkov_2016, contention"}
KNOWN = ["gtx680", "v100-pcie", "a100-sxm-80gb", "h200", "rtx-4090"]


@pytest.mark.parametrize("name", PREDICTORS)
@pytest.mark.parametrize("gpu_name", THESIS)
def test_arrays_equal_scalars(name: str, gpu_name: str) -> None:
    warps, alpha = np.array([1.0, 6.0, 20.0]), np.array([1.0, 7.0, 64.0])[:, None]
    whole = PREDICTORS[name](THESIS[gpu_name], warps, alpha)
    assert whole.shape == (3, 3)
    for i, a in enumerate(alpha.ravel()):
        for j, n in enumerate(warps):
            assert PREDICTORS[name](THESIS[gpu_name], n, a) == pytest.approx(whole[i, j], rel=1e-12)


@pytest.mark.parametrize("board", KNOWN)
@pytest.mark.parametrize("name", EVERYWHERE)
def test_every_model_speaks_of_boards_of_the_catalogue(name: str, board: str) -> None:
    found = EVERYWHERE[name](machine.on_board(gpu(board)), np.array([1.0, 8.0]), 4.0)
    assert np.isfinite(found).all()
    assert (found > 0).all()


def test_a_board_is_what_the_thesis_has_of_it() -> None:
    here, there = machine.on_board(gpu("gtx680")), THESIS["Kepler"]
    for field in ("alu_latency", "alu_throughput", "issue_throughput", "sm_count", "schedulers", "max_warps"):
        assert getattr(here, field) == getattr(there, field)
    assert here.memory_latency == pytest.approx(there.memory_latency, rel=1e-3)
    assert here.memory_throughput == pytest.approx(there.memory_throughput, rel=1e-3)
    assert here.pin_bandwidth == pytest.approx(there.pin_bandwidth, rel=1e-3)


def test_memory_that_was_not_fitted_is_said_so() -> None:
    with pytest.raises(InputError, match="not fitted"):
        predictors.refined(machine.on_board(gpu("h200")), 8.0, 4.0)


@pytest.mark.parametrize("board", [name for name in catalogue() if name not in ("m2200", "rtx-a4000")][:12])
def test_one_warp_alone_takes_its_latency(board: str) -> None:
    """Models that keep both latencies agree on one warp: access and additions one after another."""
    try:
        here = machine.on_board(gpu(board))
    except InputError as lacking:
        pytest.skip(str(lacking))
    alone = 1 / (here.memory_latency + 4 * here.alu_latency)
    for model in (predictors.basic, predictors.x_model):
        assert model(here, 1.0, 4.0) == pytest.approx(alone, rel=1e-9)


# ---------------------------------------------------------------- ratios


@pytest.mark.parametrize("name", EVERYWHERE)
def test_a_model_is_right_about_itself(name: str) -> None:
    found = comparison.ratios(PREDICTORS[name], PREDICTORS[name], THESIS["Fermi"], comparison.alphas(7))
    np.testing.assert_allclose([found.least, found.most], 1.0, rtol=1e-12)


def test_ratios_are_extremes_over_whole_warps_per_scheduler() -> None:
    here, alpha = THESIS["Kepler"], 32.0
    found = comparison.ratios(predictors.sim, predictors.refined, here, np.array([alpha]))
    every = range(4, here.max_warps + 1, 4)
    each = [float(predictors.sim(here, n, alpha) / predictors.refined(here, n, alpha)) for n in every]
    assert (found.least[0], found.most[0]) == (pytest.approx(min(each)), pytest.approx(max(each)))


def test_the_simulated_sm_may_be_the_reference() -> None:
    """Where nothing waits in line, the basic model and the simulation are one."""
    setting = synthetic_family.Setting(memory="constant", rounds=100)

    def simulated(here: Machine, warps: object, alpha: object) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        return synthetic_family.throughput(here, np.minimum(warps, 2.0), alpha, setting)  # type: ignore[arg-type]

    few = comparison.ratios(
        lambda here, warps, alpha: predictors.basic(here, np.minimum(warps, 2.0), alpha),
        simulated, THESIS["Fermi"], np.array([1.0, 4.0]),
    )  # fmt: skip
    np.testing.assert_allclose([few.least, few.most], 1.0, rtol=0.02)


# ---------------------------------------------------------------- needed occupancy


@given(
    latency=st.floats(50, 1000), memory=st.floats(0.01, 0.2), adding=st.floats(4, 30), rate=st.floats(0.25, 4),
    alpha=st.floats(0.5, 200),
)  # fmt: skip
def test_needed_warps_are_those_of_the_closed_form(
    latency: float, memory: float, adding: float, rate: float, alpha: float
) -> None:
    here = Machine("any", latency, memory, adding, rate, rate, 10.0, 1e9, 1e12, 4, 2000)
    found = comparison.needed(predictors.basic, here, np.array([alpha]), 0.9).warps[0]
    exact = float(mixes.whole_warps_for_share(here.mix(0.0, alpha), 0.9))
    assert found == max(1.0, exact) or abs(exact - 0.9 * float(mixes.warps_needed(here.mix(0.0, alpha)).total)) < 1e-6


def test_what_is_never_reached_is_nan() -> None:
    found = comparison.needed(predictors.baghsorkhi, THESIS["G80"], np.array([1.0, 512.0]))
    assert np.isnan(found.warps[0])
    assert found.warps[1] == 5


@pytest.mark.parametrize(
    "warps, cusp",
    [
        ([10.0, 20.0, 10.0], True),
        ([10.0, 10.5, 10.0], False),
        ([10.0, 11.5, 12.0], False),
        ([12.0, 11.0, 10.0], False),
        ([10.0, float("nan"), 20.0, 9.0], True),
        ([float("nan"), 20.0, 9.0], False),
        ([10.0, 20.0], False),
    ],
)
def test_a_cusp_is_higher_than_both_ends(warps: list[float], cusp: bool) -> None:  # noqa: FBT001
    assert comparison.Needed(np.arange(len(warps), dtype=float), np.array(warps)).cusp is cusp


# ---------------------------------------------------------------- measured samples


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join([",".join(comparison.HEADER), *lines]) + "\n")
    return path


def test_samples_of_a_model_give_the_model(tmp_path: Path) -> None:
    here = THESIS["Maxwell"]
    lines = [
        f"{alpha:g},{warps:g},{float(predictors.basic(here, warps, alpha))!r}"
        for alpha in (1.0, 16.0)
        for warps in comparison.whole_warps(here)
    ]
    reference = comparison.measured(write(tmp_path / "m.csv", *lines))
    found = comparison.ratios(predictors.basic, reference, here, np.array([1.0, 16.0]))
    np.testing.assert_allclose([found.least, found.most], 1.0, rtol=1e-12)


def test_nothing_is_said_beyond_the_samples(tmp_path: Path) -> None:
    reference = comparison.measured(write(tmp_path / "m.csv", "2,8,0.02", "2,4,0.01", ""))
    found = reference(THESIS["G80"], np.array([2.0, 4.0, 6.0, 8.0, 9.0]), 2.0)
    np.testing.assert_allclose(found, [np.nan, 0.01, 0.015, 0.02, np.nan])
    assert np.isnan(reference(THESIS["G80"], 6.0, 3.0))


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "not a table"),
        ("a,b,c\n1,2,3\n", "not a table"),
        (",".join(comparison.HEADER) + "\n1,x,3\n", "three numbers"),
    ],
)
def test_other_files_are_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        comparison.measured(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        comparison.measured(tmp_path / "none.csv")


def test_the_page_on_models_has_this_table() -> None:
    page = (ROOT / "docs" / "models.md").read_text()
    for name, model in EVERYWHERE.items():
        found = [comparison.ratios(model, predictors.refined, here, comparison.alphas()) for here in THESIS.values()]
        least, most = min(one.least.min() for one in found), max(one.most.max() for one in found)
        cusps = [key for key, here in THESIS.items() if comparison.needed(model, here, comparison.alphas()).cusp]
        word = "all" if len(cusps) == len(THESIS) else ", ".join(cusps) or "none"
        assert f"| `{name}` | {least:.2f} | {most:.2f} | {word} |" in page
