"""Whole kernels give the same arrays, to the bit, and the same errors by both engines."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from support.emulator.all_cases import CASES
from support.emulator.case import program_of
from warpbound.emulate.block_execution import run_blocks
from warpbound.emulate.emulator import Chunk, make_ready
from warpbound.emulate.native import engine, library
from warpbound.emulate.native.native_chunk import NativeChunk
from warpbound.errors import WarpboundError
from warpbound.kernel_launch import Launch, launch
from warpbound.program.kernel import Program
from warpbound.program.source_files import compile_program

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.usefixtures("disassembled_together"),
    pytest.mark.skipif(library.interpreter() is None, reason="the interpreter needs a C compiler"),
]
LIMIT = 200_000


def by_both(program: Program, started: Launch) -> list[Any]:
    """The arrays, or the error, by NumPy's handlers and by the interpreter."""
    outcomes: list[Any] = []
    for native in (False, True):
        kernel = make_ready(program, started)
        made = engine.chunk_maker(kernel)
        assert isinstance(made, partial)
        assert made.func is NativeChunk
        try:
            blocks = kernel.whole_clusters(np.arange(kernel.block_count))
            run_blocks(kernel, blocks, LIMIT, make_chunk=made if native else Chunk)
            outcomes.append({name: np.asarray(array).tobytes() for name, array in kernel.memory.arrays().items()})
        except WarpboundError as problem:
            outcomes.append(str(problem))
    return outcomes


def cases() -> list[Any]:
    """All cases: every eighth in the usual tests, every other one in the broad tests."""
    marks = [() if i % 8 == 0 else pytest.mark.broad if i % 2 == 0 else pytest.mark.full for i in range(len(CASES))]
    older = [pytest.param(name, 80, marks=mark) for name, mark in zip(CASES, marks, strict=True)]
    return older + [pytest.param(name, arch, marks=pytest.mark.full) for name in CASES for arch in (90, 120)]


@pytest.mark.parametrize("name, arch", cases())
def test_both_engines_give_the_same_arrays(name: str, arch: int) -> None:
    case = CASES[name](np.random.default_rng(7))
    if arch < case.least_arch:
        pytest.skip(f"sm_{arch} has no such instruction")
    numpy, interpreter = by_both(program_of(case, arch), case.launch)
    assert numpy == interpreter


WRONG = """
__global__ void beyond(float* x, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += x[i * 32 + threadIdx.x];
    x[threadIdx.x] = sum;
}
__global__ void endless(volatile int* flag) { while (!*flag); }
__global__ void parted(int* x) { if (threadIdx.x < 40) __syncthreads(); x[threadIdx.x] = 1; }
"""


@pytest.mark.parametrize(
    "kernel, arguments, part",
    [
        ("beyond", {0: "f32[256]:ones", 1: 10}, "past the end of"),
        ("endless", {0: "i32[1]:zeros"}, "a loop without end"),
        ("parted", {0: "i32[64]:zeros"}, None),
    ],
)
def test_both_engines_give_the_same_errors(tmp_path: Any, kernel: str, arguments: Any, part: str | None) -> None:
    file = tmp_path / "wrong.cu"
    file.write_text(WRONG)
    numpy, interpreter = by_both(compile_program(file, "sm_80", kernel), launch(grid=2, block=64, args=arguments))
    assert numpy == interpreter
    assert part is None or part in numpy


def test_without_a_compiler_numpy_executes_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    library.interpreter.cache_clear()
    try:
        assert library.interpreter() is None
        case = next(iter(CASES.values()))(np.random.default_rng(7))
        assert engine.chunk_maker(make_ready(program_of(case, 80), case.launch)) is Chunk
    finally:
        library.interpreter.cache_clear()
