"""Every latency of the tables goes with one number of a board, or stands below with the reason why it does not."""

from importlib.resources import files

import numpy as np
import pytest

from support.sass_listing import code
from warpbound import machine
from warpbound.board_parameters import LANES, LATENCIES, PARAMETERS
from warpbound.isa.latency_classes import architecture_latency, latency_parameter, row_parameter
from warpbound.isa.opcodes import _load as load
from warpbound.isa.opcodes import architectures, opcode_facts
from warpbound.isa.traits import table
from warpbound.latency import memory_latency, own_timing, waits
from warpbound.machine import gpu, override
from warpbound.page.sliders import gpu_controls
from warpbound.program.instruction import Instruction
from warpbound.schedule import schedule
from warpbound.workload.files.lanes import PIPE_OF

WITHOUT_SLIDER = {  # rows of latencies.toml and classes of families that answers read -> why no number goes with them
    "stall_zero": "what a control word means that stalls for 0 cycles and yields: part of the instruction set",
    "branch": "the control word of a branch counts its cycles; before 7.0 they go with issue_gap",
    "none": "no instruction that computes",
    "global_width_32": "0 by definition: what wider ones are compared with",
    "shared_width_32": "0 by definition: what wider ones are compared with",
    "shared_width_64": "0, and in proportion it stays 0",
}  # fmt: skip
NOT_TAKEN = """
predicate predicate_operand uniform_predicate cross_pipe memory_operand xu_operand uniform_to_vector uniform_to_memory
vector_to_uniform xu fp64 constant_operand_miss shfl s2r vote match redux barrier barrier_per_warp mbarrier membar_cta
membar_gpu membar_sys shared_cluster shared_extra_wavefront"""  # rows that no answer reads
UNITS_WITHOUT_WIDTH = {"adu", "cbu"}  # counted, but nothing is bound by them; tensor cores have their rates
LINES = {  # number of a board -> an instruction that waits for it, on sm_90
    "alu_latency": "FADD R4, R5, R6", "uniform_latency": "UIADD3 UR4, UR5, UR6, URZ", "xu_latency": "MUFU.RCP R0, R2",
    "fp64_latency": "DADD R0, R2, R4", "tensor_latency": "IMMA.16832.S8.S8 R0, R4.ROW, R8.COL, R0",
    "shuffle_latency": "SHFL.BFLY PT, R0, R2, 0x1, 0x1f", "special_register_latency": "S2R R0, SR_TID.X",
    "reduction_latency": "MATCH.ALL R0, R2", "barrier_latency": "BAR.SYNC.DEFER_BLOCKING 0x0",
    "fence_latency": "MEMBAR.SC.SYS", "constant_latency": "LDC R0, c[0x0][R4]",
    "matrix_load_latency": "LDSM.16.M88.4 R0, [R4]", "shared_atomic_latency": "ATOMS.ADD R0, [R4], R2",
    "copy_latency": "LDGSTS.E.BYPASS.128 [R5], [R2.64]", "wide_load_cost": "LDG.E.64 R0, [R2.64]",
    "uniform_address_lead": "LDG.E R0, [UR4]", "operand_read_latency": "STG.E [R2.64], R0",
    "scoreboard_latency": "CCTL.IVALL",
}  # fmt: skip
BOARD = gpu("h200")


def one(text: str, word: str = "B------:R0:W1:-:S02") -> tuple[Instruction, ...]:
    return tuple(code(f"{word}  {text}"))


def cycles(text: str, board: machine.Gpu) -> tuple[float, float, float]:
    memory = memory_latency(board, board.value("boost_clock"))
    found = waits(one(text), memory, lambda _: {"l1": 1.0})[0]
    return found.write, found.source_wait, found.hold


@pytest.mark.parametrize("name", load("latencies"))
def test_every_row_follows_a_number_or_says_why_not(name: str) -> None:
    assert [row_parameter(name) in PARAMETERS, name in WITHOUT_SLIDER, name in NOT_TAKEN.split()].count(True) == 1


def test_rows_that_are_said_to_be_read_by_nothing_are_read_by_nothing() -> None:
    source = files("warpbound")
    read = "".join(path.read_text("utf-8") for path in (source / "latency.py", source / "isa" / "latency_classes.py"))
    assert [name for name in NOT_TAKEN.split() if f'_row("{name}"' in read or f'("{name}",)' in read] == []


@pytest.mark.parametrize("arch", [*map(int, load("early_families")["rows"]), *architectures()])
def test_every_opcode_follows_a_number_or_says_why_not(arch: int) -> None:
    for opcode, entry in table().items():
        for modifiers, family in entry.families:
            facts = opcode_facts(opcode, tuple(modifiers), arch)
            if facts.latency is None or facts.latency_class in WITHOUT_SLIDER or facts.pipe in WITHOUT_SLIDER:
                continue
            assert latency_parameter(facts) in LATENCIES, (family, opcode)
            for unit in facts.demand:
                known = PIPE_OF.get(unit) in {*LANES, "tensor"}
                assert known != (unit in UNITS_WITHOUT_WIDTH), (opcode, unit)


