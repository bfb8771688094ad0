"""Pieces between barriers: worked by hand, and of kernels that were executed."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import warpbound
from support.issue_streams import waits_of
from support.sass_listing import code
from warpbound.analysis.answer import work_of
from warpbound.analysis.case import case_of
from warpbound.analysis.settings import DEFAULT
from warpbound.analysis.sm_simulation import simulated
from warpbound.kernel_launch import parse_argument
from warpbound.schedule import schedule
from warpbound.workload import Piece
from warpbound.workload.barrier_intervals import MOST_KINDS, Stream, barriers, of_all, pieces
from warpbound.workload.dynamic import stretched
from warpbound.workload.pipelined_block import PRODUCTS
from warpbound.workload.records import OTHERS

LOAD_STORE_TURN = """
    B------:R-:W0:-:S01  LDG.E R2, [R4.64]
    B0-----:R-:W-:-:S05  STS [R0], R2
    B------:R-:W-:-:S05  BAR.SYNC.DEFER_BLOCKING 0x0
    B------:R-:W1:-:S01  LDS R3, [R6]
    B-1----:R-:W-:-:S04  FADD R3, R3, R3
    B------:R-:W-:-:S01  STG.E [R8.64], R3
    B------:R-:W-:-:S05  EXIT
"""
EVERY = tuple(range(7))
WITHOUT_ADD = (0, 1, 2, 3, 5, 6)
KERNELS = Path(warpbound.__file__).parent / "validate" / "corpora"


def found(
    streams: Sequence[Sequence[int]],
    executed: Sequence[float],
    text: str = LOAD_STORE_TURN,
    lanes: Sequence[float] | None = None,
    joins: Sequence[tuple[int, ...]] = (),
    queue: str = "",
    longer: float = 1.0,
    turns: np.ndarray | None = None,
) -> tuple[Piece, ...]:
    """Two resources: `issue`, a cycle of each, and `add`, a cycle of FADD; queue : in which FADDs wait; longer : times
    that the whole path is as long as the streams; turns : as of `pieces`."""
    instructions = code(text)
    waits = tuple(replace(wait, queue=queue) if one.opcode == "FADD" else wait
                  for one, wait in zip(instructions, waits_of(instructions), strict=True))  # fmt: skip
    adds = np.array([one.opcode == "FADD" for one in instructions], np.float64)
    typical = stretched(schedule(streams[0], instructions, waits), longer)

    def asked(issued: np.ndarray) -> dict[str, float]:
        return {"issue": float(issued.sum()), "add": float(issued @ adds)}

    recorded = [Stream(tuple(stream), *own) for stream, *own in zip(streams, joins or [()] * len(streams), strict=True)]
    return pieces(recorded, instructions, waits, typical, np.array(executed, np.float64), asked,
                  np.ones(len(instructions)) if lanes is None else np.array(lanes), turns=turns)  # fmt: skip


def test_a_load_before_the_barrier_and_its_use_behind_it() -> None:
    first, second = found([EVERY], [1.0] * 7)
    assert (first.times, second.times) == (1.0, 1.0)
    assert (first.waits, second.waits) == (1.0, 0.0)  # all of the waiting for memory
    assert (first.phases, second.phases) == (1.0, 0.0)
    assert first.path + second.path == pytest.approx(1.0)
    assert (first.demand["issue"], second.demand["issue"]) == pytest.approx((3 / 7, 4 / 7))
    assert (first.demand["add"], second.demand["add"]) == (0.0, 1.0)


def test_the_mean_warp_asks_and_the_slowest_is_waited_for() -> None:
    """Half of the warps add; one that does not stands for all, and a block waits for one that does."""
    first, second = found([WITHOUT_ADD, EVERY], [1, 1, 1, 1, 0.5, 1, 1])
    assert second.demand["issue"] == pytest.approx(3.5 / 6.5)
    assert second.demand["add"] == 1.0
    assert first.path + second.path > 1.5  # the one that adds waits for what it reads from shared memory
    alone = found([EVERY], [1, 1, 1, 1, 0.5, 1, 1])[1]
    assert second.path > alone.path


def test_a_load_is_waited_for_although_the_typical_warp_has_none() -> None:
    """Its wait is told as a part of the typical path, of which none waits for memory."""
    first, second = found([EVERY[1:], EVERY], [1.0] * 7)
    alone = found([EVERY], [1.0] * 7)
    own = schedule(EVERY[1:], code(LOAD_STORE_TURN), waits_of(code(LOAD_STORE_TURN))).cycles
    whole = schedule(EVERY, code(LOAD_STORE_TURN), waits_of(code(LOAD_STORE_TURN))).cycles
    assert [piece.waits for piece in (first, second)] == [0.0, 0.0]
    assert [piece.waits for piece in alone] == [1.0, 0.0]
    assert (first.path + second.path) * own == pytest.approx(whole, rel=0.02)


def test_a_load_awaited_behind_the_barrier_is_waited_for_there() -> None:
    early = LOAD_STORE_TURN.replace("B0-----:R-:W-:-:S05  STS", "B------:R-:W-:-:S05  STS")
    early = early.replace("B-1----:R-:W-:-:S04  FADD R3, R3, R3", "B01----:R-:W-:-:S04  FADD R3, R3, R2")
    first, second = found([EVERY], [1.0] * 7, early)
    assert (first.waits, second.waits) == (0.0, 1.0)
    assert (first.phases, second.phases) == (0.0, 1.0)


EXCHANGES = """
    B------:R-:W-:-:S05  STS [R0], R2
    B------:R-:W-:-:S05  BAR.SYNC.DEFER_BLOCKING 0x0
    B------:R-:W1:-:S01  LDS R3, [R6]
    B-1----:R-:W-:-:S04  FADD R3, R3, R3
    B------:R-:W-:-:S01  STS [R0], R3
    B------:R-:W-:-:S05  BAR.SYNC.DEFER_BLOCKING 0x0
    B------:R-:W1:-:S01  LDS R3, [R6]
    B-1----:R-:W-:-:S01  STG.E [R8.64], R3
    B------:R-:W-:-:S05  EXIT
