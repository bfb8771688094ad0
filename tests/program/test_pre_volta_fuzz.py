"""Damaged and random listings of early machines, and PTX to be counted: answered or refused in our own words."""

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.paths import LISTINGS
from support.pre_volta_listings import FERMI, KEPLER, MAXWELL
from warpbound import WarpboundError, analyze
from warpbound.machine import gpu
from warpbound.program.cuda import Options
from warpbound.program.ptx_counts import count_ptx
from warpbound.program.source_files import programs

BOARDS = ("8800gtx", "gtx280", "gtx480", "gtx680", "k40", "gtx980")  # for none of them is there a compiler
TEXTS = [
    FERMI,
    KEPLER.replace("0x08KEPLER", "0x0880110080000000"),
    MAXWELL.replace("sm_61", "sm_52").replace("WORD", "0x001fc400fe2007f6").replace("OTHER", "0x001fc801fe2007f0"),
    *(path.read_text() for path in sorted(LISTINGS.glob("*.sass"))),
]
PTX = (LISTINGS / "hong_kim_tiled.ptx").read_text()
WORDS = [
    "/*0008*/", "/*0010*/", "\tcode for sm_20", "\t\tFunction : k", ".target sm_35", '.section .text.k,"ax"',
    "{", "}", ";",
    "MOV R1, R2", "LD.E.64 R2, [R2+-0x8]", "ST [", "@P0", "@C0.NE", "BRK", "PBK 0x10", "SSY", "SYNC", "MOV.S R1, R3",
    "BRA 0x8", "BRA L", "L:", "CAL 0x0", "EXIT", "RET", "BAR.SYNC 0x0", "c [0x0] [", "]", "R255", "RZ", "pt", ",",
    "/* 0x001fc400fe2007f6 */", "// x", "/*", "*/", "\n", "\n", "\n", " ", "\x7f", "é", "0x", "DFMA R1, R2, R3, R4",
]  # fmt: skip
FEW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
MANY = settings(FEW, max_examples=4000)


@st.composite
def damaged(draw: st.DrawFn, texts: list[str]) -> str:
    """A text with lines moved, lost and repeated, and letters changed."""
    lines = draw(st.sampled_from(texts)).splitlines() or [""]
    for _ in range(draw(st.integers(1, 6))):
        at, other = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
        match draw(st.integers(0, 4)):
            case 0:
                lines[at], lines[other] = lines[other], lines[at]
            case 1:
                lines.insert(at, lines[other])
            case 2:
                lines[at] = lines[at][: draw(st.integers(0, len(lines[at])))]
            case 3 if len(lines) > 1:
                del lines[at]
            case _:
                place = draw(st.integers(0, len(lines[at])))
                letter = draw(st.characters(min_codepoint=32, max_codepoint=300))
                lines[at] = lines[at][:place] + letter + lines[at][place + 1 :]
    return "\n".join(lines)


def only_refused(raw: bytes, name: str) -> None:
    """Read, and asked of everything that a static answer asks."""
    with suppress(WarpboundError):
        for program in programs(raw, gpu(name), None, Options()):
            entry = analyze(program, name)
            assert entry["mode"] == "static"
            assert entry["latency"]["cycles"] >= 0


def listings(text: str, name: str) -> None:
    only_refused(text.encode(), name)


def noise(raw: bytes, name: str) -> None:
    only_refused(raw, name)


def words(parts: list[str], name: str) -> None:
    only_refused(" ".join(["/*0000*/ MOV R1, R2;\n" * 4, *parts]).encode(), name)


def counting(text: str) -> None:
    with suppress(WarpboundError):
        for one in count_ptx(text, "x.ptx", {"$OUTERLOOP": 3.0}, None):
            assert one.total.computation >= one.total.synchronisation >= 0


GIVEN = {
    listings: (damaged(TEXTS), st.sampled_from(BOARDS)),
    noise: (st.binary(max_size=400), st.sampled_from(BOARDS)),
    words: (st.lists(st.sampled_from(WORDS), max_size=60), st.sampled_from(BOARDS)),
    counting: (st.one_of(damaged([PTX]), st.text(max_size=200)),),
}


@pytest.mark.parametrize("check", GIVEN, ids=lambda check: check.__name__)
def test_some(check) -> None:  # type: ignore[no-untyped-def]
    FEW(given(*GIVEN[check])(check))()


@pytest.mark.full
@pytest.mark.parametrize("check", GIVEN, ids=lambda check: check.__name__)
def test_many(check) -> None:  # type: ignore[no-untyped-def]
    MANY(given(*GIVEN[check])(check))()


@pytest.mark.parametrize(
    "text",
    ["/*0000*/" + " " * 100_000 + "x", "{" * 100_000, "/* " * 50_000, "MOV R1, " + "[" * 50_000, "a:" * 50_000,
     "\n" * 900_000 + "x"],
    ids=["blanks", "braces", "remarks", "brackets", "labels", "empty lines"],
)
def test_long_lines_take_no_time(text: str) -> None:
    only_refused(text.encode(), "gtx480")
    counting(text)
