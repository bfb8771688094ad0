"""What the code alone tells: the way of one warp, its loops, and counts that need no addresses."""

from pathlib import Path

import pytest

from support.paths import ROOT
from support.sass_listing import kernel
from warpbound.isa.opcodes import opcode_facts
from warpbound.latency import MemoryLatency, waits
from warpbound.machine import gpu
from warpbound.program import Program, programs
from warpbound.program.control_flow import Block, Flow, flow
from warpbound.program.cuda import Options
from warpbound.program.registers import lane_bytes
from warpbound.workload import Memory, Workload
from warpbound.workload.instruction_counts import count, flop_of
from warpbound.workload.loop_paths import LoopPaths
from warpbound.workload.static import iterations, static_memory, straight
from warpbound.workload.static_paths import loops, whole

pytestmark = pytest.mark.usefixtures("disassembled_together")

ARCH = 86
CHIP = MemoryLatency(arch=ARCH, l1=32, l2=200, dram=500, shared=24)


def listing(text: str) -> Program:
    """A kernel whose instructions all have the control word `stall 1`, unless they bring one."""
    rows = [row.strip() for row in text.strip().splitlines()]
    return kernel(
        "\n".join(row if row.endswith(":") or ":R" in row else f"B------:R-:W-:-:S01  {row}" for row in rows)
    )


def shown(program: Program, stream: tuple[int, ...]) -> list[str]:
    return [program.instructions[index].text for index in stream]


def work(program: Program) -> Workload:
    return straight(program, ARCH, waits(program.instructions, CHIP))


# ------------------------------------------------------------------------------------------ ways


def test_of_two_branches_the_longer_is_taken() -> None:
    program = listing("""
        @P0 BRA `(.L_else)
        FADD R0, R1, R2
        BRA `(.L_end)
        .L_else:
        FADD R3, R1, R2
        FADD R4, R1, R2
        FADD R5, R1, R2
        .L_end:
        EXIT
    """)
    assert whole(program) == (0, 3, 4, 5, 6)


def test_a_body_guarded_by_a_branch_is_not_left_out() -> None:
    program = listing("""
        ISETP.GE.AND P0, PT, R0, R1, PT
        @P0 BRA `(.L_end)
        FADD R0, R1, R2
        .L_end:
        EXIT
    """)
    assert whole(program) == (0, 1, 2, 3)


def test_a_conditional_exit_is_passed() -> None:
    assert whole(listing("@P0 EXIT\nFADD R0, R1, R2\nEXIT\n.L_x:\nBRA `(.L_x)\nNOP")) == (0, 1, 2)


def test_a_loop_tested_at_its_end_runs_once() -> None:
    program = listing("""
        MOV R0, RZ
        .L_loop:
        FADD R0, R1, R2
        @P0 BRA `(.L_loop)
        EXIT
    """)
    assert whole(program) == (0, 1, 2, 3)
    assert [loop.stream for loop in loops(program)] == [(1, 2)]


def test_a_loop_tested_at_its_top_runs_test_body_test() -> None:
    program = listing("""
        .L_loop:
        @P0 BRA `(.L_end)
        FADD R0, R1, R2
        BRA `(.L_loop)
        .L_end:
        FADD R3, R1, R2
        EXIT
    """)
    assert whole(program) == (0, 1, 2, 0, 3, 4)
    assert [loop.stream for loop in loops(program)] == [(0, 1, 2)]


def test_a_loop_left_in_its_middle_runs_up_to_there_again() -> None:
    program = listing("""
        .L_loop:
        FADD R0, R1, R2
        @P0 BRA `(.L_end)
        FADD R3, R1, R2
        FADD R4, R1, R2
        BRA `(.L_loop)
        .L_end:
        EXIT
    """)
    assert whole(program) == (0, 1, 2, 3, 4, 0, 1, 5)


