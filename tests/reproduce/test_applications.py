"""Kernels after the X-model's twelve applications: NumPy's results, the counts that the package keeps, their page.

`pytest tests/reproduce/test_applications.py -n 0 --rewrite-docs` counts anew and writes counts and page.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warpbound
from support.paths import ROOT
from warpbound.models.x_model_2016 import bound_class, curves, predict_without_cache, state
from warpbound.reproduce import chosen
from warpbound.reproduce.x_model_2016 import applications, applications_from_source, applications_page

pytestmark = pytest.mark.usefixtures("disassembled_together")

FOLDER = ROOT / "examples" / "applications"
DATA = Path(applications.__file__).parent / applications.COUNTS
PAGE = ROOT / "docs" / "x-applications.md"
NAMES = (
    "bfs", "backprop", "stencil", "gesummv", "hpccg", "heartwall",
    "leukocyte", "nw", "nn", "spmv", "atax", "lud",
)  # fmt: skip
BOARDS = ("k40", "a100-sxm-40gb")
STUDIED = {"k40": 64.0, "gtx570": 48.0}  # and the warp slots of an SM
SIZES = {"16 KB": 16384.0, "48 KB": 49152.0}
HEAD = "# Counted from examples/applications by `pytest tests/reproduce/test_applications.py -n 0 --rewrite-docs`."
ROWS = [("applications", board, name) for board in BOARDS for name in NAMES]
ROWS += [("gesummv", board, size) for board in STUDIED for size in SIZES]
ON_ONE = {("applications", BOARDS[place % 2], name) for place, name in enumerate(NAMES)}  # the other: `make full`
USUAL = {*sorted(ON_ONE)[::3], ("gesummv", "k40", "16 KB")}  # the rest of them: `broad`
BROAD = {row for row in ROWS if row in ON_ONE or row[0] == "gesummv"}
COUNTED = [
    pytest.param(*row, marks=() if row in USUAL else pytest.mark.broad if row in BROAD else pytest.mark.full)
    for row in ROWS
]
MOVED = 0.1  # share by which a count may differ with another compiler before the counts are written anew
OTHERS = ("sm_80", "sm_86", "sm_89", "sm_90", "sm_100")
ARCHITECTURES = [
    "sm_120",
    pytest.param("sm_75", marks=pytest.mark.broad),
    *(pytest.param(arch, marks=pytest.mark.full) for arch in OTHERS),
]
Arrays = dict[str, Any]
Case = tuple[str, Any, Any, Arrays, Arrays]  # kernel, grid, block, arguments, what must come out


def f32(values: Any) -> Any:
    return np.asarray(values, np.float32)


# ---------------------------------------------------------------- what NumPy says


def bfs(random: np.random.Generator) -> Case:
    nodes, degree = 300, 5
    frontier, visited = random.random((2, nodes)) < 0.5
    neighbour = random.integers(0, nodes, (nodes, degree)).astype(np.uint16)
    new = np.zeros(nodes, bool)
    new[neighbour[frontier].reshape(-1)] = True
    new &= ~visited
    args = {
        "nodes": nodes, "degree": degree, "next": 4, "frontier": frontier, "neighbour": neighbour, "visited": visited,
        "level": np.full(nodes, -1, np.int32), "reached": np.zeros(nodes, bool),
    }  # fmt: skip
    return "bfs", 3, 128, args, {"level": np.where(new, 4, -1), "reached": new}


def backprop(random: np.random.Generator) -> Case:
    inputs, hidden = 48, 16
    value, weight = f32(random.random(inputs)), f32(random.random((inputs, hidden)))
    products = (weight.astype(float) * value[:, None]).reshape(3, 16, hidden)
    left, step = products.copy(), 8
    while step:
        left[:, :step] += left[:, step : 2 * step]
        step //= 2
    args = {"hidden": hidden, "input": value, "weight": weight, "partial": np.zeros((3, hidden), np.float32)}
    return "backprop", 3, (16, 16), args, {"weight": left.reshape(inputs, hidden), "partial": products.sum(1)}


def stencil(random: np.random.Generator) -> Case:
    u = f32(random.random((7, 10, 37)))
    w, out = u.astype(float), np.zeros(u.shape)
    sides = w[:-2, 1:-1, 1:-1] + w[2:, 1:-1, 1:-1] + w[1:-1, :-2, 1:-1] + w[1:-1, 2:, 1:-1]
    sides += w[1:-1, 1:-1, :-2] + w[1:-1, 1:-1, 2:]
    out[1:-1, 1:-1, 1:-1] = -6.0 * w[1:-1, 1:-1, 1:-1] + 0.5 * sides
    args = {
        "nx": 37, "ny": 10, "nz": 7, "centre": np.float32(-6), "side": np.float32(0.5),
        "in": u, "out": np.zeros_like(u),
    }  # fmt: skip
    return "stencil", (2, 3), (32, 4), args, {"out": out}


def gesummv(random: np.random.Generator) -> Case:
    a, b = f32(random.random((2, 70, 33)))
    x = f32(random.random(33))
    args = {
        "rows": 70, "columns": 33, "alpha": np.float32(1.5), "beta": np.float32(-0.75), "A": a, "B": b, "x": x,
        "y": np.zeros(70, np.float32),
    }  # fmt: skip
    return "gesummv", 2, 64, args, {"y": 1.5 * (a.astype(float) @ x) - 0.75 * (b.astype(float) @ x)}


def hpccg(random: np.random.Generator) -> Case:
    nx, ny, nz = 5, 4, 3
    rows = nx * ny * nz
    diagonal, x = random.random((27, rows)), random.random(rows)
    matrix = np.zeros((rows, rows))
    for k, (dz, dy, dx) in enumerate(np.ndindex(3, 3, 3)):
        offset = (dz - 1) * nx * ny + (dy - 1) * nx + dx - 1
        for row in range(max(0, -offset), min(rows, rows - offset)):
            matrix[row, row + offset] = diagonal[k, row]
    args = {"nx": nx, "ny": ny, "nz": nz, "diagonal": diagonal, "x": x, "y": np.zeros(rows)}
    return "hpccg", 2, 32, args, {"y": matrix @ x}


def heartwall(random: np.random.Generator) -> Case:
    height, width, points = 50, 60, 3
    frame, templates = f32(random.random((height, width))), f32(random.random((points, 16, 16)))
    corner = random.integers(0, 1000, (points, 2)).astype(np.uint16)
    wanted = np.zeros((points, 16, 16))
    for p, dy, dx in np.ndindex(points, 16, 16):
        left, top = corner[p, 0] % (width - 32) + dx, corner[p, 1] % (height - 32) + dy
        window = frame[top : top + 16, left : left + 16].astype(float)
        wanted[p, dy, dx] = (window * templates[p]).sum() / math.sqrt((window**2).sum())
    args = {
        "width": width, "height": height, "frame": frame, "templates": templates, "corner": corner,
        "score": np.zeros((points, 16, 16), np.float32),
    }  # fmt: skip
    return "heartwall", points, (16, 16), args, {"score": wanted}


def leukocyte(random: np.random.Generator) -> Case:
    pitch, height = 64, 36
    gx, gy = f32(random.standard_normal((2, height, pitch)))
    angle = 2 * np.pi * np.arange(32) / 32
    cosine, sine = np.cos(angle), np.sin(angle)
    wanted = np.zeros((height, pitch))
    for y, x in np.ndindex(4, 32):
        scores = []
        for radius in 8 + 2 * np.arange(5):
            i = y + 16 + np.rint(f32(radius * sine)).astype(int)
            j = x + 16 + np.rint(f32(radius * cosine)).astype(int)
            outward = gx[i, j] * cosine + gy[i, j] * sine
            scores.append(outward.mean() ** 2 / outward.var())
        wanted[y + 16, x + 16] = max(scores)
    args = {"pitch": pitch, "gradient_x": gx, "gradient_y": gy, "best": np.zeros((height, pitch), np.float32)}
    return "leukocyte", (1, 1), (32, 4), args, {"best": wanted}


def nw(random: np.random.Generator) -> Case:
    size, diagonal, penalty = 48, 2, 10
    match = random.integers(-20, 20, (size, size)).astype(np.int8)
    whole = np.zeros((size + 1, size + 1), np.int32)
    whole[0], whole[:, 0] = -penalty * np.arange(size + 1), -penalty * np.arange(size + 1)
    for i, j in np.ndindex(size, size):
        gap = max(whole[i, j + 1], whole[i + 1, j]) - penalty
        whole[i + 1, j + 1] = max(whole[i, j] + match[i, j], gap)
    tile = np.add.outer(np.arange(size + 1) - 1, np.zeros(size + 1)) // 16
    tile += np.add.outer(np.zeros(size + 1), np.arange(size + 1) - 1) // 16
    inner = (np.arange(size + 1)[:, None] > 0) & (np.arange(size + 1) > 0)
    before = np.where(inner & (tile >= diagonal), 0, whole).astype(np.int32)
    after = np.where(inner & (tile > diagonal), 0, whole)
    args = {"size": size, "diagonal": diagonal, "penalty": penalty, "match": match, "score": before}
    return "nw", diagonal + 1, 16, args, {"score": after}


def nn(random: np.random.Generator) -> Case:
    place = f32(random.random((200, 2)))
    args = {
        "places": 200, "place": place, "latitude": np.float32(0.25), "longitude": np.float32(0.75),
        "distance": np.zeros(200, np.float32),
    }  # fmt: skip
    return "nn", 2, 128, args, {"distance": np.hypot(*(np.array([0.25, 0.75]) - place).T)}


def spmv(random: np.random.Generator) -> Case:
    rows, per_row, columns = 100, 7, 60
    value, x = f32(random.random((per_row, rows))), f32(random.random(columns))
    column = random.integers(0, columns, (per_row, rows)).astype(np.uint16)
    args = {
        "rows": rows, "per_row": per_row, "value": value, "column": column, "x": x, "y": np.zeros(rows, np.float32),
    }  # fmt: skip
    return "spmv", 2, 64, args, {"y": (value.astype(float) * x[column]).sum(0)}


def atax_rows(random: np.random.Generator) -> Case:
    a, x = f32(random.random((70, 33))), f32(random.random(33))
    args = {"rows": 70, "columns": 33, "A": a, "x": x, "product": np.zeros(70, np.float32)}
    return "atax", 2, 64, args, {"product": a.astype(float) @ x}


def atax_columns(random: np.random.Generator) -> Case:
    a, product = f32(random.random((70, 33))), f32(random.random(70))
    args = {"rows": 70, "columns": 33, "A": a, "product": product, "y": np.zeros(33, np.float32)}
    return "atax", 1, 64, args, {"y": product @ a.astype(float)}


def lud(random: np.random.Generator) -> Case:
    n, offset = 64, 16
    matrix = f32(random.random((n, n)))
    wanted = matrix.astype(float)
    first, rest = slice(offset, offset + 16), slice(offset + 16, n)
    wanted[rest, rest] -= wanted[rest, first] @ wanted[first, rest]
    return "lud", (2, 2), (16, 16), {"n": n, "offset": offset, "matrix": matrix}, {"matrix": wanted}


CASES: dict[str, Callable[[np.random.Generator], Case]] = {
    **{one.__name__: one for one in (bfs, backprop, stencil, gesummv, hpccg, heartwall, leukocyte, nw, nn, spmv, lud)},
    "atax_rows": atax_rows,
    "atax_columns": atax_columns,
}


@pytest.mark.cuda
@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_numpy(name: str) -> None:
    stem, grid, block, args, wanted = CASES[name](np.random.default_rng(3))
    kernel = name if stem == "atax" else stem
    program = warpbound.compile(FOLDER / f"{stem}.cu", "sm_80", kernel)
    found = warpbound.run(program, warpbound.launch(grid=grid, block=block, args=args))
    for array, value in wanted.items():
        np.testing.assert_allclose(found[array], value, rtol=2e-4, atol=2e-5, err_msg=array)


@pytest.mark.cuda
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", NAMES)
def test_every_architecture_has_code_without_unknown_opcodes(name: str, arch: str) -> None:
    launch = warpbound.launch(FOLDER / f"{name}.toml")
    entry = warpbound.analyze(warpbound.compile(FOLDER / f"{name}.cu", arch, launch.kernel), arch)
    assert entry["confidence"]["unknown_opcodes"] == []


# ---------------------------------------------------------------- counts


def counted(group: str, board: str, what: str) -> dict[str, Any]:
    """One row of the counts, from the source."""
    if group == "applications":
        return applications_from_source.counted(FOLDER / f"{what}.cu", board)
    return applications_from_source.cached(FOLDER / "gesummv.cu", board, SIZES[what], STUDIED[board])


@pytest.mark.cuda
@pytest.mark.parametrize("group, board, what", COUNTED)
def test_counts_are_those_of_the_sources(group: str, board: str, what: str, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--rewrite-docs"):
        pytest.skip("written anew by the next test")
    kept = applications.counts()[group][board][what]
    found = counted(group, board, what)
    assert found.keys() == kept.keys()
    for symbol, value in found.items():
        before = kept[symbol]
        same = value == before if isinstance(value, str) else math.isclose(value, before, rel_tol=MOVED)
        assert same, f"{symbol}: {before} is kept, {value} counted; write the counts anew"


@pytest.mark.cuda
def test_counts_are_complete(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--rewrite-docs"):
        table: dict[str, Any] = {}
        for group, board, what in ROWS:
            table.setdefault(group, {}).setdefault(board, {})[what] = counted(group, board, what)
        DATA.write_text(_toml(table))
        applications.counts.cache_clear()
    kept = applications.counts()
    assert [(g, b, w) for g, boards in kept.items() for b, rows in boards.items() for w in rows] == ROWS


def _toml(found: dict[str, Any]) -> str:
    lines = [HEAD]
    for group, boards in found.items():
        for board, rows in boards.items():
            lines += ["", f"[{group}.{board}]"]
            for name, symbols in rows.items():
                said = (f'{key} = "{of}"' if isinstance(of, str) else f"{key} = {of!r}" for key, of in symbols.items())
                lines.append(f'"{name}" = {{ {", ".join(said)} }}')
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------- what the item makes of them


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("board", BOARDS)
def test_the_state_is_where_the_curves_meet(board: str, name: str) -> None:
    of = applications.counts()["applications"][board][name]
    x = applications.without_cache(of)
    ours = applications.application(of)
    closed = min(x.ms_throughput, x.lanes / x.intensity, x.threads / (x.latency + x.intensity / x.ilp))
    assert ours["MS"] == pytest.approx(closed, rel=1e-6)
    assert ours["CS"] == pytest.approx(x.intensity * closed, rel=1e-6)
    assert float(predict_without_cache(x).rate) == pytest.approx(closed)
    assert ours["binds"] == bound_class(x)
    k = float(state(x).ms_threads)
    assert float(curves.demand(x, x.threads - k)) >= closed * (1 - 1e-6)


def test_gesummv_thrashes_and_its_ways_out_are_ordered_as_measured() -> None:
    (item,) = chosen("x_model_2016:applications")
    printed = {what: one.value for what, one in item.printed.items() if one.from_measurement}
    measured = sorted(printed, key=lambda what: -float(str(printed[what])))
    names = [what.rpartition("gain: ")[2].replace(", ", " ") for what in measured]
    for board in STUDIED:
        ours = applications.case_study(board, item.inputs)
        assert ours["16 KB: falls where it crosses"]
        assert ours["48 KB: falls where it crosses"]
        assert ours["order of gains"] == ", ".join(names)


@pytest.mark.parametrize("board", STUDIED)
@pytest.mark.parametrize("size", SIZES)
def test_throttling_goes_to_the_best_number_of_warps(board: str, size: str) -> None:
    of = applications.counts()["gesummv"][board][size]
    x = applications.with_cache(of)
    rates = [_met(of, warps) for warps in range(1, int(x.threads) + 1)]
    warps, rate = applications.best(x)
    assert warps == 1 + int(np.argmax(rates))
    assert rate == pytest.approx(max(rates), rel=1e-6)
    gain = applications.remedies(x, x)["throttling, 16 KB"].ms_gain
    assert float(gain) == pytest.approx(max(rates) / rates[-1], rel=1e-6)


def _met(of: dict[str, float], warps: float) -> float:
    """Equation 5 against min(E x, M)/Z, the first crossing on a fine grid, then halved."""

    def supply(k: float) -> float:
        misses = (of["cache_capacity"] / (of["beta"] * k) + 1) ** (1 - of["alpha"])
        return float(
            k / (of["cache_latency"] + (max(of["latency"], k / of["ms_throughput"]) - of["cache_latency"]) * misses)
        )

    def short(k: float) -> bool:
        return supply(k) < min(of["ilp"] * (warps - k), of["lanes"]) / of["intensity"]

    grid = np.linspace(1e-6, warps, 20001)
    high = next(i for i, k in enumerate(grid) if not short(k))
    low, top = (0.0, grid[high]) if high == 0 else (grid[high - 1], grid[high])
    for _ in range(60):
        middle = 0.5 * (low + top)
        low, top = (middle, top) if short(middle) else (low, middle)
    return supply(top)


def test_the_page_is_what_the_counts_say(request: pytest.FixtureRequest) -> None:
    (item,) = chosen("x_model_2016:applications")
    text = applications_page.page(item.inputs)
    if request.config.getoption("--rewrite-docs"):
        PAGE.write_text(text)
    assert PAGE.read_text() == text
