"""Replays of measured tuning spaces: the page, what a search counts, and the kernel that only they have."""

from dataclasses import replace

import numpy as np
import pytest

import warpbound
from tuning_page import text
from tuning_replay import (
    HERE,
    LEAST,
    PAGE,
    SEEDS,
    Space,
    at_random,
    in_order,
    mean_of,
    pruned_at_random,
    searched,
    spaces,
    tuner_means,
    until_near,
)

FIVE = Space("a", "b", "", ("x",), tuple((n,) for n in range(5)), np.array([3.0, 1.0, 2.0, 1.04, 4.0]),
             np.array([3.0, 1.3, np.nan, 1.0, 5.0]))  # fmt: skip


def test_the_page_is_what_the_tables_say():
    assert PAGE.read_text(encoding="utf-8") == text()


def test_every_space_is_large_enough_and_predicted():
    for space in spaces():
        assert len(space.measured) >= LEAST
        assert np.isnan(space.predicted).mean() < 0.05
        assert len(set(space.values)) == len(space.values)


def test_the_predicted_order_needs_half_of_a_random_search_in_all_spaces_but_one_at_most():
    ratios = [until_near(space, space.ranked) / mean_of(at_random, space) for space in spaces()]
    assert sum(ratio <= 0.5 for ratio in ratios) >= len(ratios) - 1


def test_searches_count_different_configurations_until_one_is_near():
    assert FIVE.good.tolist() == [False, True, False, True, False]
    assert FIVE.ranked == [3, 1, 0, 4, 2]  # without a prediction comes last
    assert until_near(FIVE, [0, 0, 2, 1]) == 3
    assert FIVE.kept == [3]
    assert mean_of(pruned_at_random, FIVE) == 1.0
    missed = replace(FIVE, predicted=np.array([1.0, 3.0, 3.0, 3.0, 3.0]))
    assert mean_of(pruned_at_random, missed) > 1.0
    assert in_order(FIVE) == 1.0
    assert in_order(replace(FIVE, predicted=-FIVE.predicted + 10)) == 0.0


def test_a_random_search_takes_as_long_as_chance_says():
    """Of n configurations with k good ones the first good one is in place (n + 1) / (k + 1) in the mean."""
    for space in spaces():
        count, good = len(space.measured), int(space.good.sum())
        expected = (count + 1) / (good + 1)
        assert mean_of(at_random, space) == pytest.approx(expected, rel=4 / SEEDS**0.5)


def test_what_kernel_tuner_needed_is_kept_for_every_space_and_one_search_repeats_it():
    pytest.importorskip("kernel_tuner")
    means = tuner_means()
    assert set(means) == {space.name for space in spaces()}
    space = spaces()[0]
    every = range(len(space.measured))
    counts = [until_near(space, searched("genetic_algorithm", space, every, seed)) for seed in range(10)]
    assert np.mean(counts) == pytest.approx(means[space.name]["genetic_algorithm"][0], abs=3 * np.std(counts) + 0.5)
    assert set(searched("mls", space, space.kept, 0)) == set(every)  # what was pruned comes at the end


@pytest.mark.cuda
@pytest.mark.parametrize(
    ("between", "inside"),
    [(2, 2), *(pytest.param(*pair, marks=pytest.mark.broad) for pair in ((0, 0), (1, 1), (3, 0)))],
)
def test_the_kernel_of_the_polygons_finds_the_points_inside(between, inside):
    count, each, block = 200, 3, 32
    defines = {"BETWEEN": between, "BLOCK_X": block, "EACH": each, "INSIDE": inside}
    program = warpbound.compile(HERE / "polygons" / "kernels.cu", "rtx-3090", kernel="inside", defines=defines)
    points = np.random.default_rng(1).normal(size=(count, 2)).astype(np.float32)
    args = {"flags": np.zeros(count, np.int32), "points": points.ravel(), "n": count}
    flags = warpbound.run(program, warpbound.launch(grid=-(-count // (block * each)), block=block, args=args))["flags"]
    radius = np.hypot(*points.T)
    sure = np.abs(radius - 1.0) > 1e-3  # the polygon has 600 corners on the unit circle
    np.testing.assert_array_equal(flags[sure], (radius < 1.0)[sure])
