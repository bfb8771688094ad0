"""What L2 keeps from launch to launch. Of two sides all up to two thirds of it, nothing from its size on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.handmade_traces import COPY, MACHINE, copy, trace
from warpbound.machine import gpu
from warpbound.memory.hierarchy import Facts, facts
from warpbound.memory.traffic import How, traffic

ARRAY_B = 4096 * 4 * 128  # of each of the two that the copy's 4096 blocks of four warps move
ARRAYS = ((1 << 30, ARRAY_B), (1 << 31, ARRAY_B))


def missed(share_of_l2: float, sides: int = 2) -> float:
    """Share of a copy's reads that DRAM serves when the launch before left the same data, `share_of_l2` of its size."""
    size = round(2 * ARRAY_B / share_of_l2)
    machine = Facts(80, 4, 2, 128 << 10, size, size * (sides == 2))
    sample = trace([*range(8), *range(2000, 2008)], 4096, 4, copy)
    return traffic(COPY, sample, machine, How("warm", arrays=ARRAYS)).dram_bytes_read / ARRAY_B


def rewritten(share_of_l2: float) -> float:
    """Share of a copy's writes that reach DRAM in each launch, with an L2 of one side."""
    machine = Facts(80, 4, 2, 128 << 10, round(2 * ARRAY_B / share_of_l2), 0)
    sample = trace([*range(8), *range(2000, 2008)], 4096, 4, copy)
    return traffic(COPY, sample, machine, How("warm", arrays=ARRAYS)).dram_bytes_written / ARRAY_B


@pytest.mark.parametrize(
    "share, lost", [(0.3, 0.0), (0.66, 0.0), (0.75, 1 / 3), (0.8, 0.5), (0.9, 7 / 9), (1.0, 1.0), (1.5, 1.0)]
)
def test_the_room_for_lines_held_twice_decides(share, lost):
    """share (1 + k / 2) = 1, k the share of lines that is found again."""
    assert missed(share) == pytest.approx(lost, abs=0.02)
    assert share * (1 + (1 - lost) / 2) <= 1 + 1e-9 or lost == 1


@given(st.floats(0.2, 2.0), st.floats(1.0, 1.5))
def test_more_data_are_never_kept_better(share, more):
    assert missed(share) <= missed(share * more) + 1e-3


def test_one_side_loses_what_is_read_around_its_size():
    """What is changed stays longer: `rounds`."""
    assert [round(missed(share, sides=1), 3) for share in (0.86, 1.0, 1.14, 1.5)] == [0.0, 0.5, 1.0, 1.0]
    assert [round(rewritten(share), 3) for share in (1.0, 1.19, 2 / 1.45, 1.57, 2.0)] == [0.0, 0.0, 0.5, 1.0, 1.0]


def test_boards_with_a_far_side_have_two():
    a100, v100 = (facts(gpu(name), 4, 0) for name in ("a100-sxm-80gb", "v100-pcie"))
    assert (a100.l2_sides_bytes, v100.l2_sides_bytes) == (40 << 20, 0)
    assert MACHINE.l2_sides_bytes == 0
    assert a100.l2_bytes == a100.l2_sides_bytes
