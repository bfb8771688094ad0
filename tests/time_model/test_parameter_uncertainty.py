"""Spreads that no single board's file gives: where they come from, and what they move."""

from dataclasses import replace
from statistics import median

import pytest

from warpbound.machine import Claim, catalogue, gpu, override
from warpbound.time_model import LaunchedWork, predict_launch
from warpbound.time_model.parameter_uncertainty import ONE_SOURCE, half_distance, measured_by, of_quantity, spread
from warpbound.time_model.parameters import fitted_parameters
from warpbound.time_model.streams import workload

A100 = gpu("a100-sxm-80gb")
CLOCK = 1.41e9


def l1_bound(accesses: float, wavefronts: float, ideal_sectors: float):
    """A launch whose warps do so many loads, all of which L1 answers in so many cycles; its doubt about lines."""
    work = replace(workload("read", A100, CLOCK), parts={"l1": 40.0, "fixed": 50.0}, latency=90.0)
    work = work.with_memory(
        global_load_requests=accesses, global_store_requests=0.0, l1_wavefronts=wavefronts,
        ideal_sectors=ideal_sectors, l2_sectors_read=0.0, l2_sectors_written=0.0, dram_bytes_read=0.0,
        dram_bytes_written=0.0,
    )  # fmt: skip
    found = predict_launch(LaunchedWork(work, A100, CLOCK, 100_000, 8.0, 8))
    assert found.bottleneck == "l1"
    return found.doubts["l1_lookups"] / found.time_s


def test_one_source_of_a_rate_of_l2_is_as_unsure_as_several_are_apart() -> None:
    rates = [gpu(key).parameters["l2_bandwidth"] for key in catalogue() if "l2_bandwidth" in gpu(key).parameters]
    apart = [half_distance(rate) for rate in rates if rate.how == "measured" and rate.others]
    assert len(apart) == 8
    assert median(apart) == pytest.approx(ONE_SOURCE, abs=0.005)


@pytest.mark.parametrize("name", ["a100-sxm-80gb", "h100-pcie"])
def test_what_crosses_l2_has_one_source(name: str) -> None:
    board = gpu(name)
    assert spread("l2_far_bandwidth", fitted_parameters(board), board) == ONE_SOURCE > of_quantity(
        board.parameters["l2_far_bandwidth"]
    )


def test_a_second_source_or_a_typed_value_speaks_for_itself() -> None:
    quantity = A100.parameters["l2_far_bandwidth"]
    claimed = replace(quantity, others=(Claim(quantity.value * 1.04, "somebody"),))
    two = replace(A100, parameters={**A100.parameters, "l2_far_bandwidth": claimed})
    assert spread("l2_far_bandwidth", fitted_parameters(two), two) == pytest.approx(0.02)
    typed = override(A100, {"l2_far_bandwidth": 3000.0})
    quantity = typed.parameters["l2_far_bandwidth"]
    assert spread("l2_far_bandwidth", fitted_parameters(typed), typed) == of_quantity(quantity)


def test_lines_are_in_doubt_where_they_bind_and_words_are_not() -> None:
    assert l1_bound(200.0, 200.0, 800.0) == 0.0   # whole lines of 32-bit words, a cycle each
    assert l1_bound(200.0, 800.0, 3200.0) == 0.0  # of 128-bit words, four cycles each
    assert l1_bound(200.0, 200.0, 200.0) == 0.0   # one word for all lanes
    assert l1_bound(200.0, 1600.0, 800.0) == pytest.approx(7 / 8 * 0.03, rel=0.05)  # eight cycles for a line's words


def test_the_doubt_about_lines_names_what_would_end_it() -> None:
    assert measured_by("l1_lookups") == "global_patterns"
