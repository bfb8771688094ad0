"""Stores of a tile beside the next products: where blocks follow each other, and tensor memory has room."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import warpbound
from support.paths import ROOT
from warpbound.analysis.answer import work_of
from warpbound.analysis.case import case_of
from warpbound.analysis.settings import DEFAULT
from warpbound.analysis.tile_whatifs import BESIDE, tile_changes
from warpbound.analysis.timing import launch_prediction
from warpbound.program import programs
from warpbound.program.cuda import Options
from warpbound.whatif.launch_changes import occupancy
from warpbound.whatif.mechanisms import mechanism_of

pytestmark = [pytest.mark.cuda, pytest.mark.broad]
FILE = ROOT / "examples" / "blackwell" / "pair_product.cu"
SMS, STAGES_B = 148, 6 * 32768


@cache
def executed(rows):
    """Work of a product of so many rows, 4096 columns and a depth of 1024 on a B200: two blocks for 256 x 256."""
    asked, board = warpbound.launch(FILE.with_suffix(".toml")), warpbound.gpu("b200")
    (program,) = programs(FILE, board, asked.kernel, Options(defines=(("STAGES", "6"),), extra=asked.options))
    args = {"a": f"f16[{rows},1024]:rand", "b": "f16[4096,1024]:rand", "c": f"f32[{rows},4096]:zeros", "n": 4096,
            "k": 1024}  # fmt: skip
    launch = warpbound.launch(grid=(32, rows // 256), block=128, smem=STAGES_B, args=args)
    case = case_of(program, board, launch, DEFAULT)
    return case, work_of(case)


def offered(case, work):
    return next((row for row in tile_changes(case, work) if row.change == BESIDE), None)


def test_an_sm_with_several_tiles_stores_beside_products():
    """Four tiles of an SM: what does not run beside L1's work no longer counts for three of them."""
    case, work = executed(4096)
    row, time_s = offered(case, work), launch_prediction(case, work).time_s
    stores = replace(work, whole=replace(work.whole, pieces=work.whole.pieces[-1:]))
    busy_s = launch_prediction(case, stores).time_s  # of L1, for all that goes through it
    assert 1.05 < row.speedup <= time_s / (busy_s + (time_s - busy_s) / 4) * (1 + 1e-9)
    assert mechanism_of(row.change).name == "stores beside products"


def test_one_tile_of_an_sm_has_nothing_to_store_beside():
    case, work = executed(1024)
    assert case.blocks <= SMS
    assert offered(case, work) is None


def test_sums_of_two_tiles_have_to_fit_into_tensor_memory():
    """With twice the loads, 512 columns of sums."""
    case, work = executed(4096)
    trace, *rest = work.sample_run
    wide = replace(trace.mbarrier_log, streams=tuple(np.tile(stream, 2) for stream in trace.mbarrier_log.streams))
    assert offered(case, replace(work, sample_run=(replace(trace, mbarrier_log=wide), *rest))) is None


def test_tensor_memory_limits_what_less_shared_memory_would_admit():
    """256 columns a block: two blocks, 8 warps, however little shared memory they take."""
    case, work = executed(4096)
    assert case.residency.block_limits["tensor memory"] == 2
    admitted = {each.change: each.place.warps_per_sm for each in occupancy(work.focus, case.place, case.residency)}
    assert admitted["no limit by shared memory"] == 8
    assert max(admitted.values()) == 8
