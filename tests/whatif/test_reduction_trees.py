"""Trees of barriers as shuffles: by hand, and in a kernel that sums in a tree."""

from dataclasses import replace

import pytest

from support.unit_of_work import BOARD, PLACE, work
from warpbound.isa.opcodes import opcode_facts
from warpbound.machine import gpu
from warpbound.whatif.reduction_trees import MOST_STEPS, WITHIN_A_WARP, shuffled
from warpbound.workload import Memory, Piece

LOAD = Piece(1.0, 1.0, 0.2, 1.0, {"issue": 0.25, "shared": 0.25})
STEPS = Piece(8.0, 0.0, 0.7, 0.0, {"issue": 0.5, "shared": 0.75}, taking_part=0.125)
END = Piece(1.0, 0.0, 0.1, 0.0, {"issue": 0.25, "shared": 0.0})
SUM = work(latency=2000.0, parts={"issue": 100.0, "fixed": 500.0, "shared": 400.0, "dram": 1000.0}, barriers=9.0,
           units={"lsu": 100.0}, memory=Memory(shared_wavefronts_load=40.0), pieces=(LOAD, STEPS, END))  # fmt: skip
SHUFFLE, ADDITION = (opcode_facts(name, (), BOARD.arch) for name in ("SHFL", "FADD"))


def test_the_steps_go_and_shuffles_come() -> None:
    change = shuffled(SUM, PLACE)
    assert change is not None
    made, step = change.work, SHUFFLE.latency + ADDITION.latency
    assert made.warp_instructions == pytest.approx(0.5 * 100 + 2 * WITHIN_A_WARP)
    assert made.memory.shared_wavefronts_load == pytest.approx(10.0)
    assert made.units["lsu"] == pytest.approx(100.0 + WITHIN_A_WARP * SHUFFLE.demand["lsu"])
    assert made.latency == pytest.approx(1000 + 0.3 * 1000 + MOST_STEPS * step)
    assert sum(made.parts.values()) == pytest.approx(made.latency)
    assert made.barriers == 2.0  # of nine; one joins the warps' sums
    assert change.why == "8 steps between barriers keep 12 % of the lanes at work"


def test_shares_of_the_other_pieces_are_those_of_what_is_left() -> None:
    change = shuffled(SUM, PLACE)
    assert change is not None
    first, last = change.work.pieces
    assert (first.path, last.path) == pytest.approx((2 / 3, 1 / 3))
    assert (first.demand["issue"], last.demand["issue"]) == pytest.approx((0.5, 0.5))
    assert (first.demand["shared"], last.demand["shared"]) == pytest.approx((1.0, 0.0))


def test_a_longer_tree_of_many_is_several_trees() -> None:
    change = shuffled(replace(SUM, barriers=33.0, pieces=(LOAD, replace(STEPS, times=32.0), END)), PLACE)
    assert change is not None
    assert change.work.barriers == 1.0 + 4.0
    assert change.work.warp_instructions == pytest.approx(50 + 4 * 2 * WITHIN_A_WARP)


@pytest.mark.parametrize("steps", [replace(STEPS, taking_part=1.0), replace(STEPS, taking_part=0.6),
                                   replace(STEPS, times=2.0)])  # fmt: skip
def test_steps_in_which_most_lanes_work_are_no_tree(steps: Piece) -> None:
    assert shuffled(replace(SUM, pieces=(LOAD, steps, END)), PLACE) is None


def test_machines_before_shuffles_have_none() -> None:
    assert shuffled(SUM, PLACE) is not None
    assert shuffled(SUM, replace(PLACE, gpu=gpu("gtx480"))) is None
