"""The tunable kernels: the same work with several tunings, to judge how well a prediction chooses among them."""

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from warpbound.kernel_launch import Dim
from warpbound.quick_dataclasses import dataclass

FOLDER = Path(__file__).parent / "kernels"
MATRIX = 2048          # of the product, rows and columns
IMAGE, RADIUS = 4096, 3
CUBE = 256
SQUARE = 8192          # transposed
NUMBERS = 1 << 26      # summed
SOFTMAX = (8192, 4096)
HEADS, QUERIES, KEYS, DIM = 16, 256, 1024, 64
ROWS, PER_ROW = 1 << 16, 32
BYTES = 1 << 26


@dataclass(frozen=True)
class Tuning:
    """One way to run a kernel: macros and the matching launch configuration."""

    name: str
    grid: Dim
    block: Dim
    defines: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Family:
    """A kernel and its tunings. arguments : of all tunings, made on demand. smem : dynamic shared memory, B."""

    kernel: str
    tunings: tuple[Tuning, ...]
    arguments: Callable[[], Mapping[str, Any]]
    smem: int = 0


def _tuning(grid: tuple[int, ...], block: tuple[int, ...], **macros: int) -> Tuning:
    """A tuning named by its macros."""
    name = "-".join(f"{key.lower()}{value}" for key, value in macros.items())
    return Tuning(name, _dim(grid), _dim(block), {key: str(value) for key, value in macros.items()})


def _dim(size: tuple[int, ...]) -> Dim:
    x, y, z = (*size, 1, 1)[:3]
    return x, y, z


def _gemm(tile: int, depth: int, work: int) -> Tuning:
    return _tuning((MATRIX // tile,) * 2, (tile // work,) * 2, TILE=tile, DEPTH=depth, WORK=work)


def _convolution(x: int, y: int, each: int) -> Tuning:
    return _tuning((IMAGE // x, IMAGE // y // each), (x, y), X=x, Y=y, EACH=each, RADIUS=RADIUS)


def _stencil(x: int, y: int, planes: int) -> Tuning:
    return _tuning((CUBE // x, CUBE // y, CUBE // planes), (x, y), X=x, Y=y, PLANES=planes)


def _transpose(tile: int, rows: int, pad: int) -> Tuning:
    return _tuning((SQUARE // tile,) * 2, (tile, rows), TILE=tile, ROWS=rows, PAD=pad)


def _sums(threads: int, each: int) -> Tuning:
    return _tuning((NUMBERS // threads // each,), (threads,), THREADS=threads, EACH=each)


def _bins(threads: int, each: int, copies: int) -> Tuning:
    return _tuning((BYTES // threads // each,), (threads,), COPIES=copies, EACH=each)


def _spmv(lanes: int) -> Tuning:
    return _tuning((ROWS * lanes // 256,), (256,), LANES=lanes)


def matrix(kind: str, rows: int = ROWS, per_row: int = PER_ROW) -> dict[str, Any]:
    """Arguments of spmv. banded: `per_row` entries around the diagonal; scattered: at random; uneven: at random, with a
    heavy-tailed distribution of row lengths."""
    random = np.random.default_rng(0)
    lengths = np.full(rows, per_row)
    if kind == "uneven":
        lengths = np.minimum(per_row / 4 * (1 + random.pareto(1.2, rows)), 64 * per_row).astype(np.int64)
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    if kind == "banded":
        offset = np.arange(per_row) - per_row // 2
        column = np.clip(np.arange(rows)[:, None] + offset, 0, rows - 1).ravel()
    else:
        column = random.integers(0, rows, int(start[-1]))
    return {"rows": rows, "start": start, "column": column.astype(np.int32), "value": f"f32[{start[-1]}]:rand",
            "x": f"f32[{rows}]:rand", "y": f"f32[{rows}]:zeros"}  # fmt: skip


def _square(name: str, side: int, fill: str = "rand") -> dict[str, str]:
    return {name: f"f32[{side},{side}]:{fill}"}


FAMILIES: dict[str, Family] = {
    "gemm": Family("gemm", (
        _gemm(64, 16, 4), _gemm(16, 16, 1), _gemm(32, 32, 1), _gemm(32, 16, 2), _gemm(64, 8, 4), _gemm(64, 16, 8),
        _gemm(128, 8, 8), _gemm(128, 16, 8),
    ), lambda: {**_square("a", MATRIX), **_square("b", MATRIX), **_square("c", MATRIX, "zeros"), "n": MATRIX}),
    "convolution2d": Family("convolution2d", (
        _convolution(32, 8, 1), _convolution(16, 16, 1), _convolution(32, 8, 2), _convolution(32, 8, 4),
        _convolution(64, 4, 4), _convolution(32, 32, 1), _convolution(128, 2, 8),
    ), lambda: {**_square("in", IMAGE + 2 * RADIUS), "filter": f"f32[{(2 * RADIUS + 1) ** 2}]:rand",
                **_square("out", IMAGE, "zeros"), "columns": IMAGE}),
    "stencil3d": Family("stencil3d", (
        _stencil(32, 8, 256), _stencil(32, 8, 64), _stencil(32, 8, 16), _stencil(64, 4, 64), _stencil(128, 2, 64),
        _stencil(16, 16, 64), _stencil(32, 16, 64),
    ), lambda: {"in": f"f32[{(CUBE + 2) ** 3}]:rand", "out": f"f32[{(CUBE + 2) ** 3}]:zeros", "n": CUBE}),
    "transpose": Family("transpose", (
        _transpose(32, 8, 1), _transpose(32, 8, 0), _transpose(32, 32, 1), _transpose(32, 4, 1), _transpose(16, 16, 1),
        _transpose(64, 16, 1),
    ), lambda: {**_square("in", SQUARE), **_square("out", SQUARE, "zeros"), "n": SQUARE}),
    "block_sums": Family("block_sums", (
        _sums(256, 8), _sums(256, 1), _sums(128, 4), _sums(256, 32), _sums(512, 8), _sums(1024, 4),
    ), lambda: {"in": f"f32[{NUMBERS}]:rand", "out": f"f32[{NUMBERS // 128}]:zeros"}),
    "softmax_rows": Family("softmax_rows", tuple(
        _tuning((SOFTMAX[0],), (t,), THREADS=t) for t in (256, 64, 128, 512, 1024)
    ), lambda: {"in": f"f32[{SOFTMAX[0]},{SOFTMAX[1]}]:randn", "out": f"f32[{SOFTMAX[0]},{SOFTMAX[1]}]:zeros",
                "columns": SOFTMAX[1]}),
    "attention_row": Family("attention_row", tuple(
        _tuning((QUERIES, HEADS), (t,), THREADS=t) for t in (128, 32, 64, 256)
    ), lambda: {"query": f"f32[{HEADS * QUERIES * DIM}]:randn", "keys": f"f32[{HEADS * KEYS * DIM}]:randn",
                "values": f"f32[{HEADS * KEYS * DIM}]:randn", "out": f"f32[{HEADS * QUERIES * DIM}]:zeros",
                "length": KEYS}, 4 * KEYS),
    **{f"spmv_{kind}": Family("spmv", tuple(map(_spmv, (32, 4, 8, 16))), partial(matrix, kind))
       for kind in ("banded", "scattered", "uneven")},
    "bins": Family("bins", (
        _bins(256, 64, 1), _bins(256, 64, 4), _bins(256, 64, 8), _bins(256, 16, 1), _bins(512, 64, 16),
    ), lambda: {"data": f"u8[{BYTES}]:rand", "result": "u32[256]:zeros"}),
}  # fmt: skip
