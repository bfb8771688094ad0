"""Pruning of `triton.autotune` against the tuner itself."""

import pytest

pytest.importorskip("triton")

import triton

from support.triton_kernels import product
from warpbound.errors import CommandError
from warpbound.triton import analyze, pruner

pytestmark = pytest.mark.cuda

SIDE = 512
ARRAYS = {name: f"f16[{SIDE},{SIDE}]" for name in "ab"} | {"c": f"f32[{SIDE},{SIDE}]"}
SIZES = dict.fromkeys("MNK", SIDE)
BOARD = "a100-sxm-80gb"
CONFIGS = [
    triton.Config({"TILE_M": m, "TILE_N": n, "TILE_K": k}, num_warps=4, num_stages=stages)
    for m, n, k, stages in ((16, 16, 32, 2), (64, 64, 32, 2), (128, 64, 32, 3), (256, 256, 128, 4))
]


def grid(arguments):
    return SIDE // arguments["TILE_M"], SIDE // arguments["TILE_N"]


def tuned(prune):
    """What the tuner itself keeps."""
    tuner = triton.autotune(CONFIGS, ["M"], prune_configs_by=prune)(product)
    tuner.nargs = {**ARRAYS, **SIZES}
    return tuner.prune_configs({"grid": grid, "warmup": False})


@pytest.mark.broad
def test_the_tuner_tries_those_that_analyze_puts_first():
    prune = pruner(gpu=BOARD, top_k=2)
    kept = tuned(prune)
    times = {}
    for config in CONFIGS[:3]:  # the fourth does not fit
        answer = analyze(product, *ARRAYS.values(), *SIZES.values(), grid=grid, gpu=BOARD, **config.all_kwargs())
        times[config] = answer["time_s"]
    assert kept == sorted(times, key=times.get)[:2]
    assert [(entry.config, entry.time_s) for entry in prune.kept] == [(config, times[config]) for config in kept]
    reasons = {entry.config: entry.reason for entry in prune.dropped}
    assert set(reasons) == set(CONFIGS) - set(kept)
    assert "shared memory" in reasons[CONFIGS[3]]
    assert any("rank 3 of 3" in reason for reason in reasons.values())


def test_what_is_far_behind_the_best_is_dropped():
    prune = pruner(gpu=BOARD, keep_within=0.0, kernel=product)
    kept = tuned(prune)
    assert len(kept) == 1
    assert all("times the best, more than 1.00" in entry.reason for entry in prune.dropped if entry.time_s)


def test_mistakes_are_named():
    with pytest.raises(CommandError, match="neither top_k nor keep_within"):
        pruner(gpu=BOARD)
    with pytest.raises(CommandError, match="top_k is 0"):
        pruner(gpu=BOARD, top_k=0)
    prune = pruner(gpu=BOARD, top_k=1)
    with pytest.raises(CommandError, match="not called by triton.autotune"):
        prune.prune(CONFIGS, {}, grid=(1,))
    with pytest.raises(CommandError, match="knows no grid"):
        pruner(gpu=BOARD, top_k=1, kernel=product).prune(CONFIGS, {})
