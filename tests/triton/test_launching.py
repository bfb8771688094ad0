"""Triton kernels: values against NumPy, counts against what the kernel must move, errors in one sentence."""

from dataclasses import dataclass

import numpy as np
import pytest

pytest.importorskip("triton")

import warpbound
import warpbound.triton as front
from support import triton_kernels as kernels
from warpbound.errors import CommandError, InputError
from warpbound.triton.arguments import tensor

pytestmark = pytest.mark.cuda

BOARDS = ("t4", "a100-sxm-80gb", "h200", "b200", "rtx-5090")


@pytest.fixture
def numbers():
    return np.random.default_rng(5)


@pytest.mark.parametrize("board", BOARDS)
def test_the_values_of_a_sum_equal_numpys(board, numbers):
    x, y = numbers.random((2, 5000), dtype=np.float32)
    arrays = front.run(kernels.add, x, y, np.zeros(5000, np.float32), 5000, grid=(5,), gpu=board, BLOCK=1024)
    assert np.array_equal(arrays["out"], x + y)
    assert sorted(arrays) == ["out", "x", "y"]


@pytest.mark.parametrize("board", BOARDS)
def test_the_values_of_a_softmax_equal_numpys(board, numbers):
    x = numbers.standard_normal((16, 500), dtype=np.float32)
    arrays = front.run(kernels.softmax, np.zeros_like(x), x, 500, 500, grid=(16,), gpu=board, BLOCK=512)
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(arrays["out"], powers / powers.sum(axis=1, keepdims=True), rtol=2e-6)


