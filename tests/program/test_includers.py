"""A kernel whose file does not compile by itself answers as a part of the program that includes it."""

from pathlib import Path

import pytest

from warpbound import machine
from warpbound.errors import InputError
from warpbound.program import source_files
from warpbound.program.compile_options import Options
from warpbound.program.compiler_output import Compiled
from warpbound.program.header_packages import MissingHeader
from warpbound.program.includers import includers
from warpbound.program.source_files import programs

KERNEL = "__global__ void scale(real *x) { x[threadIdx.x] *= FACTOR; }\n"
RUNNER = """#include <iostream>
typedef float real;
#define FACTOR 3.0f
#include "kernel.cu"
__global__ void other(real *x) { x[0] = 1; }
int main() { scale<<<1, 32>>>(nullptr); std::cout << "done"; }
"""
TEMPLATE = "template <int N> __global__ void twice(float *x) { if (threadIdx.x < N) x[threadIdx.x] *= 2; }\n"


def written(root: Path, files: dict[str, str]) -> Path:
    (root / ".git").mkdir()
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def names(root: Path, target: str) -> list[str]:
    return [str(path.relative_to(root.resolve())) for path in includers(root / target)]


def test_the_file_that_includes_another_by_way_of_headers_is_its_runner(tmp_path: Path) -> None:
    root = written(tmp_path, {
        "src/kernels/k.cuh": KERNEL, "src/kernels.cuh": '#include "kernels/k.cuh"\n',
        "src/runner.cu": '#pragma once\n  # include "kernels.cuh"\n', "other/runner.cu": "#include <k.h>\n",
    })  # fmt: skip
    assert names(root, "src/kernels/k.cuh") == ["src/runner.cu"]
    assert names(root, "src/runner.cu") == []


def test_the_most_direct_runner_comes_first_then_the_nearest(tmp_path: Path) -> None:
    root = written(tmp_path, {
        "a/k.cu": KERNEL, "a/wrap.cu": '#include "k.cu"', "main.c": '#include "a/wrap.cu"',
        "b/far.cu": '#include "../a/k.cu"',
    })  # fmt: skip
    assert names(root, "a/k.cu") == ["a/wrap.cu", "b/far.cu", "main.c"]


def test_a_file_of_the_same_name_elsewhere_is_not_meant(tmp_path: Path) -> None:
    root = written(tmp_path, {
        "a/k.cu": KERNEL, "b/k.cu": KERNEL, "b/main.cu": '#include "k.cu"', "c/main.cu": '#include <a/k.cu>'
    })  # fmt: skip
    assert names(root, "a/k.cu") == ["c/main.cu"]


def test_files_that_include_each_other_end(tmp_path: Path) -> None:
    root = written(tmp_path, {"a.cu": '#include "b.cu"\n', "b.cu": '#include "a.cu"\n'})
    assert names(root, "a.cu") == ["b.cu"]


@pytest.mark.cuda
def test_its_own_kernels_alone_answer_with_a_note(tmp_path: Path) -> None:
    root = written(tmp_path, {"kernel.cu": KERNEL, "main.cu": RUNNER})
    (kernel,) = programs(root / "kernel.cu", machine.gpu("t4"), None, Options(compiler="nvrtc"))
    assert kernel.title == "scale"
    assert any("main.cu, which includes kernel.cu" in note for note in kernel.assumed)


@pytest.mark.cuda
def test_a_template_takes_the_instances_of_its_runner(tmp_path: Path) -> None:
    runner = '#include "twice.cuh"\nvoid run(float *x) { twice<24><<<1, 32>>>(x); twice<8><<<1, 32>>>(x); }\n'
    root = written(tmp_path, {"twice.cuh": TEMPLATE, "run.cu": runner})
    kernels = programs(root / "twice.cuh", machine.gpu("t4"), None, Options(compiler="nvrtc"))
    assert sorted(kernel.title for kernel in kernels) == ["twice<24>", "twice<8>"]


@pytest.mark.cuda
def test_without_a_runner_the_refusal_is_about_the_file_itself(tmp_path: Path) -> None:
    root = written(tmp_path, {"kernel.cu": KERNEL, "main.cu": '#include "kernel.cu"\n'})
    with pytest.raises(InputError, match=r'kernel\.cu, line 1: identifier "real" is undefined'):
        programs(root / "kernel.cu", machine.gpu("t4"), None, Options(compiler="nvrtc"))


@pytest.mark.cuda
def test_a_header_that_stops_nvcc_does_not_stop_the_runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = '#include "twice.cuh"\nvoid run(float *x) { const int N = 24; twice<N><<<1, 32>>>(x); }\n'
    root = written(tmp_path, {"twice.cuh": "#include <cublas_v2.h>\n" + TEMPLATE, "run.cu": runner})
    compile_cuda = source_files.compile_cuda

    def without_cublas(text: str, name: str, arch: int, options: Options) -> Compiled:
        if options.compiler == "auto":
            raise MissingHeader("k.cuh, line 1, includes <cublas_v2.h>, a header of cuBLAS, which is not here.")
        return compile_cuda(text, name, arch, options)

    monkeypatch.setattr(source_files, "compile_cuda", without_cublas)
    (kernel,) = programs(root / "twice.cuh", machine.gpu("t4"), None, Options(compiler="auto"))
    assert kernel.title == "twice<24>"