def test_a_loop_that_can_also_be_left_early_ends_at_its_end() -> None:
    program = listing("""
        .L_loop:
        FADD R0, R1, R2
        @P0 BRA `(.L_end)
        FADD R3, R1, R2
        @P1 BRA `(.L_loop)
        .L_end:
        EXIT
    """)
    assert whole(program) == (0, 1, 2, 3, 4)


def test_an_iteration_goes_on_to_the_last_way_back() -> None:
    program = listing("""
        .L_loop:
        FADD R0, R1, R2
        @P0 BRA `(.L_loop)
        FADD R3, R1, R2
        @P1 BRA `(.L_end)
        FADD R3, R1, R2
        BRA `(.L_loop)
        .L_end:
        EXIT
    """)
    assert [loop.stream for loop in loops(program)] == [(0, 1, 2, 3, 4, 5)]  # `continue` is shorter
    assert whole(program) == (0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 6)


def test_inner_loops_run_once_in_an_iteration_of_the_outer() -> None:
    program = listing("""
        .L_outer:
        MOV R0, RZ
        .L_inner:
        FADD R0, R1, R2
        @P0 BRA `(.L_inner)
        FADD R3, R1, R2
        @P1 BRA `(.L_outer)
        EXIT
    """)
    outer, inner = loops(program)
    assert (outer.stream, outer.depth, outer.parent, outer.innermost) == ((0, 1, 2, 3, 4), 1, None, False)
    assert (inner.stream, inner.depth, inner.parent, inner.innermost) == ((1, 2), 2, 0, True)
    assert whole(program) == (0, 1, 2, 3, 4, 5)


def test_an_outer_loop_that_its_inner_one_returns_to() -> None:
    program = listing("""
        .L_outer:
        MOV R0, RZ
        .L_inner:
        @P0 BRA `(.L_outer)
        @P1 BRA `(.L_end)
        FADD R0, R1, R2
        BRA `(.L_inner)
        .L_end:
        EXIT
    """)
    outer, inner = loops(program)
    assert inner.stream == (1, 2, 3, 4)
    assert outer.stream == (0, 1, 2, 3, 4, 1)  # back from the inner loop's test
    assert whole(program) == (0, 1, 2, 3, 4, 1, 0, 1, 2, 5)  # once round the outer loop, then on to the way out


def test_slow_paths_and_failed_assertions_are_left_out() -> None:
    program = listing("""
        @P0 BRA `(.L_fast)
        MOV R11, 0x150
        MOV R12, 0x150
        CALL.REL.NOINC `($__internal_0_$__cuda_sm20_sqrt_rn_f32_slowpath)
        BRA `(.L_end)
        .L_fast:
        FMUL R6, R7, R0
        .L_end:
        @P1 BRA `(.L_done)
        BPT.TRAP 0x1
        NOP
        NOP
        .L_done:
        EXIT
    """)
    assert whole(program) == (0, 5, 6, 10)


def test_a_slow_path_is_taken_where_there_is_no_other() -> None:
    program = listing("CALL.REL.NOINC `($__internal_0_$x)\nFADD R0, R1, R2\nEXIT")
    assert whole(program) == (0, 1, 2)


def test_a_way_may_end_at_a_conditional_exit_before_a_slow_path() -> None:
    assert whole(listing("FADD R0, R1, R2\n@P0 EXIT\nBPT.TRAP 0x1\nNOP\nEXIT")) == (0, 1)


def test_the_users_own_functions_stand_where_they_are_called() -> None:
    program = listing("""
        CALL.REL.NOINC `(.L_f)
        FADD R0, R1, R2
        CALL.REL.NOINC `(.L_f)
        EXIT
        .L_f:
        FMUL R0, R1, R2
        RET.REL.NODEC R2 `(.L_x)
    """)
    assert whole(program) == (0, 4, 5, 1, 2, 4, 5, 3)


