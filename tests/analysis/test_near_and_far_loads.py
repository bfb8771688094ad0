"""Two arrays in an L2 of two sides: what every SM finds near, and what half of them must fetch from the far side."""

import numpy as np
import pytest

import warpbound
from warpbound.analysis.case import case_of
from warpbound.analysis.executed import average_work, conflicts, far_share, served_by
from warpbound.analysis.sampled import run_sample
from warpbound.analysis.settings import Settings
from warpbound.kernel_launch import parse_argument
from warpbound.latency import waits
from warpbound.machine import gpu, override

SOURCE = """
extern "C" __global__ void both(double* to, const double* again, const char* once, int entries, int rounds) {
    double sum = 0.0;
    unsigned long long i = threadIdx.x + (unsigned long long)blockIdx.x * blockDim.x * rounds;
    for (int k = 0; k < rounds; k++, i += blockDim.x) {
        double seen = __ldcg(&again[(k * blockDim.x + threadIdx.x) % entries]);
        char new_one = once[i];
        sum += new_one < 0 ? -seen : seen;
    }
    to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""
A100 = gpu("a100-sxm-80gb")
THREADS, BLOCKS, ENTRIES = 1024, 108, 2048
NEAR, FAR = A100.value("l2_latency"), A100.value("l2_far_latency")


def seen(rounds: int, board=A100):
    """The case, its sampled blocks and its traffic; `once` has 111 kB a round."""
    size = THREADS * BLOCKS
    words = [f"to=f64[{size}]:zeros", f"again=f64[{ENTRIES}]:zeros", f"once=i8[{size * rounds}]:zeros",
             f"entries={ENTRIES}", f"rounds={rounds}"]  # fmt: skip
    asked = warpbound.launch(grid=(BLOCKS,), block=(THREADS,), args=[parse_argument(word) for word in words])
    case = case_of(warpbound.compile(SOURCE, board, kernel="both"), board, asked, Settings())
    return case, *run_sample(case, asked)


def loads(case, moved) -> tuple[list[int], list[int]]:
    """Instructions that load from `again`, 64 bits a lane, and from `once`, 32."""
    mine = np.flatnonzero(moved.by_instruction.sectors_from.sum(axis=1) > 0)
    wide = [i for i in mine if "64" in case.program.instructions[i].modifiers]
    return wide, [i for i in mine if i not in wide]


@pytest.fixture(scope="module")
def split():
    return seen(240)  # 26.5 MB read once, of which a side of 20 MiB lacks a part; 16 kB that are always near


def test_each_load_has_its_own_share_of_the_far_side(split) -> None:
    case, _, _, moved = split
    again, once = loads(case, moved)
    assert again
    assert once
    far = moved.by_instruction.far_share
    assert max(far[again]) < 0.02
    assert min(far[once]) > 0.2
    from_l2 = moved.by_instruction.sectors_from[:, 1]
    assert far @ from_l2 == pytest.approx(moved.l2_sectors_far)


def test_a_load_of_near_data_is_no_slower_beside_far_data(split) -> None:
    case, _, _, moved = split
    again, once = loads(case, moved)
    only_l2 = {"l2": 1.0}
    found = waits(case.program.instructions, case.latency, lambda _: only_l2, conflicts(moved), far_share(moved))
    near = waits(case.program.instructions, case.latency, lambda _: only_l2, conflicts(moved))
    far = moved.by_instruction.far_share
    for index in again:
        assert found[index].write == pytest.approx(near[index].write, abs=0.02 * (FAR - NEAR))
    for index in once:
        assert found[index].write - near[index].write == pytest.approx(far[index] * (FAR - NEAR))


def test_where_all_is_near_the_far_side_costs_nothing_and_beyond_it_does() -> None:
    slower = override(A100, {"l2_far_latency": 2 * FAR})
    paths = [[average_work(*seen(rounds, board)).latency for board in (A100, slower)] for rounds in (120, 240)]
    assert paths[0][0] == paths[0][1]
    assert paths[1][1] > paths[1][0] + 0.2 * 240 * FAR / 8  # rounds; at most eight loads wait together


def test_served_by_says_the_level_and_not_the_side(split) -> None:
    case, _, _, moved = split
    for index in (i for part in loads(case, moved) for i in part):
        assert set(served_by(moved)(index)) <= {"l1", "l2", "dram"}
