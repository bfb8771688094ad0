"""Listings of machines before Volta, Tesla to Pascal, as cuobjdump, nvdisasm and people print them."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from support.paths import LISTINGS
from support.pre_volta_listings import FERMI, KEPLER, MAXWELL
from warpbound import InputError
from warpbound.latency import memory_latency, waits
from warpbound.machine import gpu
from warpbound.program.cuda import Options
from warpbound.program.instruction import Control
from warpbound.program.instruction_encoding import follows, instruction_bytes
from warpbound.program.kernel import Program
from warpbound.program.pre_volta_sass import plain
from warpbound.program.source_files import programs
from warpbound.schedule import schedule


def read(text: str | Path, name: str) -> Program:
    (found,) = programs(text, gpu(name), None, Options())
    return found


def word(*fields: Control) -> int:
    """The control word that stands before three instructions of Maxwell."""
    bits = 0
    for place, one in enumerate(fields):
        own = one.stall | (not one.yields) << 4
        write, read = (7 if each is None else each for each in (one.write_scoreboard, one.read_scoreboard))
        own |= write << 5 | read << 8
        own |= sum(1 << board for board in one.wait) << 11 | one.reuse << 17
        bits |= own << 21 * place
    return bits


def maxwell(first: int, second: int) -> Program:
    return read(MAXWELL.replace("WORD", f"0x{first:016x}").replace("OTHER", f"0x{second:016x}"), "gtx1080")


def targets(program: Program, opcode: str) -> list[int]:
    return [
        int(x.value) for one in program.instructions if one.opcode == opcode for x in one.operands if x.kind == "label"
    ]


def test_fermi() -> None:
    found = read(FERMI, "gtx480")
    assert (found.name, found.arch, found.registers, len(found.instructions)) == ("_Z5scalePfi", 20, 10, 13)
    assert [str(one.guard.text) for one in found.instructions if one.guard] == ["P0", "P0"]
    compare = found.instructions[2]
    assert [x.kind for x in compare.operands] == ["predicate", "predicate", "register", "constant", "predicate"]
    assert (compare.operands[3].bank, compare.operands[3].value) == (0, 0x28)
    assert targets(found, "BRK") == [0x60]
    (loop,) = found.flow.loops
    assert sorted(loop.blocks) == [n for n, block in enumerate(found.flow.blocks) if 5 <= block.first < 12]
    assert all(one.control is None for one in found.instructions)


def test_code_runs_on_its_own_generation() -> None:
    assert read(FERMI, "gtx570").arch == 20
    assert read(FERMI, "sm_21").arch == 20
    with pytest.raises(InputError, match="is code for sm_20; NVIDIA GeForce GTX 680 is sm_30"):
        read(FERMI, "gtx680")


def test_kepler_pairs_and_rejoining() -> None:
    found = read(KEPLER.replace("0x08KEPLER", "0x0880000000000000"), "k40")
    assert [one.address for one in found.instructions] == [8, 0x10, 0x18, 0x20, 0x28, 0x30, 0x38, 0x48, 0x50]
    assert [one.opcode for one in found.instructions if one.pairs] == ["MOV"]
    assert found.instructions[1].pairs
    assert targets(found, "SSY") == [0x50]
    assert targets(found, "BRA") == [0x48]  # 0x40 holds a control word
    assert targets(found, "MOV") == targets(found, "IADD") == [0x50]  # where .S leads
    graph = found.flow
    ends = {found.instructions[block.last - 1].text: block.follows for block in graph.blocks}
    last = len(graph.blocks) - 1
    assert ends["MOV.S R4, R3"] == ends["IADD.S R4, R0, 0x1"] == (last,)


@pytest.mark.parametrize("arch, shift", [("sm_30", 4), ("sm_35", 2)])
def test_kepler_control_words_mark_pairs(arch: str, shift: int) -> None:
    """Byte 0x04 of the third instruction."""
    marks = sum(byte << shift + 8 * place for place, byte in enumerate([0x25, 0x20, 0x04, 0x28, 0x20, 0x20, 0x20]))
    text = KEPLER.replace("0x08KEPLER", f"0x{marks | 2 << 60 | 7:016x}" if shift == 4 else f"0x{marks | 2 << 58:016x}")
    text = re.sub(r"[{}]", " ", text).replace("sm_35", arch).replace("SM35", f"SM{arch[3:]}")
    found = read(text, arch)
    assert [one.address for one in found.instructions if one.pairs] == [0x18]


def test_maxwell_control_words() -> None:
    fields = [
        Control(6, yields=False, write_scoreboard=None, read_scoreboard=None, wait=(), reuse=0),
        Control(2, yields=True, write_scoreboard=0, read_scoreboard=1, wait=(), reuse=0),
        Control(6, yields=False, write_scoreboard=None, read_scoreboard=None, wait=(0,), reuse=1),
        Control(0, yields=False, write_scoreboard=None, read_scoreboard=None, wait=(1,), reuse=0),
        Control(5, yields=False, write_scoreboard=None, read_scoreboard=None, wait=(), reuse=0),
        Control(15, yields=False, write_scoreboard=None, read_scoreboard=5, wait=(2, 5), reuse=8),
    ]
    found = maxwell(word(*fields[:3]), word(*fields[3:]))
    assert [one.control for one in found.instructions] == fields
    assert found.registers == 9
    assert [one.pairs for one in found.instructions] == [False, False, False, True, False, False]
    (loop,) = found.flow.loops
    assert found.instructions[found.flow.blocks[loop.header].first].opcode == "LDG"
    assert not any("no control words" in note for note in found.assumed)


def test_a_stall_of_0_pairs_on_maxwell() -> None:
    """Later disassemblers print no braces."""
    fields = [Control(n, yields=False, write_scoreboard=None, read_scoreboard=None, wait=(), reuse=0)
              for n in (0, 1, 0)]
    text = re.sub(r"[{}]", " ", MAXWELL).replace("WORD", f"0x{word(*fields):016x}").replace("OTHER", f"0x{0x7e2:016x}")
    found = read(text, "gtx1080")
    assert [one.pairs for one in found.instructions[:4]] == [True, False, True, False]
    machine = gpu("gtx1080")
    timed = schedule(range(4), found.instructions, waits(found.instructions, memory_latency(machine, 1.7e9)))
    assert timed.issue == (0, 0, 1, 1)
    assert timed.issue_slots == 2


def test_a_pair_across_a_control_word() -> None:
    """cuobjdump prints the word of the second one's group where its encoding should stand, and that behind it."""
    plain_field = Control(1, yields=False, write_scoreboard=None, read_scoreboard=None, wait=(), reuse=0)
    fields = [replace(plain_field, stall=stall) for stall in (3, 4, 0, 5, 6, 7)]
    text = f"""
	code for sm_52
		Function : k
                                                  /* 0x{word(*fields[:3]):016x} */
/*0008*/               MOV R1, c[0x0][0x20];      /* 0x4c98078000870001 */
/*0010*/               MOV R2, R1;                /* 0x5c98078000270001 */
/*0018*/     {{         MOV32I R4, 0x0;            /* 0x010000000007f004 */
/*0028*/               STL [R2], R0;        }}     /* 0x{word(*fields[3:]):016x} */
                                                  /* 0xef54000000070200 */
/*0030*/               MOV R7, RZ;                /* 0x5c9807800ff70007 */
/*0038*/               EXIT;                      /* 0xe30000000007000f */
"""
    found = read(text, "gtx980")
    assert [one.control for one in found.instructions] == fields
    assert [one.pairs for one in found.instructions] == [False, False, True, False, False, False]