def test_a_function_that_calls_itself_comes_to_an_end() -> None:
    program = listing("CALL.REL.NOINC `(.L_f)\nEXIT\n.L_f:\nFMUL R0, R1, R2\nCALL.REL.NOINC `(.L_f)\nRET.REL R2")
    assert whole(program)[:3] == (0, 2, 3)
    assert len(whole(program)) < 40


def test_an_indirect_branch_goes_where_its_table_says() -> None:
    program = listing("""
        .L_loop:
        BRX R2 -0x20 (*"BRANCH_TARGETS .L_a,.L_b"*)
        .L_a:
        FADD R0, R1, R2
        BRA `(.L_end)
        .L_b:
        FADD R0, R1, R2
        FADD R0, R1, R2
        FADD R0, R1, R2
        .L_end:
        EXIT
    """)
    assert program.flow.blocks[0].follows == (1, 2)
    assert program.flow.loops == ()  # not back to .L_loop, although that is a label too
    assert whole(program) == (0, 3, 4, 5, 6)


def test_an_indirect_branch_without_a_table_may_go_to_any_label() -> None:
    program = listing("BRX R2 -0x20\n.L_a:\nFADD R0, R1, R2\nEXIT")
    assert whole(program) == (0, 1, 2)


def test_an_endless_loop_is_a_way_by_itself() -> None:
    assert whole(listing("MOV R0, RZ\n.L_x:\nFADD R0, R1, R2\nBRA `(.L_x)")) == (0, 1, 2)


def test_a_cycle_with_two_entries_is_cut() -> None:
    blocks = (Block(0, 1, (1, 2)), Block(1, 2, (2,)), Block(2, 3, (1, 3)), Block(3, 4, ()))
    graph = Flow(blocks, frozenset(range(4)), (None, 0, 0, 2), ())
    assert LoopPaths(graph, (1.0,) * 4).whole(0) in {(0, 1, 2, 3), (0, 2, 3)}


def test_no_instructions_no_way() -> None:
    assert whole(Program("k", "k", 86, ())) == ()
    assert flow((), ()).blocks == ()


# ---------------------------------------------------------------------------------------- counts


