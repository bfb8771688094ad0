"""What must hold of the models for any input, and against small simulators that share no code with them."""

import dataclasses
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.in_pieces import in_pieces
from support.strategies import grown, positive
from warpbound import models
from warpbound.models import roofline_2009 as roofline
from warpbound.models import transit_2015 as transit
from warpbound.models import volkov_2016 as volkov
from warpbound.models.volkov_2016.contention import Memory
from warpbound.models.volkov_2016.mixes import Mix

quick = settings(max_examples=60, deadline=None)


intensities = st.just(0.0) | positive(2**-6, 2**10)
warps = st.just(0.0) | positive(1, 64)
mixes = st.builds(
    Mix,
    warps=warps,
    alu_per_op=intensities,
    op_latency=positive(10, 2000),
    alu_latency=positive(2, 40),
    op_throughput=positive(1e-3, 2),
    alu_throughput=positive(0.1, 8),
    issue_throughput=positive(0.1, 8),
    op_issue_slots=positive(1, 8),
    op_to_op_latency=st.none() | positive(10, 2000),
)
memories = st.builds(
    Memory,
    unloaded=positive(10, 2000),
    growth=st.tuples(positive(0, 200)),
    ceiling=st.tuples(positive(2e-3, 3)),
)
rooflines = st.builds(
    roofline.Inputs, intensity=intensities, peak_flops=positive(1e9, 1e15), peak_bandwidth=positive(1e9, 1e13)
)
kernels = st.builds(
    volkov.Inputs,
    warps=warps,
    latency=positive(1, 1e5),
    busy=st.dictionaries(
        st.sampled_from(["issue", "dram", "fp"]), st.just(0.0) | positive(0.1, 1e3), min_size=1
    ),
)


# --- the registry ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", models.MODELS)
def test_registered_model_has_its_docstring_inputs_and_predict(name: str) -> None:
    module = getattr(models, name)
    assert module is importlib.import_module(f"warpbound.models.{name}")
    assert callable(module.predict)
    assert dataclasses.is_dataclass(module.Inputs)
    for heading in ("\nSource ", "\nModels ", "\nOmits "):
        assert heading in module.__doc__
    assert models.MODELS[name]


def test_registry_names_what_it_has() -> None:
    assert set(models.MODELS) <= set(dir(models))
    with pytest.raises(AttributeError, match="roofline_2009"):
        models.no_such_paper  # noqa: B018


# --- a change of the unit of time only rescales ---------------------------------------------------


@quick
@given(x=mixes, memory=memories, unit=positive(0.01, 100))
def test_mix_rescales_with_time(x: Mix, memory: Memory, unit: float) -> None:
    slower = x
    for field in ("op_latency", "alu_latency", "op_to_op_latency"):
        if getattr(x, field) is not None:
            slower = grown(slower, field, unit)
    for field in ("op_throughput", "alu_throughput", "issue_throughput"):
        slower = grown(slower, field, 1 / unit)
    slower_memory = Memory(
        memory.unloaded * unit, (memory.growth[0] * unit,), (memory.ceiling[0] / unit,)
    )
    mixed, contended = volkov.mixes.predict, volkov.contention.predict
    assert mixed(slower).rate == pytest.approx(mixed(x).rate / unit)
    assert contended(slower, slower_memory).rate == pytest.approx(contended(x, memory).rate / unit)
    needed = volkov.mixes.warps_needed
    assert needed(slower).total == pytest.approx(needed(x).total)


@quick
@given(x=kernels, unit=positive(0.01, 100))
def test_kernel_rescales_with_time(x: volkov.Inputs, unit: float) -> None:
    busy = {name: cycles * unit for name, cycles in x.busy.items()}
    slower = volkov.Inputs(x.warps, x.latency * unit, busy)
    assert volkov.predict(slower).rate == pytest.approx(volkov.predict(x).rate / unit)


@quick
@given(x=rooflines, unit=positive(0.01, 100))
def test_roofline_rescales_with_time(x: roofline.Inputs, unit: float) -> None:
    faster = grown(grown(x, "peak_flops", unit), "peak_bandwidth", unit)
    assert roofline.predict(faster).rate == pytest.approx(roofline.predict(x).rate * unit)


# --- more never hurts -----------------------------------------------------------------------------

HELPS_MIX = ["warps", "op_throughput", "alu_throughput", "issue_throughput"]
HURTS_MIX = ["op_latency", "alu_latency", "op_issue_slots"]


@quick
@given(x=mixes, memory=memories, factor=positive(1, 10))
def test_more_never_hurts_a_mix(x: Mix, memory: Memory, factor: float) -> None:
    rate = volkov.mixes.predict(x).rate
    contended = volkov.contention.predict(x, memory).rate
    for field in HELPS_MIX:
        assert volkov.mixes.predict(grown(x, field, factor)).rate >= rate * (1 - 1e-12)
        assert volkov.contention.predict(grown(x, field, factor), memory).rate >= contended * (1 - 1e-9)
    for field in HURTS_MIX:
        assert volkov.mixes.predict(grown(x, field, factor)).rate <= rate * (1 + 1e-12)
        assert volkov.contention.predict(grown(x, field, factor), memory).rate <= contended * (1 + 1e-9)


