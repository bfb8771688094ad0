"""Tensor descriptors that the host makes: values against NumPy, on boards with and without a copy engine for them."""

from dataclasses import dataclass, field

import numpy as np
import pytest

pytest.importorskip("triton")

import warpbound.triton as front
from support import triton_kernels as kernels
from warpbound.emulate.tensor_maps import decode
from warpbound.errors import CommandError
from warpbound.triton import descriptor
from warpbound.triton.descriptors import for_compiler, of_triton, parameters

pytestmark = pytest.mark.cuda

META = {"swizzle": 3, "elem_size": 4, "elem_type": 7, "block_size": [32, 32], "fp4_padded": False}


@pytest.fixture
def numbers():
    return np.random.default_rng(7)


@pytest.mark.parametrize("board", ["a100-sxm-80gb", "h200", "b200"])
def test_boxes_of_three_tensors_are_added(board, numbers):
    """40 rows are no multiple of a box: what is stored outside is left out."""
    x, y = numbers.random((2, 40, 128), dtype=np.float32)
    out = np.zeros((40, 128), np.float32)
    own = (descriptor(each, [32, 64]) for each in (x, y, out))
    arrays = front.run(kernels.add_boxes, *own, 32, 64, grid=(2, 2), gpu=board)
    assert sorted(arrays) == ["out", "x", "y"]
    assert np.array_equal(arrays["out"], x + y)


def test_outside_of_a_tensor_is_zero_or_not_a_number(numbers):
    """x ends where y does not."""
    x, y = numbers.random((16, 64), dtype=np.float32), numbers.random((32, 64), dtype=np.float32)
    for padding, outside in (("zero", y[16:]), ("nan", np.full((16, 64), np.nan, np.float32))):
        own = descriptor(x, [32, 64], padding=padding), *(descriptor(each, [32, 64]) for each in (y, np.zeros_like(y)))
        out = front.run(kernels.add_boxes, *own, 32, 64, grid=(1, 1), gpu="h200")["out"]
        assert np.array_equal(out, np.concatenate([x + y[:16], outside]), equal_nan=True)


@pytest.mark.broad
@pytest.mark.parametrize("board, tile_k", [("a100-sxm-80gb", 32), ("h200", 16), ("h200", 64), ("b200", 32)])  # swizzles
def test_a_product_of_boxes_equals_numpys(board, tile_k, numbers):
    a, b = (numbers.standard_normal(shape).astype(np.float16) for shape in ((72, 128), (128, 80)))
    own = descriptor(a, [64, tile_k]), descriptor(b, [tile_k, 64]), descriptor(np.zeros((72, 80), np.float32), [64, 64])
    arrays = front.run(kernels.product_of_boxes, *own, 128, 64, 64, tile_k, grid=(2, 2), gpu=board)
    np.testing.assert_allclose(arrays["c"], a.astype(np.float32) @ b.astype(np.float32), rtol=1e-4, atol=1e-4)


def test_the_answer_counts_the_bytes_of_the_boxes():
    own = [descriptor(f"f32[512,256]:{fill}", [32, 64]) for fill in ("rand", "rand", "zeros")]
    answer = front.analyze(kernels.add_boxes, *own, 32, 64, grid=(16, 4), gpu="h200")
    assert answer["mode"] == "dynamic"
    assert answer["memory"]["l2_sectors_read"] == pytest.approx(2 * 512 * 256 * 4 / 32, rel=0.01)


@dataclass
class TensorDescriptor:
    """As Triton's, on an array of NumPy, which has no data_ptr."""

    base: np.ndarray
    shape: list[int]
    strides: list[int]
    block_shape: list[int]
    padding: str = "zero"
    round_f32_to_tf32: bool = field(default=False)


def test_a_descriptor_of_triton_is_taken(numbers):
    x = numbers.random((32, 128), dtype=np.float32)
    own = of_triton(TensorDescriptor(x, [32, 64], [128, 1], [32, 64]))  # the left half
    assert (own.shape, own.strides, own.block_shape) == ((32, 64), (128, 1), (32, 64))
    (_, argument, _), *_ = parameters(own, "x", META)
    found = decode(b"\x10" + bytes(7) + argument.tensor_map[8:])
    assert (found.extents, found.strides_B, found.box) == ((64, 32), (512,), (32, 32))
    assert (found.kind, found.swizzle, found.fills_nan, found.address) == ("f32", 3, False, 16)
    assert of_triton(x) is None


@pytest.mark.parametrize(
    "array, box, more, refusal",
    [
        (3, [1], {}, "describes an array"),
        ("f32[8,8]", [8], {}, "2 axes has a box of 1"),
        ("f32[8,8]", [8, 8], {"strides": [8, 2]}, "not those of a tensor map"),
        ("f32[8,6]", [8, 8], {}, "not those of a tensor map"),
        ("f32[8,8]", [8, 8], {"padding": "one"}, "is unknown"),
    ],
)
def test_refusals(array, box, more, refusal):
    with pytest.raises(CommandError, match=refusal):
        descriptor(array, box, **more)


def test_rounding_by_the_copy_engine_is_refused(numbers):
    x = numbers.random((32, 64), dtype=np.float32)
    with pytest.raises(CommandError, match="TF32"):
        of_triton(TensorDescriptor(x, [32, 64], [64, 1], [32, 64], round_f32_to_tf32=True))


def test_a_type_is_one_object_for_the_whole_process():
    """Triton keeps a type's text by the object's hash: a new object may have that of an old one, and so its text."""
    first, again = (for_compiler(descriptor("f16[64,64]", [32, 32])).base.dtype for _ in range(2))
    other = for_compiler(descriptor("f32[64,64]", [32, 32])).base.dtype
    assert first is again
    assert (str(first), str(other)) == ("fp16", "fp32")