def test_counts_of_a_small_kernel() -> None:
    found = work(listing("""
        B------:R-:W0:-:S02  LDG.E.128 R4, [R2.64]
        B0-----:R-:W-:-:S04  FFMA R8, R4, R5, R6
        B------:R-:W1:-:S01  MUFU.RCP R9, R8
        B-1----:R-:W-:-:S05  IMAD R9, R9, R8, R9
        @!PT LDS RZ, [RZ]
        STG.E [R2.64], R9
        EXIT
    """))
    assert found.warp_instructions == 7
    assert found.thread_instructions == 6 * 32  # the filler is issued, and executed by nobody
    assert found.by_pipe == {"lsu": 2, "fma": 2, "xu": 1, "none": 1, "cbu": 1}
    assert found.flop["fp32"] == 64
    assert found.memory == Memory(
        global_load_requests=1, l1_sectors_load=16, l1_wavefronts=4 + 1, l1_narrow=4 + 1, l2_sectors_read=16,
        dram_bytes_read=512, global_store_requests=1, l1_sectors_store=4, l2_sectors_written=4,
        dram_bytes_written=128, ideal_sectors=20,
    )  # fmt: skip
    assert found.units["lsu"] == 2 * opcode_facts("LDG", (), ARCH).demand["lsu"]
    assert found.units["xu"] == 8
    # 0, 506 (128 bits: 6 more), 510, 527, 532, 533, 534
    assert found.latency == 535
    assert found.phases == (1,)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("LDG.E.U8 R0, [R2.64]", {"l1_sectors_load": 1, "l1_wavefronts": 1, "dram_bytes_read": 32}),
        ("LDG.E.U16 R0, [R2.64]", {"l1_sectors_load": 2, "l1_wavefronts": 1, "dram_bytes_read": 64}),
        ("LDG.E.64 R0, [R2.64]", {"l1_sectors_load": 8, "l1_wavefronts": 2, "dram_bytes_read": 256}),
        ("LDG.E R0, [UR4]", {"l1_sectors_load": 1, "l1_wavefronts": 1, "dram_bytes_read": 32}),
        ("LDG.E R0, desc[UR4][R2.64]", {"l1_sectors_load": 4, "l1_wavefronts": 1, "dram_bytes_read": 128}),
        ("LDS.128 R0, [R4]", {"shared_wavefronts_load": 4}),
        ("LDS.U8 R0, [R4]", {"shared_wavefronts_load": 1}),
        ("LDSM.16.M88.4 R0, [R4]", {"shared_wavefronts_load": 4}),
        ("LDSM.16.M88 R0, [R4]", {"shared_wavefronts_load": 1}),
        ("STS.64 [R4], R0", {"shared_wavefronts_store": 2}),
        ("LDL R0, [R1]", {"l1_sectors_load": 4, "l1_wavefronts": 1}),
        ("STL.64 [R1], R2", {"l1_sectors_store": 8, "l1_wavefronts": 2}),
        ("LDGSTS.E.BYPASS.128 [R5], [R2.64]", {"l1_sectors_load": 16, "shared_wavefronts_store": 4}),
        ("RED.E.ADD [R2.64], R0", {"l2_sectors_written": 4, "dram_bytes_written": 128, "dram_bytes_read": 128}),
        ("LDC R0, c[0x0][0x160]", {}),
        ("@!PT LDS RZ, [RZ]", {}),
    ],
)
def test_traffic_of_one_coalesced_access(text: str, expected: dict[str, float]) -> None:
    found = static_memory(listing(text).instructions, {0: 1.0})
    assert {name: getattr(found, name) for name in expected} == expected
    if not expected:
        assert found == Memory()
    twice = static_memory(listing(text).instructions, {0: 2.0})
    assert twice == found.scaled(2)


@pytest.mark.parametrize(
    "text, kind, operations",
    [
        ("FADD R0, R1, R2", "fp32", 1),
        ("FFMA R0, R1, R2, R3", "fp32", 2),
        ("FFMA2 R0, R2, R4, R6", "fp32", 4),
        ("DFMA R0, R2, R4, R6", "fp64", 2),
        ("DMUL R0, R2, R4", "fp64", 1),
        ("HFMA2 R0, R1, R2, R3", "fp16", 4),
        ("HFMA2.BF16_V2 R0, R1, R2, R3", "bf16", 4),
        ("HADD2 R0, R1, R2", "fp16", 2),
        ("HFMA2.MMA R7, -RZ, RZ, 0, 0", "fp16", 0),  # a constant is loaded this way
        ("HADD2.F32 R0, -RZ, R1.H0_H0", "fp16", 0),  # a half becomes a float
        ("HADD2.F32 R13, R2.H0_H0, -RZ.H0_H0", "fp16", 0),
        ("HADD2 R15, -R0, -RZ.H0_H0", "fp16", 0),  # -x, of pairs, of floats, of doubles
        ("FADD R17, -R0, -RZ", "fp32", 0),
        ("DADD R10, -RZ, -R10", "fp64", 0),
        ("FMUL R0, R1, RZ", "fp32", 1),
        ("FFMA R0, R1, R2, RZ", "fp32", 2),
        ("HFMA2 R0, R0.H0_H0, R1.H1_H1, R15.reuse.H0_H0", "fp16", 2),  # of single halves
        ("HFMA2.BF16_V2 R0, R0.H0_H0, 2, 2, R7.H0_H0", "bf16", 2),
        ("HFMA2.MMA R0, R0.H0_H0, 2, 1, R7.H0_H0", "fp16", 4),
        ("HFMA2 R0, R0.H0_H0, R1, R7.H0_H0", "fp16", 4),
        ("HADD2 R4, R4.H0_H0, c[0x0][0x170].H0_H0", "fp16", 1),
        ("HADD2 R4, R4, c[0x0][0x170].H0_H0", "fp16", 2),
        ("HMUL2 R5, R5.H0_H0, 1.5, 1.5", "fp16", 1),
        ("HMUL2 R5, R5, 1.5, 1.5", "fp16", 2),
        ("IADD3 R0, R1, R2, RZ", "fp32", 0),
        ("MUFU.RCP R0, R1", "fp32", 0),
    ],
)
def test_flop_of_one_lane(text: str, kind: str, operations: int) -> None:
    assert flop_of(listing(text).instructions[0]) == (kind, operations)


