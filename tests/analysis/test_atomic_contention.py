"""The line that atomics update most: steps of one instruction by hand, and which lines the rest of a grid shares."""

import numpy as np
import pytest

import warpbound
from warpbound.analysis.atomic_contention import of_spans
from warpbound.workload.dynamic import Sample

ADD = """
extern "C" __global__ void add(int* to, const int* where, int own) {
    atomicAdd(to + where[threadIdx.x] + own * blockIdx.x, threadIdx.x);
}
"""


def updates(where: np.ndarray, own: int = 0, blocks: int = 1, kind: type = np.int32) -> float:
    """Steps of the launch."""
    from warpbound.analysis.answer import work_of
    from warpbound.analysis.case import case_of
    from warpbound.analysis.settings import Settings
    from warpbound.machine import gpu

    board = gpu("a100-sxm-80gb")
    program = warpbound.compile(ADD.replace("int* to", "float* to") if kind is np.float32 else ADD, board)
    args = {"to": np.zeros(32 * blocks + 1024, kind), "where": where.astype(np.int32), "own": own}
    launch = warpbound.launch(grid=blocks, block=len(where), args=args)
    work = work_of(case_of(program, board, launch, Settings())).whole
    return work.memory.hottest_updates * (work.warps or 0.0)


@pytest.mark.parametrize(
    "where, steps",
    [
        (np.zeros(32), 32),                # all lanes on one address
        (np.zeros(4), 4),                  # four of them: no least where one sector alone is updated
        (np.arange(8), 1),
        (np.arange(32), 4 * 5),            # one line: five steps for each of its sectors
        (np.arange(32) % 16, 2 * 5),       # two sectors, in each every address twice
        (np.arange(32) * 32, 1),           # a line each
        (np.append(np.zeros(31), 9), 31 + 5),  # 31 on one address, and one in the next sector of the line
    ],
)
def test_steps_of_one_instruction(where, steps):
    assert updates(where) == steps


@pytest.mark.parametrize("where, steps", [(np.zeros(32), 3 * 32), (np.zeros(1), 3), (np.arange(32), 4 * 5)])
def test_a_float_takes_three_steps_for_one_of_an_integer(where, steps):
    assert updates(where, kind=np.float32) == steps


@pytest.mark.parametrize("board, lanes_s", [("rtx-3080", 1.856e9), ("rtx-3060-ti", 1.854e9)])
def test_one_address_is_updated_as_fast_as_measured(board, lanes_s):
    """Per second, by the histograms of zeros (2^26 words in 36.157 and 36.194 ms)."""
    from warpbound.machine import gpu
    from warpbound.time_model.parameters import fitted_parameters

    found = gpu(board)
    assert fitted_parameters(found).values.atomic_rate * found.value("boost_clock") == pytest.approx(lanes_s, rel=0.02)


def test_blocks_with_lines_of_their_own_do_not_wait_for_each_other():
    assert updates(np.arange(32), own=32, blocks=512) == 20
    assert updates(np.arange(32), own=0, blocks=512) == pytest.approx(20 * 512)


@pytest.mark.parametrize("blocks", [4096, 100_000])
def test_a_line_that_neighbours_share_is_not_everybodys(blocks):
    """A counter for each block: 32 blocks share a line, of which two neighbours were sampled."""
    assert 2 * 32 <= updates(np.zeros(32), own=1, blocks=blocks) <= 32 * 32


def test_blocks_between_two_that_touch_a_line_touch_it_as_sampled_ones_do():
    chosen = Sample(np.array([0, 500, 501, 632, 764, 999]), np.array([1.0, 249.5, 249.5, 249.5, 249.5, 1.0]))
    which, block = np.array([0, 0, 0, 1, 2, 2, 2, 2, 2, 2]), np.array([500, 632, 764, 501, 0, 500, 501, 632, 764, 999])
    found = of_spans(which, block, np.full(10, 4), chosen)
    assert found == pytest.approx([265 * 4 * 3 / 4, 4, 1000 * 4])
