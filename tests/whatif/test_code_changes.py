"""What-ifs: each planted problem is found, named first, and explained; what cannot help is not said."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.sass_listing import kernel
from support.unit_of_work import BOARD, CLOCK, PLACE, work, workloads
from warpbound.isa.latency_classes import architecture_latency
from warpbound.isa.opcodes import opcode_facts
from warpbound.latency import memory_latency, waits
from warpbound.predict import Place, predict
from warpbound.residency import Residency, occupancy
from warpbound.whatif import WORTH, WhatIf, whatifs
from warpbound.whatif.code_changes import (
    EASINGS,
    MOVED_ONCE,
    NEARER,
    Repeated,
    demand_reductions,
    kept_in_register,
    nearer,
    of_the_work,
)
from warpbound.whatif.parallelism import doubled
from warpbound.workload import Memory, Workload
from warpbound.workload.static import iterations, straight

FULL = occupancy(BOARD, 256, 32, 0)


def found(made: Workload, place: Place = PLACE, residency: Residency | None = FULL) -> dict[str, WhatIf]:
    return {what.change: what for what in whatifs(made, place, residency)}


def one(made: Workload, word: str, place: Place = PLACE, residency: Residency | None = FULL) -> WhatIf:
    alone = {change: what for change, what in found(made, place, residency).items() if "; and " not in change}
    matching = [what for change, what in alone.items() if word in change]
    assert len(matching) == 1, (word, list(found(made, place, residency)))
    return matching[0]


# --------------------------------------------------------------------- each change, worked by hand


def test_more_ilp_shares_what_is_waited() -> None:
    made = work(latency=4000.0, parts={"issue": 100.0, "dram": 3900.0}, units={"xu": 4 * 60.0})
    # one item: 4000 / 32 = 125 cycles; two: 4100 / 32 = 128.125, that is 64.0625 each; four: 60, as xu binds
    assert one(made, "ILP").speedup == pytest.approx(125 / 60)
    assert "once for 4 items" in one(made, "ILP").why
    made = replace(made, units={"xu": 4 * 63.0})
    assert one(made, "ILP").speedup == pytest.approx(125 / 64.0625)  # twice: the next degree gains too little
    assert "once for 2 items" in one(made, "ILP").why


def test_twice_the_ilp_is_bounded_by_the_next_resource() -> None:
    made = work(latency=4000.0, units={"xu": 400.0})  # latency 125, xu 100
    assert one(made, "ILP").speedup == pytest.approx(1.25)


def test_twice_the_ilp_in_a_launch_that_does_not_fill_the_sms_buys_nothing() -> None:
    assert found(work(warps=3200.0, latency=20_000.0)).keys() == set()  # one round either way, now of half as many


def test_twice_the_ilp_of_a_large_launch_counts_its_time() -> None:
    made = work(warps=64_000.0, latency=1600.0)
    # 640 warps per SM, 32 at a time: 20 rounds of 1600, 32 us. With four times the work: 5 rounds of 1900, 9.5 us,
    # while 160 warps of 100 issue cycles take 16. The launch takes 2 us in both
    assert one(made, "ILP").speedup == pytest.approx((2 + 32) / (2 + 16))


def test_instructions_in_pairs_stay_in_pairs() -> None:
    # latency 1600 / 32 = 50 cycles, issue 240 slots / 4 = 60: two items wait half as long, but issue as many slots each
    made = work(latency=1600.0, parts={"dram": 1600.0}, warp_instructions=300.0, issue_slots=240.0)
    assert not any(change.startswith("twice") for change in found(made))
    assert predict(doubled(made), PLACE).cycles["issue"] == pytest.approx(120)
    assert one(replace(made, thread_instructions=2400.0), "divergence").speedup == pytest.approx(60 / 50)


def test_no_bank_conflicts_takes_their_wavefronts_away() -> None:
    made = work(
        memory=Memory(shared_wavefronts_load=300.0, shared_wavefronts_store=60.0, shared_wavefronts_atomic=40.0,
                      shared_conflict_wavefronts=300.0)
    )  # fmt: skip
    what = one(made, "bank conflicts")
    assert what.speedup == pytest.approx(400 / 100)
    assert what.why == "bank conflicts take 300 of 400 shared-memory wavefronts"
    assert not any("bank" in change for change in found(work(memory=Memory(shared_wavefronts_load=400.0))))


def test_coalescing_moves_only_what_is_asked_for() -> None:
    made = work(
        memory=Memory(global_load_requests=4.0, l1_sectors_load=128.0, l1_wavefronts=128.0, l2_sectors_read=128.0,
                      dram_bytes_read=4096.0, ideal_sectors=16.0)
    )  # fmt: skip
    what = one(made, "coalesced")
    # DRAM 4096 B = 256 cycles; then 512 B = 32, L1 16, L2 8, latency 25: DRAM still
    assert what.speedup == pytest.approx(256 / 32)
    assert what.why == "32.0 sectors per request where 4.0 hold the same bytes"
    cached = work(memory=replace(made.memory, dram_bytes_read=256.0))  # what DRAM never sent is not saved there
    # L1 128 cycles; then L1 16, latency 25, issue 25
    assert one(cached, "coalesced").speedup == pytest.approx(128 / 25)


NARROW = Memory(global_load_requests=20.0, global_store_requests=20.0, l1_sectors_load=80.0, l1_sectors_store=80.0,
                ideal_sectors=160.0, l1_wavefronts=40.0, touched_bytes=5120.0)  # fmt: skip


def test_wide_accesses_take_elements_together() -> None:
    # 4 B per lane, so four elements at a time save 30 of 40 accesses: issue 200 / 4 = 50 cycles, then 170 / 4
    sums = work(memory=NARROW, warp_instructions=200.0, flop={"fp32": 64.0})
    what = one(sums, "128-bit accesses (4")
    assert what.speedup == pytest.approx(50 / 42.5)
    assert what.why == "a lane accesses 4 B at a time, and 16 B are one access"
    # eight waits of a loop: two are left; latency 3200 / 32 = 100 cycles, then 800 / 32 = 25, and issue 42.5
    looped = replace(sums, latency=3200.0, parts={"dram": 3200.0}, phases=(400.0,) * 8)
    assert one(looped, "128-bit accesses (4").speedup == pytest.approx(100 / 42.5)
    # a copy, whose instructions are all of addresses and rounds: issue 50 / 4 and L1 40, whose path stays as wide
    assert one(replace(sums, flop={}), "128-bit accesses (4").speedup == pytest.approx(50 / 40)


@pytest.mark.parametrize("changes", [
    {"barriers": 1.0}, {"memory": replace(NARROW, hottest_updates=1.0)},  # threads that meet
    {"memory": replace(NARROW, l1_sectors_load=160.0)},  # waste
    {"latency": 80_000.0, "parts": {"dram": 80_000.0}, "phases": (10_000.0,) * 8},  # loads in flight do as well
    {"memory": replace(NARROW, touched_bytes=2560.0)},  # bytes that are asked for twice
    {"memory": replace(NARROW, global_load_requests=5.0, global_store_requests=5.0)},  # 16 B per lane already
])  # fmt: skip
def test_wide_accesses_are_for_streams_of_narrow_elements(changes: dict[str, object]) -> None:
    made = work(**{"memory": NARROW, "warp_instructions": 200.0} | changes)
    assert not any("128-bit accesses (" in change for change in found(made))


def test_coalesced_stores_hand_whole_lines_over() -> None:
    scattered = Memory(global_store_requests=4.0, l1_sectors_store=128.0, l1_wavefronts=128.0, store_pieces=128.0,
                       l2_sectors_written=128.0, ideal_sectors=16.0)  # fmt: skip
    # 128 pieces, one in four cycles: 512; then L1 16, L2 8, latency 25, issue 25
    assert one(work(memory=scattered), "coalesced").speedup == pytest.approx(512 / 25)
    small = work(memory=replace(scattered, ideal_sectors=4.0), latency=160.0, warp_instructions=20.0)
    assert one(small, "coalesced").speedup == pytest.approx(512 / 16)  # a sector for each store: four pieces are left
    atomics = replace(scattered, store_pieces=168.0)  # 40 pieces of atomics stay
    assert one(work(memory=atomics), "coalesced").speedup == pytest.approx(168 / 40)


def test_operands_of_tensor_cores_are_coalesced_into_tiles() -> None:
    spread = Memory(global_load_requests=20.0, l1_sectors_load=800.0, l1_wavefronts=320.0, ideal_sectors=80.0,
                    l2_sectors_read=800.0, touched_bytes=640.0)  # fmt: skip
    plain, tensor = work(memory=spread), work(memory=spread, tensor={"fp16": 1.0})
    assert {"coalesced global accesses", NEARER} <= {each.change for each in of_the_work(plain, PLACE)}
    (tiles,) = [each for each in of_the_work(tensor, PLACE) if "coalesced" in each.change or each.change == NEARER]
    assert "tiles kept on the SM" in tiles.change
    assert tiles.work.memory.l2_sectors_read == pytest.approx(20.0)  # each byte once
    assert tiles.work.memory.l1_wavefronts == pytest.approx(20.0)


def test_rows_shorter_than_a_line_take_wavefronts_and_no_sectors() -> None:
    """A tile of 64-byte rows by 16 bytes a lane: eight lines per request where four hold them; no tiles to make."""
    rows = Memory(global_load_requests=20.0, l1_sectors_load=320.0, l1_wavefronts=160.0, ideal_sectors=316.0,
                  l2_sectors_read=320.0, touched_bytes=2560.0)  # fmt: skip
    changes = {each.change: each for each in of_the_work(work(memory=rows, tensor={"fp16": 1.0}), PLACE)}
    why = changes["coalesced global accesses"].why
    assert why == "8.0 wavefronts of L1 per request where 4.0 bring the same sectors: whole lines"
    assert not any("tiles kept on the SM" in change for change in changes)


def test_coalesced_accesses_are_not_told_to_coalesce() -> None:
    fine = Memory(global_load_requests=4.0, l1_sectors_load=16.0, dram_bytes_read=4096.0, ideal_sectors=16.0)
    unknown = replace(fine, ideal_sectors=0.0)
    assert not any("coalesced" in change for m in (fine, unknown) for change in found(work(memory=m)))


@pytest.mark.parametrize(
    "word, left, changes",
    [
        ("fewer instructions", 0.75, {"warp_instructions": 4000.0, "thread_instructions": 128_000.0}),
        ("fewer integer", 0.75, {"units": {"alu": 4000.0}}),
        ("fewer multiplications", 0.75, {"units": {"fp16": 4000.0}}),
        ("half the FP64", 0.5, {"units": {"fp64": 4000.0}}),
        ("special functions", 0.5, {"units": {"xu": 4000.0}}),
        ("half the width", 0.5, {"tensor": {"fp16": 1e6}}),
        ("fewer uniform", 0.75, {"units": {"uniform": 4000.0}}),
        ("load and store", 0.5, {"units": {"lsu": 4000.0}}),
        ("shared-memory traffic", 0.5, {"memory": Memory(shared_wavefronts_load=1000.0)}),
        ("L1 traffic", 0.5, {"memory": Memory(l1_wavefronts=1000.0)}),
        ("L2 traffic", 0.5, {"memory": Memory(l2_sectors_read=2000.0)}),
        ("DRAM traffic", 0.5, {"memory": Memory(dram_bytes_read=16_000.0)}),
    ],
)
def test_the_tightest_resource_is_eased(word: str, left: float, changes: dict[str, object]) -> None:
    everything = found(work(**changes))
    what = one(work(**changes), word)
    assert what.speedup == pytest.approx(1 / left)
    assert list(everything) == [what.change]  # nothing else would help
    assert "SM cycles per warp" in what.why


LEVELS = {
    "l1": {"l1_sectors_load": 20.0, "l1_sectors_store": 5.0},
    "l2": {"l2_sectors_read": 20.0, "l2_sectors_written": 5.0},
    "dram": {"dram_bytes_read": 640.0, "dram_bytes_written": 160.0},
}  # each 800 bytes


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("touched", [800.0, 500.0])
def test_bytes_that_are_moved_once_are_not_told_to_stay_nearer_by(level: str, touched: float) -> None:
    made = work(latency=10.0, memory=Memory(**LEVELS[level], touched_bytes=touched))
    (change,) = demand_reductions(made, PLACE, {level: 100.0})
    assert change.change == (MOVED_ONCE.format(level=level.upper()) if touched == 800.0 else EASINGS[level][1])


def test_two_that_bind_together_are_eased_together() -> None:
    made = work(latency=800.0, units={"xu": 400.0, "fp64": 380.0})  # 100 and 95 SM cycles per warp, latency 25
    (both,) = [what for change, what in found(made).items() if "; and " in change]
    assert both.speedup == pytest.approx(2.0)
    assert both.speedup > 1.05 * one(made, "half the special functions").speedup
    assert both.why.startswith("xu and fp64 bind together, 100 and 95 SM cycles")
    apart = work(latency=800.0, units={"xu": 400.0, "fp64": 300.0})
    assert not any("; and " in change for change in found(apart))


def test_reasons_give_the_cycles_that_the_answer_gives() -> None:
    """With queues where it counts them: in each sentence, and in which two bind together."""
    made = work(latency=800.0, units={"xu": 400.0, "fp64": 300.0})  # 100, 75 and 25 SM cycles per warp by the bounds
    queued = {"xu": 104.0, "fp64": 110.0, "latency": 30.0}
    told = {what.change: what for what in whatifs(made, PLACE, FULL, cycles=queued)}
    (both,) = [what for change, what in told.items() if "; and " in change]
    assert both.why == "fp64 and xu bind together, 110 and 104 SM cycles per warp"
    xu = one(made, "half the special functions")
    assert xu.why == "it takes 100 SM cycles per warp"
    assert told[xu.change].why == "it takes 104 SM cycles per warp"
    assert told[xu.change].speedup == xu.speedup


def test_no_barriers_takes_their_waiting_away() -> None:
    made = work(latency=4000.0, parts={"issue": 1000.0, "barrier": 3000.0}, barriers=10.0)
    what = one(made, "no barriers")
    assert what.speedup == pytest.approx(125 / 31.25)
    assert "at each of 10 barriers" in what.why
    assert not any("barriers (" in change for change in found(work(latency=4000.0)))


def test_no_barriers_issues_none_of_them() -> None:
    # issue 4000 / 4 = 1000 cycles, of which 100 are the 400 barriers; latency 32 / 32
    made = work(warp_instructions=4000.0, latency=32.0, parts={"issue": 32.0}, barriers=400.0)
    assert one(made, "no barriers").speedup == pytest.approx(1000 / 900)


def test_a_coalesced_request_takes_one_wavefront() -> None:
    # 10 of 20 requests touch 32 lines each: 330 wavefronts of 128 bytes at 128 bytes per cycle; then one for each
    traffic = Memory(global_load_requests=20.0, l1_sectors_load=330.0, ideal_sectors=50.0, l1_wavefronts=330.0)
    assert one(work(memory=traffic, latency=32.0), "coalesced").speedup == pytest.approx(330 / 25)  # issue binds then


AGAIN = Repeated(Memory(l1_sectors_store=400.0, l2_sectors_written=400.0), accesses=100.0, rounds=4, lines=(7,))


def test_a_sum_in_a_register_takes_its_stores_and_their_waits_away() -> None:
    # L2: 420 sectors of 32 bytes at 64 bytes per cycle and SM; then 20, and 300 instructions take 75 issue cycles
    traffic = Memory(l1_sectors_store=420.0, l2_sectors_written=420.0)
    made = work(warp_instructions=400.0, memory=traffic, latency=32.0)
    kept = kept_in_register(made, PLACE, AGAIN)
    assert predict(made, PLACE).cycles["l2"] / predict(kept.work, PLACE).cycles["l2"] == pytest.approx(420 / 20)
    assert kept.work.warp_instructions == pytest.approx(300)
    assert "(line 7)" in kept.change


def test_loads_of_rounds_between_stores_are_waited_for_together() -> None:
    made = work(phases=(1,) * 8, by_pipe={"lsu": 200.0})
    kept = kept_in_register(made, PLACE, AGAIN).work
    assert kept.phases == (4, 4)
    assert kept.parts["dram"] == pytest.approx(made.parts["dram"] / 4)
    assert kept.latency == pytest.approx(made.latency - 0.75 * made.parts["dram"])


def test_no_divergence_issues_only_what_lanes_do() -> None:
    made = work(warp_instructions=4000.0, thread_instructions=32_000.0)  # a quarter of the lanes
    assert one(made, "divergence").speedup == pytest.approx(4.0)
    assert "25 % of the lanes" in one(made, "divergence").why
    whole = work(warp_instructions=100.0, thread_instructions=3000.0)
    assert not any("divergence" in change for change in found(whole))


def test_no_spills_takes_their_share_of_the_traffic_away() -> None:
    traffic = Memory(l1_sectors_load=300.0, l1_sectors_store=100.0, l1_wavefronts=1000.0, local_sectors=300.0,
                     local_requests=20.0, global_load_requests=10.0)  # fmt: skip
    what = one(work(memory=traffic), "no spills")
    assert what.speedup == pytest.approx(4.0)
    assert "75 % of the sectors" in what.why


def test_fp32_instead_of_fp64_moves_to_the_other_pipe() -> None:
    made = work(units={"fp64": 6400.0, "fma": 0.0}, by_pipe={"fp64": 100.0})
    # FP64 1600 cycles; then 100 instructions of 2 cycles on the FMA pipe of a sub-core: 50; latency 25, issue 25
    assert one(made, "FP32 instead").speedup == pytest.approx(1600 / 50)


def test_fp32_instead_of_fp64_waits_as_long_as_for_fp32() -> None:
    made = work(latency=3000.0, parts={"fixed": 2900.0, "issue": 100.0}, board_waits={"fp64_latency": (2560.0, 2500.0)},
                units={"fp64": 100.0, "fma": 0.0}, by_pipe={"fp64": 100.0})  # fmt: skip
    gpu = PLACE.gpu
    slow, fast = architecture_latency("fp64_latency", gpu.arch), opcode_facts("FFMA", (), gpu.arch).latency or 0.0
    (changed,) = (each for each in of_the_work(made, PLACE) if each.change.startswith("FP32 instead"))
    saved = min(2500.0, 2560.0 * (1 - fast / (gpu.get("fp64_latency") or slow)))
    assert 0 < saved < 2500.0
    assert changed.work.latency == pytest.approx(3000.0 - saved)
    assert changed.work.parts["fixed"] == pytest.approx(2900.0 - saved)


def test_what_is_read_again_may_stay_on_the_sm() -> None:
    again = Memory(l1_sectors_load=800.0, l2_sectors_read=800.0, touched_bytes=3200.0)
    assert one(work(memory=again), "read again").speedup > 2
    assert "8.0 times" in one(work(memory=again), "read again").why
    assert nearer(work(memory=again), PLACE, once=0.5) is not None
    assert nearer(work(memory=again), PLACE, once=0.9) is None  # it is other blocks that read it again
    once = replace(again, touched_bytes=25_600.0)
    assert not any("read again" in change for change in found(work(memory=once)))


def test_one_block_more_helps_where_latency_binds() -> None:
    few = occupancy(BOARD, 256, 128, 0)  # 65536 registers / (128 x 32): 16 warps, 2 blocks
    place = replace(PLACE, warps_per_sm=16.0)
    made = work(latency=4000.0)
    (step,) = [s for s in few.next_step if s.change == "registers"]
    what = one(made, "registers per thread", place, few)
    assert (few.blocks_per_sm, step.blocks_per_sm, step.warps_per_sm) == (2, 3, 24)
    assert what.speedup == pytest.approx(24 / 16)
    assert what.why == "24 instead of 16 resident warps hide more of the latency"
    assert not any("registers" in c for c in found(work(units={"xu": 4000.0}), place, few))


def test_one_block_fewer_is_said_only_where_it_helps() -> None:
    few = occupancy(BOARD, 256, 128, 0)
    place = replace(PLACE, warps_per_sm=16.0)
    for made in (work(latency=4000.0), work(units={"xu": 4000.0}), work(warps=64_000.0)):
        assert not any("fewer per SM" in change for change in found(made, place, few))


def test_nothing_is_said_without_a_residency_of_blocks() -> None:
    assert not any("would let" in change for change in found(work(latency=4000.0), residency=None))


def test_what_ifs_are_sorted_and_worth_a_line() -> None:
    made = work(latency=4000.0, units={"xu": 400.0}, memory=Memory(dram_bytes_read=1500.0))
    place = replace(PLACE, warps_per_sm=16.0)
    gains = [what.speedup for what in whatifs(made, place, occupancy(BOARD, 256, 128, 0))]
    assert len(gains) > 1
    assert gains == sorted(gains, reverse=True)
    assert min(gains) >= WORTH


@given(workloads(), st.sampled_from([32, 64, 128, 255]))
@settings(max_examples=100, deadline=None)
def test_no_change_promises_more_than_its_resource(made: Workload, registers: int) -> None:
    residency = occupancy(BOARD, 128, registers, 0)
    place = replace(PLACE, warps_per_sm=float(residency.warps_per_sm))
    for what in whatifs(made, place, residency):
        lanes_off = 32 * made.warp_instructions / made.thread_instructions
        assert WORTH <= what.speedup <= max(4.0, lanes_off) + 1e-9
        assert what.change
        assert what.why


# ------------------------------------------------------------ problems planted in code, found in it

STREAM = """
    B------:R-:W0:-:S01  S2R R0, SR_TID.X
    B0-----:R-:W-:-:S06  IMAD.WIDE R2, R0, 0x4, RZ
    {body}
    B------:R-:W-:-:S01  STG.E [R2.64], R9
    B------:R-:W-:-:S05  EXIT
