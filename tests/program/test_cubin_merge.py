"""Cubins read by one call of nvdisasm give the very Programs that each gives by a call of its own."""

from dataclasses import replace
from pathlib import Path

import pytest

from support.paths import ROOT
from warpbound import machine
from warpbound.errors import InputError
from warpbound.program import nvdisasm
from warpbound.program.cubin_merge import is_of, joined, listings
from warpbound.program.cuda import Options, compile_cuda
from warpbound.program.machine_code import from_cubin
from warpbound.program.source_files import compile_program, variants

pytestmark = pytest.mark.cuda

SOURCES = (*sorted((ROOT / "examples" / "applications").glob("*.cu")), ROOT / "tests/emulate/kernels/pointers.cu")
TUNED = """
extern "C" __global__ void tuned(const float* x, float* y) {
    __shared__ float kept[TILE];
    float sum = 0;
#pragma unroll
    for (int i = 0; i < WORK; ++i) sum += x[WORK * threadIdx.x + i];
    kept[threadIdx.x] = sum;
    __syncthreads();
    y[threadIdx.x] = kept[TILE - 1 - threadIdx.x];
}
"""


def cubins(arch: int) -> list[bytes]:
    """Those that are of one kind with the first."""
    options = Options(include=(SOURCES[0].parent,))
    every = [compile_cuda(path.read_text(), str(path), arch, options).cubin for path in SOURCES]
    return [one for one in every if one[48:52] == every[0][48:52]]


@pytest.mark.parametrize("arch", [75, 90, 120])
def test_programs_are_those_of_single_calls(arch: int) -> None:
    """Several kernels and functions in one file, calls, globals, tables of lines of both forms."""
    images = cubins(arch)
    assert len(images) > 5
    whole = joined(images)
    assert whole is not None
    texts = listings(nvdisasm._run(nvdisasm._tool(whole), whole, "joined").decode(), len(images))
    for image, text in zip(images, texts, strict=True):
        assert is_of(text, image)
        alone, together = from_cubin(image, "k.cu"), from_cubin(image, "k.cu", None, text)
        assert repr(alone) == repr(together)  # in words, as no NaN equals another
        assert [[i.place for i in one.instructions] for one in alone] == [
            [i.place for i in one.instructions] for one in together
        ]


def test_a_listing_is_of_no_other_code() -> None:
    first, second, *_ = cubins(90)
    assert not is_of(nvdisasm.disassemble(first, "k.cu"), second)


def test_cubins_of_two_architectures_are_not_joined() -> None:
    assert joined([cubins(90)[0], cubins(75)[0]]) is None


def test_what_cannot_be_joined_is_read_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    images = [cubins(90)[0], cubins(75)[0]]
    found = nvdisasm.disassemble_all(images, "k.cu")
    assert [is_of(text, image) for text, image in zip(found, images, strict=True)] == [True, True]


def test_variants_of_a_source_take_one_call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    calls = []
    started = nvdisasm._started
    monkeypatch.setattr(nvdisasm, "_started", lambda *asked: calls.append(asked) or started(*asked))
    source = tmp_path / "tuned.cu"
    source.write_text(TUNED)
    macros = [(("TILE", str(tile)), ("WORK", str(work))) for tile in (32, 64) for work in (1, 4, 8)]
    macros += [(("TILE", "32"), ("WORK", "nothing"))]
    found = variants(source, machine.gpu("h200"), None, [Options(defines=one) for one in macros])
    assert len(calls) == 1
    assert isinstance(found.pop(), InputError)
    for one, defines in zip(found, macros, strict=False):
        assert one == compile_program(source, "h200", defines=dict(defines))
        assert replace(one, source=None) != replace(found[0], source=None) or one is found[0]
    assert len(calls) == 1, "single listings come from the cache"


def test_only_cuda_has_variants(tmp_path: Path) -> None:
    listing = tmp_path / "k.sass"
    listing.write_text("x")
    with pytest.raises(InputError, match=r"is not CUDA C\+\+"):
        variants(listing, machine.gpu("h200"), None, [Options()])
