"""One warp's issue times: tables worked by hand, and a simulator that knows nothing of schedules."""

from dataclasses import replace

import pytest

from support.issue_streams import WAITS, nonzero, waits_of
from support.sass_listing import code
from warpbound.schedule import Schedule, Wait, schedule, steady


def run(text: str) -> Schedule:
    instructions = code(text)
    return schedule(range(len(instructions)), instructions, waits_of(instructions))


def loop(text: str) -> Schedule:
    instructions = code(text)
    return steady(range(len(instructions)), instructions, waits_of(instructions))


# ------------------------------------------------------------------------------ tables worked by hand


def test_stall_counts_set_the_pace() -> None:
    done = run("""
        B------:R-:W-:-:S04  FADD R0, R1, R2
        B------:R-:W-:-:S01  FADD R3, R0, R2
        B------:R-:W-:Y:S05  FADD R4, R1, R2
        B------:R-:W-:-:S15  EXIT
    """)
    assert done.issue == (0, 4, 5, 10)  # 0, +4, +1, +5; yield adds nothing to a stall of 5
    assert done.cycles == 11  # the stall behind the last one is nobody's
    assert nonzero(done.parts) == {"issue": 4, "fixed": 3 + 0 + 4}


def test_yield_with_a_stall_of_one_gives_the_next_slot_away() -> None:
    done = run("""
        B------:R-:W-:Y:S01  NOP
        B------:R-:W-:Y:S02  NOP
        B------:R-:W-:-:S00  NOP
        B------:R-:W-:-:S01  NOP
    """)
    assert done.issue == (0, 2, 4, 5)  # Y and 1 make 2; Y and 2 stay 2; 0 is 1, an instruction takes its slot


def test_what_holds_a_warp_by_itself_is_booked_on_its_cause() -> None:
    instructions = code("B------:R-:W-:Y:S00 ERRBAR\nB------:R-:W-:-:S01 EXIT")
    done = schedule([0, 1], instructions, [Wait(hold=46), Wait()])
    assert done.issue == (0, 46)  # the stall of 0 with yield, as latency.py fills it in
    assert nonzero(done.parts) == {"issue": 2, "fixed": 45}


def test_a_waiter_issues_in_the_cycle_its_scoreboard_falls() -> None:
    done = run("""
        B------:R-:W2:-:S02  LDG.E R0, [R2.64]    #5
        B------:R-:W-:-:S04  IADD3 R6, R7, R8, RZ #6
        B--2---:R-:W-:-:S01  FADD R1, R0, R0      #7
    """)
    # the load is back at 0 + 500; the FADD could have gone at 0 + 2 + 4 = 6
    assert done.issue == (0, 2, 500)
    assert done.waited == (0, 0, 494)
    assert done.producer == (-1, -1, 0)
    assert nonzero(done.parts) == {"issue": 3, "fixed": 1 + 3, "dram": 494}
    # waits are booked on the line of the load, stalls on that of the instruction that carries them
    assert {line: nonzero(parts) for (_, line), parts in done.lines.items()} == {
        5: {"issue": 1, "fixed": 1, "dram": 494},
        6: {"issue": 1, "fixed": 3},
        7: {"issue": 1},
    }


def test_a_shared_scoreboard_is_down_when_all_its_loads_are_back() -> None:
    done = run("""
        B------:R-:W0:-:S01  LDG.E R0, [R2.64]
        B------:R-:W0:-:S01  LDS R1, [R4]
        B0-----:R-:W-:-:S01  FADD R1, R0, R1
    """)
    assert done.issue == (0, 1, 500)  # not 1 + 24, although the LDS was the last to raise it
    assert done.producer[2] == 0


def test_of_two_scoreboards_the_later_holds() -> None:
    done = run("""
        B------:R-:W0:-:S01  LDG.E R0, [R2.64]
        B------:R-:W1:-:S01  MUFU.RCP R1, R5
        B01----:R-:W-:-:S01  FADD R1, R0, R1
        B01----:R-:W-:-:S01  FADD R1, R0, R1
    """)
    assert done.issue == (0, 1, 500, 501)  # the second finds both down
    assert nonzero(done.parts) == {"issue": 4, "dram": 498}