"""
LOOP = """
    .L_loop:
    {body}
    B------:R-:W-:-:S05  @P0 BRA `(.L_loop)
    B------:R-:W-:-:S05  EXIT
"""
RSQ = "B------:R-:W1:-:S08  MUFU.RSQ R4, R5\n" * 16 + "B-1----:R-:W-:-:S04  FADD R4, R4, R5"
CHASE = "B0-----:R-:W-:-:S04  MOV R4, R0\nB------:R-:W0:-:S02  LDG.E R0, [R4.64]"
ONE_SECTOR = "B------:R-:W0:-:S02  LDG.E R0, [UR4]\nB0-----:R-:W-:-:S04  R2UR UR4, R0"
COPY = "B------:R-:W0:-:S01  LDG.E.128 R4, [R2.64]\nB0-----:R-:W-:-:S01  STG.E.128 [R2.64], R4"
DIVIDE = "B------:R-:W1:-:S04  DFMA R4, R4, R6, R8\n" * 32


def planted(text: str, body: str, registers: int = 32) -> tuple[list[str], str]:
    """Changes advised for a kernel, best first, and its bottleneck: of its loop, or of the whole."""
    program = kernel(text.format(body=body), arch=80, registers=registers)
    timing = waits(program.instructions, memory_latency(BOARD, CLOCK))
    loops = [made for _, made in iterations(program, 80, timing)]
    made = loops[0] if loops else straight(program, 80, timing)
    residency = occupancy(BOARD, 256, registers, 0)
    place = replace(PLACE, warps_per_sm=float(residency.warps_per_sm))
    return [what.change for what in whatifs(made, place, residency)], predict(made, place).bottleneck


@pytest.mark.parametrize(
    "text, body, registers, bottleneck, advice",
    [
        (LOOP, RSQ, 32, "xu", "special functions"),
        (LOOP, DIVIDE, 32, "fp64", "FP64"),
        (STREAM, COPY, 32, "dram", "DRAM traffic"),
        (LOOP, CHASE, 32, "dram", "DRAM traffic"),
        (LOOP, CHASE, 255, "latency", "no limit by registers"),
        (LOOP, ONE_SECTOR, 32, "latency", "ILP"),
    ],
    ids=["xu", "fp64", "copy", "chase-many-warps", "chase-few-warps", "chase-one-sector"],
)
def test_the_planted_problem_is_the_first_advice(
    text: str, body: str, registers: int, bottleneck: str, advice: str
) -> None:
    changes, binding = planted(text, body, registers)
    assert binding == bottleneck
    assert advice in changes[0]


def test_low_occupancy_by_registers_is_found() -> None:
    changes, binding = planted(LOOP, CHASE, registers=200)
    assert binding == "latency"
    assert any("registers per thread instead of 200" in change for change in changes)


def test_gathers_keep_their_sectors_when_the_rest_is_coalesced() -> None:
    rows = replace(NARROW, ideal_sectors=16.0)
    for scattered, sectors in ((0.0, 16.0), (0.25, 56.0)):
        changes = of_the_work(work(memory=rows), PLACE, 0.0, scattered)
        (spread,) = (each for each in changes if "coalesced" in each.change)
        left = spread.work.memory
        assert left.l1_sectors_load + left.l1_sectors_store == pytest.approx(sectors)
    assert not any("coalesced" in each.change for each in of_the_work(work(memory=rows), PLACE, 0.0, 0.9))
