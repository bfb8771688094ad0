"""Times of many launches at once are those of `predict_launch`, to the last bit."""

from dataclasses import replace

import pytest

from warpbound.errors import InputError
from warpbound.machine import gpu, override
from warpbound.time_model import LaunchedWork, predict_launch
from warpbound.time_model.batch import launch_seconds
from warpbound.time_model.streams import workload

BOARDS = {key: gpu(key) for key in ("a100-sxm-80gb", "h200", "k40", "gtx280", "t4")}
CLOCK = 1.3e9


def launches() -> list[LaunchedWork]:
    """Streams on boards with and without an L2, a limit of misses, an L1; from one block to many waves."""
    found = []
    for board in BOARDS.values():
        for name in ("init", "read", "scale", "triad"):
            work = workload(name, board, CLOCK)
            for fits, blocks, warps in ((8.0, 100_000, 8), (3.0, 1, 4), (16.0, 777, 1), (2.5, 1000, 2)):
                found.append(LaunchedWork(work, board, CLOCK, blocks, fits, warps))
        busy = replace(work, barriers=7.0).with_memory(hottest_updates=2.0, shared_wavefronts_load=900.0)
        found.append(LaunchedWork(busy, board, CLOCK, 5000, 4.0, 8))
        nothing = work.with_memory(dram_bytes_read=0.0, dram_bytes_written=0.0)
        found.append(LaunchedWork(nothing, override(board, {"dram_bandwidth": 1e3}), 2 * CLOCK, 5000, 4.0, 8))
    return found


def test_many_at_once_take_as_long_as_one_by_one() -> None:
    several = launches()
    alone = [predict_launch(x).time_s for x in several]
    assert launch_seconds(several) == alone
    assert launch_seconds(several[:1]) == alone[:1]
    assert len(set(alone)) > len(alone) / 2


def test_none_takes_nothing() -> None:
    assert launch_seconds([]) == []


def test_one_launch_that_is_none_is_an_error() -> None:
    one, *_ = launches()
    with pytest.raises(InputError, match="No block runs"):
        launch_seconds([one, replace(one, blocks=0)])