def test_sources_may_be_overwritten_once_read() -> None:
    done = run("""
        B------:R1:W-:-:S01  STG.E [R2.64], R0
        B-1----:R-:W-:-:S01  MOV R0, R7
    """)
    assert done.issue == (0, 14)  # 64-bit or not, the store itself is never waited for
    assert done.waited[1] == 13


def test_one_instruction_raises_two_scoreboards() -> None:
    done = run("""
        B------:R1:W0:-:S01  LDG.E R0, [R2.64]
        B-1----:R-:W-:-:S01  MOV R2, R7
        B0-----:R-:W-:-:S01  FADD R1, R0, R1
    """)
    assert done.issue == (0, 11, 500)


def test_depbar_lets_the_youngest_stay() -> None:
    text = """
        B------:R-:W0:-:S10  LDG.E R0, [R2.64]
        B------:R-:W0:-:S10  LDG.E R1, [R2.64+0x10]
        B------:R-:W0:-:S10  LDG.E R4, [R2.64+0x20]
        B------:R-:W-:-:S04  DEPBAR.LE SB0, {}
        B0-----:R-:W-:-:S01  FADD R1, R0, R1
    """
    assert run(text.format("0x3")).issue[3] == 30
    assert run(text.format("0x2")).issue[3] == 500  # the first, from 0
    assert run(text.format("0x1")).issue[3] == 510  # the second, from 10
    assert run(text.format("0x0")).issue[3] == 520  # the third, from 20
    assert run(text.format("0x1")).issue[4] == 520  # who waits for zero still finds the third up


def test_depbar_with_a_list_waits_for_those_to_be_down() -> None:
    done = run("""
        B------:R-:W0:-:S01  MUFU.RCP R0, R2
        B------:R-:W3:-:S01  LDG.E R1, [R2.64]
        B------:R-:W4:-:S01  DADD R8, R4, R6
        B------:R-:W-:-:S01  DEPBAR.LE SB0, 0x1, {4}
        B------:R-:W-:-:S01  DEPBAR.LE SB0, 0x0, {4,3}
    """)
    assert done.issue == (0, 1, 2, 50, 501)  # DADD at 2 + 48, MUFU may stay; then the load at 1 + 500


def test_a_result_without_scoreboard_is_covered_by_the_next_of_its_queue() -> None:
    done = run("""
        B------:R-:W-:-:S01  DADD R0, R4, R6
        B------:R-:W0:-:S01  DSETP.GT.AND P0, PT, R8, R10, PT
        B0-----:R-:W-:-:S01  FSEL R2, R0, R4, P0
    """)
    assert done.issue == (0, 1, 48)  # the DADD from 0 ends after the DSETP, at 1 + 40
    assert done.producer[2] == 0  # and is what is waited for
    other = run("""
        B------:R-:W-:-:S01  DADD R0, R4, R6
        B------:R-:W0:-:S01  MUFU.RCP R1, R3
        B0-----:R-:W-:-:S01  FADD R2, R1, R1
        B------:R-:W1:-:S01  DSETP.GT.AND P0, PT, R8, R10, PT
        B------:R-:W1:-:S01  DSETP.GT.AND P0, PT, R8, R10, PT
        B-1----:R-:W-:-:S01  FSEL R2, R0, R4, P0
    """)
    assert other.issue == (0, 1, 21, 22, 23, 63)  # another queue covers nothing; the DADD is over long before


def test_copies_to_shared_memory_are_waited_for_by_groups() -> None:
    done = run("""
        B------:R-:W-:-:S01  LDGSTS.E.BYPASS.128 [R5], [R2.64]
        B------:R-:W-:-:S01  LDGSTS.E.BYPASS.128 [R5+0x100], [R2.64+0x100]
        B------:R-:W0:-:S04  LDGDEPBAR
        B------:R-:W-:-:S04  LDGSTS.E.BYPASS.128 [R5+0x200], [R2.64+0x200]
        B------:R-:W0:-:S04  LDGDEPBAR
        B------:R-:W-:-:S04  DEPBAR.LE SB0, 0x1
        B------:R-:W-:-:S04  DEPBAR.LE SB0, 0x0
    """)
    assert done.issue == (0, 1, 2, 6, 10, 401, 406)  # group 1: 1 + 400; group 2: 6 + 400
    assert done.producer[5:] == (1, 3)  # the copies hold, not what groups them
    assert nonzero(done.parts)["dram"] == (401 - 14) + (406 - 405)
    assert [phase.loads for phase in done.phases] == [(0, 1, 3)]  # all three under way at the first wait


