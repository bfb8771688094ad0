"""Following a part of the lines; facts of boards; schedules of blocks."""

import numpy as np
import pytest

from support.handmade_traces import COPY, IN, LANE, MACHINE, OUT, copy, trace
from warpbound.machine import gpu
from warpbound.memory import followed_sectors
from warpbound.memory.hierarchy import block_of_warp, facts, order_of_rows, schedule
from warpbound.memory.traffic import How, traffic


def test_schedule_of_blocks():
    # 4 SMs of 2 blocks: blocks 0..7 run together, 8 and 9 in the second turn
    plan = schedule(trace([0, 1, 4, 8, 9], 16, 1, copy), MACHINE)
    assert plan.sm.tolist() == [0, 1, 0, 0, 1]
    assert plan.turn.tolist() == [0, 0, 0, 2, 2]  # turns are named after places in the queue of an SM
    assert plan.seat.tolist() == [0, 0, 1, 0, 0]
    assert plan.l1_share.tolist() == [0.75, 0.5, 0.75, 0.75, 0.5]  # of the four blocks in two turns of SM 0 three
    # blocks 13 and 17 are neighbours in the queue of SM 1, though not at an even place
    plan = schedule(trace([0, 13, 17, 39], 40, 1, copy), MACHINE)
    assert plan.turn.tolist() == [0, 3, 3, 9]
    assert plan.l1_share.tolist() == [0.5, 1, 1, 0.5]
    # of 9 blocks the last is alone on its SM, and has its L1 to itself
    assert schedule(trace([0, 8], 9, 1, copy), MACHINE).l1_share.tolist() == [2 / 3, 2 / 3]


def test_facts_of_boards():
    a100 = facts(gpu("a100-sxm-80gb"), 4, 20 << 10)
    assert (a100.arch, a100.sm_count, a100.blocks_per_sm) == (80, 108, 4)
    assert a100.l1_bytes == (192 - 32) << 10  # the carve-out that holds 20 KiB
    assert a100.l2_bytes == 40 << 20


@pytest.mark.parametrize("spread_B", [1 << 16, 1 << 20, 1 << 23])
def test_following_a_part_of_the_lines(monkeypatch, spread_B):
    rng = np.random.default_rng(11)

    def gather(block, warp):
        found = [("global", 0, IN + 4 * rng.integers(0, spread_B // 4, 32), None) for _ in range(24)]
        return [*found, ("global", 1, OUT + (block * 8 + warp) * 128 + 4 * LANE, None)]

    sample = trace(range(32), 64, 8, gather)
    whole = traffic(COPY, sample, MACHINE, How("cold", grid=(8, 8)))
    few = How("cold", grid=(8, 8), sector_limit=20_000)
    monkeypatch.setattr(followed_sectors, "LINES_FOLLOWED", 256)
    part = traffic(COPY, sample, MACHINE, few)
    assert part.l1_sectors_load == whole.l1_sectors_load
    assert part.l2_sectors_written == whole.l2_sectors_written
    assert part.l1_hit_rate == pytest.approx(whole.l1_hit_rate, abs=0.03)
    assert part.l2_hit_rate == pytest.approx(whole.l2_hit_rate, abs=0.03)
    assert part.dram_bytes_read == pytest.approx(whole.dram_bytes_read, rel=0.1)
    shares = [t.by_instruction.requests_from[0] / t.by_instruction.requests[0] for t in (part, whole)]
    assert shares[0].sum() == pytest.approx(1)
    assert shares[0] == pytest.approx(shares[1], abs=0.2)  # a joint probability from pairs of lines


def test_neighbouring_lines_of_a_load_fare_alike_where_no_two_of_them_are_followed(monkeypatch):
    def rows(block, warp):  # eight warps read the same four lines, one after the other
        return [("global", 0, IN + 512 * (24 * block + row) + 16 * LANE, None) for row in range(24)]

    monkeypatch.setattr(followed_sectors, "LINES_FOLLOWED", 64)
    result = traffic(COPY, trace(range(32), 64, 8, rows), MACHINE, How("cold", grid=(64,), sector_limit=5000))
    shares = result.by_instruction.requests_from[0] / result.by_instruction.requests[0]
    assert shares == pytest.approx([7 / 8, 0, 1 / 8], abs=0.02)  # were they independent, [0.59, 0, 0.41]


def test_rows_are_ordered_by_turn_time_seat_and_warp():
    sample = trace([0, 1, 4, 8, 9], 16, 3, copy)
    plan, random = schedule(sample, MACHINE), np.random.default_rng(4)
    warp = random.integers(0, len(sample.warps), 500).astype(np.int32)
    when = random.integers(0, 40, 500) / 3
    block = block_of_warp(sample)[warp]
    keys = (sample.warps[warp, 1], plan.sm[block], plan.seat[block], when, plan.turn[block])
    assert order_of_rows(sample, plan, warp, when)[np.lexsort(keys)].tolist() == list(range(500))


def test_of_lines_with_very_many_sectors_fewer_are_followed(monkeypatch):
    def reread(block, warp):
        return [("global", 0, IN + 128 * LANE, None) for _ in range(24)]

    parts, listed = [], followed_sectors._sectors
    monkeypatch.setattr(followed_sectors, "_sectors", lambda spaces, part: parts.append(part) or listed(spaces, part))
    count = 8 * 8 * 24 * 32
    result = traffic(COPY, trace(range(8), 8, 8, reread), MACHINE, How("cold", grid=(8,), sector_limit=8000))
    assert parts[:2] == [8000 / count, followed_sectors.AT_MOST * 8000 / count]
    assert result.l1_sectors_load == count
