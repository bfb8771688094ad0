"""Random damage and random questions for the emulator; every outcome is a result or one clear error.

The default run asks a fixed number of questions; how many the long one asks depends on the machine.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from elftools.elf.elffile import ELFFile

from support.paths import EXAMPLES
from warpbound.emulate import trace
from warpbound.emulate.block_execution import run_blocks
from warpbound.emulate.emulator import make_ready
from warpbound.errors import WarpboundError
from warpbound.kernel_launch import Launch, launch
from warpbound.program.cuda import Options, compile_cuda
from warpbound.program.kernel import Program
from warpbound.program.source_files import compile_program

LAUNCHES: dict[str, dict[str, Any]] = {
    "reduction": {"grid": 1, "block": 64, "args": {"input": "f32[500]:rand", "partial": "f32[4]", "n": 500}},
    "matmul_tiled": {
        "grid": 1, "block": (32, 32),
        "args": {"A": "f32[32,32]:rand", "B": "f32[32,32]:rand", "C": "f32[32,32]", "n": 32},
    },
    "histogram": {"grid": 2, "block": 256, "args": {"data": "u8[600,4]:rand", "result": "u32[256]", "words": 600}},
    "scan": {
        "grid": 2, "block": 256,
        "args": {"in": "u32[512]:rand", "out": "u32[512]", "totals": "u32[2]", "n": 512},
    },
}  # fmt: skip
STEPS = 3000
SLOWEST_S = 60.0  # of processor time that one question may take: a hundred times what any has taken
SCALARS = (0, 1, -1, 2, 31, 32, 33, 64, 1000, 2**31 - 1, -(2**31), 0.0, -1.5, float("inf"), float("nan"))
SIZES = (1, 2, 31, 32, 33, 500, 4096)
FILLS = ("", ":zeros", ":ones", ":iota", ":rand", ":randn")
KINDS = ("f16", "f32", "f64", "i8", "u8", "i32", "u32", "i64")


def checked(program: Program, asked: Callable[[], Launch]) -> str:
    """Run and trace; "ran", "refused", or "strange" where no rule foresaw it. Nothing outside the arrays may change:
    of an array that ends within a word, the rest of the word may."""
    begun = time.process_time()
    try:
        kernel = make_ready(program, asked())
        blocks = kernel.whole_clusters(np.arange(min(kernel.block_count, 8 * kernel.cluster_size)))
        run_blocks(kernel, blocks, STEPS)
        trace(program, asked(), [0], step_limit=STEPS)
        outcome = "ran"
    except WarpboundError as problem:
        return "strange" if "as it stands" in str(problem) else "refused"
    finally:
        assert time.process_time() - begun < SLOWEST_S, program.title
    image = kernel.memory.image
    outside = np.ones(len(image.bytes), np.bool_)
    for one in image.allocations:
        outside[one.start : one.words_end] = False
    assert not image.bytes[outside].any(), program.title
    return outcome


def first(count: int, questions: Iterator[str]) -> Counter[str]:
    """Outcomes of so many questions."""
    return Counter(islice(questions, count))


def until(seconds: float, questions: Iterator[str]) -> Counter[str]:
    """Outcomes of the questions that can be asked in the time."""
    end, outcomes = time.monotonic() + seconds, Counter[str]()
    for outcome in questions:
        outcomes[outcome] += 1
        if time.monotonic() > end:
            break
    return outcomes


def compiled(arch: int) -> list[Program]:
    return [compile_program(EXAMPLES / f"{name}.cu", f"sm_{arch}", _name(name)) for name in LAUNCHES]


def _name(name: str) -> str | None:
    return launch(EXAMPLES / f"{name}.toml").kernel


def usual(program: Program) -> Launch:
    return launch(**LAUNCHES[next(name for name in LAUNCHES if program.source_name.endswith(f"{name}.cu"))])


# --- moved instructions and operands ---


def broken_code(arch: int, chance: random.Random) -> Iterator[str]:
    """One to three instructions elsewhere, or with operands from elsewhere."""
    programs = compiled(arch)
    while True:
        program = chance.choice(programs)
        damaged = _moved(program, chance)
        yield checked(damaged, lambda program=program: usual(program))


def _moved(program: Program, chance: random.Random) -> Program:
    code = list(program.instructions)
    operands = [operand for one in code for operand in one.operands]
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(code))
        own = list(code[at].operands)
        if own and chance.random() < 0.5:
            own[chance.randrange(len(own))] = chance.choice(operands)
            code[at] = replace(code[at], operands=tuple(own))
        else:
            code[at] = replace(chance.choice(code), address=code[at].address)
    return replace(program, instructions=tuple(code))


# --- flipped bits of the machine code ---


def flipped_bits(arch: int, chance: random.Random, folder: Path) -> Iterator[str]:
    """One to four bits of a cubin's instructions flipped, disassembled, executed."""
    images = {name: _image(name, arch) for name in LAUNCHES}
    file = folder / "flipped.cubin"
    while True:
        name = chance.choice(list(images))
        image, (start, size) = bytearray(images[name]), _code(images[name])
        for _ in range(chance.randint(1, 4)):
            bit = chance.randrange(8 * size)
            image[start + bit // 8] ^= 1 << bit % 8
        file.write_bytes(image)
        try:
            program = compile_program(file, f"sm_{arch}")
        except WarpboundError:
            yield "unreadable"
            continue
        arguments = {i: value for i, value in enumerate(LAUNCHES[name]["args"].values())}
        yield checked(program, lambda name=name, arguments=arguments: launch(**LAUNCHES[name] | {"args": arguments}))


def _image(name: str, arch: int) -> bytes:
    path = EXAMPLES / f"{name}.cu"
    kernel = _name(name)
    options = Options(instance=kernel if kernel and "<" in kernel else None)
    return compile_cuda(path.read_text("utf-8"), path.name, arch, options).cubin


def _code(image: bytes) -> tuple[int, int]:
    sections = [one for one in ELFFile(BytesIO(image)).iter_sections() if one.name.startswith(".text.")]
    return sections[0]["sh_offset"], sections[0]["sh_size"]


# --- random launches and arguments ---


def random_launches(arch: int, chance: random.Random) -> Iterator[str]:
    """Any grid, block, shared memory and arguments for sound code."""
    programs = compiled(arch)
    while True:
        program = chance.choice(programs)
        values = {i: _argument(chance, i) for i in range(len(program.parameters))}
        grid = tuple(chance.choice((1, 1, 2, 3, 40)) for _ in range(3))
        block = tuple(chance.choice(sizes) for sizes in ((1, 7, 32, 33, 128, 512), (1, 1, 2, 32), (1, 1, 1, 3)))
        smem = chance.choice((0, 0, 16, 4096))
        yield checked(program, lambda v=values, g=grid, b=block, s=smem: launch(grid=g, block=b, smem=s, args=v))


def _argument(chance: random.Random, order: int) -> Any:
    if chance.random() < 0.4:
        return chance.choice(SCALARS)
    if chance.random() < 0.1:
        return bytes(chance.randrange(256) for _ in range(chance.choice((4, 8, 12))))
    return f"{chance.choice(KINDS)}[{chance.choice(SIZES)}]{chance.choice(FILLS)}"