@quick
@given(x=rooflines, factor=positive(1, 10))
def test_more_never_hurts_a_roofline(x: roofline.Inputs, factor: float) -> None:
    for field in ("intensity", "peak_flops", "peak_bandwidth"):
        assert roofline.predict(grown(x, field, factor)).rate >= roofline.predict(x).rate


@quick
@given(x=kernels, factor=positive(1, 10))
def test_more_never_hurts_a_kernel(x: volkov.Inputs, factor: float) -> None:
    rate = volkov.predict(x).rate
    assert volkov.predict(grown(x, "warps", factor)).rate >= rate
    assert volkov.predict(grown(x, "latency", factor)).rate <= rate
    busier = dataclasses.replace(x, busy={name: cycles * factor for name, cycles in x.busy.items()})
    assert volkov.predict(busier).rate <= rate


def test_needed_warps_may_fall_with_intensity_which_is_the_cusp() -> None:
    x = Mix(0, np.array([0.0, 48.14, 512.0]), 368, 6, 0.0814, 4, 4)
    low, top, high = volkov.mixes.warps_needed(x).total
    assert top > 1.5 * low > 1.5 * high


# --- arrays agree with scalars, nothing is NaN ----------------------------------------------------


def scalars_agree(
    predict: Callable[..., Any], build: Callable[..., Any], draws: list[dict[str, float]]
) -> None:
    together = predict(build(**{name: np.array([draw[name] for draw in draws]) for name in draws[0]}))
    for i, draw in enumerate(draws):
        alone = predict(build(**draw))
        assert np.isfinite(alone.rate)
        assert not any(np.isnan(limit).any() for limit in alone.limits.values())
        assert alone.rate == pytest.approx(together.rate[i], rel=1e-12)
        assert alone.bottleneck == together.bottleneck[i]


mix_draws = st.lists(
    st.fixed_dictionaries(
        {
            "warps": warps,
            "alu_per_op": intensities,
            "op_latency": positive(10, 2000),
            "alu_latency": positive(2, 40),
            "op_throughput": positive(1e-3, 2),
            "alu_throughput": positive(0.1, 8),
            "issue_throughput": positive(0.1, 8),
        }
    ),
    min_size=1,
    max_size=4,
)


@quick
@given(draws=mix_draws, memory=memories)
def test_mix_broadcasts(draws: list[dict[str, float]], memory: Memory) -> None:
    scalars_agree(volkov.mixes.predict, Mix, draws)
    scalars_agree(lambda x: volkov.contention.predict(x, memory), Mix, draws)
    scalars_agree(lambda x: volkov.contention.predict_one_term(x, memory), Mix, draws)


def drawn(**fields: st.SearchStrategy[float]) -> st.SearchStrategy[list[dict[str, float]]]:
    return st.lists(st.fixed_dictionaries(fields), min_size=1, max_size=4)


@quick
@given(draws=drawn(intensity=intensities, peak_flops=positive(1e9, 1e15), peak_bandwidth=positive(1e9, 1e13)))
def test_roofline_broadcasts(draws: list[dict[str, float]]) -> None:
    scalars_agree(roofline.predict, roofline.Inputs, draws)


@quick
@given(draws=drawn(warps=warps, latency=positive(1, 1e5), issue=positive(0.1, 1e3), dram=positive(0.1, 1e3)))
def test_kernel_broadcasts(draws: list[dict[str, float]]) -> None:
    def kernel(warps: Any, latency: Any, **busy: Any) -> volkov.Inputs:
        return volkov.Inputs(warps, latency, busy)

    scalars_agree(volkov.predict, kernel, draws)


@quick
@given(
    draws=drawn(
        threads=positive(1, 400), intensity=positive(1, 512), lanes=positive(1, 128),
        latency=positive(100, 1000), ms_throughput=positive(0.02, 2),
    )
)  # fmt: skip
def test_transit_broadcasts(draws: list[dict[str, float]]) -> None:
    scalars_agree(transit.predict, transit.Inputs, draws)


def test_two_axes_make_a_plane() -> None:
    x = Mix(np.arange(1, 65.0), np.array([[0.0], [1.0], [64.0]]), 368, 6, 0.0814, 4, 4)
    assert volkov.mixes.predict(x).rate.shape == (3, 64)
    assert volkov.contention.predict(x, Memory(372, (22,), (0.085,))).rate.shape == (3, 64)


def test_ceilings_keep_their_lines_apart() -> None:
    x = roofline.Inputs(1.0, 1e12, 1e11)
    with pytest.raises(ValueError, match="memory"):
        roofline.predict_under_ceilings(x, {"memory": 1e11}, {})
    with pytest.raises(ValueError, match="simd"):
        roofline.predict_under_ceilings(x, {"simd": 1e11}, {"simd": 1e10})
    with pytest.raises(ValueError, match="latency"):
        volkov.predict(volkov.Inputs(1, 1, {"latency": 1}))


