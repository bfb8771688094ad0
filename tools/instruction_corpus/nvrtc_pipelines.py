"""Products of the examples whose warps and blocks have roles: wgmma on Hopper, pairs of blocks on Blackwell."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from instruction_corpus.cases import Case
from warpbound.kernel_launch import launch
from warpbound.machine import Gpu
from warpbound.program import compile_program
from warpbound.python_kernels.launches import Prepared

EXAMPLES = Path(__file__).parents[2] / "examples"
ROWS, COLUMNS, DEPTH = 256, 512, 128
SHARED_B = 196608  # for six stages
KERNELS = {  # name -> folder, threads, blocks of the grid, architecture
    "wgmma_product": ("hopper", 384, (4, 2), 90),
    "pair_product": ("blackwell", 128, (4, 1), 100),
}


def cases() -> Iterator[Case]:
    """Both of them, one product of 256 x 512 x 128."""
    numbers = np.random.default_rng(8)
    a, b = (numbers.standard_normal((extent, DEPTH)).astype(np.float16) for extent in (ROWS, COLUMNS))
    product = a.astype(np.float32) @ b.T.astype(np.float32)
    args = {
        "a": in_tiles(a), "b": in_tiles(b), "c": np.zeros((ROWS, COLUMNS), np.float32), "n": COLUMNS, "k": DEPTH,
    }  # fmt: skip
    for name in KERNELS:
        yield _case(name, args, {"c": product})


def _case(name: str, args: dict[str, Any], expected: dict[str, np.ndarray]) -> Case:
    folder, threads, grid, architecture = KERNELS[name]

    def prepare(board: Gpu) -> Prepared:
        source, options = EXAMPLES / folder / f"{name}.cu", [f"-arch=sm_{architecture}a"]
        program = compile_program(source, board, options=options, compiler="nvrtc")
        return Prepared(program, launch(grid=grid, block=threads, smem=SHARED_B, args=args))

    return Case("NVRTC", name, prepare, expected, 1e-5, (architecture,))


def in_tiles(matrix: np.ndarray) -> np.ndarray:
    """As the examples read it: tiles of 128 x 64, slices of 16 columns, in each matrices of 8 x 8."""
    rows, columns = matrix.shape
    pieces = matrix.reshape(rows // 128, 16, 8, columns // 64, 4, 2, 8)
    return np.ascontiguousarray(pieces.transpose(0, 3, 4, 1, 5, 2, 6)).reshape(-1)