"""


def test_the_lanes_that_exchange_values_are_counted() -> None:
    shares = [1.0, 1.0, 0.25, 0.25, 0.125, 1.0, 1.0, 1.0, 1.0]
    parts = [piece.taking_part for piece in found([tuple(range(9))], [1.0] * 9, EXCHANGES, shares)]
    assert parts == [1.0, 0.125, 1.0]  # nothing is loaded in the first, and the last stores to global memory
    loaded = EXCHANGES.replace("FADD R3, R3, R3", "LDG.E R3, [R4.64]", 1)
    assert [piece.taking_part for piece in found([tuple(range(9))], [1.0] * 9, loaded, shares)] == [1.0] * 3


def test_products_into_tensor_memory_are_spread_over_the_time_of_the_pieces() -> None:
    """Started behind the barrier, they run on while warps go on; FADD stands for one here."""
    behind = found([EVERY], [1.0] * 7)
    beside = found([EVERY], [1.0] * 7, queue=PRODUCTS)
    assert [piece.demand["add"] for piece in behind] == [0.0, 1.0]
    instructions = code(LOAD_STORE_TURN)
    alone = schedule(EVERY, instructions, waits_of(instructions))
    first = alone.issue[3] / alone.cycles  # until what follows the barrier issues
    assert [piece.demand["add"] for piece in beside] == pytest.approx([first, 1 - first], rel=1e-3)
    assert first > 0.9  # the wait for memory


def test_a_wait_of_the_whole_block_parts_its_work_as_a_barrier_does() -> None:
    """In front of the addition for those that add; a warp that does not add has ended there."""
    short = (0, 1, 2)
    three = found([EVERY, short], [1, 1, 1, 0.5, 0.5, 0.5, 0.5], joins=[(4,), (3,)])
    assert [piece.times for piece in three] == [1.0] * 3
    assert [piece.demand["add"] for piece in three] == [0.0, 0.0, 1.0]
    assert three[1].demand["issue"] == pytest.approx(0.5 / 5)  # the load from shared memory alone


TWO_BARRIERS = """
    B------:R-:W-:-:S05  BAR.SYNC.DEFER_BLOCKING 0x0
    B------:R-:W-:-:S04  FADD R3, R3, R3
    B------:R-:W-:-:S05  BAR.SYNC.DEFER_BLOCKING 0x1, 0x40
    B------:R-:W-:-:S05  EXIT