def test_matrix_products_of_a_warpgroup_follow_each_other() -> None:
    done = run("""
        B------:R-:W-:-:S01  WARPGROUP.ARRIVE
        B------:R-:W-:-:S03  HGMMA.64x256x16.F32 R24, gdesc[UR8], R24
        B------:R-:W-:-:S03  HGMMA.64x256x16.F32 R24, gdesc[UR8], R24, gsb0
        B------:R-:W-:-:S03  HGMMA.64x256x16.F32 R24, gdesc[UR8], R24, gsb0
        B0-----:R-:W-:-:S02  WARPGROUP.DEPBAR.LE gsb0, 0x1
        B------:R-:W-:-:S02  WARPGROUP.DEPBAR.LE gsb0, 0x0
    """)
    # issued at 1, 4, 7; on the tensor core from 1, 129, 257 to 129, 257, 385; SB0 is another scoreboard than gsb0
    assert done.issue == (0, 1, 4, 7, 257, 385)


def test_a_barrier_holds_the_warp_itself() -> None:
    done = run("""
        B------:R-:W-:-:S05  BAR.SYNC.DEFER_BLOCKING 0x0
        B------:R-:W0:-:S01  LDG.E R0, [R2.64]
        B0-----:R-:W-:-:S01  BAR.SYNC.DEFER_BLOCKING 0x0
    """)
    assert done.issue == (0, 22, 522)
    assert nonzero(done.parts) == {"issue": 3, "fixed": 4, "barrier": 17, "dram": 499}


def test_a_wait_is_shared_among_the_levels_that_serve_it() -> None:
    instructions = code("B------:R-:W0:-:S01 LDG.E R0, [R2.64]\nB0-----:R-:W-:-:S01 EXIT")
    mixed = Wait(100, causes=(("l1", 0.25), ("dram", 0.75)))
    done = schedule([0, 1], instructions, [mixed, Wait()])
    assert nonzero(done.parts) == {"issue": 2, "l1": 24.75, "dram": 74.25}  # 99 cycles


def test_a_listing_without_control_words_issues_one_per_cycle() -> None:
    plain = [replace(one, control=None) for one in code("B0-----:R-:W0:-:S09 LDG.E R0, [R2.64]")] * 3
    assert schedule([0, 1, 2], plain, [WAITS["LDG"]] * 3).issue == (0, 1, 2)


def test_no_stream_takes_no_time() -> None:
    done = schedule([], [], [])
    assert (done.cycles, done.issue, sum(done.parts.values())) == (0, (), 0)


def test_the_critical_path_follows_the_waits() -> None:
    done = run("""
        B------:R-:W1:-:S01  LDG.E R0, [R2.64]
        B------:R-:W0:-:S01  MUFU.RCP R1, R5
        B0-----:R-:W-:-:S01  FADD R6, R1, R1
        B------:R-:W-:-:S01  FADD R6, R6, R1
        B-1----:R-:W-:-:S01  FADD R1, R0, R1
        B------:R-:W-:-:S01  EXIT
    """)
    assert done.critical == (0, 4, 5)  # the MUFU and its use are over long before the load


def test_loads_before_the_first_wait_on_any_of_them_are_one_phase() -> None:
    done = run("""
        B------:R-:W0:-:S01  LDG.E R0, [R2.64]
        B------:R-:W1:-:S01  LDG.E R1, [R2.64+0x10]
        B0-----:R-:W2:-:S01  LDG.E R4, [R0.64]
        B-1----:R-:W-:-:S01  FADD R5, R1, R1
        B--2---:R-:W-:-:S01  FADD R5, R4, R5
        B------:R-:W2:-:S01  LDG.E R4, [R2.64]
    """)
    assert [phase.loads for phase in done.phases] == [(0, 1), (2,)]  # the last is never waited for
    # waited: from 2 to 500 (the third load), then from 502 to 500 + 500
    assert [phase.waited for phase in done.phases] == [498, 1000 - 502]