def test_sync_without_ssy_goes_on() -> None:
    zero = word(*[Control(1, yields=False, write_scoreboard=None, read_scoreboard=None, wait=(), reuse=0)] * 3)
    assert targets(maxwell(zero, zero), "SYNC") == [0x38]


def test_tesla() -> None:
    text = """
	code for sm_13
		Function : k
	/*0000*/     /*0x100042050023c780*/ 	MOV.U16 R0H, g [0x1].U16;
	/*0008*/     /*0x3002cdfd6400c7c8*/ 	ISET.S32.C0 o [0x7f], g [0x6], R1, LE;
	/*0010*/     /*0x3000000300000280*/ 	RET C0.NE;
	/*0018*/     /*0x2102e800        */ 	IADD32 R0, g [0x4], R2;
	/*001c*/     /*0x2102ea0c        */ 	IADD32 R3, g [0x5], R2;
	/*0020*/     /*0xd00e000580c00780*/ 	GLD.U32 R1, global14 [R0];
	/*0028*/     /*0xd00e0605a0c00781*/ 	@C0.EQ GST.U32 global14 [R3], R1;
"""
    found = read(text, "gtx280")
    assert [one.address for one in found.instructions] == [0, 8, 0x10, 0x18, 0x1C, 0x20, 0x28]
    assert found.flow.blocks[0].follows == (1,)  # RET under a condition
    assert found.instructions[5].operands[1].kind == "memory"


