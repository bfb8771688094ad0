"""Weights of sampled blocks where classes are interpolated: sums over the sample are those of the grid."""

import numpy as np
import pytest

from warpbound.workload.dynamic import Sample, weighted_by_class


@pytest.mark.parametrize("seed", range(5))
def test_lengths_and_lanes_of_the_sample_are_those_of_the_grid(seed: int) -> None:
    random = np.random.default_rng(seed)
    length = np.sort(random.integers(100, 1000, 2000))
    lanes = length * random.integers(8, 33, 2000)
    of_class = random.permutation(2000)
    few = np.sort(np.append(random.choice(np.arange(1, 1999), 8, replace=False), [0, 1999]))
    weights = np.where((few == 0) | (few == 1999), 1.0, 1998 / 8)
    sample = weighted_by_class(Sample(few, weights), of_class, length, lanes)
    own = of_class[sample.blocks]
    assert sample.weights.sum() == pytest.approx(2000)
    assert sample.weights @ length[own] == pytest.approx(length.sum())
    assert sample.weights @ lanes[own] == pytest.approx(lanes.sum())
    assert (sample.weights > 0).all()


def test_sampled_classes_stand_for_their_own_blocks_alone() -> None:
    of_class = np.repeat([0, 1, 2], [10, 20, 70])
    sample = weighted_by_class(
        Sample(np.array([0, 15, 50]), np.array([1.0, 49.0, 50.0])), of_class, np.array([1, 5, 9]), np.array([1, 9, 20])
    )
    assert sample.weights.tolist() == [10, 20, 70]
