"""The kernels of the published tables compute what their corpora say they do."""

import numpy as np
import pytest

import warpbound
from warpbound.kernel_launch import launch
from warpbound.program import programs
from warpbound.program.cuda import Options
from warpbound.validate.corpus import corpus

pytestmark = pytest.mark.cuda


@pytest.fixture
def random():
    """The same numbers for every test, whichever ran before."""
    return np.random.default_rng(7)


def kernel(name, of, **defines):
    source = corpus(of).folder / corpus(of).shared.source
    macros = tuple((key, str(value)) for key, value in defines.items())
    return programs(source, warpbound.gpu("a100-sxm-80gb"), name, Options(defines=macros))[0]


@pytest.mark.parametrize(
    ("name", "tile", "block", "depth"),
    [("by_column", 32, (32, 32), 8), ("by_row", 32, 1024, 8), ("tiled", 32, 1024, 8), ("strips", 64, 512, 8),
     ("squares", 128, 256, 8), ("squares", 128, 256, 16), ("turned", 128, 256, 8), ("fours", 128, 256, 16)],
)  # fmt: skip
@pytest.mark.parametrize("updates", [0, pytest.param(1, marks=pytest.mark.broad)])
def test_products(name, tile, block, depth, updates, random):
    n = 128
    a, b, c = (random.standard_normal((n, n)).astype(np.float32) for _ in range(3))
    program = kernel(name, "products", UPDATES=updates, DEPTH=depth)
    args = {"a": a.ravel(), "b": b.ravel(), "c": c.ravel(), "n": n, "alpha": 0.5, "beta": 3.0}
    after = warpbound.run(program, launch(grid=(n // tile, n // tile), block=block, args=args))
    wanted = 0.5 * (a @ b) + 3.0 * c if updates else a @ b
    np.testing.assert_allclose(after["c"].reshape(n, n), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("row", corpus("transposes").rows, ids=lambda row: row.kernel + row.words["block"])
def test_transposes(row, random):
    n, tile = 128, int(row.words["tile"])
    before = random.standard_normal((n, n)).astype(np.float32)
    program = kernel(row.kernel, "transposes", TILE=tile, ROWS=row.words["rows"])
    block = tuple(map(int, row.words["block"].split(",")))
    args = {"from": before.ravel(), "to": np.zeros(n * n, np.float32), "n": n}
    after = warpbound.run(program, launch(grid=(n // tile, n // tile), block=block, args=args))
    np.testing.assert_array_equal(after["to"].reshape(n, n), before.T)


@pytest.mark.parametrize("wide, high", [(4, 256), (32, 32), (1024, 1)])
def test_squares_in_blocks_of_two_dimensions(wide, high, random):
    side = 45
    x = random.standard_normal(side * side)
    args = {"to": np.zeros(side * side), "x": x, "factor": 2.0, "side": side}
    grid = (side // wide + 1, side // high + 1)
    after = warpbound.run(kernel("scale", "launches-2d"), launch(grid=grid, block=(wide, high), args=args))
    np.testing.assert_array_equal(after["to"], 2.0 * x)


SHAPES = [  # TILE_M, TILE_N, ACROSS, DOWN, FETCH_M, FETCH_N, WORDS_M, WORDS_N, SHARED_A, SHARED_B
    (64, 64, 8, 8, 16, 16, 4, 4, 1, 1), (64, 32, 8, 8, 8, 16, 8, 1, 1, 0), (32, 64, 8, 16, 16, 8, 1, 4, 0, 1),
    (32, 32, 16, 8, 16, 16, 2, 2, 0, 0),
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "-".join(map(str, shape)))
def test_tuned_products(shape, random):
    """a and c by columns, b by rows: c[n, m] = sum over k of a[k, m] b[k, n], with every way to fetch them."""
    names = ("TILE_M", "TILE_N", "ACROSS", "DOWN", "FETCH_M", "FETCH_N", "WORDS_M", "WORDS_N", "SHARED_A", "SHARED_B")
    chosen, n = dict(zip(names, shape, strict=True)), 64
    a, b, c = (random.standard_normal((n, n)).astype(np.float32) for _ in range(3))
    program = kernel("product", "tuned-products", DEPTH=32, **chosen)
    sizes = {"m": n, "n": n, "depth": n, "alpha": 0.5, "beta": 3.0}
    args = sizes | {"a": a.ravel(), "b": b.ravel(), "c": c.ravel()}
    grid, block = (n // chosen["TILE_M"], n // chosen["TILE_N"]), (chosen["ACROSS"], chosen["DOWN"])
    after = warpbound.run(program, launch(grid=grid, block=block, args=args))
    np.testing.assert_allclose(after["c"].reshape(n, n), 0.5 * (b.T @ a) + 3.0 * c, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(16, 4, 2, 1, 1, 1), (32, 1, 1, 3, 0, 1), (10, 3, 1, 2, 0, 0)], ids=str)
def test_convolutions(shape, random):
    """Every result is the sum over the taps, in whole tiles and others; rows of whole warps have no padding."""
    names = ("BLOCK_X", "BLOCK_Y", "TILE_X", "TILE_Y", "READ_ONLY", "PADDED")
    chosen, side, taps = dict(zip(names, shape, strict=True)), 32, 15
    picture = random.standard_normal((side + taps - 1, side + taps - 1)).astype(np.float32)
    weights = random.standard_normal((taps, taps)).astype(np.float32)
    program = kernel("filtered", "convolutions", SIDE=side, **chosen)
    args = {"from": picture.ravel(), "to": np.zeros(side * side, np.float32)}
    wide, high = chosen["BLOCK_X"] * chosen["TILE_X"], chosen["BLOCK_Y"] * chosen["TILE_Y"]
    asked = launch(
        grid=(-(-side // wide), -(-side // high)), block=shape[:2], args=args, constants={"weights": weights.ravel()}
    )
    after = warpbound.run(program, asked)["to"].reshape(side, side)
    windows = np.lib.stride_tricks.sliding_window_view(picture, (taps, taps))
    np.testing.assert_allclose(after, (windows * weights).sum(axis=(2, 3)), rtol=1e-4, atol=1e-4)
    words = program.shared_bytes // 4 // (high + taps - 1)
    assert words == wide + taps - 1 + {16: 2}.get(shape[0], 0)
