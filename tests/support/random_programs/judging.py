"""A random program by the host's compiler and by the emulator: where they differ, and a small part that still does."""

import ctypes
import random as chances
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from support.random_programs.operations import SCALARS
from support.random_programs.pieces import Piece, RandomProgram
from support.random_programs.texts import SUMS, device_text, host_text
from warpbound import emulate
from warpbound.errors import WarpboundError
from warpbound.kernel_launch import launch
from warpbound.program.source_files import compile_program

HOST = ("g++", "-std=gnu++17", "-O1", "-w", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", "-shared", "-fPIC")
STEPS = 4_000_000
ARCHITECTURES = (75, 80, 86, 89, 90, 100, 120)
OPTIONS = ((), (), (), ("--maxrregcount=24",), *((f"--ptxas-options=-O{level}",) for level in range(3)))
_NUMBERS = count()  # a library of a name that is loaded already would not be loaded again
Arrays = dict[str, NDArray[np.generic]]


def arrays_of(program: RandomProgram, seed: int) -> Arrays:
    """What the program reads, what is in memory already, and room for its results."""
    random, threads = np.random.default_rng(seed), program.threads * program.blocks
    words = random.integers(0, 2**32, 1024, np.uint32) >> random.integers(0, 32, 1024, np.uint32)
    words[:64:4] = random.choice([0, 1, 2**31, 2**31 - 1, 2**32 - 1, 0xFFFF8000, 0x80008000], 16)
    floats = (random.standard_normal(256) * 10.0 ** random.integers(-6, 10, 256)).astype(np.float32)
    floats[::3] = random.integers(0, 2**32, 86, np.uint32).view(np.float32)
    floats[:8] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-39, 2147483648.0]
    doubles = random.standard_normal(256) * 10.0 ** random.integers(-9, 19, 256)
    doubles[::3] = random.integers(0, 2**64, 86, np.uint64).view(np.float64)
    doubles[:8] = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1.0, 2.0**63]
    halves = random.integers(0, 2**16, 256, np.uint16)
    halves[:8] = [0, 0x8000, 0x7C00, 0xFC00, 0x7E00, 1, 0x3C00, 0x7F80]
    given = {"words": words, "floats": floats, "doubles": doubles, "halves": halves}
    room = {f"mine{size}": np.zeros(16 * threads, f"u{size // 8}") for size in (8, 16, 32, 64)}
    sums = {"sums": random.integers(0, 2**64, 8 * len(SUMS), np.uint64)}
    out = {"out": np.zeros(threads * len(program.variables), np.uint64)}
    out |= {name: _scalar(kind, random) for name, kind in SCALARS.items()}
    return given | {"bytes": random.integers(0, 256, 1024, np.uint8)} | room | sums | out


def _scalar(kind: str, random: np.random.Generator) -> NDArray[np.generic]:
    """An argument that is the same for all threads, as an array of one element."""
    dtype = np.dtype(f"{'f' if kind[0] == 'f' else 'i' if kind[0] == 's' else 'u'}{int(kind[1:]) // 8}")
    if dtype.kind == "f":
        return np.array([random.standard_normal() * 10.0 ** random.integers(-5, 12)], dtype)
    return (random.integers(0, 2**64, 1, np.uint64) >> random.integers(0, 60, 1, np.uint64)).astype(dtype)


