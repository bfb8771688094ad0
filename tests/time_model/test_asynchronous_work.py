"""Copies and products that go on beside a block's warps: which SM cycles they share, and in which sub-cores."""

import pytest

from warpbound.machine import gpu
from warpbound.time_model.asynchronous_work import beside, copied_share, copies, of_all_sub_cores
from warpbound.time_model.launched_work import ActiveWork
from warpbound.workload import Memory, Workload

B200 = gpu("b200")


def active(operands=0.0, copied=0.0, loaded=0.0, warps=6, requests=0.0, board=B200):
    memory = Memory(l1_wavefronts=copied + loaded, copied_wavefronts=copied, global_load_requests=requests)
    units = {"operands": 4.0 * operands} if operands else {}
    work = Workload(
        "copies", "warp", (1, 1), warp_instructions=1000.0, thread_instructions=32000.0, by_pipe={}, units=units,
        tensor={}, flop={}, memory=memory, barriers=0.0, latency=1000.0, parts={},
    )  # fmt: skip
    return ActiveWork(work, board, 1.9e9, warps, 148)


@pytest.mark.parametrize("operands, copied, loaded, shared", [
    (192, 192, 0, 192), (48, 192, 0, 48), (192, 100, 50, 100), (0, 192, 0, 0), (192, 0, 192, 0),
])  # fmt: skip
def test_of_copies_and_factors_the_longer_counts(operands, copied, loaded, shared):
    x = active(operands, copied, loaded)
    assert beside(x, {"l1": float(copied + loaded), "shared": float(operands)}) == pytest.approx(shared)


def test_nothing_is_known_of_hopper():
    assert beside(active(192, 192, board=gpu("h200")), {"l1": 192.0, "shared": 192.0}) == 0


def test_asynchronous_products_are_work_of_all_sub_cores():
    assert of_all_sub_cores(active(operands=8)) == {"tmem", "tensor"}
    assert of_all_sub_cores(active()) == {"tmem"}


def test_a_block_waits_for_its_copies_one_after_the_other():
    assert copies(active(copied=90, loaded=10, requests=4.0)) == 24
    assert copies(active(copied=10, loaded=90, requests=4.0)) == 0
    assert copied_share(active()) == 0
