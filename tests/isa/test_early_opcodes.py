"""The opcode tables of machines before Volta: complete, sourced, equal to the papers' tables and to the catalogue."""

import pytest

from support.opcodes import facts
from warpbound.isa.limits import limits
from warpbound.isa.opcodes import (
    LATENCY_CLASSES,
    PIPES,
    sources,
)
from warpbound.isa.opcodes import _load as load  # the raw tables, to see what no opcode reaches
from warpbound.isa.traits import table
from warpbound.machine import gpu
from warpbound.report.board_check import FP32_LANES
from warpbound.workload.files.lanes import pipe_cycles

FAMILIES = {  # opcode with the modifiers that decide -> family
    ".".join((opcode, *sorted(modifiers))): family
    for opcode, entry in table().items()
    for modifiers, family in entry.early_families
}
ENTRIES = list(FAMILIES)
ARCHITECTURES = (10, 11, 12, 13, 20, 21, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62)


def sub_cores(arch: int) -> int:
    return limits(f"{arch // 10}.{arch % 10}").sub_cores


def test_every_architecture_has_a_data_row() -> None:
    assert tuple(sorted(map(int, load("early_families")["rows"]))) == ARCHITECTURES
    assert set(load("early_families")["rows"].values()) == set(load("early_families")["columns"])


def test_families_and_opcodes_name_each_other() -> None:
    assert set(load("early_families")) - {"columns", "rows", "sources"} == set(FAMILIES.values())


def test_every_column_list_covers_every_architecture() -> None:
    columns = load("early_families")["columns"]
    for name, row in load("early_families").items():
        if name in ("columns", "rows", "sources"):
            continue
        for value in (*row.values(), *row.get("demand", {}).values()):
            if isinstance(value, list):
                assert len(value) == len(columns), name
            if isinstance(value, dict) and "rest" in value:
                assert {int(column) for column in value if column != "rest"} <= set(columns), name


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_every_opcode_has_a_pipe_a_source_and_a_demand(arch: int) -> None:
    for entry in ENTRIES:
        known = facts(entry, arch)
        assert known.is_known, entry
        assert known.pipe in PIPES, entry
        assert known.latency_class in LATENCY_CLASSES, entry
        assert set(known.source.split()) <= set(sources()), entry
        assert known.latency is None or known.latency > 0, entry
        assert (known.pipe in known.demand) == (known.pipe != "none"), entry
        memory = known.latency_class in {"global", "local", "shared"}
        assert (known.latency is None) == memory, entry


TABLE_6_2 = {  # Volkov: add, SFU; the boards have the rest
    10: (20, 32), 13: (24, 34), 20: (18, 22), 30: (9, 9), 52: (6, 13),
}  # fmt: skip


@pytest.mark.parametrize("arch", TABLE_6_2)
def test_register_dependency_latencies(arch: int) -> None:
    add, special = TABLE_6_2[arch]
    assert facts("FADD", arch).latency == add
    assert facts("MUFU.RSQ", arch).latency == special
    assert (facts("FADD", arch).how, facts("FADD", arch).source) == ("measured", "guide8 volkov_62")


TABLE_6_1 = {  # Volkov: operations per cycle and scheduler of additions, SFU and shared memory
    10: (8, 2, 6), 13: (8, 2, 8), 20: (16, 2, 8), 30: (48, 8, 8), 52: (32, 8, 8),
}  # fmt: skip


@pytest.mark.parametrize("arch", TABLE_6_1)
def test_peak_throughputs(arch: int) -> None:
    """48 on Kepler with pairs; without them the scheduler allows 32."""
    add, special, shared = TABLE_6_1[arch]
    assert 32 / facts("FADD", arch).demand["fma"] == pytest.approx(add, rel=1e-4)
    assert 32 / facts("MUFU", arch).demand["xu"] == pytest.approx(special)
    assert 32 / facts("LDS", arch).demand["lsu"] == pytest.approx(shared, rel=1e-4)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_cores_are_those_of_the_catalogue(arch: int) -> None:
    lanes = 32 * sub_cores(arch) / facts("FFMA", arch).demand["fma"]
    assert lanes == pytest.approx(FP32_LANES[arch], rel=1e-4)


BOARDS = ("8800gtx", "gtx280", "gtx480", "gtx570", "gtx680", "k40", "gtx980", "p100", "gtx1080")


@pytest.mark.parametrize("name", BOARDS)
def test_widths_agree_with_those_of_workload_files(name: str) -> None:
    board = gpu(name)
    for pipe, opcode in (("fma", "FFMA"), ("xu", "MUFU"), ("fp64", "DFMA")):
        written = pipe_cycles(board, pipe)
        if written and (pipe != "fp64" or board.get("fp64_lanes") is None):
            assert facts(opcode, board.arch).demand[pipe] == pytest.approx(written, rel=1e-4), pipe


def test_what_is_not_there_comes_from_later_machines() -> None:
    later = facts("UIADD3", 61)
    assert (later.is_known, later.pipe, later.how) == (True, "uniform", "assumed")
    assert facts("IMAD.MOV.U32", 61).family == "core"
    assert facts("IMAD.WIDE", 61).family == "imul"
    assert not facts("FROB", 35).is_known


def test_relatives_are_assumed() -> None:
    assert facts("FADD", 11).how == facts("FADD", 50).how == "assumed"
    assert facts("FADD", 52).how == "measured"
