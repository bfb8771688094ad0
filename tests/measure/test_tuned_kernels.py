"""The tunable kernels of the corpus compute what they are called, in every tuning, against NumPy."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from warpbound.emulate import run
from warpbound.kernel_launch import launch
from warpbound.machine import gpu
from warpbound.measure.corpus import tuned
from warpbound.measure.corpus.subjects import launches, subjects, tunings
from warpbound.program.cuda import Options, compile_cuda
from warpbound.program.source_files import programs

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("disassembled_together")]

Check = tuple[tuple[int, ...], dict[str, Any], str, Any]  # grid, arguments, the output's name, what it must be
random = np.random.default_rng()


@pytest.fixture(autouse=True)
def numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for every test, whichever ran before."""
    monkeypatch.setitem(globals(), "random", np.random.default_rng(5))


def floats(*shape: int) -> Any:
    return random.random(shape, dtype=np.float32)


def gemm(way: dict[str, int]) -> Check:
    n = 128
    a, b = floats(n, n), floats(n, n)
    return (n // way["TILE"],) * 2, {"a": a, "b": b, "c": 0 * a, "n": n}, "c", a.astype(float) @ b


def convolution2d(way: dict[str, int]) -> Check:
    x, y, width = way["X"], way["Y"] * way["EACH"], 2 * way["RADIUS"] + 1
    rows, columns = 2 * y, 2 * x
    image, weights = floats(rows + width - 1, columns + width - 1), floats(width, width)
    windows = np.lib.stride_tricks.sliding_window_view(image.astype(float), (width, width))
    args = {"in": image, "filter": weights.ravel(), "out": np.zeros((rows, columns), np.float32), "columns": columns}
    return (2, 2), args, "out", np.einsum("rcvu,vu->rc", windows, weights)


def stencil3d(way: dict[str, int]) -> Check:
    n = max(way["X"], way["Y"], way["PLANES"], 32)
    cube = np.zeros((n + 2,) * 3, np.float32)
    cube[:] = floats(n + 2, n + 2, n + 2)
    wanted, planes = np.zeros(cube.shape), way["PLANES"]
    inner = slice(1, -1)
    around = sum(np.roll(cube.astype(float), step, axis)[inner, inner, inner] for axis in range(3) for step in (1, -1))
    wanted[inner, inner, inner] = 0.4 * cube[inner, inner, inner] + 0.1 * around
    touched = np.zeros(cube.shape, bool)
    touched[1 : 1 + planes, 1 : 1 + way["Y"], 1 : 1 + way["X"]] = True  # by one block; the whole cube takes too long
    args = {"in": cube, "out": np.zeros(cube.shape, np.float32), "n": n}
    return (1, 1, 1), args, "out", np.where(touched, wanted, 0.0)


def transpose(way: dict[str, int]) -> Check:
    n = 2 * way["TILE"]
    a = floats(n, n)
    return (2, 2), {"in": a, "out": 0 * a, "n": n}, "out", a.T


def block_sums(way: dict[str, int]) -> Check:
    a = floats(3, way["THREADS"] * way["EACH"])
    return (3,), {"in": a, "out": np.zeros(3, np.float32)}, "out", a.astype(float).sum(1)


def softmax_rows(way: dict[str, int]) -> Check:
    a = floats(2, 1500)
    e = np.exp(a.astype(float))
    return (2,), {"in": a, "out": 0 * a, "columns": 1500}, "out", e / e.sum(1, keepdims=True)


def attention_row(way: dict[str, int]) -> Check:
    heads, queries, keys = 2, 2, 70
    q, k, v = (floats(heads, length, tuned.DIM) for length in (queries, keys, keys))
    e = np.exp(np.einsum("hqd,hkd->hqk", q.astype(float), k) / np.sqrt(tuned.DIM))
    wanted = np.einsum("hqk,hkd->hqd", e / e.sum(2, keepdims=True), v)
    return (queries, heads), {"query": q, "keys": k, "values": v, "out": 0 * q, "length": keys}, "out", wanted


def spmv(kind: str) -> Callable[[dict[str, int]], Check]:
    def check(way: dict[str, int]) -> Check:
        rows = 256
        args = tuned.matrix(kind, rows, 8)
        start, column = args["start"], args["column"]
        value, x = floats(start[-1]), floats(rows)
        dense = np.zeros((rows, rows))
        np.add.at(dense, (np.repeat(np.arange(rows), np.diff(start)), column), value)
        args |= {"value": value, "x": x, "y": np.zeros(rows, np.float32)}
        return (rows * way["LANES"] // 256,), args, "y", dense @ x

    return check


def bins(way: dict[str, int]) -> Check:
    defines = {key: str(value) for key, value in way.items()}
    threads = next(tuning.block[0] for tuning in tuned.FAMILIES["bins"].tunings if tuning.defines == defines)
    data = random.integers(0, 256, 2 * threads * way["EACH"]).astype(np.uint8)
    return (2,), {"data": data, "result": np.zeros(256, np.uint32)}, "result", np.bincount(data, minlength=256)


CHECKS: dict[str, Callable[[dict[str, int]], Check]] = {
    "gemm": gemm, "convolution2d": convolution2d, "stencil3d": stencil3d, "transpose": transpose,
    "block_sums": block_sums, "softmax_rows": softmax_rows, "attention_row": attention_row, "bins": bins,
    **{f"spmv_{kind}": spmv(kind) for kind in ("banded", "scattered", "uneven")},
}  # fmt: skip
LONG = ("work8", "planes256")  # to execute: `full`, like every second of the others; every fourth is `broad`


def _marks(name: str, at: int) -> Any:
    if at % 2 or any(word in name for word in LONG):
        return pytest.mark.full
    return pytest.mark.broad if at % 4 else ()


WAYS = [
    pytest.param(name, at, marks=_marks(way.name, at))
    for name, family in tuned.FAMILIES.items() for at, way in enumerate(family.tunings)
]  # fmt: skip


@pytest.mark.parametrize(("name", "at"), WAYS)
def test_every_way_gives_the_same_result(name: str, at: int) -> None:
    family = tuned.FAMILIES[name]
    way = family.tunings[at]
    grid, args, output, wanted = CHECKS[name]({key: int(value) for key, value in way.defines.items()})
    text = (tuned.FOLDER / f"{family.kernel}.cu").read_text("utf-8")
    options = Options(tuple(way.defines.items()))
    (program,) = programs(compile_cuda(text, "k.cu", 90, options).cubin, gpu("h200"), None, Options())
    found = run(program, launch(grid=grid, block=way.block, smem=family.smem, args=args))[output]
    np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=1e-5)


def test_there_are_forty_kernels_and_several_launches_of_each() -> None:
    """Each kernel - source and macros - at two sizes at least; 41 pieces of work, 95 kernels."""
    launched = Counter(
        (name, tuple(way.defines.items())) for name, subject in subjects().items() for way in launches(subject).values()
    )
    assert len(subjects()) >= 40
    assert len(launched) >= 90
    assert min(launched.values()) >= 2
    assert sum(launched.values()) >= 250
    assert "convolution" in subjects()  # whose filter is a variable of the module


@pytest.mark.parametrize("name", tuned.FAMILIES)
@pytest.mark.parametrize("arch", [pytest.param(75, marks=pytest.mark.broad), 120])
def test_tunable_kernels_compile_everywhere_without_spills(name: str, arch: int) -> None:
    subject = subjects()[name]
    text = subject.source.read_text("utf-8")
    for way in tunings(subject):
        made = compile_cuda(text, f"{name}.cu", arch, subject.options(way.defines))
        assert set(made.spills.values()) == {(0, 0)}


@pytest.mark.parametrize(("name", "work", "per_thread"), [
    ("gemm", tuned.MATRIX**2, lambda d: d["WORK"] ** 2),
    ("convolution2d", tuned.IMAGE**2, lambda d: d["EACH"]),
    ("stencil3d", tuned.CUBE**3, lambda d: d["PLANES"]),
    ("transpose", tuned.SQUARE**2, lambda d: d["TILE"] // d["ROWS"]),
    ("block_sums", tuned.NUMBERS, lambda d: d["EACH"]),
    ("bins", tuned.BYTES, lambda d: d["EACH"]),
])  # fmt: skip
def test_each_way_covers_the_whole_work(name: str, work: int, per_thread: Callable[[dict[str, int]], int]) -> None:
    for way in tuned.FAMILIES[name].tunings:
        threads = int(np.prod(way.grid)) * int(np.prod(way.block))
        assert threads * per_thread({key: int(value) for key, value in way.defines.items()}) == work, way.name