@pytest.mark.broad
@pytest.mark.parametrize("tile", [16, 32, 64])  # on an H200, each its own swizzle
@pytest.mark.parametrize("board", ["a100-sxm-80gb", "h200", "b200"])
def test_the_values_of_a_tensor_core_product_equal_numpys(board, tile, numbers):
    a, b = numbers.standard_normal((64, 128)), numbers.standard_normal((128, 64))
    a, b = a.astype(np.float16), b.astype(np.float16)
    tiles = {"TILE_M": 64, "TILE_N": tile, "TILE_K": tile}
    c = np.zeros((64, 64), np.float32)
    arrays = front.run(kernels.product, a, b, c, 64, 64, 128, grid=(1, 64 // tile), gpu=board, **tiles)
    np.testing.assert_allclose(arrays["c"], a.astype(np.float32) @ b.astype(np.float32), rtol=1e-4, atol=1e-4)


@pytest.mark.broad
@pytest.mark.parametrize("board", ["h200", "b200"])
@pytest.mark.parametrize("roles", [False, True])  # True: warps that copy and warps that multiply
def test_the_values_of_a_product_by_tensor_descriptors_equal_numpys(board, roles, numbers):
    a, b = (numbers.standard_normal(shape).astype(np.float16) for shape in ((72, 128), (128, 80)))
    tiles = {"TILE_M": 64, "TILE_N": 64, "TILE_K": 32, "ROLES": roles}
    c = np.zeros((72, 80), np.float32)  # no multiple of the tiles
    arrays = front.run(kernels.product_by_descriptors, a, b, c, 72, 80, 128, grid=(2, 2), gpu=board, **tiles)
    np.testing.assert_allclose(arrays["c"], a.astype(np.float32) @ b.astype(np.float32), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("board", ["h200", "b200", "rtx-5090"])
def test_boxes_are_added_to_a_tensor(board, numbers):
    x, out = numbers.random((2, 40, 64), dtype=np.float32)
    arrays = front.run(kernels.add_by_descriptors, x, out, 40, 64, grid=(2, 2), gpu=board, TILE_M=32, TILE_N=32)
    assert np.array_equal(arrays["out"], x + out)


def test_products_of_a_b200_count_their_work():
    size = 256
    a, c = f"f16[{size},{size}]:rand", f"f32[{size},{size}]:zeros"
    tiles = {"TILE_M": 64, "TILE_N": 64, "TILE_K": 64}
    answer = front.analyze(kernels.product, a, a, c, size, size, size, grid=(4, 4), gpu="b200", **tiles)
    assert answer["mode"] == "dynamic"
    assert answer["flop"]["tensor"] == 2 * size**3


def test_bytes_that_the_copy_engine_moves_are_counted():
    arguments = ("f32[512,256]:rand", "f32[512,256]:zeros", 512, 256)
    tiles = {"TILE_M": 32, "TILE_N": 64}
    answer = front.analyze(kernels.add_by_descriptors, *arguments, grid=(16, 4), gpu="h200", **tiles)
    assert answer["memory"]["l2_sectors_read"] == 512 * 256 * 4 / 32
    assert answer["memory"]["l1_hit_rate"] == 0


def test_an_integer_of_one_is_compiled_in_and_the_others_keep_their_places(numbers):
    x = numbers.random(300, dtype=np.float32)
    for step in (1, 2):
        arrays = front.run(kernels.scale, x, np.zeros(150, np.float32), 150, 2.5, step, grid=(2,), gpu="h200")
        assert np.array_equal(arrays["out"], x[: 150 * step : step] * np.float32(2.5))


def test_the_same_tensor_twice_is_the_same_memory(numbers):
    x = numbers.random(128, dtype=np.float32)
    arrays = front.run(kernels.add, x, x, x, 128, grid=(1,), gpu="h200", BLOCK=128)
    assert np.array_equal(arrays["x"], x + x)


def test_heuristics_give_their_arguments(numbers):
    x = numbers.random(100, dtype=np.float32)
    arrays = front.run(kernels.whole_row, x, np.zeros(100, np.float32), 100, grid=(1,), gpu="h200")
    assert np.array_equal(arrays["out"], x + 1)


def test_the_answer_has_the_bytes_of_the_kernel_and_the_lines_of_its_file():
    n = 1 << 24
    grid = lambda arguments: (n // arguments["BLOCK"],)  # noqa: E731  (as users of Triton write it)
    array = f"f32[{n}]:rand"
    answer = front.analyze(kernels.add, array, array, array, n, grid=grid, gpu="h200", BLOCK=1024, num_warps=8)
    assert answer["launch"] == {"grid": [n // 1024, 1, 1], "block": [256, 1, 1], "smem": 0}
    assert answer["memory"]["l2_sectors_read"] == 2 * n * 4 / 32
    assert answer["memory"]["dram_bytes_written"] == pytest.approx(4 * n)
    assert answer["flop"]["fp32"] == n
    assert answer["time_s"] > 12 * n / 4.8e12
    assert any("tl.load(x + at" in line["text"] for line in answer["lines"])


def test_a_decorated_kernel_answers_its_launches():
    kernel = front.analyzed(gpu="h200")(kernels.add)
    answer = kernel[(4,)]("f32[4096]", "f32[4096]", "f32[4096]", 4096, BLOCK=1024)
    assert answer["kernel"] == "add"
    assert answer["mode"] == "dynamic"


@dataclass
class Meta:
    """As a PyTorch tensor without memory."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str = "torch.bfloat16"
    device: str = "meta"

    def stride(self) -> tuple[int, ...]:
        return self.strides


def test_tensors_are_read_by_shape_type_and_strides():
    plain = tensor(Meta((8, 4), (4, 1)), "x")
    assert (plain.dtype, plain.argument.dtype, plain.argument.shape) == ("bf16", "bf16", (8, 4))
    assert plain.argument.bytes is None
    assert tensor(Meta((8, 4), (1, 8)), "x").argument.shape == (32,)
    assert tensor(Meta((8, 4), (10, 1)), "x").argument.shape == (74,)
    columns = np.arange(12, dtype=np.int32).reshape(3, 4).T
    assert np.array_equal(np.frombuffer(tensor(columns, "x").argument.bytes, np.int32), np.arange(12))
    assert tensor(3, "x") is None
    assert tensor("f16[4,4]:randn", "x").argument.fill == "randn"


@pytest.mark.parametrize(
    ("arguments", "others", "error", "words"),
    [
        (("f32[4]", "f32[4]"), {}, CommandError, "add has no value for 'out'"),
        (("f32[4]",) * 3 + (4,), {"grid": ()}, CommandError, "not one to three sizes"),
        (("f32[4]",) * 3 + (4,), {"gpu": "gtx1080"}, InputError, "Triton has no compiler"),
        (("f32[4]", "f32[4]", Meta((4,), (1,), "torch.complex64"), 4), {}, CommandError, "elements of type complex64"),
        (("f32[4]", "f32[4]", "f32[4]", [4]), {}, CommandError, "argument 'n' is of type list"),
        (("f32[4]",) * 3 + (4,), {"BLOCK": 100}, InputError, "power of 2"),
    ],
)
def test_mistakes_are_named(arguments, others, error, words):
    with pytest.raises(error, match=words):
        front.analyze(kernels.add, *arguments, **({"grid": (1,), "gpu": "h200", "BLOCK": 128} | others))


def test_a_kernel_that_is_none_is_named():
    with pytest.raises(CommandError, match="not a function under @triton.jit"):
        front.analyze(len, grid=(1,), gpu="h200")


def test_the_answer_is_that_of_the_machine_code(tmp_path):
    """The same cubin as a file, with Triton's two hidden pointers given by hand."""
    from triton import compile as compile_for
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    types = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    aligned = {(at,): [["tt.divisibility", 16]] for at in range(4)}
    source = ASTSource(kernels.add, types, {"BLOCK": 1024}, aligned)
    (tmp_path / "add.cubin").write_bytes(compile_for(source, target=GPUTarget("cuda", 90, 32)).asm["cubin"])
    n = 1 << 20
    arguments = {**{at: f"f32[{n}]" for at in range(3)}, 3: n, 4: 0, 5: 0}
    launch = warpbound.launch(grid=n // 1024, block=128, args=arguments)
    direct = warpbound.analyze(warpbound.compile(tmp_path / "add.cubin", "h200"), "h200", launch)
    array = f"f32[{n}]"
    answer = front.analyze(kernels.add, array, array, array, n, grid=(n // 1024,), gpu="h200", BLOCK=1024)
    assert answer["time_s"] == direct["time_s"]
    assert answer["memory"] == direct["memory"]
