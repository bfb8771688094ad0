"""Cubins, fat binaries, PTX and listings, damaged: read or refused in our own words, whatever they hold."""

import random
from collections.abc import Callable
from functools import cache

import pytest

from support.paths import ROOT
from support.random_programs.damage import FULL_PART, damaged, new_ones, numbered, shuffled, soup, tried
from warpbound.analysis import analyze
from warpbound.machine import gpu
from warpbound.program import nvjitlink
from warpbound.program.cuda import Options, compile_cuda
from warpbound.program.nvdisasm import disassemble
from warpbound.program.source_files import programs

pytestmark = pytest.mark.cuda

LINKING_S = 20.0  # of one input, after which it counts as refused
FATBIN = ROOT / "tests" / "program" / "data" / "scale_zstd.fatbin"
MAGIC = (b"\x7fELF", b"\x7fELF\x02\x01\x01", b"\x50\xed\x55\xba", b"!<arch>\n", b"MZ", b"\xff\xfe", b"PK\x03\x04", b"")
WORDS = (
    ".target sm_90", '.section .text.k,"ax"', "/*0000*/", "MOV R1, R2 ;", "/* 0x0000000000000000 */", ".L_x_0:",
    "BRA `(.L_x_0) ;", "@P0", '//## File "a", line 1', "\n", "\n", " ", "[", "]", "{", "c[0x0]", "\u00e9", "\t",
    "LDG.E R0, [R2.64] ;", "S2R R0, SR_TID.X ;", "IMAD.WIDE R2, R0, 0x4, c[0x0][0x160] ;", "-0x", "R255", "UR63",
    "EXIT ;",
)  # fmt: skip
PTX_WORDS = (
    ".reg .b32 %r<2000000000>;", ".shared .align 4 .b8 s[9999999999];", ".local .b8 l[100000000];", "{", "}", ";",
    "%r1", "@%p1", "bra $L__BB0_1;", "call", ".maxntid 0;", ".align 3", "bar.sync 99;", ".loc 99 1 1", ".entry k(",
    ".func f() { ret; }", ".version 99.9", ".target sm_999", ".section .debug {", "0f", "1e999", '"', "/*", "\u00e9",
    "wgmma.fence", ".param .u64 p[", ")", ".branchtargets", ".extern .func away;", "\0",
)  # fmt: skip


@cache
def cubin(name: str = "reduction") -> bytes:
    return compile_cuda((ROOT / "examples" / f"{name}.cu").read_text(), f"{name}.cu", 90, Options()).cubin


@cache
def listing(name: str = "reduction") -> str:
    return f"\t.target\tsm_90\n{disassemble(cubin(name), name)}"


@cache
def ptx(name: str = "reduction") -> str:
    """An example as NVRTC's PTX."""
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    _, program = nvrtc.nvrtcCreateProgram((ROOT / "examples" / f"{name}.cu").read_bytes(), b"x.cu", 0, None, None)
    (failed,) = nvrtc.nvrtcCompileProgram(program, 2, [b"-arch=compute_80", b"-lineinfo"])
    assert not failed
    room = bytearray(nvrtc.nvrtcGetPTXSize(program)[1])
    nvrtc.nvrtcGetPTX(program, room)
    return room.rstrip(b"\0").decode()


def only_read(raw: bytes) -> None:
    """Read, and walk through what every later stage reads first."""
    for program in programs(raw, gpu("h200"), None, Options()):
        assert program.flow.blocks
        assert program.registers >= 0


def analysed(raw: bytes) -> None:
    """Read and answered, as far as the code alone goes."""
    for program in programs(raw, gpu("h200"), None, Options()):
        entry = analyze(program, gpu("h200"))
        assert entry["mode"] == "static"


def a_cubin(source: random.Random) -> None:
    only_read(damaged(cubin(), source))


def a_listing(source: random.Random) -> None:
    only_read(shuffled(listing(source.choice(("reduction", "matmul_tiled"))), source, WORDS).encode())


def a_listing_to_the_end(source: random.Random) -> None:
    analysed(shuffled(listing(source.choice(("reduction", "histogram"))), source, WORDS).encode())


def random_text(source: random.Random) -> None:
    """Text that looks like a listing here and there; what looks like CUDA C++ is left to the compiler."""
    only_read(f"\t.target\tsm_90\n{soup(WORDS, source)}".encode())


def random_bytes(source: random.Random) -> None:
    """Whatever begins like a file of some kind; the byte 1 keeps it from being text."""
    only_read(source.choice(MAGIC) + b"\x01" + source.randbytes(source.choice((0, 3, 64, 2000))))


def a_fat_binary(source: random.Random) -> None:
    raw = bytearray(FATBIN.read_bytes())
    at = source.randrange(min(4096, len(raw)))
    raw[at] ^= 1 << source.randrange(8)
    only_read(bytes(raw[: source.randrange(len(raw))] if source.random() < 0.3 else raw))


def some_ptx(source: random.Random) -> None:
    """Lines or bits of it wrong, or its words anywhere."""
    text = ptx(source.choice(("reduction", "matmul_tiled")))
    match source.randrange(3):
        case 0:
            changed = shuffled(text, source, PTX_WORDS).encode()
        case 1:
            changed = damaged(text.encode(), source)
        case _:
            changed = f".version 8.0\n.target sm_80\n{soup((*PTX_WORDS, *text.split()), source)}".encode()
    only_read(changed)


READERS: dict[str, tuple[Callable[[random.Random], object], int]] = {  # questions: about a second of them
    "cubin": (a_cubin, 500),
    "listing": (a_listing, 700),
    "listing-analysed": (a_listing_to_the_end, 200),
    "random-text": (random_text, 10_000),
    "random-bytes": (random_bytes, 2000),
    "fat-binary": (a_fat_binary, 250),
    "ptx": (some_ptx, 20),  # each starts a process
}


@pytest.fixture
def read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the disassembler, whose part a damaged cubin is not; some images go through it below."""
    text = listing()
    monkeypatch.setattr("warpbound.program.machine_code.disassemble", lambda *_: text)
    monkeypatch.setattr(nvjitlink, "TIMEOUT_S", LINKING_S)


def reader(name: str) -> Callable[[random.Random], object]:
    if name == "ptx" and not nvjitlink.version():
        pytest.skip("nvJitLink is not installed (the extra ptx)")
    return READERS[name][0]


@pytest.mark.usefixtures("read_at_once")
@pytest.mark.parametrize("name", READERS)
def test_reader(name: str) -> None:
    tried(numbered(2, READERS[name][1]), reader(name))


@pytest.mark.full
@pytest.mark.usefixtures("read_at_once")
@pytest.mark.parametrize("name", READERS)
def test_reader_for_long(name: str) -> None:
    tried(new_ones(FULL_PART), reader(name))


@pytest.mark.parametrize("seed", range(3))
def test_damaged_cubins_through_the_disassembler(seed: int) -> None:
    tried(numbered(seed, 4), a_cubin)