@pytest.mark.parametrize("name", sorted(path.name for path in LISTINGS.glob("*.sass")))
def test_the_papers_listings_are_known_to_every_generation(name: str) -> None:
    from warpbound.isa.opcodes import opcode_facts

    for board in ("gtx480", "gtx680", "gtx980", "interval-cc61"):
        found = read(LISTINGS / name, board)
        assert all(opcode_facts(one.opcode, one.modifiers, found.arch).is_known for one in found.instructions)
        assert any(f"assumed to be sm_{found.arch}" in note for note in found.assumed)
        assert any("cycles between instructions by the table of" in note for note in found.assumed)


def test_pairs_as_people_mark_them() -> None:
    lines = ["{ MOV R1, R2", "S2R R3, SR_TID.X }", "FADD R4, R3, R1;", "/*0018*/ { ST [R2], R4; ", "EXIT; }"]
    found = read("\n".join(line.replace("/*0018*/", "") for line in lines), "gtx680")
    assert [one.pairs for one in found.instructions] == [True, False, False, True, False]
    assert not any("pairs are not marked" in note for note in found.assumed)


def test_breaks_and_continues() -> None:
    text = "PCNT 0x8\nPBK 0x30\nISETP.GE.AND P0, PT, R0, R1, PT\n@P0 CONT\nCAL 0x30\n@P1 BRK\nEXIT\n"
    found = read(text, "gtx480")
    assert (targets(found, "CONT"), targets(found, "BRK")) == ([8], [0x30])
    assert found.functions == {0x30}


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("/*0010*/     	ISETP", "/*0018*/     	ISETP", r"line 6: address 0x18 where 0x10 was due"),
        ("	/*0008*/     	S2R R8, SR_Tid_X;\n", "", r"line 5: address 0x10 where 0x8 was due"),
        ("code for sm_20", "code for", "does not say which architecture"),
    ],
)
def test_lines_lost(old: str, new: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(FERMI.replace(old, new), "gtx480")


@pytest.mark.parametrize(
    "arch, last, address, right",
    [
        (90, 0x10, 0x20, True), (90, 0x10, 0x18, False),
        (61, 0x18, 0x28, True), (61, 0x18, 0x20, True), (61, 0x10, 0x20, False), (61, 0x08, 0x18, False),
        (35, 0x38, 0x48, True), (35, 0x18, 0x28, False), (30, 0x78, 0x88, True),
        (20, 0x18, 0x20, True), (20, 0x18, 0x28, False),
        (13, 0x18, 0x1C, True), (10, 0x18, 0x20, True), (10, 0x18, 0x24, False),
    ],
)  # fmt: skip
def test_where_the_next_instruction_lies(arch: int, last: int, address: int, *, right: bool) -> None:
    assert follows(arch, last, address) is right
    assert instruction_bytes(arch) == (16 if arch >= 70 else 8)


@pytest.mark.parametrize(
    "old, new",
    [
        ("MOV R1, c [0x1] [0x100]", "MOV R1, c[0x1][0x100]"),
        ("XMAD.MRG R3, R0, c[0x0] [0x8].H1, RZ", "XMAD.MRG R3, R0, c[0x0][0x8].H1, RZ"),
        ("ST [R2], R3", "ST [R2], R3"),
        ("ISETP.GE.AND P0, pt, R8, 0x3, !pt", "ISETP.GE.AND P0, PT, R8, 0x3, !PT"),
        ("GLD.U32 R1, global14 [R0]", "GLD.U32 R1, global14[R0]"),
    ],
)
def test_spelling_of_early_disassemblers(old: str, new: str) -> None:
    assert plain(old) == new
