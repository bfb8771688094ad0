"""Tiles, exchanged loops and loads past L1: what they write, what they leave alone, and that results stay."""

from pathlib import Path

import numpy as np
import pytest

import warpbound
from warpbound.advice.loop_rewrites import interchanged, past_l1
from warpbound.advice.staging import block_axes, staged
from warpbound.advice.syntax import KernelSource, kernel_source
from warpbound.advice.variant import Question
from warpbound.kernel_argument import parse_argument
from warpbound.kernel_launch import launch
from warpbound.program.compile_options import Options

pytestmark = pytest.mark.cuda
PRODUCT = """__global__ void k(float* c, const float* a, const float* b, int n, int depth) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < depth; ++k)
        sum += a[y * depth + k] * b[k * n + x];
    c[y * n + x] = sum;
}
"""
NEST = """__global__ void k(float* out, const float* in, int rows, int columns) {
    float sum = 0;
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j) {
            out[(j * rows + i) * 32 + threadIdx.x] = 2.0f * in[(i * columns + j) * 32 + threadIdx.x];
        }
    }
}
"""
SIDE, N = 8, 16


def subject(text: str, block: tuple[int, int] = (SIDE, SIDE)) -> tuple[Question, KernelSource]:
    found = kernel_source(text, "k")
    assert found is not None
    return Question(Path("k.cu"), text, "k", Options(), launch(grid=(2, 2), block=block)), found


def after(text: str, grid: tuple[int, int], block: tuple[int, int], words: list[str]) -> dict[str, object]:
    program = warpbound.compile(text, "h200")
    return dict(warpbound.run(program, launch(grid=grid, block=block, args=[parse_argument(word) for word in words])))


@pytest.mark.parametrize("depth", [24, 13])
def test_tiles_compute_the_same_bytes(depth: int) -> None:
    (variant,) = staged(*subject(PRODUCT))
    words = [f"c=f32[{N * N}]", f"a=f32[{N * depth}]:rand", f"b=f32[{depth * N}]:rand", f"n={N}", f"depth={depth}"]
    grid, block = (N // SIDE, N // SIDE), (SIDE, SIDE)
    before, tiled = (after(text, grid, block, words) for text in (PRODUCT, variant.question.text))
    assert np.any(before["c"])
    assert np.array_equal(before["c"], tiled["c"])


def test_each_array_has_a_tile_along_its_own_axis() -> None:
    (variant,) = staged(*subject(PRODUCT))
    text = variant.question.text
    assert "tile_0[threadIdx.y][threadIdx.x] = a[y * depth + (k_tile + (int)threadIdx.x)];" in text
    assert "tile_1[threadIdx.y][threadIdx.x] = b[(k_tile + (int)threadIdx.y) * n + x];" in text
    assert "sum += tile_0[threadIdx.y][k - k_tile] * tile_1[k - k_tile][threadIdx.x];" in text
    assert variant.line == 5


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("++k", "k += 2"), ("k = 0", "k = 1"), ("a[y * depth + k]", "a[x * depth + k]"),
        ("sum +=", "if (x) break; else sum +="), ("for (int k", "if (y) for (int k"),
        ("a[y * depth + k]", "a[(y + x) * depth + k]"), ("a[y * depth + k]", "c[y * depth + k]"),
    ],
)  # fmt: skip
def test_what_is_no_product_is_left_alone(old: str, new: str) -> None:
    assert list(staged(*subject(PRODUCT.replace(old, new, 1)))) == []


def test_blocks_that_are_not_square_stage_nothing() -> None:
    assert list(staged(*subject(PRODUCT, (16, 8)))) == []


def test_axes_are_followed_through_names() -> None:
    text = "__global__ void k(int n) { int x = threadIdx.x; int t = n; t = x + 1; int u = t * 2, v = n + threadIdx.y; }"
    assert block_axes(subject(text)[1]) == {"x": {"x"}, "t": {"x"}, "u": {"x"}, "v": {"y"}}


def test_exchanged_loops_compute_the_same_bytes() -> None:
    (variant,) = interchanged(*subject(NEST))
    lines = variant.question.text.splitlines()
    assert lines[2].strip() == "for (int j = 0; j < columns; ++j) {"
    assert lines[3].strip() == "for (int i = 0; i < rows; ++i) {"
    words = ["out=f32[384]", "in=f32[384]:rand", "rows=3", "columns=4"]
    before, exchanged = (after(text, (1, 1), (32, 1), words) for text in (NEST, variant.question.text))
    assert np.any(before["out"])
    assert np.array_equal(before["out"], exchanged["out"])


@pytest.mark.parametrize(
    ("old", "new"), [("j < columns", "j < i"), ("j = 0", "j = i"), ("for (int j", "sum += i; for (int j")]
)
def test_loops_that_hang_together_keep_their_order(old: str, new: str) -> None:
    assert list(interchanged(*subject(NEST.replace(old, new)))) == []


def test_loads_of_read_only_arrays_go_past_l1() -> None:
    variants = list(past_l1(*subject(PRODUCT)))
    assert [variant.change for variant in variants] == ["loads of a past L1 (__ldcg)", "loads of b past L1 (__ldcg)"]
    assert "__ldcg(&a[y * depth + k]) * b[k * n + x]" in variants[0].question.text
    program = warpbound.compile(variants[0].question.text, "h200")
    loads = [each.text for each in program.instructions if "LDG" in each.text]
    assert any("STRONG.GPU" in text for text in loads)
    assert any("STRONG" not in text for text in loads)
