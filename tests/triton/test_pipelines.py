"""Attention of the examples against NumPy; pipelines of Triton's own, on Hopper and with tensor memory on Blackwell."""


import numpy as np
import pytest

pytest.importorskip("triton")

import warpbound
import warpbound.triton as front
from support import triton_kernels as kernels
from support.triton_examples import attention
from warpbound.analysis.answer import work_of
from warpbound.analysis.case import case_of
from warpbound.analysis.executed import served_by
from warpbound.analysis.pipelines import block_timeline
from warpbound.analysis.settings import DEFAULT
from warpbound.analysis.timing import launch_prediction
from warpbound.latency import waits
from warpbound.triton import descriptor, launching

pytestmark = [pytest.mark.cuda, pytest.mark.broad]


@pytest.mark.parametrize("board", ["h200", "b200"])
def test_a_block_of_roles_lasts_as_long_as_its_warps_take_together(board):
    """Copying and multiplying warps meet at barriers of their own: these are none of the whole block."""
    arrays, size = ("f16[1024,1024]:rand", "f16[1024,1024]:rand", "f32[1024,1024]:zeros"), 1024
    tiles = {"TILE_M": 128, "TILE_N": 128, "TILE_K": 64, "ROLES": True}
    gpu = warpbound.gpu(board)
    ready = launching.prepare(kernels.product_by_descriptors, [*arrays, size, size, size], tiles, (8, 8), gpu)
    case = case_of(ready.program, gpu, ready.launch, DEFAULT)
    work = work_of(case)
    trace, _, traffic = work.sample_run
    levels = served_by(traffic)
    course = block_timeline(case, trace.mbarrier_log, waits(case.program.instructions, case.latency, levels), levels)
    lasts = launch_prediction(case, work).residence_s * case.clock_hz
    assert work.whole.stops <= 3 < work.whole.barriers
    assert course.cycles < lasts < 1.3 * course.cycles


@pytest.mark.parametrize("board", ["a100-sxm-80gb", "h200"])
def test_attention_equals_numpys(board):
    length, depth = 128, 64
    q, k, v = np.random.default_rng(1).standard_normal((3, 2, length, depth)).astype(np.float16)
    scale = float(np.log2(np.e) / np.sqrt(depth))
    shape = 64, 32, depth
    out = front.run(attention(), q, k, v, np.zeros_like(q), length, scale, *shape, grid=(2, 2), gpu=board)["out"]
    scores = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) / np.sqrt(depth)
    parts = np.exp(scores - scores.max(2, keepdims=True))
    np.testing.assert_allclose(out, parts @ v / parts.sum(2, keepdims=True), atol=1e-3)


@pytest.mark.parametrize("board", ["h200", "b200"])
def test_a_product_of_boxes_has_stages_in_flight(board):
    boxes = ("f16[1024,1024]:rand", [128, 64]), ("f16[1024,1024]:rand", [64, 128]), ("f32[1024,1024]:zeros", [128, 128])
    own = [descriptor(*each) for each in boxes]
    entry = front.analyze(kernels.product_of_boxes, *own, 1024, 128, 128, 64, grid=(8, 8), gpu=board)
    (row,) = entry["pipelines"]
    assert (row["stages"], row["stage_bytes"], row["fills"]) == (3, 32768, 16)
    assert 1 < row["under_way"] <= 3
    assert 0.1 < row["tensor"] < 1
    assert sum(entry["latency"]["parts"][level] for level in ("l2", "dram")) > 0
