"""Kernels of cuTile: the layout of their parameters on recorded machine code, and values where cuTile is installed."""

import gzip
from dataclasses import replace

import numpy as np
import pytest

from support.paths import ROOT
from warpbound import machine
from warpbound.cutile import array_pieces
from warpbound.errors import InputError
from warpbound.kernel_launch import Launch
from warpbound.program import programs
from warpbound.program.cuda import Options
from warpbound.python_kernels.arrays import array
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


@pytest.mark.broad
@pytest.mark.parametrize("board", ["a100-sxm-80gb", "rtx-5090"])
def test_values_equal_numpys(board):
    pytest.importorskip("cuda.tile")
    from instruction_corpus import cutile_kernels
    from instruction_corpus.cases import is_equal

    for case in cutile_kernels.cases():
        if case.name == "product_by_maps" and machine.gpu(board).arch >= 90:
            with pytest.raises(InputError, match="tensor maps"):
                case.prepare(machine.gpu(board))
            continue
        assert is_equal(case, case.prepare(machine.gpu(board)).run()), case.name
