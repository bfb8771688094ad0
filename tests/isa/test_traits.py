"""One description of each opcode: an opcode that is added there is executed, traced and timed."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

import warpbound
from support.emulator.one_instruction import instruction
from support.sass_listing import PLAIN as LINE
from support.sass_listing import kernel
from warpbound import emulate
from warpbound.emulate import semantics
from warpbound.emulate.livelock import polls, writes
from warpbound.emulate.operand_access import Site, integer, write_words
from warpbound.emulate.value_slicing import slice_of
from warpbound.errors import InputError
from warpbound.isa import traits as descriptions
from warpbound.isa.opcodes import architectures, opcode_facts
from warpbound.isa.traits import KINDS, RESULTS, WIDTHS, entries, fastest, table, traits
from warpbound.kernel_launch import Launch, launch
from warpbound.memory.address_opcodes import _RULES as AFFINE_RULES
from warpbound.program import registers
from warpbound.program.kernel import Program

SOURCE = """
extern "C" __global__ void counts(const int* x, int* y) { y[threadIdx.x] = __popc(x[threadIdx.x]); }
"""
VALUES = np.arange(32, dtype=np.int32)


def test_every_entry_uses_words_that_have_a_meaning() -> None:
    assert set(entries()) - {"modifier_lists", "tensor_modifiers", "pipe_example", "fastest"} <= set(KINDS)
    for opcode, entry in table().items():
        assert entry.result in RESULTS, opcode
        assert entry.width in WIDTHS, opcode
        assert not entry.affine or entry.affine in AFFINE_RULES, opcode
        assert entry.compares in ("", "integer", "float", "predicate"), opcode
        assert entry.target_set_by in ("", *table()), opcode
        if entry.kind not in ("bulk_copy", "tensor_memory"):  # its operands hold more than addresses
            assert bool(entry.spaces) == bool(entry.loads or entry.stores), opcode


def test_what_is_executed_is_described() -> None:
    assert {*emulate.handlers.PLAIN, *emulate.handlers.CONTROL} <= set(table())


@pytest.mark.parametrize("arch", architectures())
def test_the_example_of_a_pipe_runs_on_it(arch: int) -> None:
    for pipe, example in entries()["pipe_example"].items():
        assert opcode_facts(example, (), arch).pipe == pipe, example


@pytest.mark.parametrize(("kind", "operations"), [("fp32", 2), ("fp64", 2), ("fp16", 4), ("bf16", 4)])
def test_the_fastest_opcode_of_a_type_does_a_multiply_add(kind: str, operations: int) -> None:
    flop = fastest(kind).flop
    assert flop is not None
    assert flop[1] == operations


def test_an_opcode_without_an_entry_is_of_unknown_kind() -> None:
    assert (traits("FROB").kind, traits("FROB").families) == ("unknown", ())


# --- an opcode that does not exist: TRIPLE R1, R2 sets R1 to three times R2 ---


@pytest.fixture
def triple(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Its entry and its semantics function, for the time of a test."""
    described = entries()
    entry = {"family": "alu", "modifiers": "X3"}
    monkeypatch.setattr(
        descriptions, "entries", lambda: described | {"integer": described["integer"] | {"TRIPLE": entry}}
    )
    table.cache_clear()
    traits.cache_clear()
    opcode_facts.cache_clear()

    @semantics.executes("TRIPLE")
    def triples(here: Site) -> semantics.Handler:
        read, write = integer(here.sources[0], here), write_words(here.output)
        return lambda x: write(x, read(x) * np.uint32(3))

    yield
    del semantics.PLAIN["TRIPLE"]
    monkeypatch.undo()
    table.cache_clear()
    traits.cache_clear()
    opcode_facts.cache_clear()


def with_triple(*modifiers: str) -> tuple[Program, Launch]:
    """A kernel that counts bits, POPC replaced by TRIPLE; and its launch."""
    program = warpbound.compile(SOURCE, "a100-sxm-80gb")
    code = tuple(
        replace(one, opcode="TRIPLE", modifiers=modifiers) if one.opcode == "POPC" else one
        for one in program.instructions
    )
    assert code != program.instructions
    arrays = {"x": VALUES, "y": np.zeros(32, np.int32)}
    return replace(program, instructions=code), launch(grid=1, block=32, args=arrays)