def test_counts_follow_how_often_and_by_how_many() -> None:
    instructions = listing("FFMA R0, R1, R2, R3\nBAR.SYNC 0x0\nHMMA.16816.F32 R0, R4, R8, R0").instructions
    facts = [opcode_facts(one.opcode, one.modifiers, ARCH) for one in instructions]
    read = [(0, 0)] * 3
    found = count(instructions, facts, read, [3.0, 2.0, 1.0], [40.0, 64.0, 32.0])
    assert (found.warp_instructions, found.thread_instructions, found.barriers) == (6, 136, 2)
    assert found.flop == {"fp32": 80, "tensor": 2 * 16 * 8 * 16}
    assert found.tensor == {"fp16": 16 * 8 * 16}
    assert found.units["fma"] == 3
    assert count(instructions, facts, read, [0.0] * 3, [0.0] * 3).warp_instructions == 0


@pytest.mark.parametrize("text, size", [("LDG.E.U8", 1), ("LDG.E.S16", 2), ("LDG.E", 4), ("LDG.E.64", 8)])
def test_bytes_of_one_lane(text: str, size: int) -> None:
    assert lane_bytes(listing(f"{text} R0, [R2.64]").instructions[0]) == size


def test_an_iteration_is_timed_in_its_steady_state() -> None:
    program = listing("""
        .L_loop:
        B0-----:R-:W-:-:S04  FFMA R8, R0, R0, R8  #3
        B------:R-:W0:-:S01  LDG.E R0, [R2.64]    #4
        B------:R-:W-:-:S05  @P0 BRA `(.L_loop)   #3
        EXIT
    """)
    ((loop, found),) = iterations(program, ARCH, waits(program.instructions, CHIP))
    assert loop.lines == found.lines == (3, 4)
    assert found.title == "loop, lines 3-4"
    assert (found.unit, found.warps) == ("iteration", None)
    assert found.latency == 504  # the load of the iteration before: 4 + 500
    assert found.phases == (1,)
    assert sum(sum(parts.values()) for parts in found.lines_by_cause.values()) == pytest.approx(504)


# ------------------------------------------------------------------------------------- examples

EXAMPLES = sorted(ROOT.glob("examples/*.cu"))


@pytest.mark.cuda
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_has_a_way_to_an_exit_and_balanced_books(path: Path) -> None:
    board = gpu("rtx-4090")
    for program in programs(path, board, None, Options()):
        timing = waits(program.instructions, MemoryLatency(89, 32, 200, 500, 24))
        found = straight(program, 89, timing)
        assert program.instructions[whole(program)[-1]].opcode == "EXIT"
        assert sum(found.parts.values()) == pytest.approx(found.latency)
        for loop, piece in iterations(program, 89, timing):
            assert sum(piece.parts.values()) == pytest.approx(piece.latency)
            nest = program.flow.loops[loop.number]
            body = [program.flow.blocks[b] for b in nest.blocks]
            ends = {block.last - 1 for block in body if nest.header in block.follows}
            assert loop.stream[-1] in ends, "an iteration ends by going back"
            assert loop.stream[0] == program.flow.blocks[nest.header].first
