"""In which order the sweeps of L2 touch its lines, and what a cache that keeps the latest ones makes of it."""

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
import pytest

from support.compiled_suite import decoded
from warpbound.emulate import trace
from warpbound.kernel_launch import launch
from warpbound.measure.cache_bandwidth import LINE

pytestmark = pytest.mark.cuda

BLOCKS, TURNS, THREADS = 6, 50, 64
SIZE = TURNS * THREADS * 64
LINES = SIZE // LINE


def touched(kernel: str, arguments: dict[str, object]) -> list[list[int]]:
    """Lines by warp, in the order in which it reads them; of a load of 16 B per lane the first of four."""
    given = launch(grid=BLOCKS, block=THREADS, args={"stamps": np.zeros(3 * BLOCKS * THREADS, np.uint64), **arguments})
    found = trace(decoded("cache_bandwidth", 90)[kernel], given, range(BLOCKS))
    assert not found.stopped
    (base,) = (address for name, address, _ in found.arrays if name == "data")
    reads = found.accesses["global"]
    inside = (reads.addresses[:, 0] >= base) & (reads.addresses[:, 0] < base + SIZE)
    lines = ((reads.addresses[:, 0] - base) // LINE).astype(np.int64)
    return [lines[inside & (reads.warp == warp)].tolist() for warp in range(len(found.warps))]


def missed(warps: Sequence[Sequence[int]], share: float, times: int = 4) -> float:
    """Part of the reads that a cache of this share of the set misses, once it is warm; all warps go at one pace."""
    held: OrderedDict[int, None] = OrderedDict()
    capacity, found = share * len({line for warp in warps for line in warp}), []
    for turn in range(times):
        for together in zip(*warps, strict=True):
            for line in together:
                found += [line not in held] if turn else []
                held[line] = None
                held.move_to_end(line)
                if len(held) > capacity:
                    held.popitem(last=False)
    return float(np.mean(found))


def swept(spread: int) -> list[list[int]]:
    data = np.zeros(SIZE // 4, np.uint32)
    return touched("sweep_l2", {"data": data, "pieces": SIZE // 16, "own": 0, "spread": spread, "rounds": 1})


def test_every_block_reads_all_of_the_set() -> None:
    every, per_block = swept(1), THREADS // 32
    for block in range(BLOCKS):
        mine = sum(every[per_block * block : per_block * (block + 1)], [])
        assert sorted({line // 4 for line in mine}) == list(range(LINES // 4))


@pytest.mark.parametrize(("share", "part"), [(1.05, 0.0), (0.75, 1.0)])
def test_what_a_cache_cannot_hold_misses_and_what_it_can_does_not(share: float, part: float) -> None:
    """Blocks that begin next to each other would find what the one ahead has just brought, however large the set."""
    ring = touched("ring", {"data": np.zeros(SIZE // 4, np.uint32), "lines": LINES, "hops": LINES // 2})
    assert missed(ring, share) == pytest.approx(part, abs=0.05)
    assert missed(swept(1), share) == pytest.approx(part, abs=0.05)
    assert missed(swept(0), share) < 0.2


def test_the_warps_of_an_sm_go_round_all_of_the_ring_together() -> None:
    ring = touched("ring", {"data": np.zeros(SIZE // 4, np.uint32), "lines": LINES, "hops": LINES // 2})
    for block in range(BLOCKS):
        both = ring[2 * block] + ring[2 * block + 1]
        assert sorted(both) == list(range(LINES))
