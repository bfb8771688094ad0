"""Points per second of the models. Measured, never asserted; `points_per_s` stands among the extra figures.

Goals, on one core: Volkov's family 200 M points per second, Hong and Kim 20 M, the X-model's equilibrium 2 M.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from support.in_pieces import in_pieces
from warpbound.models import hong_kim_2009, x_model_2016
from warpbound.models.volkov_2016 import mixes

ROUNDS = 3


def timed(benchmark: Any, points: int, evaluate: Callable[[], Any]) -> None:
    """Evaluate so many points a few times and keep the rate of the fastest."""
    assert np.shape(benchmark.pedantic(evaluate, rounds=ROUNDS, warmup_rounds=1)) == (points,)
    if benchmark.stats is not None:  # none where benchmarks are switched off
        benchmark.extra_info["points_per_s"] = points / benchmark.stats.stats.min


def size(benchmark: Any, points: int) -> int:
    """So many points, or a few where nothing is timed."""
    return 1000 if benchmark.disabled else points


def test_volkov_family(benchmark: Any) -> None:
    """The rate and its four bounds, alpha and occupancy varying."""
    points = size(benchmark, 10_000_000)
    draw = np.random.default_rng(0)
    x = mixes.Mix(draw.uniform(1, 64, points), draw.uniform(0, 512, points), 368.0, 6.0, 0.0814, 4.0, 4.0)
    timed(benchmark, points, lambda: in_pieces(lambda piece: mixes.predict(piece).rate, x, 12000))


def test_hong_kim(benchmark: Any) -> None:
    points = size(benchmark, 1_000_000)
    draw = np.random.default_rng(0)
    x = hong_kim_2009.Inputs(
        freq=1.3e9, mem_bandwidth=141.7e9, mem_latency=450.0, departure_uncoal=40.0, departure_coal=4.0,
        threads_per_block=128.0, blocks=draw.integers(30, 3000, points).astype(float), active_sms=30.0,
        active_blocks=draw.integers(1, 9, points).astype(float), comp_insts=draw.uniform(1, 1e4, points),
        uncoal_mem_insts=draw.uniform(0, 100, points), coal_mem_insts=draw.uniform(1, 100, points),
        synch_insts=draw.uniform(0, 10, points), uncoal_per_mw=16.0, load_bytes=128.0,
    )  # fmt: skip
    timed(benchmark, points, lambda: in_pieces(lambda piece: hong_kim_2009.predict(piece).total, x))


def test_x_model_equilibrium(benchmark: Any) -> None:
    """The state after a launch, with a cache, over threads and intensity."""
    points = size(benchmark, 1_000_000)
    draw = np.random.default_rng(0)
    threads, intensity = draw.uniform(1, 64, points), draw.uniform(1, 512, points)
    x = x_model_2016.Inputs(threads, 1.0, intensity, 6.0, 600.0, 0.1, 30.0, 16384.0, 3.0, 819.2)
    timed(benchmark, points, lambda: in_pieces(x_model_2016.reached, x))
