"""Kernels of numba-cuda: values against NumPy, what a launch counts, errors in one sentence."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numba_cuda")

import warpbound.numba_cuda as front
from instruction_corpus import numba_kernels as kernels
from instruction_corpus.cases import is_equal
from support.command_line import ANSWERED, FAILED, ask
from warpbound import machine
from warpbound.errors import CommandError, InputError

pytestmark = pytest.mark.cuda
N = 1 << 20
ADD = kernels.elementwise(lambda x, y: x + y)


BROAD = ("sine", "integer_quotient", "quotients_64", "half_sum", "block_sums", "votes", "prefix",
         "complex_products complex64", "complex_products complex128", "moved", "steps")  # fmt: skip


@pytest.mark.parametrize("name", ["product", *(pytest.param(name, marks=pytest.mark.broad) for name in BROAD)])
def test_values_equal_numpys(name):
    (case,) = (case for case in kernels.cases() if case.name == name)
    assert is_equal(case, case.prepare(machine.gpu("h200")).run())


@pytest.mark.broad
@pytest.mark.parametrize("board", ["t4", "b200"])
def test_a_function_of_the_device_is_compiled_for_the_board(board):
    x, y = np.random.default_rng(0).random((2, 300), dtype=np.float32)
    arrays = front.run(ADD, x, y, np.zeros_like(x), grid=3, block=128, gpu=board)
    assert np.array_equal(arrays["out"], x + y)
    assert sorted(arrays) == ["out", "x", "y"]


@pytest.mark.broad
def test_strides_are_those_of_the_array():
    rows = np.random.default_rng(0).random((32, 48), dtype=np.float32)
    columns = np.asfortranarray(np.random.default_rng(1).random((48, 32), dtype=np.float32))
    c = np.zeros((32, 32), np.float32)
    arrays = front.run(kernels.product, rows, columns, c, grid=(2, 2), block=(16, 16), gpu="h200")
    np.testing.assert_allclose(arrays["c"], rows @ columns, rtol=1e-6)


def test_the_same_array_twice_is_the_same_memory():
    x = np.ones(128, np.float32)
    assert np.array_equal(front.run(ADD, x, x, x, grid=1, block=128, gpu="h200")["x"], x + x)


@pytest.mark.broad
def test_records_come_back_as_records_and_a_barrier_of_the_grid_is_timed():
    particles = np.zeros(256, kernels.PARTICLE)
    arrays = front.run(kernels.moved, particles, 2.0, grid=2, block=128, gpu="h200")
    assert arrays["particles"].dtype == kernels.PARTICLE
    assert arrays["particles"]["kind"].tolist() == [1] * 256
    answer = front.analyze(kernels.steps, "f32[16384]", 3, grid=64, block=256, gpu="h200")
    assert answer["mode"] == "dynamic"
    assert answer["time_s"] > 0


def test_a_decorated_kernel_answers_with_bytes_and_lines():
    array = f"f32[{N}]:rand"
    answer = front.analyzed("h200")(ADD)[N // 256, 256](array, array, array)
    assert answer["memory"]["l2_sectors_read"] == 2 * N * 4 / 32
    assert answer["flop"]["fp32"] == N
    assert answer["launch"] == {"grid": [N // 256, 1, 1], "block": [256, 1, 1], "smem": 0}
    assert any("out[i] = of(x[i], y[i])" in line["text"] for line in answer["lines"])


@pytest.mark.parametrize(
    "arguments, grid, error, words",
    [
        ((1.0, 2.0), 1, CommandError, "has no value for 'out'"),
        (("f32[8]",) * 4, 1, CommandError, "takes 3 arguments; 4 are given"),
        ((None, "f32[8]", "f32[8]"), 1, CommandError, "'x' is of type NoneType"),
        (("bf16[8]",) * 3, 1, InputError, "no arrays of bf16"),
        ((np.zeros((8, 8), np.complex64)[:, 0],) * 3, 1, CommandError, "elements of type complex64 with gaps"),
        (("f32[8]",) * 3, (0, 1), CommandError, "grid (0, 1) is not one to three sizes"),
        ((1.0, 2.0, 3.0), 1, InputError, "Numba cannot compile each for sm_90"),
    ],
)
def test_mistakes_are_named(arguments, grid, error, words):
    with pytest.raises(error) as refused:
        front.analyze(ADD, *arguments, grid=grid, block=128, gpu="h200")
    assert words in str(refused.value)


@pytest.mark.broad
def test_a_kernel_of_a_file(tmp_path: Path) -> None:
    """Also what is said of a file without kernels, and of one that lacks its language."""
    lines = ("from numba import cuda", "@cuda.jit", "def double(x, n):", "    i = cuda.grid(1)", "    if i < n:")
    (tmp_path / "own.py").write_text("\n".join([*lines, "        x[i] = x[i] * 2"]))
    words = ("--gpu", "h200", "--grid", "4", "--arg", "x=f32[1000]:rand", "--arg", "n=1000", "--format", "json")
    answer = ask("analyze", f"{tmp_path}/own.py:double", *words)
    assert answer.code == ANSWERED, answer.err
    (result,) = json.loads(answer.out)["results"]
    assert (result["kernel"], result["mode"], result["launch"]["block"]) == ("double", "dynamic", [256, 1, 1])
    refused = ask("analyze", f"{tmp_path}/own.py:triple", *words)
    assert (refused.code, "It has: double." in refused.err) == (FAILED, True)
    (tmp_path / "other.py").write_text("raise ModuleNotFoundError('no', name='warp')")
    refused = ask("analyze", f"{tmp_path}/other.py:double", *words)
    assert (refused.code, "pip install 'warpbound[warp-lang]'" in refused.err) == (FAILED, True)
