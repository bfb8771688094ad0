"""Kernels of CuTe DSL: what its host function passed, on recorded code; values where CuTe DSL is installed."""

import gzip
from ctypes import c_uint64

import numpy as np
import pytest

from support.paths import ROOT
from warpbound import machine
from warpbound.cute_dsl import APART, FIRST_ADDRESS, Operand, parameter_pieces
from warpbound.kernel_launch import Launch
from warpbound.program import programs
from warpbound.program.cuda import Options
from warpbound.python_kernels.arrays import array
from warpbound.python_kernels.launches import prepared

pytestmark = pytest.mark.cuda
RECORDED = ROOT / "tests" / "support" / "recorded_cubins"


def test_recorded_parameters_bring_their_arrays_and_tensor_maps():
    """nvidia-cutlass-dsl 4.8.1, `by_map` of the corpus for sm_90: the compiled host code made both tensor maps."""
    code, area = (
        gzip.decompress((RECORDED / f"cute_by_map_sm_90.{ending}.gz").read_bytes())
        for ending in ("fatbin", "parameters")
    )
    (program,) = programs(code, machine.gpu("h200"), None, Options())
    x = np.random.default_rng(2).random((64, 96), dtype=np.float32)
    owners = [
        Operand(name, None, (c_uint64(FIRST_ADDRESS + order * APART),), array(value, name))
        for order, (name, value) in enumerate({"x": x, "out": np.zeros_like(x)}.items())
    ]
    pieces = []
    for each in program.parameters:
        raw = area[each.offset : each.offset + each.size]
        pieces += parameter_pieces(each, raw, owners, {str(piece.argument.name) for piece in pieces})
    launch = Launch(grid=(2, 3, 1), block=(128, 1, 1), smem=8192)
    assert np.array_equal(prepared(program, pieces, launch).run()["out"], 2 * x)


@pytest.mark.broad
@pytest.mark.parametrize("board", ["a100-sxm-80gb", "b200"])
def test_values_equal_numpys(board):
    pytest.importorskip("cutlass")
    from instruction_corpus import cute_kernels
    from instruction_corpus.cases import is_equal

    for case in cute_kernels.cases():
        if machine.gpu(board).arch in case.architectures:
            assert is_equal(case, case.prepare(machine.gpu(board)).run()), case.name


@pytest.mark.broad
def test_mistakes_are_named():
    pytest.importorskip("cutlass")
    import cutlass
    from cutlass.cute import sym_int32
    from cutlass.cute.runtime import make_fake_compact_tensor

    from instruction_corpus.cute_kernels import add, add_kernel, product
    from warpbound.cute_dsl import analyze, dynamic
    from warpbound.errors import CommandError, InputError

    own = "f32[64]"
    unknown = make_fake_compact_tensor(cutlass.Float32, (sym_int32(),))
    for host, args, error, words in (
        (add, (own, own), CommandError, "has no value for 'c'"),
        (add, (unknown, own, own), CommandError, "'a' has sizes that are not known"),
        (add, (dynamic(np.zeros((4, 8), np.float32), 0), own, own), CommandError, "stride of axis 0 of 'a' is not 1"),
        (add_kernel, (own, own, own), CommandError, "not under @cute.jit"),
        (product, ("f32[64,48]",) * 3, InputError, "CuTe DSL cannot compile product for sm_90"),
    ):
        with pytest.raises(error, match=words):
            analyze(host, *args, gpu="h200")
