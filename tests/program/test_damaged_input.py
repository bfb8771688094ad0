"""Damaged and random input to the front end: refused in our own words, whatever it is."""

import random
import time
from contextlib import suppress
from pathlib import Path

import pytest

from warpbound import WarpboundError
from warpbound.machine import gpu
from warpbound.program.cuda import Options, compile_cuda
from warpbound.program.nvdisasm import disassemble
from warpbound.program.reading import programs

pytestmark = pytest.mark.cuda

SAXPY = Path(__file__).resolve().parents[2] / "examples" / "saxpy.cu"


@pytest.fixture(scope="module")
def cubin() -> bytes:
    return compile_cuda(SAXPY.read_text(), "saxpy.cu", 90, Options()).cubin


@pytest.fixture(scope="module")
def listing(cubin: bytes) -> str:
    return disassemble(cubin, "saxpy")


SECONDS = 6


def only_refused(raw: bytes) -> None:
    """Read, and walk through what every later stage reads first."""
    with suppress(WarpboundError):
        for program in programs(raw, gpu("h200"), None, Options()):
            assert program.flow.blocks
            assert program.registers >= 0


def damaged(raw: bytes, source: random.Random) -> bytes:
    changed = bytearray(raw)
    for _ in range(source.choice((1, 1, 2, 8, 64))):
        changed[source.randrange(len(changed))] = source.choice((0, 255, source.randrange(256)))
    return bytes(changed[: source.randrange(len(changed))] if source.random() < 0.2 else changed)


def test_damaged_cubins(cubin: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ELF reader for SECONDS, without the disassembler; and a few images through all of it."""
    source = random.Random(2)
    for _ in range(8):
        only_refused(damaged(cubin, source))
    text = disassemble(cubin, "saxpy")
    monkeypatch.setattr("warpbound.program.machine_code.disassemble", lambda *_: text)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        only_refused(damaged(cubin, source))


def test_damaged_listings(listing: str) -> None:
    source = random.Random(3)
    lines = listing.splitlines()
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        some = list(lines)
        for _ in range(source.choice((1, 3, 20))):
            at, other = source.randrange(len(some)), source.randrange(len(some))
            match source.randrange(4):
                case 0:
                    some[at], some[other] = some[other], some[at]
                case 1:
                    del some[at]
                case 2:
                    some[at] = some[at][: source.randrange(len(some[at]) + 1)]
                case _:
                    some[at] = damaged(some[at].encode() or b" ", source).decode("latin-1")
            some = some or [""]
        only_refused("\n".join(["\t.target\tsm_90", *some]).encode())


def test_random_text() -> None:
    """Text that looks like a listing here and there; what looks like CUDA C++ is left to the compiler."""
    source = random.Random(4)
    words = [
        ".target sm_90", '.section .text.k,"ax"', "/*0000*/", "MOV R1, R2 ;", "/* 0x0000000000000000 */", ".L_x_0:",
        "BRA `(.L_x_0) ;", "@P0", '//## File "a", line 1', "\n", "\n", " ", "[", "]", "{", "c[0x0]", "\u00e9", "\t",
    ]  # fmt: skip
    end = time.monotonic() + SECONDS / 2
    while time.monotonic() < end:
        text = "".join(source.choice(words) for _ in range(source.randrange(60)))
        only_refused(f"\t.target\tsm_90\n{text}".encode())
