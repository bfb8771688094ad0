"""Arrays that a kernel gets as a tensor map (`box` and `swizzle` of an argument), in CUDA C++."""

from pathlib import Path

import numpy as np
import pytest

import warpbound
from warpbound.emulate.tensor_maps import decode, map_of_array
from warpbound.errors import CommandError, InputError
from warpbound.kernel_argument import Argument, parse_argument

COPY = """
#include <cuda.h>
extern "C" __global__ void copy(const __grid_constant__ CUtensorMap from, float *to, int row) {
    __shared__ __align__(1024) float tile[16 * 32];
    __shared__ __align__(8) unsigned long long full;
    unsigned at = (unsigned)__cvta_generic_to_shared(tile), barrier = (unsigned)__cvta_generic_to_shared(&full);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(barrier));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 2048;" :: "r"(barrier) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {32, %2}], [%3];" :: "r"(at), "l"(&from), "r"(row), "r"(barrier) : "memory");
    }
    __syncthreads();
    asm volatile("{.reg .pred done; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0; @!done bra AGAIN;}"
                 :: "r"(barrier) : "memory");
    for (int i = threadIdx.x; i < 16 * 32; i += blockDim.x) to[i] = tile[i];
}
"""
FROM = np.arange(64 * 96, dtype=np.float32).reshape(64, 96)


def copied(from_words, tmp_path):
    np.save(tmp_path / "from.npy", FROM)
    path = tmp_path / "l.toml"
    path.write_text(f'grid = 1\nblock = 32\n[[args]]\nname = "from"\n{from_words}\n[[args]]\nname = "to"\n'
                    'dtype = "f32"\nshape = [16, 32]\nfill = "zeros"\n'
                    '[[args]]\nname = "row"\nvalue = 24\n')  # fmt: skip
    return warpbound.run(warpbound.compile(COPY, "h200"), warpbound.launch(path))["to"]


@pytest.mark.cuda
@pytest.mark.parametrize("words", ['dtype = "f32"\nshape = [64, 96]\nfill = "iota"', 'file = "from.npy"'])
def test_a_box_of_an_array(tmp_path: Path, words: str) -> None:
    to = copied(f"{words}\nbox = [16, 32]", tmp_path)
    np.testing.assert_array_equal(to, FROM[24:40, 32:64])


@pytest.mark.cuda
def test_a_swizzled_box_has_its_16_bytes_in_other_places(tmp_path: Path) -> None:
    to = copied('dtype = "f32"\nshape = [64, 96]\nfill = "iota"\nbox = [16, 32]\nswizzle = 128', tmp_path)
    places = np.arange(8)[None, :] ^ np.arange(16)[:, None] % 8
    straight = np.take_along_axis(to.reshape(16, 8, 4), places[..., None], axis=1)
    np.testing.assert_array_equal(straight.reshape(16, 32), FROM[24:40, 32:64])


def test_words_of_the_command_line() -> None:
    argument = parse_argument("a=bf16[64,n]:zeros@64x32/64")
    assert (argument.box, argument.swizzle, argument.fill, argument.sizes) == ((64, 32), 64, "zeros", ("64", "n"))
    index = parse_argument("i=i32[n]:rand<n/4")
    assert (index.box, index.limit) == ((), "n/4")
    fixed = parse_argument("a=f16[4,64,128]@1x64x32")
    tensor = decode(b"\x80" + map_of_array(fixed)[1:])
    assert not isinstance(tensor, str)
    assert (tensor.extents, tensor.strides_B, tensor.box) == ((128, 64, 4), (256, 16384), (32, 64, 1))
    assert (tensor.kind, tensor.swizzle) == ("f16", 0)


@pytest.mark.parametrize("words, reason", [
    ("a=f16[64,64]@64", "has not the axes"), ("a=f16[64]@512", "<= 256"), ("a=f16[64,64]@64x64/48", "swizzle"),
])  # fmt: skip
def test_what_is_no_box(words: str, reason: str) -> None:
    with pytest.raises(CommandError, match=reason):
        parse_argument(words)


@pytest.mark.parametrize("argument", [
    Argument("a", "array", "f16", (64, 100), box=(64, 64)), Argument("a", "array", "f16", (64, 64), box=(64, 4)),
    Argument("a", "array", "f16", (64, 64), box=(8, 64), swizzle=64),
])  # fmt: skip
def test_maps_that_do_not_exist_are_refused(argument: Argument) -> None:
    with pytest.raises(InputError, match="are none that a tensor map describes"):
        map_of_array(argument)
