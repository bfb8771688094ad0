"""128-bit accesses: what fits the pattern, and that the result is that of the kernel as it was."""

from pathlib import Path

import numpy as np
import pytest

import warpbound
from warpbound.advice.equal_results import covering
from warpbound.advice.syntax import kernel_source
from warpbound.advice.variant import Question, Variant
from warpbound.advice.vector_rewrite import vectorised
from warpbound.kernel_launch import Launch, launch
from warpbound.program.compile_options import Options

pytestmark = pytest.mark.cuda
HEAD = "__global__ void k(float* y, const float* __restrict__ x, float a, int n) {"
INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
FITS = f"{HEAD}\n  {INDEX}\n  if (i < n) {{\n    float t = a * x[i];\n    y[i] = t + y[i];\n  }}\n}}\n"


def variants(text: str, own: Launch) -> list[Variant]:
    kernel = kernel_source(text, "k")
    assert kernel is not None
    return list(vectorised(Question(Path("k.cu"), text, "k", Options(), own), kernel))


@pytest.mark.parametrize("n", [1000, 1001, 1003, 1024])
def test_the_elements_are_those_of_one_per_thread(n: int) -> None:
    x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    own = launch(grid=16, block=64, args={"y": y, "x": x, "a": 2.0, "n": n})
    (variant,) = variants(FITS, own)
    assert variant.question.launch.grid == (4, 1, 1)
    program = warpbound.compile(variant.question.text, "h200", kernel="k", compiler="nvrtc")
    assert any("128" in instruction.mnemonic for instruction in program.instructions)
    np.testing.assert_array_equal(warpbound.run(program, variant.question.launch)["y"], 2 * x + y)


@pytest.mark.parametrize(
    "body",
    ["if (i < n) y[i] = x[i + 1];", "if (i < n) y[i] = i;", "if (i < n) y[i] = x[i]; else y[0] = 1;",
     "if (i < n) y[i] = n;", "if (i <= n) y[i] = x[i];", "if (i < n) *y = x[i];", "y[i] = x[i];",
     "if (i < n) { y += 1; y[i] = x[i]; }"],
)  # fmt: skip
def test_what_does_not_fit_stays(body: str) -> None:
    assert variants(f"{HEAD}\n  {INDEX}\n  {body}\n}}\n", launch(grid=16, block=64)) == []


@pytest.mark.parametrize(("grid", "block"), [(2, 64), ((16, 2), 64), (16, (32, 2))])
def test_launches_that_do_not_fit_stay(grid: int | tuple[int, ...], block: int | tuple[int, ...]) -> None:
    assert variants(FITS, launch(grid=grid, block=block)) == []


def test_a_block_of_four_times_the_elements_covers_four_blocks() -> None:
    before, after = launch(grid=16, block=64), launch(grid=4, block=256)
    assert covering([5], before, after) == ([4, 5, 6, 7], [1])
