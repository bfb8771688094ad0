"""Reads of registers by bank: parity of the number, what a slot keeps, wide operands; against counts by hand."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpbound.machine import gpu
from warpbound.model_inputs.resources import demand
from warpbound.program.instruction import Instruction
from warpbound.program.operands import split_instruction
from warpbound.program.register_banks import bank_reads
from warpbound.workload.instruction_counts import count, facts_of
from warpbound.workload.records import Memory, Workload


def code(*lines: str) -> list[Instruction]:
    return [_one(16 * at, text) for at, text in enumerate(lines)]


def _one(address: int, text: str) -> Instruction:
    guard, opcode, modifiers, operands = split_instruction(text)
    return Instruction(address, opcode, modifiers, operands, text, guard=guard)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("FFMA R1, R2, R4, R6", (3, 0)),
        ("FFMA R1, R2, R5, R6", (2, 1)),
        ("FFMA R16, R8, R9, -R5", (1, 2)),
        ("FADD R9, -R5, R8", (1, 1)),
        ("FFMA R1, R2, 0.5, RZ", (1, 0)),
        ("FFMA R1, R2, c[0x0][0x160], R3", (1, 1)),
        ("DFMA R2, R4, R6, R8", (3, 3)),
        ("STG.E.128 desc[UR8][R2.64], R4", (3, 3)),
        ("LDS R3, [R5+0x10]", (0, 1)),
        ("@P0 FADD R3, R4, R4", (1, 0)),
    ],
)
def test_reads_of_one_instruction(text: str, expected: tuple[int, int]) -> None:
    assert bank_reads(code(text)) == [expected]


def test_a_slot_keeps_what_it_is_told_to() -> None:
    kept = code("FFMA R40, R20.reuse, R24, R41", "FFMA R43, R20.reuse, R25, R43", "FFMA R44, R20, R26, R44")
    assert bank_reads(kept) == [(2, 1), (0, 2), (2, 0)]


def test_a_slot_keeps_one_register_of_each_bank() -> None:
    """An odd register in the same slot takes the place of none that is even; another even one does."""
    lines = ["FADD R1, R2.reuse, 1", "FADD R1, R3, 1", "FADD R1, R2, 1", "FADD R1, R2, 1"]
    assert bank_reads(code(*lines)) == [(1, 0), (0, 1), (0, 0), (1, 0)]
    assert bank_reads(code("FADD R1, R2.reuse, 1", "FADD R1, R4, 1", "FADD R1, R2, 1")) == [(1, 0)] * 3


def test_another_slot_keeps_nothing() -> None:
    assert bank_reads(code("FADD R1, R2.reuse, R3", "FADD R1, R3, R2")) == [(1, 1), (1, 1)]


@given(st.lists(st.tuples(*[st.integers(0, 200)] * 3), min_size=1, max_size=20))
def test_without_kept_registers_every_different_source_is_read(sources: list[tuple[int, int, int]]) -> None:
    found = bank_reads(code(*(f"FFMA R1, R{a}, R{b}, R{c}" for a, b, c in sources)))
    for three, (even, odd) in zip(sources, found, strict=True):
        by_parity = Counter(register % 2 for register in set(three))
        assert (even, odd) == (by_parity[0], by_parity[1])


def _issue(lines: list[str], board: str) -> float:
    """SM cycles of issue that one pass of one warp takes."""
    instructions, where = code(*lines), gpu(board)
    ones = [1.0] * len(lines)
    counts = count(instructions, facts_of(instructions, where.arch), bank_reads(instructions), ones, ones)
    issued, units = counts.warp_instructions, dict(counts.units)
    work = Workload("", "warp", (0, 0), issued, 0.0, {}, units, {}, {}, Memory(), 0.0, 0.0, {})
    return demand(work, where, 1e9)["issue"]


CHAINS = ["FFMA R16, R8, R16, -R5", "FFMA R9, R7, R9, -R6"]  # three reads of each bank by two instructions


def test_two_chains_of_three_operands_take_a_cycle_and_a_half_each() -> None:
    """Measured on a GH200: 1.51 (corpus `intensities`, from 64 to 400 multiply-adds)."""
    assert _issue(CHAINS, "gh200") == pytest.approx(2 * 1.5 / 4)
    assert _issue(["FFMA R16, R8, R16, -R4", "FFMA R10, R6, R10, -R5"], "gh200") == pytest.approx(5 / 4)


def test_balanced_code_issues_as_before() -> None:
    assert _issue(["FADD R1, R2, R3", "IADD3 R4, R5, 1, RZ"], "gh200") == pytest.approx(2 / 4)


def test_boards_before_volta_have_other_banks() -> None:
    assert _issue(CHAINS, "p100") == pytest.approx(2 / 2)
