"""Warps for copies alone as a what-if: promised where warps that multiply ask, obtained by code with roles."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import warpbound
from warpbound.analysis.answer import work_of
from warpbound.analysis.case import case_of
from warpbound.analysis.copy_warp_whatif import _instructions, copy_warp_changes
from warpbound.analysis.executed import served_by, unheld_waits
from warpbound.analysis.pipelines import recorded_rings
from warpbound.analysis.settings import DEFAULT
from warpbound.analysis.timing import launch_prediction
from warpbound.emulate.mbarrier_log import Kind
from warpbound.machine import override
from warpbound.program import programs
from warpbound.program.cuda import Options
from warpbound.workload.copy_warps import OWN, with_copy_warps

pytestmark = pytest.mark.cuda

SOURCE = Path(__file__).with_name("products_and_copies.cu")
ROWS, COLUMNS, DEPTH, STAGE_B = 128, 256, 64, 49152
WAYS = {"block barrier": (0, 1), "mbarriers": (0, 0), "roles": (1, 0)}
QUICK_L2 = 11000  # GB/s; products take as long as copies then


@cache
def program(way, stages):
    roles, bar = WAYS[way]
    defines = (("ROLES", str(roles)), ("BAR", str(bar)), ("STAGES", str(stages)))
    board = warpbound.gpu("h100-sxm")
    return programs(SOURCE, board, "product", Options(defines=defines, extra=("-arch=sm_90a",)))[0]


def threads(way):
    return 384 if way == "roles" else 256


def packed(matrix, rows):
    """Tiles as wgmma reads them: slices of 16 columns, in each the 8 x 8 matrices."""
    parts = matrix.reshape(-1, rows // 8, 8, matrix.shape[1] // DEPTH, DEPTH // 16, 2, 8)
    return np.ascontiguousarray(parts.transpose(0, 3, 4, 1, 5, 2, 6))


@cache
def executed(way, size, depth, stages=4, l2_bandwidth=None):
    """A product of size x size x depth on an H100: the case and its work."""
    board = warpbound.gpu("h100-sxm")
    board = board if l2_bandwidth is None else override(board, {"l2_bandwidth": l2_bandwidth})
    args = {"a": f"f16[{size},{depth}]:rand", "b": f"f16[{size},{depth}]:rand", "c": f"f32[{size},{size}]:zeros",
            "n": size, "k": depth}  # fmt: skip
    grid = (size // COLUMNS, size // ROWS)
    launch = warpbound.launch(grid=grid, block=threads(way), smem=stages * STAGE_B, args=args)
    case = case_of(program(way, stages), board, launch, DEFAULT)
    return case, work_of(case)


def offered(way, *asked):
    return next(copy_warp_changes(*executed(way, *asked)), None)


def gain(way, *asked):
    """Of the code with roles."""
    before, after = (launch_prediction(*executed(each, *asked)).time_s for each in (way, "roles"))
    return before / after


@pytest.mark.parametrize("way", WAYS)
def test_the_products_equal_numpys(way):
    a = np.random.default_rng(5).standard_normal((ROWS, 6 * DEPTH)).astype(np.float16)
    b = np.random.default_rng(6).standard_normal((COLUMNS, 6 * DEPTH)).astype(np.float16)
    args = {"a": packed(a, ROWS), "b": packed(b, COLUMNS), "c": np.zeros((ROWS, COLUMNS), np.float32),
            "n": COLUMNS, "k": 6 * DEPTH}  # fmt: skip
    launch = warpbound.launch(grid=1, block=threads(way), smem=4 * STAGE_B, args=args)
    c = warpbound.run(program(way, 4), launch)["c"]
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64).T, rtol=1e-4, atol=1e-3)


@pytest.mark.broad
@pytest.mark.parametrize("l2_bandwidth", [None, QUICK_L2])
def test_the_promise_for_a_block_that_meets_at_barriers_is_obtained_by_code_with_roles(l2_bandwidth):
    asked = 4096, 4096, 4, l2_bandwidth
    assert 1.005 < offered("block barrier", *asked).speedup == pytest.approx(gain("block barrier", *asked), rel=0.02)


@pytest.mark.broad
@pytest.mark.parametrize(("stages", "l2_bandwidth"), [(4, None), (4, QUICK_L2), (2, None)])
def test_nothing_is_promised_where_warps_meet_at_mbarriers_and_little_obtained(stages, l2_bandwidth):
    asked = 4096, 4096, stages, l2_bandwidth
    assert offered("mbarriers", *asked) is None
    assert gain("mbarriers", *asked) == pytest.approx(1.0, rel=0.02)


def changed_block(way):
    case, work = executed(way, 1024, 512)
    trace, _, traffic = work.sample_run
    rings = recorded_rings(case, trace, unheld_waits(case, traffic), served_by(traffic))
    return trace.mbarrier_log, with_copy_warps(trace.mbarrier_log, rings, _instructions(case.program)), case


def counted(log, kind):
    """Events of this kind of each warp, those at the new barrier apart."""
    events = [[event for own in each.values() for event in own if event.kind is kind] for each in log.events]
    return [sum(event.barriers[0][0] != OWN for event in own) for own in events]


@pytest.mark.parametrize("way", ["block barrier", "mbarriers"])
def test_the_new_warp_asks_for_all_copies_and_the_others_multiply_as_before(way):
    before, after, case = changed_block(way)
    assert len(after.blocks) == len(before.blocks) + 1
    assert counted(after, Kind.COPY) == [0] * 8 + [sum(counted(before, Kind.COPY))]
    products = [at for at, code in enumerate(case.program.instructions) if code.traits.tensor]
    for old, new in zip(before.streams, after.streams, strict=False):
        assert np.isin(old, products).sum() == np.isin(new, products).sum()
    assert not np.isin(after.streams[-1], products).any()


def test_the_new_warp_waits_where_the_asking_one_met_the_others():
    """Eight rounds in four stages: four refills, each behind the barrier of one round."""
    before, after, case = changed_block("block barrier")
    bars = [at for at, code in enumerate(case.program.instructions) if code.traits.is_block_barrier]
    waits = [e.barriers[0] for own in after.events[-1].values() for e in own if e.kind is Kind.TEST]
    assert waits == [(OWN, number) for number in (1, 2, 3, 4)]
    events = [[event.barriers[0] for own in each.values() for event in own] for each in after.events[:8]]
    assert [[one for one in own if one[0] == OWN] for own in events] == [[(OWN, n) for n in range(4)]] * 8
    assert np.isin(before.streams[0], bars).sum() - np.isin(after.streams[0], bars).sum() == 4


def test_the_new_warp_takes_over_the_waits_at_mbarriers():
    before, after, _ = changed_block("mbarriers")
    moved = counted(before, Kind.TEST)[0] - counted(after, Kind.TEST)[0]
    assert moved == counted(after, Kind.TEST)[-1] == 4
    assert counted(before, Kind.ARRIVAL)[4] == counted(after, Kind.ARRIVAL)[4] == 8


def test_copies_with_a_warp_of_their_own_have_one_already():
    before, after, _ = changed_block("roles")
    assert before is not None
    assert after is None