def test_a_hidden_load_is_a_phase_without_waiting() -> None:
    filler = "B------:R-:W-:-:S15  NOP\n" * 40
    done = run(f"B------:R-:W0:-:S01  LDG.E R0, [R2.64]\n{filler}B0-----:R-:W-:-:S01  EXIT")
    assert [(phase.loads, phase.waited) for phase in done.phases] == [((0,), 0)]


def test_a_group_whose_copies_have_long_arrived_still_is_a_phase() -> None:
    filler = "B------:R-:W-:-:S15  NOP\n" * 40
    done = run(f"""
        B------:R-:W-:-:S01  LDGSTS.E.BYPASS.128 [R5], [R2.64]
        {filler}
        B------:R-:W0:-:S01  LDGDEPBAR
        B0-----:R-:W-:-:S01  EXIT
    """)
    assert done.issue[-2:] == (601, 603)  # the LDGDEPBAR itself is seen two cycles later
    assert [phase.loads for phase in done.phases] == [(0,)]


# ------------------------------------------------------------------------------------ loops


def test_a_load_used_in_the_next_iteration_is_waited_for_there() -> None:
    done = loop("""
        B0-----:R-:W-:-:S04  FFMA R8, R0, R0, R8
        B------:R-:W0:-:S01  LDG.E R0, [R2.64]
        B------:R-:W-:-:S05  BRA `(.L)
    """)
    # FFMA at t, LDG at t + 4, BRA at t + 5, next slot t + 10; next FFMA at t + 4 + 500
    assert done.cycles == 504
    assert nonzero(done.parts) == {"issue": 3, "fixed": 3 + 4, "dram": 494}
    assert done.issue == (494, 498, 499)  # after the first slot
    assert done.waited == (494, 0, 0)
    assert done.producer == (1, -1, -1)  # the LDG of the iteration before
    assert [phase.loads for phase in done.phases] == [(1,)]


def test_three_groups_in_flight_share_one_latency() -> None:
    done = loop("""
        B------:R-:W-:-:S04  DEPBAR.LE SB0, 0x2
        B------:R-:W-:-:S01  LDGSTS.E.BYPASS.128 [R5], [R2.64]
        B------:R-:W0:-:S01  LDGDEPBAR
        B------:R-:W-:-:S05  BRA `(.L)
    """)
    # a group is waited for in the third iteration after its own: D + 3 T' where it was issued 4 after its wait, so
    # 3 iterations take 404 cycles: 4 for the DEPBAR and 400 for the copy
    assert done.cycles == pytest.approx(404 / 3)
    assert sum(done.parts.values()) == pytest.approx(404 / 3)
    assert [phase.loads for phase in done.phases] == [(1, 1, 1)]  # once in three iterations


def test_three_groups_in_flight_that_never_keep_anyone_waiting() -> None:
    filler = "B------:R-:W-:-:S15  NOP\n" * 40
    done = loop(f"""
        B------:R-:W-:-:S04  DEPBAR.LE SB0, 0x2
        B------:R-:W-:-:S01  LDGSTS.E.BYPASS.128 [R5], [R2.64]
        B------:R-:W0:-:S01  LDGDEPBAR
        {filler}
        B------:R-:W-:-:S05  BRA `(.L)
    """)
    assert done.cycles == 4 + 1 + 1 + 600 + 5
    assert [(phase.loads, phase.waited) for phase in done.phases] == [((1, 1, 1), 0)]  # once in three iterations


def test_a_loop_that_waits_for_nothing_takes_its_stalls() -> None:
    done = loop("""
        B------:R-:W-:-:S04  FFMA R8, R0, R0, R8
        B------:R1:W-:-:S01  STG.E [R2.64], R8
        B------:R-:W0:-:S02  LDG.E R0, [R2.64]
        B------:R-:W-:-:S05  BRA `(.L)
    """)
    assert done.cycles == 12  # 4 + 1 + 2 + 5: the last stall is part of the iteration
    assert nonzero(done.parts) == {"issue": 4, "fixed": 8}
    assert done.phases == ()


def test_critical_path_of_a_loop_stays_in_the_last_iteration() -> None:
    done = loop("""
        B------:R-:W0:-:S02  MUFU.RCP R0, R0
        B------:R-:W-:-:S01  NOP
        B0-----:R-:W-:-:S05  BRA `(.L)
    """)
    assert done.cycles == 25  # 0, 2, 20, then 5
    assert done.critical == (0, 2)
