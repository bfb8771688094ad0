"""Times of many launches at once are those of `predict_launch`, to the last bit."""

from dataclasses import replace

import pytest

from support.headline_boards import Fits
from warpbound.errors import InputError
from warpbound.headline import predict_launch
from warpbound.headline.batch import Asked, launch_seconds
from warpbound.headline.streams import workload
from warpbound.machine import gpu, override

BOARDS = {key: gpu(key) for key in ("a100-sxm-80gb", "h200", "k40", "gtx280", "t4")}
CLOCK = 1.3e9


def launches() -> list[Asked]:
    """Streams on boards with and without an L2, a limit of misses, an L1; from one block to many waves."""
    found = []
    for board in BOARDS.values():
        for name in ("init", "read", "scale", "triad"):
            work = workload(name, board, CLOCK)
            for fits, blocks, warps in ((8.0, 100_000, 8), (3.0, 1, 4), (16.0, 777, 1), (2.5, 1000, 2)):
                found.append(Asked(work, board, Fits(fits), blocks, warps, CLOCK))
        busy = replace(work, barriers=7.0).with_memory(hottest_updates=2.0, shared_wavefronts_load=900.0)
        found.append(Asked(busy, board, Fits(4.0), 5000, 8, CLOCK))
        nothing = work.with_memory(dram_bytes_read=0.0, dram_bytes_written=0.0)
        found.append(Asked(nothing, override(board, {"dram_bandwidth": 1e3}), Fits(4.0), 5000, 8, 2 * CLOCK))
    return found


def test_many_at_once_take_as_long_as_one_by_one() -> None:
    asked = launches()
    alone = [
        predict_launch(x.work, x.gpu, x.residency, x.blocks, x.warps_per_block, x.clock_hz).time_s for x in asked
    ]
    assert launch_seconds(asked) == alone
    assert launch_seconds(asked[:1]) == alone[:1]
    assert len(set(alone)) > len(alone) / 2


def test_none_takes_nothing() -> None:
    assert launch_seconds([]) == []


def test_one_launch_that_is_none_is_an_error() -> None:
    one, *_ = launches()
    with pytest.raises(InputError, match="No block runs"):
        launch_seconds([one, replace(one, blocks=0)])
