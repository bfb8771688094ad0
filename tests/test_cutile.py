"""Kernels of cuTile: the layout of their parameters on recorded machine code, and values where cuTile is installed."""

import gzip
import platform
from dataclasses import replace

import numpy as np
import pytest

from support.paths import ROOT
from warpbound import machine
from warpbound.cutile import array_pieces
from warpbound.emulate.tensor_maps import decode
from warpbound.kernel_launch import Launch
from warpbound.program import programs
from warpbound.program.cuda import Options
from warpbound.python_kernels.arrays import array
from warpbound.python_kernels.host_code import tensor_maps
from warpbound.python_kernels.launches import prepared

pytestmark = pytest.mark.cuda


def test_the_recorded_code_of_cutile_finds_its_arrays():
    """cuda-tile 1.7.0: out = a + b in tiles of 1024, for sm_90; the last tile is not whole."""
    recorded = ROOT / "tests" / "support" / "recorded_cubins" / "cutile_add_sm_90.cubin.gz"
    (program,) = programs(gzip.decompress(recorded.read_bytes()), machine.gpu("h200"), None, Options())
    a, b = np.random.default_rng(3).random((2, 3008), dtype=np.float32)
    places, pieces = iter(program.parameters), []
    for name, value in {"a": a, "b": b, "out": np.zeros_like(a)}.items():
        own = array(value, name)
        assert own is not None
        pieces += [replace(piece, offset=next(places).offset) for piece in array_pieces(own, name)]
    launch = Launch(grid=(3, 1, 1), block=(program.max_threads, 1, 1))
    assert np.array_equal(prepared(program, pieces, launch).run()["out"], a + b)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the code that makes the maps is for x86-64")
def test_the_recorded_code_makes_its_own_tensor_maps():
    """cuda-tile 1.7.0, `product_by_maps` of the corpus for sm_90: c = a b in tiles of 64 x 64 x 32."""
    recorded = ROOT / "tests" / "support" / "recorded_cubins" / "cutile_product_by_maps_sm_90.cubin.gz"
    cubin = gzip.decompress(recorded.read_bytes())
    (program,) = programs(cubin, machine.gpu("h200"), None, Options())
    numbers = np.random.default_rng(4)
    a, b = (numbers.standard_normal(shape).astype(np.float16) for shape in ((128, 64), (64, 128)))
    places, pieces = iter(program.parameters), []
    for name, value in {"a": a, "b": b, "c": np.zeros((128, 128), np.float32)}.items():
        own = array(value, name)
        assert own is not None
        pieces += [replace(piece, offset=next(places).offset) for piece in array_pieces(own, name)]
    maps = tensor_maps(cubin, pieces)
    assert [each.argument.alias for each in maps] == ["a", "b", "c"]
    described = decode(maps[0].argument.tensor_map)
    assert (described.kind, described.extents, described.box) == ("f16", (64, 128), (32, 64))
    launch = Launch(grid=(2, 2, 1), block=(program.max_threads, 1, 1))
    result = prepared(program, [*pieces, *maps], launch).run()["c"]
    np.testing.assert_allclose(result, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-5, atol=1e-4)


@pytest.mark.broad
@pytest.mark.parametrize("board", ["a100-sxm-80gb", "rtx-5090"])
def test_values_equal_numpys(board):
    pytest.importorskip("cuda.tile")
    from instruction_corpus import cutile_kernels
    from instruction_corpus.cases import is_equal

    for case in cutile_kernels.cases():
        assert is_equal(case, case.prepare(machine.gpu(board)).run()), case.name
