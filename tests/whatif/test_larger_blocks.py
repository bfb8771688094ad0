"""Larger blocks, worked by hand: fewer starts, more resident warps, no idle lanes; and a second change behind them."""

from dataclasses import replace

import pytest

import warpbound
from support.paths import TESTS
from support.unit_of_work import BOARD, PLACE, work
from warpbound.kernel_argument import parse_argument
from warpbound.residency import occupancy
from warpbound.whatif import whatifs
from warpbound.whatif.launch_changes import larger_blocks, more_blocks
from warpbound.whatif.launch_changes import occupancy as of_occupancy
from warpbound.workload import Memory

TEACHING = TESTS / "whatif" / "teaching_kernels.cu"
STORES = Memory(global_load_requests=2.0, global_store_requests=1.0, l1_sectors_load=8.0, ideal_sectors=6.0)
TINY = work(warps=64_000.0, thread_instructions=1600.0, memory=STORES, flop={"fp32": 100.0})
BLOCKS = occupancy(BOARD, 16, 32, 0, grid_blocks=64_000)


def test_two_half_warps_are_one_warp() -> None:
    (change,) = larger_blocks(TINY, PLACE, BLOCKS)
    assert change.change == "256 threads per block instead of 16"
    assert change.units == 2.0
    assert change.work.warps == 32_000.0
    assert (change.work.memory.l1_sectors_load, change.work.memory.ideal_sectors) == (16.0, 12.0)
    assert (change.work.memory.global_load_requests, change.work.warp_instructions) == (2.0, 100.0)
    assert (change.work.thread_instructions, change.work.flop) == (3200.0, {"fp32": 200.0})
    assert (change.place.warps_per_block, change.place.warps_per_sm) == (8, 64.0)  # 2048 threads
    assert "64000 blocks are started, of which an SM holds 32, 32 warps, and 16 lanes of a warp are idle" in change.why


def test_whole_warps_stay_as_they_are() -> None:
    (change,) = larger_blocks(replace(TINY, thread_instructions=3200.0), PLACE, occupancy(BOARD, 32, 32, 0))
    assert (change.units, change.work.warps, change.work.memory) == (1.0, 64_000.0, STORES)
    assert "idle" not in change.why


@pytest.mark.parametrize(("threads", "changes"), [
    (256, {}), (32, {"barriers": 1.0}), (32, {"memory": Memory(shared_wavefronts_store=1.0)}), (32, {"warps": None}),
])  # fmt: skip
def test_blocks_that_share_data_or_are_large_stay(threads: int, changes: dict[str, object]) -> None:
    assert not list(larger_blocks(replace(TINY, **changes), PLACE, occupancy(BOARD, threads, 32, 0)))


def test_the_smallest_step_of_the_block_size_is_left_out_then() -> None:
    small = occupancy(BOARD, 32, 32, 0)
    steps = [each.change for each in of_occupancy(TINY, PLACE, small)]
    assert [step.change for step in small.next_step] == ["threads"]
    assert not any("would let an SM hold" in each for each in steps)
    kept = replace(TINY, barriers=1.0)
    assert any("threads per block instead of 32 would let" in each.change for each in of_occupancy(kept, PLACE, small))


def test_what_a_small_grid_hides_is_advised_with_it() -> None:
    """One block in place of 100 SMs: more blocks leave L1 to bind, which coalescing relieves."""
    wasteful = Memory(global_load_requests=100.0, l1_sectors_load=3200.0, l1_wavefronts=3200.0, ideal_sectors=400.0)
    made = work(warps=8.0, latency=16_000.0, parts={"issue": 100.0, "dram": 15_900.0}, memory=wasteful)
    residency = occupancy(BOARD, 256, 32, 0, grid_blocks=1)
    place = replace(PLACE, warps_per_sm=8.0, active_sms=1.0)
    first, *others = whatifs(made, place, residency)
    assert "(fill the GPU)" in first.change
    assert "coalesced" in first.change
    singles = {each.change: each.speedup for each in others if "; and " not in each.change}
    parts = first.change.split("; and ")
    assert all(first.speedup > singles.get(part, 1.0) for part in parts)
    assert sum("; and " in each.change and "fill the GPU" in each.change for each in (first, *others)) == 1
    assert any(each.apart > 1 for each in more_blocks(made, place, residency))


@pytest.mark.cuda
@pytest.mark.parametrize("threads", [16, 32])
def test_the_promise_is_the_gain_of_a_launch_in_such_blocks(threads: int) -> None:
    program = warpbound.compile(TEACHING, "h200", "copy")
    args = [parse_argument(word) for word in ("to=f32[4194304]", "x=f32[4194304]", "n=1048576")]
    answers = [warpbound.analyze(program, "h200", warpbound.launch(grid=2**20 // size, block=size, args=args))
               for size in (threads, 256)]  # fmt: skip
    words = f"256 threads per block instead of {threads}"
    (change,) = [each for each in answers[0]["whatifs"] if each["change"] == words]
    assert change["mechanism"] == "occupancy"
    assert (change["registers"], change["shared_bytes"], change["warps_per_sm"]) == (0, 0, 64)
    assert change["cost"] == "no register and no shared memory, 64 warps per SM then"
    assert change["speedup"] == pytest.approx(answers[0]["time_s"] / answers[1]["time_s"], rel=0.05)
    assert change["speedup"] > 2
