"""Kernels of Warp: the layout of their parameters on recorded machine code, and values where Warp is installed."""

import gzip

import numpy as np
import pytest

from support.paths import ROOT
from warpbound import machine
from warpbound.errors import CommandError
from warpbound.kernel_launch import Launch
from warpbound.program import programs
from warpbound.program.cuda import Options
from warpbound.python_kernels.arrays import array
from warpbound.python_kernels.launches import bytes_of, prepared
from warpbound.warp_lang import array_pieces, launch_bounds

pytestmark = pytest.mark.cuda


def test_the_recorded_code_of_warp_finds_its_arrays():
    """warp-lang 1.19.0: out[i] = a * x[i] + y[i], for sm_90."""
    recorded = ROOT / "tests" / "support" / "recorded_cubins" / "warp_scale_and_add_sm_90.cubin.gz"
    (program,) = programs(gzip.decompress(recorded.read_bytes()), machine.gpu("h200"), None, Options())
    bounds, *places = program.parameters
    x, y = np.random.default_rng(3).random((2, 700), dtype=np.float32)
    pieces = [bytes_of("bounds", bounds.offset, launch_bounds((700,), 1))]
    given = {"x": x, "y": y, "a": np.float32(2.5), "out": np.zeros_like(x)}
    for (name, value), place in zip(given.items(), places, strict=True):
        own = array(value, name)
        pieces += array_pieces(own, name, place.offset, 0) if own else [bytes_of(name, place.offset, value.tobytes())]
    arrays = prepared(program, pieces, Launch(grid=(3, 1, 1), block=(256, 1, 1))).run()
    np.testing.assert_allclose(arrays["out"], np.float32(2.5) * x + y, rtol=1e-6)


def test_bounds_are_those_of_the_launch():
    """Axes that the kernel does not index share an index; those that the launch lacks count once."""
    assert np.frombuffer(launch_bounds((3, 5), 2), np.uint32)[:2].tolist() == [3, 5]
    assert np.frombuffer(launch_bounds((3, 5), 2), np.uint64)[1:].tolist() == [15, 1]
    assert np.frombuffer(launch_bounds((3, 5, 64), 2), np.uint64)[1:].tolist() == [960, 64]
    assert np.frombuffer(launch_bounds((7,), 1), np.uint64)[1:].tolist() == [7, 1]
    assert np.frombuffer(launch_bounds((7,), 3), np.uint32)[:3].tolist() == [7, 1, 1]
    with pytest.raises(CommandError, match="one to four sizes"):
        launch_bounds((7, 0), 2)


@pytest.mark.broad
@pytest.mark.parametrize("board", ["a100-sxm-80gb", "b200"])
def test_values_equal_numpys(board):
    pytest.importorskip("warp")
    from instruction_corpus import warp_kernels
    from instruction_corpus.cases import is_equal

    for case in warp_kernels.cases():
        assert is_equal(case, case.prepare(machine.gpu(board)).run()), case.name


@pytest.mark.broad
def test_mistakes_are_named():
    pytest.importorskip("warp")
    from instruction_corpus.warp_kernels import Particle, lengths, moved, scale_and_add
    from warpbound.warp_lang import analyze

    array_of = "f32[64]"
    for kernel, inputs, words in (
        (scale_and_add, (array_of, array_of, 1.0), "has no value for 'out'"),
        (scale_and_add, ("f64[64]", array_of, 1.0, array_of), "1 axes of float64; the kernel declares 1 of float32"),
        (scale_and_add, (2.0, array_of, 1.0, array_of), "'x' is not an array"),
        (lengths, ("f32[8,3]", "words", array_of), "'m' is no mat33"),
        (moved, (array_of, 1.0, np.zeros(64, Particle.numpy_dtype())), "1 axes of Particle, of 20 bytes"),
    ):
        with pytest.raises(CommandError, match=words):
            analyze(kernel, 64, inputs, gpu="h200")
