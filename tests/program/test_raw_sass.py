"""Listings as papers and forums print them: instructions, perhaps addresses, labels, encodings or control words."""

import random
import re
from contextlib import suppress
from pathlib import Path

import pytest

from support.fatbin_images import DATA
from warpbound import InputError, WarpboundError
from warpbound.machine import gpu
from warpbound.program.cuda import Options
from warpbound.program.instruction import Control
from warpbound.program.kernel import Program
from warpbound.program.source_files import Source, programs

LISTINGS = 1000
LABELS = """// the inner loop, unrolled by nothing
        S2R R0, SR_TID.X
        MOV R4, RZ
.L_1:   LDG.E R2, [R6.64];   # a remark
        IADD3 R0, R0, 0x40, RZ
        FADD R4, R4, R2
        ISETP.GE.AND P0, PT, R0, c[0x0][0x170], PT
        @!P0 BRA .L_1
        STG.E [R8.64], R4
        EXIT
"""
ADDRESSES = """/*0100*/  MOV R4, RZ ;
/*0110*/  LDG.E R2, [R6.64] ;
/*0120*/  FADD R4, R4, R2 ;
/*0130*/  @!P0 BRA 0x110 ;
/*0140*/  EXIT ;
"""


def read(source: Source, name: str = "a40") -> Program:
    (found,) = programs(source, gpu(name), None, Options())
    return found


def test_labels() -> None:
    found = read(LABELS)
    assert (found.name, found.title, found.arch, found.registers) == ("listing", "listing", 86, 10)  # R8, R9
    assert [one.opcode for one in found.instructions] == [
        "S2R", "MOV", "LDG", "IADD3", "FADD", "ISETP", "BRA", "STG", "EXIT",
    ]  # fmt: skip
    (loop,) = found.flow.loops
    assert found.flow.blocks[loop.header].first == 2


def test_what_is_lost_is_said() -> None:
    notes = " ".join(read(LABELS).assumed)
    for said in ("shared memory and barriers are not in", "registers counted", "no control words", "be sm_86"):
        assert said in notes


@pytest.mark.parametrize(
    "text",
    [
        ADDRESSES,
        ADDRESSES.replace(" ;", ""),
        re.sub(r"/\*(\w+)\*/", r"0x\1:", ADDRESSES),
        re.sub(r"/\*0(\w+)\*/", r"00007f2a4c0fe\1", ADDRESSES).replace("0x110", "0x7f2a4c0fe110"),
        re.sub(r"/\*\w+\*/", "", ADDRESSES).replace("0x110", "0x10"),
        re.sub(r"/\*\w+\*/", "", ADDRESSES).replace("BRA 0x110", "BRA `(.L_0)").replace("LDG", ".L_0:\nLDG"),
    ],
    ids=["printed", "no semicolons", "colons", "of a profiler", "none", "labels"],
)
def test_addresses(text: str) -> None:
    found = read(text)
    assert [one.address for one in found.instructions] == [0, 16, 32, 48, 64]
    (loop,) = found.flow.loops
    assert found.flow.blocks[loop.header].first == 1


def test_encodings_are_used_where_they_are_printed() -> None:
    text = (DATA / "sums.txt").read_text()
    (whole,) = programs(text, gpu("sm_80"), None, Options())
    bare = [line for line in text[: text.index("........")].splitlines() if re.match(r"\s*/\*", line)]
    found = read("\n".join(bare), "sm_80")
    assert found.instructions == whole.instructions
    assert found.flow == whole.flow


def test_control_words_as_assemblers_write_them() -> None:
    found = read("[B------:R-:W2:-:S01] LDG.E R2, [R6.64] ;\n[B--2---:R0:W-:Y:S04] FADD R4, R4, R2 ;\n")
    first, second = (one.control for one in found.instructions)
    assert first == Control(stall=1, yields=False, write_scoreboard=2, read_scoreboard=None, wait=(), reuse=0)
    assert second == Control(stall=4, yields=True, write_scoreboard=None, read_scoreboard=0, wait=(2,), reuse=0)
    assert not any("no control words" in note for note in found.assumed)


def test_files_and_bytes(tmp_path: Path) -> None:
    for name in ("k.sass", "k.txt"):
        (tmp_path / name).write_text(LABELS)
        assert read(tmp_path / name).name == "listing"
    assert read(LABELS.encode()).instructions == read(LABELS).instructions


@pytest.mark.parametrize(
    "old, new, name, said",
    [
        ("/*0120*/  FADD R4, R4, R2 ;\n", "", "a40", "line 3: address 0x130 where 0x120 was due"),
        ("0x110 ;", "0x150 ;", "a40", "`@!P0 BRA 0x150` leads to 0x150, where no instruction is"),
        ("0x110 ;", "away ;", "a40", "`@!P0 BRA away` leads to no label"),
        ("/*0140*/", "...\n/*0140*/", "a40", r"line 5: `\.\.\.` is not an instruction"),
        ("", "", "k40", "line 2: address 0x110 where 0x108 was due"),
    ],
)
def test_what_cannot_be_read(old: str, new: str, name: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        read(ADDRESSES.replace(old, new) if old else ADDRESSES, name)
    assert "\n" not in str(refused.value)


@pytest.mark.cuda
def test_what_is_no_listing_goes_to_the_compiler() -> None:
    for text in ("hello there\n", "EXIT STAGE LEFT\nand more\nand more\n", "#define EXIT\n"):
        with pytest.raises(InputError, match="does not compile|no __global__"):
            read(text)
    assert read("#define MOV EXIT\n__global__ void k() {}\n").name == "_Z1kv"


def test_damaged_listings() -> None:
    source = random.Random(11)
    for _ in range(LISTINGS):
        lines = (LABELS + ADDRESSES).splitlines() if source.random() < 0.3 else ADDRESSES.splitlines()
        for _ in range(source.choice((1, 3))):
            at = source.randrange(len(lines))
            letters = [source.choice((x, x, x, x, chr(source.randrange(32, 300)))) for x in lines[at]]
            lines[at] = source.choice(("".join(letters), lines[at][: source.randrange(len(lines[at]) + 1)]))
        text = "\n".join([*ADDRESSES.splitlines()[:1] * 9, *lines]).replace("/*0100*/", "", 9)
        with suppress(WarpboundError):
            assert read(text).flow.blocks
