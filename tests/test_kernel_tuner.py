"""The strategy against Kernel Tuner itself, which replays measured times in its simulation mode."""

import json
from itertools import product

import numpy as np
import pytest

pytest.importorskip("kernel_tuner")

from kernel_tuner import tune_kernel

import warpbound
from warpbound.errors import CommandError
from warpbound.kernel_tuner import Strategy, fits

pytestmark = pytest.mark.cuda

N = 1 << 20
SOURCE = """
__global__ void scale(float *out, const float *x, int n) {
    __shared__ float pad[SHARED];
    int at = (blockIdx.x * block_size_x + threadIdx.x) * STEP;
    if (threadIdx.x < SHARED) pad[threadIdx.x] = 0.0f;
    if (at < n) out[at] = 2.0f * x[at] + pad[threadIdx.x % SHARED];
}
"""
SPACE = {"block_size_x": [32, 128, 1024], "STEP": [1, 4], "SHARED": [32, 20000]}  # 80 kB do not fit
ARGUMENTS = [np.zeros(4 * N, np.float32), np.zeros(4 * N, np.float32), np.int32(4 * N)]
BOARD = "rtx-4090"


@pytest.fixture
def replay(tmp_path):
    """A function that tunes: times of the cache grow in the order of the space, whatever is predicted."""
    configs = [dict(zip(SPACE, values, strict=True)) for values in product(*SPACE.values())]
    entries = {
        ",".join(map(str, config.values())): {**config, "time": 1.0 + order, "compile_time": 0, "verification_time": 0,
                                               "benchmark_time": 0, "strategy_time": 0, "framework_time": 0,
                                               "timestamp": "2026-01-01", "times": [1.0 + order]}
        for order, config in enumerate(configs)
    }  # fmt: skip
    cache = tmp_path / "cache.json"
    head = {"device_name": BOARD, "kernel_name": "scale", "problem_size": N, "tune_params": SPACE}
    cache.write_text(json.dumps({**head, "tune_params_keys": list(SPACE), "objective": "time", "cache": entries}))

    def tuned(strategy, **options):
        results, _ = tune_kernel(
            "scale", SOURCE, N, ARGUMENTS, SPACE, lang="CUDA", strategy=strategy, simulation_mode=True,
            cache=str(cache), quiet=True, **options,
        )  # fmt: skip
        return [tuple(result[name] for name in SPACE) for result in results]

    return tuned


def test_configurations_are_measured_in_the_order_of_their_predicted_times(replay):
    strategy = Strategy(gpu=BOARD, processes=1)
    measured = replay(strategy)
    times = {}
    for block, step in product(SPACE["block_size_x"], SPACE["STEP"]):
        macros = {"block_size_x": block, "STEP": step, "SHARED": 32}
        launch = warpbound.launch(grid=N // block, block=block, args=dict(enumerate(ARGUMENTS)))
        answer = warpbound.analyze(warpbound.compile(SOURCE, BOARD, defines=macros), BOARD, launch)
        times[block, step, 32] = answer["time_s"]
    assert {entry.config: entry.time_s for entry in strategy.predicted if entry.time_s} == pytest.approx(times)
    assert [times[config] for config in measured] == sorted(times.values())
    reasons = [entry.reason for entry in strategy.predicted if entry.time_s is None]
    assert len(reasons) == 6
    assert all(reason for reason in reasons)


@pytest.mark.broad
def test_the_budget_of_kernel_tuner_ends_it(replay):
    strategy = Strategy(gpu=BOARD, processes=1)
    assert len(replay(strategy, strategy_options={"max_fevals": 2})) == 2


@pytest.mark.broad
def test_of_a_large_space_a_sample_and_neighbours_are_predicted_and_all_are_measured(replay):
    strategy = Strategy(gpu=BOARD, predictions=6, seed=3, processes=1)
    measured = replay(strategy)
    assert len(strategy.predicted) == 6
    with_time = [entry.config for entry in strategy.predicted if entry.time_s]
    assert measured[: len(with_time)] == with_time
    unknown = set(product(*SPACE.values())) - {entry.config for entry in strategy.predicted}
    assert set(measured[len(with_time) :]) == unknown


def test_the_restriction_refuses_what_does_not_fit_an_sm():
    restriction = fits(BOARD, shared_bytes=lambda parameters: 4 * parameters["SHARED"])
    assert restriction({"block_size_x": 1024, "SHARED": 32})
    assert not restriction({"block_size_x": 1024, "SHARED": 40000})
    assert not restriction({"block_size_x": 1024, "block_size_y": 2, "SHARED": 32})
    assert not fits(BOARD, registers=lambda parameters: 128)({"block_size_x": 1024})


def test_no_predictions_are_a_mistake():
    with pytest.raises(CommandError, match="predictions is 0"):
        Strategy(gpu=BOARD, predictions=0)