@pytest.mark.cuda
@pytest.mark.usefixtures("triple")
def test_an_opcode_that_is_added_is_executed() -> None:
    assert np.array_equal(warpbound.run(*with_triple("X3"))["y"], 3 * VALUES)


@pytest.mark.cuda
@pytest.mark.usefixtures("triple")
def test_an_opcode_that_is_added_is_refused_with_modifiers_that_its_entry_does_not_name() -> None:
    with pytest.raises(InputError, match=r"does not execute TRIPLE\.X4"):
        warpbound.run(*with_triple("X4"))


@pytest.mark.cuda
@pytest.mark.usefixtures("triple")
def test_an_opcode_that_is_added_is_traced_and_its_values_are_left_out() -> None:
    program, started = with_triple()
    at = next(i for i, one in enumerate(program.instructions) if one.opcode == "TRIPLE")
    assert at in slice_of(program).unneeded
    assert emulate.trace(program, started, [0]).executed[:, at].tolist() == [1]


@pytest.mark.cuda
@pytest.mark.usefixtures("triple")
def test_an_opcode_that_is_added_is_timed() -> None:
    program, started = with_triple()
    entry = warpbound.analyze(program, "a100-sxm-80gb", started)
    plain = warpbound.analyze(warpbound.compile(SOURCE, "a100-sxm-80gb"), "a100-sxm-80gb", started)
    assert entry["confidence"]["unknown_opcodes"] == []
    pipes, before = entry["instructions"]["by_pipe"], plain["instructions"]["by_pipe"]
    assert (pipes["alu"], pipes.get("xu", 0)) == (before["alu"] + 1, before["xu"] - 1)


@pytest.mark.cuda
def test_without_its_entry_the_same_opcode_is_refused_and_counted_as_unknown() -> None:
    program, started = with_triple()
    with pytest.raises(InputError, match="does not execute TRIPLE"):
        warpbound.run(program, started)
    assert warpbound.analyze(program, "a100-sxm-80gb")["confidence"]["unknown_opcodes"] == ["TRIPLE x1"]


# --- what tables once disagreed about ---

SAVED_PREDICATES = """
    S2R R0, SR_TID.X
    ISETP.GE.U32.AND P0, PT, R0, 0x8, PT
    P2R R1, PR, RZ, 0x1
    ISETP.EQ.U32.AND P0, PT, R0, R0, PT
    R2P PR, R1, 0x1
    @P0 EXIT
    NOP
    EXIT
"""


def test_predicates_that_are_saved_in_a_register_decide_branches() -> None:
    rows = [LINE.format(1, row.strip()) for row in SAVED_PREDICATES.strip().splitlines()]
    program = kernel("\n".join(rows))
    assert 1 not in slice_of(program).unneeded
    assert 3 in slice_of(program).unneeded
    assert emulate.trace(program, launch(grid=1, block=32), [0]).threads[:, 6].tolist() == [8]


@pytest.mark.parametrize(
    "text, read, written",
    [
        ("P2R R6, PR, RZ, 0x41", ("P0", "P6"), ("R6",)),
        ("R2P PR, R5, 0x3", ("R5",), ("P0", "P1")),
        ("UP2UR UR4, UPR, URZ, 0x2", ("UP1",), ("UR4",)),
        ("BRXU UR4 -0x10", ("UR4",), ()),
        ("REDAS.ADD [R2], R3", ("R2", "R3"), ()),
    ],
)
def test_registers_of_implicit_and_address_operands(text: str, read: tuple[str, ...], written: tuple[str, ...]) -> None:
    assert (registers.reads(instruction(text)), registers.writes(instruction(text))) == (read, written)


def test_only_what_changes_memory_or_barriers_ends_a_livelock() -> None:
    assert not writes(instruction("REDUX.SUM UR4, R2"))
    assert writes(instruction("RED.E.ADD.STRONG.GPU [R2.64], R5"))
    assert writes(instruction("ARRIVES.LDGSTSBAR.64 [UR4]"))
    assert polls(instruction("LDG.E.STRONG.GPU R2, [R2.64]"))
    assert not polls(instruction("LDG.E R2, [R2.64]"))
