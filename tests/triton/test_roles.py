"""Warps with roles in Triton (warp_specialize): workers wait in a loop for orders that shared memory brings."""

import numpy as np
import pytest

pytest.importorskip("triton")

import warpbound
from support import triton_kernels as kernels
from warpbound.emulate import block_path
from warpbound.emulate.block_classes import block_classes
from warpbound.emulate.launch_memory import prepare
from warpbound.triton import launching

pytestmark = [pytest.mark.cuda, pytest.mark.broad]


def test_a_loop_that_only_unknown_orders_end_is_followed_once(monkeypatch):
    """64 rounds of a product behind such an order take some thousand steps, not all that there are."""
    steps, step = [], block_path.Path._step
    monkeypatch.setattr(block_path.Path, "_step", lambda path, at: steps.append(at) or step(path, at))
    factor, grid = "f16[4096,4096]:rand", (32, 32)
    tiles = {"TILE_M": 128, "TILE_N": 128, "TILE_K": 64, "ROLES": True}
    arguments = [factor, factor, "f32[4096,4096]:zeros", 4096, 4096, 4096]
    ready = launching.prepare(kernels.product_by_descriptors, arguments, tiles, grid, warpbound.gpu("h200"))
    asked = ready.launch
    classes = block_classes(ready.program, asked, prepare(ready.program, asked), np.arange(int(np.prod(asked.grid))))
    assert not classes.complete
    assert 64 < len(steps) < block_path.MOST_STEPS / 5
    assert max(map(steps.count, set(steps))) < 2 * 64 + 5  # of the rounds of two loops
