"""nvcc compiles whole files, host code and standard headers included; NVRTC steps in where it refuses."""

from pathlib import Path

import pytest

from warpbound.errors import CommandError, InputError, MissingTool
from warpbound.machine import gpu
from warpbound.program import Program, cuda, cuda_toolkit, programs
from warpbound.program.compile_options import Options
from warpbound.program.cuda_toolkit import in_wheel, toolkit

pytestmark = pytest.mark.cuda

WHOLE = """\
#include <cmath>
#include <vector>

template <class T> __global__ void scale(T* values, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] = i == 0 ? T(INFINITY) : std::sqrt(values[i]);
}
static __global__ void lonely(uint* out) { *out = 1; }

int main() {
    std::vector<double> host(16);
    double* device;
    cudaMalloc(&device, 128);
    scale<<<1, 16>>>(device, (int)host.size());
    return cudaDeviceSynchronize();
}
"""


@pytest.fixture(scope="module")
def nvcc() -> str:
    """The wheel's nvcc as a word of --compiler."""
    place = in_wheel()
    if place is None:
        pytest.skip("the wheel nvidia-cuda-nvcc is not installed")
    try:
        toolkit(place)
    except MissingTool as missing:
        pytest.skip(str(missing))
    return f"nvcc={place}"


def compiled(source: Path | str, compiler: str, kernel: str | None = None, **options) -> tuple[Program, ...]:
    return programs(source, gpu("h200"), kernel, Options(compiler=compiler, **options))


def test_a_whole_file_with_a_deduced_launch_answers(nvcc: str, tmp_path: Path) -> None:
    source = tmp_path / "whole.cu"
    source.write_text(WHOLE)
    scale, lonely = compiled(source, nvcc)
    assert (scale.title, lonely.title) == ("scale<double>", "lonely")
    assert [(p.name, p.type) for p in scale.parameters] == [("values", "T*"), ("count", "int")]
    assert scale.compiler is not None
    assert scale.compiler[0] == "nvcc"
    lines = {x.place.outermost.line for x in scale.instructions if x.place}
    assert lines <= {4, 5, 6, 7}
    assert {x.place.outermost.file for x in scale.instructions if x.place} == {str(source)}


def test_an_instance_is_made_by_name(nvcc: str) -> None:
    text = "namespace n { template <class T, int N> __global__ void t(T* o) { *o = N; } }\n"
    (one,) = compiled(text, nvcc, "n::t<float, 7>")
    assert one.title == "n::t<float, 7>"
    with pytest.raises(InputError, match="has no kernel `n::t<float, flaot>`"):
        compiled(text, nvcc, "n::t<float, flaot>")


def test_templates_of_defaults_are_made_and_others_named_with_a_command(nvcc: str) -> None:
    text = (
        "template <int N = 4, class T = float> __global__ void easy(T* o) { *o = N; }\n"
        "template <class T, int N> __global__ void hard(T* o) { *o = N; }\n"
    )
    (easy,) = compiled(text, nvcc)
    assert easy.title == "easy<4, float>"
    assert "to analyze one of them: --kernel 'hard<float, 256>'" in easy.assumed
    (example,) = compiled(text.splitlines()[1], nvcc)
    assert any("hard<float, 256> is an example" in note for note in example.assumed)


def test_kernels_that_launch_others(nvcc: str) -> None:
    text = "__global__ void child(int* x) { x[0] = 1; }\n"
    found = compiled(text + "__global__ void parent(int* x) { child<<<1, 32>>>(x); }\n", nvcc)
    assert {one.title for one in found} == {"child", "parent"}


def test_a_header_of_the_repository_is_found_and_said(nvcc: str, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    common, own = tmp_path / "common" / "inc", tmp_path / "a" / "b"
    for folder in (common, own):
        folder.mkdir(parents=True)
    (common / "shared.h").write_text('#include "deeper.h"\n')
    (common / "deeper.h").write_text("#define FACTOR 3\n")
    source = own / "kernel.cu"
    source.write_text("#include <shared.h>\n__global__ void k(float* x) { *x *= FACTOR; }\n")
    for compiler in (nvcc, "nvrtc"):
        (program,) = compiled(source, compiler)
        (note,) = [note for note in program.assumed if "was added for" in note]
        assert "inc was added for shared.h" in note


@pytest.mark.parametrize(
    "header, words",
    [
        ("GL/glew.h", "includes <GL/glew.h>, a header of GLEW, which is not here"),
        ("own.h", "includes <own.h>, which is nowhere in its repository"),
    ],
)
def test_a_missing_header_is_one_sentence(nvcc: str, header: str, words: str, tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text(f"#include <{header}>\n__global__ void k(float* x) {{ *x = 1; }}\n")
    with pytest.raises(InputError, match=rf"k.cu, line 1, {words}"):
        compiled(source, nvcc)


def test_nvrtc_compiles_the_device_code_of_what_nvcc_refuses(nvcc: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "toolkit", lambda place=None: toolkit(Path(nvcc.partition("=")[2])))
    text = "#include <GL/glew.h>\n__global__ void k(float* x) { *x = 1; }\nint main() { glewInit(); }\n"
    (program,) = compiled(text, "auto")
    assert program.compiler[0] == "nvrtc"
    assert any("because nvcc refuses the file: <input>, line 1, includes <GL/glew.h>" in x for x in program.assumed)
    with pytest.raises(InputError, match='does not compile: <input>, line 1: identifier "wrong" is undefined'):
        compiled("__global__ void k(float* x) { *x = wrong; }\nint main() {}\n", "auto")


def test_without_nvcc_auto_is_nvrtc(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(place: Path | None = None) -> cuda_toolkit.Toolkit:
        raise MissingTool("There is none.", "")

    monkeypatch.setattr(cuda, "toolkit", nothing)
    (program,) = compiled("__global__ void k(float* x) { *x = 1; }", "auto")
    assert program.compiler[0] == "nvrtc"


def test_flags_that_the_log_asks_for_are_added(nvcc: str) -> None:
    text = "constexpr int twice(int x) { return 2 * x; }\n__global__ void k(int* x) { *x = twice(*x); }\n"
    (program,) = compiled(text, nvcc)
    assert program.title == "k"


def test_the_architectures_own_features_are_used_where_the_source_asks_for_them(nvcc: str) -> None:
    text = '__global__ void k() { asm volatile("wgmma.fence.sync.aligned;"); }'
    (program,) = compiled(text, nvcc)
    assert program.features == "a"
    assert any("compiled for sm_90a" in note for note in program.assumed)


@pytest.mark.parametrize("word", ["gcc", "nvrtc-twelve", "nvcc=", ""])
def test_an_unknown_compiler_is_named(word: str) -> None:
    with pytest.raises(CommandError, match="No compiler is called"):
        cuda.compiler_of(word)
