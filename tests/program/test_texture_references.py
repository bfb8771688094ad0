"""Texture references, which CUDA 12 removed: NVRTC 11.8 where it is installed, else a sentence with the way out."""

from pathlib import Path

import pytest

import warpbound
from warpbound.errors import InputError, MissingTool
from warpbound.program import cuda, nvrtc_choice, source_files
from warpbound.program.compile_options import Options
from warpbound.program.compiler_output import Compiled

TEXT = """
texture<float, 1> table;
__global__ void read(float *out) { out[threadIdx.x] = tex1Dfetch(table, threadIdx.x); }
"""


def refusing(*_: object) -> Compiled:
    raise InputError("read.cu does not compile: expected a ';'.", "Correct the source.")


def refusing_a_header(*_: object) -> Compiled:
    raise InputError("read.cu does not compile: read.h, line 3: texture is not a template.", "Correct the source.")


def test_without_nvrtc_11_8_the_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(release: str) -> nvrtc_choice.Nvrtc:
        raise MissingTool(f"NVRTC {release} is not installed.", "")

    monkeypatch.setattr(nvrtc_choice, "of_release", missing)
    for compiler, text in ((refusing, TEXT), (refusing_a_header, '#include "read.h"')):
        monkeypatch.setitem(cuda.COMPILERS, "auto", compiler)
        with pytest.raises(InputError, match="which CUDA 12 removed") as refused:
            cuda.compile_cuda(text, "read.cu", 90, Options(compiler="auto"))
        assert "warpbound[nvrtc11]" in str(refused.value)


def test_a_file_without_texture_references_keeps_the_compilers_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cuda.COMPILERS, "auto", refusing)
    for text in ("struct texture { int a; };", "// a texture<float> was here", "my_texture<float> t;"):
        with pytest.raises(InputError, match="expected a"):
            cuda.compile_cuda(text, "read.cu", 90, Options(compiler="auto"))


@pytest.mark.cuda
@pytest.mark.broad
def test_nvrtc_11_8_reads_them() -> None:
    try:
        nvrtc_choice.of_release("11.8")
    except MissingTool:
        pytest.skip("needs NVRTC 11.8")
    program = warpbound.compile(TEXT, "h200", compiler="nvrtc")
    assert any(instruction.opcode in ("TLD", "TEX", "TLD.LZ") for instruction in program.instructions)
    assert any("texture references" in note for note in program.assumed)
    with pytest.raises(InputError, match="refuses it, too"):
        warpbound.compile(TEXT, "b200", compiler="nvrtc")


def test_a_file_that_needs_its_runner_takes_the_older_nvrtc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing header of the host stops the program around the file, but not its device code."""
    (tmp_path / ".git").mkdir()
    kernel = tmp_path / "read.cu"
    kernel.write_text(TEXT.replace("threadIdx.x)", "FIRST + threadIdx.x)"))
    (tmp_path / "main.cu").write_text('#define FIRST 3\n#include "read.cu"\n')
    tried = []

    def compiled(text: str, name: str, arch: int, options: Options) -> Compiled:
        tried.append((Path(name).name, options.compiler, options.include))
        raise InputError(f"{name} does not compile.", "Correct the source.")

    monkeypatch.setattr(source_files, "compile_cuda", compiled)
    with pytest.raises(InputError, match=r"read\.cu does not compile"):
        warpbound.compile(kernel, "h200", compiler="nvrtc")
    assert [each[:2] for each in tried] == [("read.cu", "nvrtc"), ("main.cu", "nvrtc"), ("main.cu", "nvrtc-11.8")]
    assert tried[-1][2] == (tmp_path.resolve(),)  # once, however its path is spelled
