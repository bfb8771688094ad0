"""Issue times where no control word tells them: tables worked by hand, and a simulator that steps cycle by cycle."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.issue_streams import nonzero
from warpbound.isa.timings import timing, timings
from warpbound.latency import memory_latency, waits
from warpbound.machine import gpu
from warpbound.program.cuda import Options
from warpbound.program.instruction import Control, Instruction
from warpbound.program.operands import split_instruction
from warpbound.program.pre_volta_sass import plain
from warpbound.program.registers import reads, writes
from warpbound.program.source_files import programs
from warpbound.schedule import Schedule, Wait, schedule, steady, together
from warpbound.schedule.dependences import greedy_pairs
from warpbound.shipped_tables import shipped_table

ADD = Wait(9, gaps=(3.0,))
LOAD = Wait(300, causes=(("dram", 1.0),), queue="global", loads=True, gaps=(3.0,))
BARRIER = Wait(34, causes=(("barrier", 1.0),), hold=34, gaps=(6.0,))
BRANCH = Wait(gaps=(28.0,), branch_gap=32.0)
END = Wait(gaps=(0.0,))
BY_OPCODE = {"LD": LOAD, "BAR": BARRIER, "BRA": BRANCH, "EXIT": END, "ST": Wait(gaps=(34.0,))}


def code(text: str) -> tuple[Instruction, ...]:
    found = []
    for place, line in enumerate(filter(None, (row.strip() for row in text.splitlines()))):
        guard, opcode, modifiers, operands = split_instruction(plain(line))
        found.append(Instruction(8 * place, opcode, modifiers, operands, line, guard=guard))
    return tuple(found)


def waits_of(instructions: Sequence[Instruction]) -> list[Wait]:
    return [BY_OPCODE.get(one.opcode, ADD) for one in instructions]


def run(text: str, changes: dict[int, Wait] | None = None) -> Schedule:
    instructions = code(text)
    asked = [(changes or {}).get(index, wait) for index, wait in enumerate(waits_of(instructions))]
    return schedule(range(len(instructions)), instructions, asked)


# ------------------------------------------------------------------------------ tables worked by hand


def test_what_is_read_is_waited_for() -> None:
    done = run("FADD R1, R2, R3\nFADD R4, R5, R6\nFADD R7, R1, R4\nEXIT")
    assert done.issue == (0, 3, 12, 15)  # R4 of the second at 3 + 9
    assert done.producer == (-1, -1, 1, -1)
    assert done.waited == (0, 0, 6, 0)
    assert done.cycles == 15  # what ends the warp is followed by nothing
    assert nonzero(done.parts) == {"issue": 9, "fixed": 6}


def test_the_latest_result_counts() -> None:
    """A register that is written again is waited for once; who overwrites it waits for nobody."""
    done = run("LD R1, [R2]\nMOV R1, R3\nFADD R4, R1, R1\nEXIT")
    assert done.issue == (0, 3, 12, 15)


def test_a_guard_a_carry_and_both_halves_are_read() -> None:
    assert run("ISETP.GE.AND P0, PT, R0, R1, PT\n@!P0 BRA 0x0").issue == (0, 9)
    assert run("IADD R8.CC, R8, R1\nIADD.X R9, R9, RZ").issue == (0, 9)
    assert run("MOV R3, R5\nLD.E R0, [R2]").issue == (0, 9)
    assert run("MOV R3, R5\nLD R0, [R2]").issue == (0, 3)
    assert run("MOV R3, R5\n@!PT FADD R0, R3, R3").issue == (0, 3)  # which nobody executes


def test_pairs_issue_together_unless_one_waits() -> None:
    first = {0: replace(ADD, gaps=(0.0,))}
    done = run("MOV R1, R2\nMOV R3, R4\nFADD R5, R1, R3\nEXIT", first)
    assert done.issue == (0, 0, 9, 12)
    assert done.issue_slots == 3
    assert sum(done.parts.values()) == done.cycles == 12
    assert run("MOV R1, R2\nMOV R3, R1\nEXIT", first).issue == (0, 9, 12)


def test_branches_taken_and_not() -> None:
    instructions = code("BRA 0x10\nMOV R1, R2\nMOV R3, R4")
    asked = waits_of(instructions)
    assert schedule([0, 1, 2], instructions, asked).issue == (0, 28, 31)
    assert schedule([0, 2], instructions, asked).issue == (0, 32)
    assert steady([1, 0], instructions, asked).cycles == 3 + 28  # from 0 the loop goes on with 1, which is behind it
    assert steady([0, 2], instructions, asked).cycles == 32 + 3
    assert schedule([0], instructions, asked).cycles == 28


def test_gaps_of_loads_under_way() -> None:
    row = replace(LOAD, write=400, gaps=(6.0, 6.0, 26.0, 5.0))
    text = "\n".join(f"LD R{i}, [R{i}]" for i in range(1, 7))
    assert run(text, dict.fromkeys(range(6), row)).issue == (0, 6, 12, 38, 43, 48)
    done = run("LD R1, [R2]\nLD R3, [R2]\nFADD R1, R1, R3\nLD R4, [R2]\nLD R5, [R2]", {0: row, 1: row, 3: row, 4: row})
    assert done.issue == (0, 6, 406, 409, 415)  # after the wait the first gap comes first again
    assert [phase.loads for phase in done.phases] == [(0, 1)]
    assert sum(done.parts.values()) == done.cycles


def test_a_longer_gap_of_a_load_is_waiting_for_memory() -> None:
    row = replace(LOAD, gaps=(6.0, 406.0))
    done = run("LD R1, [R2]\nLD R3, [R2]\nMOV R4, R5\nEXIT", {0: row, 1: row})
    assert done.issue == (0, 6, 412, 415)
    assert nonzero(done.parts) == {"issue": 6 + 6 + 3, "dram": 400}


def test_warps_of_a_block_meet_at_barriers() -> None:
    instructions = code("LD R1, [R2]\nFADD R3, R1, R1\nBAR.SYNC 0x0\nFADD R4, R3, R3\nBAR.SYNC 0x0\nEXIT")
    ways = [[0, 1, 2, 3, 4, 5], [2, 3, 4, 5], [2]]
    slow, fast, gone = together(ways, instructions, waits_of(instructions))
    assert slow.issue == (0, 300, 303, 337, 340, 374)
    assert fast.issue == (0, 337, 340, 374)
    assert gone.issue == (0,)
    assert fast.parts["barrier"] == pytest.approx(303 + 2 * (34 - 6))
    for one in (slow, fast, gone):
        assert sum(one.parts.values()) == pytest.approx(one.cycles)


def test_who_only_arrives_waits_for_nobody() -> None:
    found = asked_of("BAR.ARV 0x1, 0x40\nBAR.ARV.WAIT b0, 0xfff\nBAR.SYNC 0x0\nEXIT", "gtx480")
    assert [wait.hold for wait in found] == [0, 34, 34, 0]
    instructions = code("BAR.ARV 0x1, 0x40\nBAR.SYNC 0x0\nEXIT")
    early, late = together([[0, 1, 2], [1, 2]], instructions, [found[0], found[2], found[3]])
    assert (early.issue, late.issue) == ((0, 6, 40), (0, 40))


def test_control_words_win() -> None:
    word = Control(4, yields=False, write_scoreboard=None, read_scoreboard=None, wait=(), reuse=0)
    told = replace(code("FADD R1, R2, R3")[0], control=word)
    instructions = (told, *code("FADD R4, R1, R1"))
    assert schedule([0, 1], instructions, [ADD, ADD]).issue == (0, 4)


# ------------------------------------------------------------------------------ pairing


@pytest.mark.parametrize(
    "text, pairs",
    [
        ("MOV R1, R2\nMOV R3, R4\nMOV R5, R6", {0}),
        ("MOV R1, R2\nMOV R3, R1\nMOV R5, R6", {1}),
        ("LD R1, [R2]\nLD R3, [R4]\nLDS R5, [R6]", set()),
        ("LD R1, [R2]\nMOV R3, R4", {0}),
        ("ISETP.GE.AND P0, PT, R0, R1, PT\n@P0 MOV R3, R4", set()),
        ("BRA 0x0\nMOV R3, R4", set()),
        ("ST [R1], R2\nEXIT", {0}),
    ],
)
def test_greedy_pairs(text: str, pairs: set[int]) -> None:
    assert greedy_pairs(code(text)) == pairs


# ------------------------------------------------------------------------------ a simulator

OPCODES = {"FADD": ("FADD R{}, R{}, R{}", 9), "MUFU": ("MUFU.RSQ R{}, R{}", 22), "LD": ("LD R{}, [R{}]", 300)}


@st.composite
def streams(draw: st.DrawFn) -> tuple[tuple[Instruction, ...], list[Wait]]:
    lines, asked = [], []
    for _ in range(draw(st.integers(1, 14))):
        opcode = draw(st.sampled_from(sorted(OPCODES)))
        form, latency = OPCODES[opcode]
        lines.append(form.format(*(draw(st.integers(0, 5)) for _ in range(form.count("{}")))))
        gap = float(draw(st.sampled_from([0, 1, 3, 6])))
        asked.append(replace(LOAD, write=latency, gaps=(gap,)) if opcode == "LD" else Wait(latency, gaps=(gap,)))
    return code("\n".join(lines)), asked


def simulated(instructions: Sequence[Instruction], asked: Sequence[Wait]) -> list[int]:
    """Cycle by cycle: the next instruction goes when its slot has come and nothing that it reads is on its way."""
    issued: list[int] = []
    cycle, slot = 0, 0
    while len(issued) < len(instructions):
        place = len(issued)
        last_writers = [
            max((i for i in range(place) if name in writes(instructions[i])), default=None)
            for name in reads(instructions[place])
        ]
        ready = all(i is None or cycle >= issued[i] + asked[i].write for i in last_writers)
        if cycle >= slot and ready:
            issued.append(cycle)
            slot = cycle + int(asked[place].gaps[0])
        else:
            cycle += 1
    return issued


@settings(max_examples=200, deadline=None)
@given(streams())
def test_as_simulated(stream: tuple[tuple[Instruction, ...], list[Wait]]) -> None:
    instructions, asked = stream
    done = schedule(range(len(instructions)), instructions, asked)
    assert list(done.issue) == simulated(instructions, asked)
    assert sum(done.parts.values()) == pytest.approx(done.cycles)
    assert done.issue_slots == len(set(done.issue))


@settings(max_examples=60, deadline=None)
@given(streams(), st.integers(1, 60))
def test_longer_latencies_never_help(stream: tuple[tuple[Instruction, ...], list[Wait]], more: int) -> None:
    instructions, asked = stream
    slower = [replace(wait, write=wait.write + more) for wait in asked]
    order = range(len(instructions))
    pairs = zip(schedule(order, instructions, asked).issue, schedule(order, instructions, slower).issue, strict=True)
    assert all(fast <= slow for fast, slow in pairs)


@settings(max_examples=60, deadline=None)
@given(streams())
def test_a_loop_is_the_mean_of_many(stream: tuple[tuple[Instruction, ...], list[Wait]]) -> None:
    instructions, asked = stream
    body = list(range(len(instructions)))
    done = schedule(body * 60, instructions, asked)
    span = done.issue[50 * len(body)] - done.issue[20 * len(body)]
    assert steady(body, instructions, asked).cycles == pytest.approx(span / 30, abs=0.5)


# ------------------------------------------------------------------------------ tables of machines


def test_every_number_of_the_tables_has_a_source() -> None:
    for table in timings():
        assert "gap" in table.cycles
        assert set(table.cycles) == set(table.source) == set(table.how)
        assert set(table.source.values()) <= set(shipped_table("isa", "timings.toml")["sources"])
        assert all(one >= 0 for cycles in table.cycles.values() for one in cycles)


@pytest.mark.parametrize(
    "arch, board, name",
    [
        (10, "8800gtx", "tesla"), (21, "gtx570", "fermi"), (30, "gtx680", "kepler"), (35, "k40", "kepler"),
        (52, "gtx980", "maxwell"), (52, "interval-cc52", "interval-notes"), (61, "gtx1080", "pascal"),
        (61, "interval-cc61", "interval-notes"), (75, "interval-cc75", "interval-notes-turing"), (75, "t4", None),
        (90, "h200", None),
    ],
)  # fmt: skip
def test_which_table_answers(arch: int, board: str, name: str | None) -> None:
    found = timing(arch, board)
    assert (found.name if found else None) == name
    assert gpu(board).arch in (arch, 20)


def asked_of(text: str, board: str) -> list[Wait]:
    machine = gpu(board)
    (found,) = programs(text, machine, None, Options())
    return list(waits(found.instructions, memory_latency(machine, machine.value("boost_clock"))))


def test_waits_of_the_tables() -> None:
    lines = ["LD R1, [R2]", "LDS R4, [R5]", "FADD R3, R1, R1", "MUFU.RSQ R3, R3", "ST [R2], R3"]
    text = "\n".join([*lines, "BAR.SYNC 0x0", "@P0 EXIT", "L:", "BRA L", "EXIT"])
    fermi = asked_of(text, "gtx480")
    assert [wait.gaps for wait in fermi] == [
        (6, 6, 26, 6, 482, 8, 6), (6,), (6,), (6,), (34,), (6,), (28,), (28,), (0,),
    ]  # fmt: skip
    assert [wait.write for wait in fermi[:4]] == [513, 26, 18, 22]
    assert (fermi[5].hold, fermi[7].branch_gap) == (34, 32)
    notes = asked_of(text, "interval-cc61")
    assert [wait.gaps for wait in notes] == [(4,), (4,), (1,), (1,), (4,), (1,), (1,), (1,), (0,)]
    assert (notes[0].write, notes[2].write) == (400, 6)
    turing = asked_of("FADD R3, R1, R1\nLDG.E R1, [R2.64]\nFADD R2, R1, R1", "interval-cc75")
    assert [(wait.gaps, wait.write) for wait in turing] == [((2,), 4), ((4,), 400), ((2,), 4)]
    kepler = asked_of(text, "gtx680")
    assert [wait.gaps for wait in kepler[:5]] == [(3,), (0,), (3,), (3,), (0,)]  # LDS with FADD, ST with BAR


def test_listings_of_later_machines_without_control_words() -> None:
    """A plain gap of one, results after the latencies of the architecture."""
    found = asked_of("LDG.E R1, [R2.64]\nFADD R3, R1, R1\nMUFU.RSQ R3, R3\nEXIT", "a100-sxm-80gb")
    assert [wait.gaps for wait in found] == [(1,), (1,), (1,), (0,)]
    assert [wait.write for wait in found[1:3]] == [4, 17]