def test_every_number_has_a_slider_that_stands_at_the_architectures() -> None:
    for key in ("h200", "t4", "gtx1080"):
        board = gpu(key)
        controls = {control.key.removeprefix("gpu."): control for control in gpu_controls(board)}
        for name in LATENCIES:
            if name == "tensor_latency" and "tensor_fp16" not in board.parameters:
                continue
            assert controls[name].value == architecture_latency(name, board.arch) > 0
            assert controls[name].origin in ("from the architecture", "assumed")
    early = {control.key.removeprefix("gpu.") for control in gpu_controls(gpu("gtx480"))}
    assert set(LATENCIES) - early == {name for name in LATENCIES if PARAMETERS[name].first_arch > 20}
    assert {"issue_gap", "reissue_cost"} <= early


@pytest.mark.parametrize("name", LATENCIES)
def test_a_number_changes_what_its_instructions_take_in_proportion(name: str) -> None:
    own = architecture_latency(name, BOARD.arch)
    before, after = cycles(LINES[name], BOARD), cycles(LINES[name], override(BOARD, {name: 3.0 * own}))
    changed = np.subtract(after, before)
    if name == "wide_load_cost":
        assert changed.tolist() == [2 * 2.0, 0, 0]
    elif name == "uniform_address_lead":
        assert changed.tolist() == [-2 * 3.0, 0, 0]
    elif name == "copy_latency":
        assert changed[0] == 3 * 39.0 - max(39.0, BOARD.value("l1_latency"))
    else:
        at = 1 if name == "operand_read_latency" else 0
        assert after[at] == pytest.approx(3.0 * before[at])
    half = cycles(LINES[name], override(BOARD, {name: 0.5 * own}))
    assert half != before or name in ("copy_latency", "scoreboard_latency")


def test_opcodes_and_rows_are_those_of_the_tables() -> None:
    for name in LATENCIES:
        opcode, *modifiers = PARAMETERS[name].opcode.split(".")
        assert bool(opcode) != bool(PARAMETERS[name].rows), name
        assert set(PARAMETERS[name].rows) <= set(load("latencies"))
        assert not opcode or opcode_facts(opcode, tuple(modifiers), 90).is_known


# ---------------------------------------------------------------- latencies that control words count


CHAIN = """
B------:R-:W-:-:S04  FADD R4, R5, R6
B------:R-:W-:-:S01  FADD R7, R8, R9
B------:R-:W-:-:S03  FADD R4, R4, R6
B------:R-:W-:-:S05  FADD R10, R4, R7
B------:R-:W-:-:S01  EXIT
"""


def issued(board: machine.Gpu) -> list[float]:
    program = code(CHAIN)
    timing = waits(program, memory_latency(board, board.value("boost_clock")))
    return list(schedule(range(len(program)), program, timing).issue)


def test_a_longer_latency_is_waited_for_where_the_word_counts_on_a_shorter_one() -> None:
    assert issued(BOARD) == [0, 4, 5, 8, 13]
    # R4 of the first is there after 6, that of the third after 6 more
    assert issued(override(BOARD, {"alu_latency": 6.0})) == [0, 4, 6, 12, 17]
    assert issued(override(BOARD, {"alu_latency": 4.0})) == [0, 4, 5, 8, 13]
    assert issued(override(BOARD, {"alu_latency": 1.0})) == [0, 4, 5, 8, 13]  # the code counts all the same


def test_waits_that_follow_a_number_are_told_with_their_latencies() -> None:
    program = code("""
B------:R-:W1:-:S02  MUFU.RCP R0, R2
B-1----:R-:W-:-:S01  FADD R4, R0, R6
B------:R-:W-:-:S01  BAR.SYNC.DEFER_BLOCKING 0x0
B------:R-:W-:-:S01  EXIT
""")
    timing = waits(program, memory_latency(BOARD, BOARD.value("boost_clock")))
    found = schedule(range(len(program)), program, timing).board_waits
    assert found == {"xu_latency": (17.0, 15.0), "barrier_latency": (22.0, 21.0)}


def test_distances_before_control_words_follow_the_board() -> None:
    board = gpu("gtx480")
    own, twice = own_timing(board), own_timing(override(board, {"issue_gap": 12.0, "reissue_cost": 3.0}))
    assert own is not None
    assert twice is not None
    for key, row in own.cycles.items():
        factor = {"barrier": 1.0, "reissue": 3.0}.get(key, 2.0)
        assert twice.cycles[key] == tuple(factor * cycle for cycle in row), key
    longer = own_timing(override(board, {"barrier_latency": 2 * architecture_latency("barrier_latency", 20)}))
    assert longer is not None
    assert longer.cycles["barrier"] == (2 * own.cycles["barrier"][0],)
