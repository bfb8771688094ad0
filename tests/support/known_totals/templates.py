"""Kernels whose totals are known by construction, and those totals from the parameters alone.

A unit of work copies one line of its own per warp with one multiply-add: 1 load and 1 store request of 4 sectors, 64
flop. How many units each warp of each block does is written twice: in CUDA, and in NumPy.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
WARP, WORDS, SECTORS = 32, 32, 4
BLOCKS = ((32,), (64,), (128,), (256,), (32, 2), (16, 4), (8, 4, 4))  # threads along each axis
QUEUED = 40_000  # blocks of a work queue, at most
LENGTHS = [1 + 3 * i % 11 for i in range(64)]

HEAD = f"""__constant__ int lengths[64] = {{{", ".join(map(str, LENGTHS))}}};
__device__ __forceinline__ int thread() {{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}}
__device__ __forceinline__ void unit(long j, int all, int b, const float* x, float* y) {{
    long at = (j * all + b) * (blockDim.x * blockDim.y * blockDim.z) + thread();
    y[at] = x[at] * 1.5f + 2.0f;
}}
extern "C" __global__ void k(int n, int m, int p, int* list, unsigned* ticket, const float* x, float* y) {{
    int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z), t = thread();
    int per_block = blockDim.x * blockDim.y * blockDim.z;
    int all = gridDim.x * gridDim.y * gridDim.z;
"""
LOOP = "#pragma unroll 1\n    for (int j = 0; j < {times}; j++) unit(j, all, b, x, y);"


@dataclass(frozen=True)
class Grid:
    """A launch to come. at : coordinates of each block, (3, blocks)."""

    extents: tuple[int, int, int]
    block: tuple[int, ...]

    @property
    def warps(self) -> int:
        """Of a block."""
        return int(np.prod(self.block)) // WARP

    @property
    def blocks(self) -> int:
        return int(np.prod(self.extents))

    @property
    def at(self) -> tuple[Ints, Ints, Ints]:
        x, y, _ = self.extents
        b = np.arange(self.blocks)
        return b % x, b // x % y, b // (x * y)


@dataclass(frozen=True)
class Known:
    """One kernel's launch. units : of each warp of each block, (blocks, warps). list : what the array argument has."""

    grid: Grid
    n: int
    m: int
    p: int
    units: Ints
    list: Ints = field(default_factory=lambda: np.zeros(1, np.int64))


@dataclass(frozen=True)
class Template:
    """Kernels of one kind. body : CUDA. draw : a launch from a generator. data : contents decide that no evaluation of
    the grid sees, so that the sample has an error. writes_list : whether a thread of each block writes its length.
    queue : whether blocks draw their units from a counter, so that their sum alone is known. reckons : whether it takes
    floating-point operations to decide."""

    body: str
    draw: Callable[[np.random.Generator], Known]
    data: bool = False
    writes_list: bool = False
    queue: bool = False
    reckons: bool = False

    @property
    def source(self) -> str:
        return HEAD + self.body + "\n}\n"


def _per_block(grid: Grid, units: Any, n: int, m: int, p: int = 0, **more: Any) -> Known:
    every = np.broadcast_to(np.asarray(units, np.int64)[:, None], (grid.blocks, grid.warps))
    return Known(grid, n, m, p, every, **more)


def _line(rng: np.random.Generator, low: int = 300, high: int = 12_000) -> Grid:
    return Grid((int(np.exp(rng.uniform(np.log(low), np.log(high)))), 1, 1), _threads(rng))


def _threads(rng: np.random.Generator) -> tuple[int, ...]:
    return BLOCKS[int(rng.integers(len(BLOCKS)))]


def _box(rng: np.random.Generator) -> Grid:
    x, y, z = (int(rng.integers(2, high)) for high in (80, 40, 20))
    return Grid((x, y, z), _threads(rng))


def _exit(axis: int, *, last: bool) -> Callable[[np.random.Generator], Known]:
    def draw(rng: np.random.Generator) -> Known:
        grid = _line(rng, 300, 200_000) if axis == 0 and rng.random() < 0.5 else _box(rng)
        extent, m = grid.extents[axis], int(rng.integers(1, 12))
        n = max(1, round(extent / int(2 ** rng.integers(1, 7))))
        works = grid.at[axis] >= extent - n if last else grid.at[axis] < n
        return _per_block(grid, m * works, n, m)

    return draw


def _every(rng: np.random.Generator) -> Known:
    grid, n, m = _line(rng, 300, 300_000), int(rng.integers(2, 70)), int(rng.integers(1, 12))
    p = int(rng.integers(0, n))
    return _per_block(grid, m * (np.arange(grid.blocks) % n == p), n, m, p)


def _triangle(rng: np.random.Generator) -> Known:
    grid, n = _line(rng, 300, 4000), int(rng.integers(16, 130))
    return _per_block(grid, 1 + np.arange(grid.blocks) // n, n, 0)


def _squares(rng: np.random.Generator) -> Known:
    grid, p = _line(rng, 300, 3000), int(rng.integers(1, 9))
    n = max(1, grid.blocks // int(rng.integers(4, 17)))
    return _per_block(grid, 1 + (np.arange(grid.blocks) // n) ** 2 // p, n, 0, p)


def _last(rng: np.random.Generator) -> Known:
    grid, n, m = _line(rng), int(rng.integers(20, 300)), int(rng.integers(1, 5))
    return _per_block(grid, np.where(np.arange(grid.blocks) == grid.blocks - 1, n, m), n, m)


def _straight(rng: np.random.Generator) -> Known:
    grid, n = _line(rng), int(rng.integers(2, 70))
    p = int(rng.integers(0, n))
    return _per_block(grid, np.where(np.arange(grid.blocks) % n == p, 16, 1), n, 0, p)


def _roles(rng: np.random.Generator) -> Known:
    grid, n, m = _line(rng), int(rng.integers(0, 5)), int(rng.integers(4, 40))
    each = np.where(np.arange(grid.warps) == 0, m, n)
    return Known(grid, n, m, 0, np.broadcast_to(each, (grid.blocks, grid.warps)).astype(np.int64))


def _persistent(rng: np.random.Generator) -> Known:
    grid = _line(rng, 100, 3000)
    n = int(grid.blocks * rng.uniform(0.5, 12))
    b = np.arange(grid.blocks)
    return _per_block(grid, np.maximum(0, -(-(n - b) // grid.blocks)), n, 0)


def _queue(rng: np.random.Generator) -> Known:
    grid = _line(rng, 100, QUEUED)
    n = int(grid.blocks * rng.uniform(0.3, 4))
    b = np.arange(grid.blocks)  # who draws what does not matter for the total
    return _per_block(grid, np.maximum(0, -(-(n - b) // grid.blocks)), n, 0)


def _slabs(rng: np.random.Generator) -> Known:
    grid = _line(rng, 300, 100_000)
    n, p, m = (int(rng.integers(low, high)) for low, high in ((2, 200), (2, 9), (4, 30)))
    return _per_block(grid, np.where(np.arange(grid.blocks) // n % p == 0, m, 1), n, m, p)


def _constant(rng: np.random.Generator) -> Known:
    grid, n = _line(rng), int(rng.integers(1, 65))
    return _per_block(grid, np.array(LENGTHS)[np.arange(grid.blocks) % n], n, 0)


def _rows(kind: str) -> Callable[[np.random.Generator], Known]:
    def draw(rng: np.random.Generator) -> Known:
        grid = _line(rng, 300, 5000)
        lengths = np.full(grid.blocks, int(rng.integers(1, 9)))
        if kind == "power":
            lengths = np.minimum(300, 1 + (2 * rng.pareto(rng.uniform(1.1, 2.5), grid.blocks)).astype(np.int64))
        if kind == "giant":
            lengths[int(rng.integers(0, grid.blocks))] = int(rng.integers(200, 2000))
        return _per_block(grid, lengths, 0, 0, list=np.concatenate([[0], np.cumsum(lengths)]))

    return draw


def _list(rng: np.random.Generator) -> Known:
    grid = _line(rng, 300, 5000)
    lengths = rng.integers(0, int(rng.integers(2, 60)), grid.blocks)
    return _per_block(grid, lengths, 0, 0, list=lengths)


def _guard(rng: np.random.Generator) -> Known:
    grid = _line(rng)
    warps = grid.warps * grid.blocks
    n = warps - int(rng.integers(1, max(2, warps // 2)))
    units = (np.arange(warps) < n).astype(np.int64)
    return Known(grid, n, 0, 0, units.reshape(grid.blocks, grid.warps))


def _checkered(rng: np.random.Generator) -> Known:
    grid, n, m = _box(rng), int(rng.integers(2, 9)), int(rng.integers(1, 12))
    p = int(rng.integers(0, n))
    return _per_block(grid, m * (sum(grid.at) % n == p), n, m, p)


def _band(rng: np.random.Generator) -> Known:
    grid, n, m = _box(rng), int(rng.integers(1, 12)), int(rng.integers(1, 12))
    x, y, _ = grid.at
    return _per_block(grid, m * (abs(x - y) < n), n, m)


def _causal(rng: np.random.Generator) -> Known:
    grid, n = _box(rng), int(rng.integers(1, 9))
    return _per_block(grid, 1 + grid.at[1] // n, n, 0)


def _planes(rng: np.random.Generator) -> Known:
    grid, m = _box(rng), int(rng.integers(4, 30))
    n, p = int(rng.integers(1, 5)), int(rng.integers(2, 5))
    return _per_block(grid, np.where(grid.at[2] // n % p == 0, m, 1), n, m, p)


def _values(rng: np.random.Generator) -> Known:
    grid, n, m = _line(rng, 300, 5000), int(rng.integers(5, 96)), int(rng.integers(2, 30))
    values = rng.integers(0, 100, grid.blocks)
    return _per_block(grid, np.where(values < n, m, 1), n, m, list=values)


ROWS = "int first = list[b], end = list[b + 1];\n    " + LOOP.format(times="end - first")
TEMPLATES = {
    "leaves early in x": Template("if (blockIdx.x >= n) return;\n" + LOOP.format(times="m"), _exit(0, last=False)),
    "leaves early in y": Template("if (blockIdx.y >= n) return;\n" + LOOP.format(times="m"), _exit(1, last=False)),
    "leaves early in z": Template("if (blockIdx.z >= n) return;\n" + LOOP.format(times="m"), _exit(2, last=False)),
    "only the last in x work": Template(
        "if (blockIdx.x < gridDim.x - n) return;\n" + LOOP.format(times="m"), _exit(0, last=True)
    ),
    "a guard of warps": Template("if ((b * per_block + t) / 32 < n) unit(0, all, b, x, y);", _guard),
    "every k-th block": Template("if (b % n != p) return;\n" + LOOP.format(times="m"), _every),
    "triangular trip counts": Template(LOOP.format(times="1 + b / n"), _triangle),
    "quadratic trip counts": Template(LOOP.format(times="1 + (b / n) * (b / n) / p"), _squares),
    "a heavy last block": Template(LOOP.format(times="(b == all - 1 ? n : m)"), _last),
    "a heavy branch without a loop": Template(
        "if (b % n == p) {" + "".join(f" unit({j}, all, b, x, y);" for j in range(16))
        + " } else unit(0, all, b, x, y);",
        _straight,
    ),
    "roles of warps": Template(LOOP.format(times="(t < 32 ? m : n)"), _roles),
    "a persistent loop": Template(
        "#pragma unroll 1\n    for (int i = b, j = 0; i < n; i += all, j++) unit(j, all, b, x, y);", _persistent
    ),
    "a work queue": Template(
        "__shared__ int drawn;\n    while (true) { if (t == 0) drawn = atomicAdd(ticket, 1u); __syncthreads();"
        " int i = drawn; __syncthreads(); if (i >= n) break; unit(i / all, all, i % all, x, y); }",
        _queue, queue=True,
    ),
    "periods and slabs": Template(LOOP.format(times="(b / n % p == 0 ? m : 1)"), _slabs),
    "a checkerboard": Template(
        "if ((blockIdx.x + blockIdx.y + blockIdx.z) % n != p) return;\n" + LOOP.format(times="m"), _checkered
    ),
    "a band around the diagonal": Template(
        "if (abs((int)blockIdx.x - (int)blockIdx.y) >= n) return;\n" + LOOP.format(times="m"), _band
    ),
    "trip counts that grow with y": Template(LOOP.format(times="1 + blockIdx.y / n"), _causal),
    "slabs of planes": Template(LOOP.format(times="(blockIdx.z / n % p == 0 ? m : 1)"), _planes),
    "lengths in constant memory": Template(LOOP.format(times="lengths[b % n]"), _constant),
    "rows of equal length": Template(ROWS, _rows("equal")),
    "rows of power-law length": Template(ROWS, _rows("power")),
    "one giant row": Template(ROWS, _rows("giant")),
    "lengths in global memory": Template(LOOP.format(times="list[b]"), _list),
    "lengths that the kernel writes": Template(
        "int times = list[b];\n    " + LOOP.format(times="times") + "\n    if (t == 0) list[b] = times + n;",
        _list, data=True, writes_list=True,
    ),
    "floating-point values decide": Template(
        "int times = __sinf(list[b] * 0.0157f) < __sinf(n * 0.0157f - 0.008f) ? m : 1;\n    "
        + LOOP.format(times="times"),
        _values, data=True, reckons=True,
    ),
}  # fmt: skip
