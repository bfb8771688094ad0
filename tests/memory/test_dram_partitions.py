"""Partitions: even and camping accesses of a transpose."""

import numpy as np
import pytest

from warpbound.memory.dram_partitions import concurrent_spread, partition, spread

LANE = np.arange(32, dtype=np.uint64)


def test_partition_turns_over_every_256_bytes():
    addresses = np.array([0, 255, 256, 256 * 7, 256 * 8, 256 * 9 + 4], np.uint64)
    assert partition(addresses, 8).tolist() == [0, 0, 1, 7, 0, 1]
    assert partition(addresses, 6).tolist() == [0, 0, 1, 1, 2, 3]


@pytest.mark.parametrize("partitions", [6, 8])
def test_rows_are_even_and_columns_camp(partitions):
    on = np.ones((48, 32), bool)
    rows = np.arange(48, dtype=np.uint64)[:, None] * np.uint64(128) + np.uint64(4) * LANE
    even = spread(rows, on, partitions)
    assert even.segments.sum() == 48 * 4
    assert even.camping == 1  # 48 x 128 B = 24 x 256 B over 6 or 8 partitions
    # a column of a matrix whose rows are 8 x 6 x 256 B long: one partition has it all
    column = LANE[None, :] * np.uint64(8 * 6 * 256)
    assert spread(column, on[:1], partitions).camping == partitions
    nothing = spread(column, np.zeros((1, 32), bool), partitions)
    assert nothing.camping == 1


def test_camping_at_a_moment():
    # two moments: four warps in four partitions, then four warps in one
    base = np.array([0, 256, 512, 768, 0, 2048, 4096, 6144], np.uint64)[:, None]
    found = concurrent_spread(base + np.uint64(4) * LANE, np.ones((8, 32), bool), np.repeat([0, 1], 4), 8)
    assert found.tolist() == [2, 8]  # four of eight partitions, one of eight