# --- the same thing said twice --------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(x=mixes, memory=memories)
def test_bisection_finds_the_closed_form(x: Mix, memory: Memory) -> None:
    bisected = volkov.contention.predict(x, memory)
    closed = volkov.contention.predict_one_term(x, memory)
    assert bisected.rate == pytest.approx(closed.rate, rel=1e-9, abs=1e-15)


@quick
@given(x=mixes, memory=memories)
def test_contention_without_growth_is_the_basic_model(x: Mix, memory: Memory) -> None:
    flat = Memory(memory.unloaded, (0.0,), (10.0,))
    basic = dataclasses.replace(x, op_latency=memory.unloaded, op_to_op_latency=None)
    rate = volkov.mixes.predict(basic).rate
    assert volkov.contention.predict(x, flat).rate == pytest.approx(rate, rel=1e-9)
    assert volkov.contention.predict(x, memory).rate <= rate * (1 + 1e-9)


@quick
@given(x=mixes, memory=memories)
def test_contended_throughput_needs_the_warps_it_was_given(x: Mix, memory: Memory) -> None:
    found = volkov.contention.predict(x, memory)
    if found.bottleneck == "latency" and x.warps > 0 and found.rate < 0.99 * memory.ceiling[0]:
        assert volkov.contention.warps_for(x, memory, found.rate) == pytest.approx(x.warps, rel=1e-6)


@quick
@given(x=mixes)
def test_needed_warps_just_reach_the_peak(x: Mix) -> None:
    needed = volkov.mixes.warps_needed(x).total
    peak = volkov.mixes.peak(x).rate
    assert volkov.mixes.predict(dataclasses.replace(x, warps=needed)).rate == pytest.approx(peak)
    assert volkov.mixes.predict(dataclasses.replace(x, warps=0.9 * needed)).rate == pytest.approx(0.9 * peak)
    whole = float(volkov.mixes.whole_warps_for_share(x, 0.9))
    assert volkov.mixes.predict(dataclasses.replace(x, warps=whole)).rate >= 0.9 * peak * (1 - 1e-9)
    if whole > 1:
        assert volkov.mixes.predict(dataclasses.replace(x, warps=whole - 1)).rate < 0.9 * peak


@quick
@given(x=mixes)
def test_no_intensity_needs_more_warps_than_both_limits_together(x: Mix) -> None:
    plain = dataclasses.replace(x, op_issue_slots=1.0, op_to_op_latency=None)
    assert volkov.mixes.warps_needed(plain).total <= volkov.mixes.cusp_warps_as_published(plain) * (1 + 1e-9)


@quick
@given(x=mixes)
def test_isolation_brackets_the_thesis(x: Mix) -> None:
    plain = dataclasses.replace(x, op_issue_slots=1.0, op_to_op_latency=None, issue_throughput=1e9)
    if plain.warps > 0:
        assert volkov.schemes.overstatement(plain) >= 1 - 1e-9
        assert volkov.schemes.understatement(plain) <= 1 + 1e-9


@quick
@given(x=mixes)
def test_schemes_answer_for_any_mix(x: Mix) -> None:
    answers = [volkov.schemes.predict_overlapped(x).rate, volkov.schemes.predict_added(x).rate]
    assert not np.isnan(answers).any()


@quick
@given(x=mixes)
def test_the_general_form_contains_the_family(x: Mix) -> None:
    per_op = volkov.Inputs(
        x.warps,
        volkov.mixes.latency(x),
        {
            "memory": 1 / x.op_throughput,
            "arithmetic": x.alu_per_op / x.alu_throughput,
            "issue": (x.alu_per_op + x.op_issue_slots) / x.issue_throughput,
        },
    )
    assert volkov.predict(per_op).rate == pytest.approx(volkov.mixes.predict(x).rate)
    assert volkov.needed_warps(per_op) == pytest.approx(volkov.mixes.warps_needed(x).total)


@quick
@given(x=rooflines, blocks=st.integers(50, 200))
def test_roofline_is_what_double_buffering_approaches(x: roofline.Inputs, blocks: int) -> None:
    """Blocks of 1 kB are fetched one after the other and worked on one after the other, side by side."""
    fetch, work = 1e3 / x.peak_bandwidth, 1e3 * x.intensity / x.peak_flops
    fetched = worked = 0.0
    for _ in range(blocks):
        fetched += fetch
        worked = max(worked, fetched) + work
    simulated = blocks * 1e3 * x.intensity / worked
    rate = float(roofline.predict(x).rate)
    assert rate * (1 - 1.1 / blocks) <= simulated <= rate * (1 + 1e-9)


@given(st.integers(1, 7), st.lists(st.floats(1, 64), min_size=1, max_size=20), st.floats(0, 512))
def test_pieces_give_the_same_numbers_as_the_whole(points: int, warps: list[float], alpha: float) -> None:
    x = Mix(np.array(warps)[:, None], np.array([alpha, 0.0]), 368.0, 6.0, 0.0814, 4.0, 4.0)
    found = in_pieces(lambda piece: volkov.mixes.predict(piece).rate, x, points)
    assert np.array_equal(found, volkov.mixes.predict(x).rate)