"""


def test_barriers_of_some_warps_do_not_part_the_blocks_work() -> None:
    """Two of three warps meet at the second one, and one of them twice as often in a loop."""
    instructions = code(TWO_BARRIERS)
    both = barriers(instructions, waits_of(instructions))
    assert both.tolist() == [True, False, True, False]

    def stop(*streams: tuple[int, ...]) -> list[int]:
        return np.flatnonzero(of_all([Stream(stream) for stream in streams], both)).tolist()

    assert stop((0, 1, 2, 3), (0, 1, 2, 3)) == [0, 2]
    assert stop((0, 1, 2, 3), (0, 1, 2, 3), (0, 1, 3)) == [0]
    assert stop((0, 1, 2, 3), (0, 1, 2, 1, 2, 3)) == [0]
    waits, ones = waits_of(instructions), np.ones(len(instructions))
    typical = schedule((0, 1, 2, 3), instructions, waits)
    two, first = [Stream((0, 1, 2, 3)), Stream((0, 1, 3))], np.array([True, False, False, False])
    some = pieces(two, instructions, waits, typical, ones, lambda x: {"issue": float(x.sum())}, ones, first)
    assert len(some) == 2  # before and behind the first, whatever happens at the second


def test_what_comes_behind_a_wait_for_products_is_told() -> None:
    """Behind the sum, which stands for products here; a barrier does not wait for them."""
    waited = found([EVERY], [1.0] * 7, queue=PRODUCTS, joins=[(5,)])
    assert [piece.behind_products for piece in waited] == [False, False, True]
    for other in (found([EVERY], [1.0] * 7, joins=[(5,)]), found([EVERY], [1.0] * 7, queue=PRODUCTS, joins=[(2,)])):
        assert not any(piece.behind_products for piece in other)


def test_a_warps_own_timing_sets_its_path() -> None:
    """Held for 1000 cycles behind the barrier by what it waits for there, with nothing that waits for memory before."""
    code_of, stream = code(EXCHANGES), tuple(range(9))
    waits = waits_of(code_of)
    own = tuple(replace(wait, hold=1000.0) if at == 3 else wait for at, wait in enumerate(waits))
    typical = schedule(stream, code_of, waits)
    ones, asked = np.ones(len(stream)), lambda issued: {"issue": float(issued.sum())}
    parts = pieces([Stream(stream, timing=own)], code_of, waits, typical, ones, asked, ones)
    whole = sum(piece.path for piece in parts)
    assert whole == pytest.approx((typical.cycles + 1000.0 - 4.0) / typical.cycles, rel=0.02)
    assert parts[1].path > 0.8 * whole


def test_equal_turns_of_a_loop_are_one_kind() -> None:
    turns = found([(0, 1, 2, 3, 4) * 9 + (5, 6)], [9, 9, 9, 9, 9, 1, 1])
    assert [piece.times for piece in turns] == [1.0, 8.0, 1.0]  # before the first barrier, between two, behind the last
    assert [piece.waits for piece in turns] == pytest.approx([1 / 9, 8 / 9, 0.0])
    assert sum(piece.demand["add"] for piece in turns) == pytest.approx(1.0)


def test_a_part_of_a_long_stream_has_the_paths_of_the_whole() -> None:
    turns = [(0, 1, 2, 3, 4) * 9 + (5, 6)], [9, 9, 9, 9, 9, 1, 1]
    whole, part = found(*turns), found(*turns, longer=2.5)
    assert [piece.path for piece in part] == pytest.approx([piece.path for piece in whole])
    assert sum(piece.path for piece in part) == pytest.approx(1.0)


def test_what_lies_between_a_load_and_its_wait_hides_it_from_as_many_warps() -> None:
    text = """
        B------:R-:W0:-:S01  LDG.E R2, [R4.64]
        B------:R-:W-:-:S04  FADD R3, R3, R3
        B------:R-:W-:-:S04  FADD R5, R3, R3
        B0-----:R-:W-:-:S05  STS [R0], R2
        B------:R-:W-:-:S05  BAR.SYNC.DEFER_BLOCKING 0x0
        B------:R-:W-:-:S05  EXIT
    """
    stream, two_each = [tuple(range(6))], np.array([0.0, 2.0, 2.0, 0.0, 0.0, 0.0])
    loading, last = found(stream, [1.0] * 6, text, turns=two_each)
    waited = schedule(stream[0], code(text), waits_of(code(text))).waited[3]
    assert loading.exposed_shares == pytest.approx([max(0.0, 1 - 4 * others / waited) for others in OTHERS])
    assert found(stream, [1.0] * 6, text)[0].exposed_shares == (1.0,) * len(OTHERS)  # no pipe is known
    assert last.exposed_shares == ()


def test_no_barrier_no_pieces() -> None:
    assert found([(0, 1, 3, 4, 5, 6)], [1.0] * 7) == ()


def test_where_no_two_pieces_are_alike_nothing_is_told_apart() -> None:
    stream: list[int] = []
    for turn in range(MOST_KINDS + 1):
        stream += [4] * turn + [2]
    assert found([tuple(stream)], [1.0] * 7) == ()


# ---------------------------------------------------------------- executed


def transpose(kernel: str):
    program = warpbound.compile(KERNELS / "transposes" / "kernels.cu", "h100-sxm", kernel)
    args = [parse_argument(word) for word in ("from=f32[1048576]:zeros", "to=f32[1048576]:zeros", "n=1024")]
    return program, warpbound.launch(grid=(32, 32), block=(32, 32), args=args)


@pytest.mark.cuda
def test_conflicts_are_all_behind_the_barrier() -> None:
    program, launch = transpose("tiled")
    first, second = work_of(case_of(program, warpbound.gpu("h100-sxm"), launch, DEFAULT)).whole.pieces
    assert second.demand["shared"] == pytest.approx(32 / 33)  # a load of 32 conflicts, a store without
    assert first.waits == pytest.approx(1.0)
    assert sum(piece.path for piece in (first, second)) == pytest.approx(1.0)


@pytest.mark.cuda
def test_the_leader_of_a_tree_has_the_longest_path() -> None:
    source = KERNELS / "reductions" / "kernels.cu"
    program = warpbound.compile(source, "rtx-3090", "in_halves", defines={"BLOCK": "256"})
    args = [parse_argument(word) for word in ("sum=f32[1]:zeros", "from=f32[1048576]:zeros", "n=1048576")]
    launch = warpbound.launch(grid=4096, block=256, args=args)
    found = work_of(case_of(program, warpbound.gpu("rtx-3090"), launch, DEFAULT)).whole.pieces
    assert sum(piece.times for piece in found) == 10  # one barrier before the tree, one in each of its eight steps
    assert sum(piece.path for piece in found) > 1.01  # the others are off while it adds, most by a predicate alone


@pytest.mark.cuda
def test_simulation_and_headline_agree_where_all_work_comes_after_one_wait() -> None:
    """As large as the published one, so that the launch's ends do not count; spread evenly it was 1.37."""
    program = warpbound.compile(KERNELS / "transposes" / "kernels.cu", "h100-sxm", "tiled")
    args = [parse_argument(word) for word in ("from=f32[67108864]:zeros", "to=f32[67108864]:zeros", "n=8192")]
    found = simulated(program, "h100-sxm", warpbound.launch(grid=(256, 256), block=(32, 32), args=args))
    assert found.simulated_over_headline == pytest.approx(1.0, abs=0.2)