def on_host(program: RandomProgram, arrays: Arrays, folder: Path) -> Arrays:
    """The arrays after the program as the host's compiler has it."""
    source, library = folder / "host.cpp", folder / f"host{next(_NUMBERS)}.so"
    source.write_text(host_text(program), "utf-8")
    done = subprocess.run([*HOST, str(source), "-o", str(library)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr[:2000])
    after = {name: array.copy() for name, array in arrays.items()}
    places = (ctypes.c_void_p * len(after))(*(array.ctypes.data for array in after.values()))
    ctypes.CDLL(str(library)).judge(places, program.blocks)
    library.unlink()
    return after


def emulated(program: RandomProgram, arrays: Arrays, arch: int, options: Sequence[str] = ()) -> Arrays:
    """The arrays after the program as compiled for an architecture and executed by the emulator."""
    words = ["-w", "-fmad=false", "--device-int128", *options]
    compiled = compile_program(device_text(program), f"sm_{arch}", options=words)
    given = {name: array[0] if name in SCALARS else array for name, array in arrays.items()}
    asked = launch(grid=program.blocks, block=program.threads, args=given)
    return emulate.run(compiled, asked, step_limit=STEPS)


def compared(wanted: Arrays, found: Arrays) -> str:
    """The first difference, or nothing."""
    for name, array in wanted.items():
        if name in SCALARS:
            continue
        if not np.array_equal(array.view(np.uint8), found[name].view(np.uint8)):
            at = int(np.flatnonzero(array != found[name])[0])
            return f"{name}[{at}] is {found[name][at]:#x}, not {array[at]:#x}"
    return ""


def way_of(program: RandomProgram, seed: int) -> tuple[int, tuple[str, ...]]:
    """The architecture and the compiler's options with which the program of a seed is judged."""
    chance = chances.Random(seed)
    return chance.choice(ARCHITECTURES[program.halves == "bf" :]), chance.choice(OPTIONS)


def verdict(program: RandomProgram, arch: int, folder: Path, options: Sequence[str] = ()) -> str:
    """What is wrong with the emulator's answer, or nothing; a refusal is wrong, too."""
    arrays = arrays_of(program, len(program.steps))
    try:
        found = emulated(program, arrays, arch, options)
        return compared(on_host(program, arrays, folder), found)
    except WarpboundError as refused:
        if "does not compile" in refused.reason:
            raise ValueError(refused.reason) from refused
        return f"refused: {refused}"


# --- smaller programs ---


def smaller(program: RandomProgram) -> Iterator[RandomProgram]:
    """Programs with one step, function or piece less, or with a piece in place of a larger one."""
    for i in range(len(program.steps)):
        yield replace(program, steps=program.steps[:i] + program.steps[i + 1 :])
    for i in range(len(program.functions)):
        yield replace(program, functions=program.functions[:i] + program.functions[i + 1 :])
    if program.blocks > 1:
        yield replace(program, blocks=1)
    for i, step in enumerate(program.steps):
        for body in cut(step.body):
            changed = replace(step, body=body)
            yield replace(program, steps=program.steps[:i] + (changed,) + program.steps[i + 1 :])
    for i, one in enumerate(program.functions):
        for body in cut(one):
            yield replace(program, functions=program.functions[:i] + (body,) + program.functions[i + 1 :])


def cut(piece: Piece) -> Iterator[Piece]:
    """The piece with less in it."""
    if piece.kind == "block":
        for i in range(len(piece.parts)):
            yield replace(piece, parts=piece.parts[:i] + piece.parts[i + 1 :])
    elif piece.kind and piece.parts:
        yield Piece(piece.kind, f"({piece.kind})1")
        yield from (part for part in piece.parts if part.kind == piece.kind)
    elif not piece.kind:
        yield from (part for part in piece.parts if part.kind == "block")
    for i, part in enumerate(piece.parts):
        for less in cut(part):
            yield replace(piece, parts=piece.parts[:i] + (less,) + piece.parts[i + 1 :])


def smallest(program: RandomProgram, arch: int, folder: Path, options: Sequence[str] = ()) -> RandomProgram:
    """As small a program as is found that still goes wrong, whatever the difference then is."""
    kind, failed = _kind(verdict(program, arch, folder, options)), 0
    while True:
        for at, less in enumerate(smaller(program)):
            if at >= failed and _kind(_tried(less, arch, folder, options)) == kind:
                program, failed = less, at
                break
        else:
            if not failed:
                return program
            failed = 0


def _kind(wrong: str) -> str:
    return wrong.split(" ")[0].split("[")[0]


def _tried(program: RandomProgram, arch: int, folder: Path, options: Sequence[str]) -> str:
    try:
        return verdict(program, arch, folder, options)
    except ValueError:
        return ""
