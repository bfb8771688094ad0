"""Variants without another source: block sizes, carve-outs, options of the compiler, other compilers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from warpbound.advice.variant import EXACT, ROUNDED, Question, Variant
from warpbound.errors import InputError, MissingTool
from warpbound.kernel_launch import MAX_BLOCK, MAX_THREADS, Dim
from warpbound.machine import Gpu
from warpbound.program import Program, nvrtc
from warpbound.program.cuda_toolkit import toolkit
from warpbound.program.nvrtc_release import releases

LEAST_THREADS = 64
FACTORS = ((2, 1), (1, 2), (4, 1), (1, 4))  # block sizes times the first by the second number
FAST_MATH = "fast math"  # a mechanism
FAST, UNFUSED = "--use_fast_math", "-fmad=false"


def block_sizes(question: Question, program: Program, axes: Sequence[int]) -> Iterator[Variant]:
    """The same threads in blocks of other sizes along these axes (0: x, 1: y), those that the kernel reads."""
    launch = question.launch
    if launch.cluster is not None or launch.smem or launch.placed is not None:
        return
    for axis in axes:
        if launch.block[axis] == 1:
            continue
        for more, less in FACTORS:
            size, threads = launch.block[axis] * more // less, launch.grid[axis] * launch.block[axis]
            block, grid = _with(launch.block, axis, size), _with(launch.grid, axis, -(-threads // max(size, 1)))
            count = block[0] * block[1] * block[2]
            most = min(program.max_threads or MAX_THREADS, MAX_THREADS)
            if not LEAST_THREADS <= count <= most or size > MAX_BLOCK[axis] or (axis == 0 and size < 16):
                continue
            words = f"--block {_text(block)} --grid {_text(grid)}"
            after = replace(question, launch=replace(launch, block=block, grid=grid))
            yield Variant("block size", f"blocks of {_size(block)} threads", "launch", after, apply=words)


def _with(size: Dim, axis: int, value: int) -> Dim:
    x, y, z = (value if at == axis else extent for at, extent in enumerate(size))
    return x, y, z


def _text(size: Dim) -> str:
    return ",".join(str(extent) for extent in size)


def _size(size: Dim) -> str:
    extents = list(size)
    while len(extents) > 1 and extents[-1] == 1:
        extents.pop()
    return " x ".join(str(extent) for extent in extents)


def carveouts(question: Question, board: Gpu) -> Iterator[Variant]:
    """The smallest and the largest part of L1 as shared memory."""
    sizes = board.limits.carveouts_KiB
    for size in dict.fromkeys((sizes[0], sizes[-1])):
        if size != question.launch.carveout:
            after = replace(question, launch=replace(question.launch, carveout=size))
            change, words = f"{size} KiB of shared memory per SM", f"--carveout {size}"
            yield Variant("carve-out", change, "launch", after, apply=words)


def compiler_options(question: Question, registers: Sequence[int]) -> Iterator[Variant]:
    """Fast mathematics, multiplications and additions apart, and register limits."""
    own = question.options.extra
    if not any("fast_math" in word for word in own):
        yield _with_option(question, FAST_MATH, FAST, ROUNDED)
    if not any("fmad" in word for word in own):
        yield _with_option(question, "fused multiply-add", UNFUSED, ROUNDED)
    if not any("maxrregcount" in word for word in own):
        for most in registers:
            yield _with_option(question, "register limit", f"--maxrregcount={most}", EXACT)


def _with_option(question: Question, mechanism: str, option: str, difference: str) -> Variant:
    options = replace(question.options, extra=(*question.options.extra, option))
    after = replace(question, options=options)
    return Variant(mechanism, option, "option", after, difference, apply=f"--nvrtc {option}")


def compilers(question: Question) -> Iterator[Variant]:
    """nvcc where there is one, NVRTC where nvcc compiles now, and older releases of NVRTC."""
    names = [f"nvrtc-{each.name}" for each in releases() if each.name != nvrtc.release()]
    try:
        toolkit()
        names.append("nvcc")
    except (MissingTool, InputError):
        pass
    now = question.options.compiler
    for name in ("nvrtc", *names):
        if name != now and not (now == "auto" and "nvcc" in names and name == "nvcc"):
            after = replace(question, options=replace(question.options, compiler=name))
            yield Variant("compiler", f"compiled by {name}", "compiler", after, ROUNDED, apply=f"--compiler {name}")
