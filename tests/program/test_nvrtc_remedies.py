"""NVRTC gets what nvcc brings along: names of cuda_runtime.h, stand-ins for headers of host code."""

from pathlib import Path

import pytest

from warpbound import machine
from warpbound.errors import InputError
from warpbound.program import nvrtc_job
from warpbound.program import nvrtc_remedies as remedies
from warpbound.program.compile_options import Options
from warpbound.program.header_packages import MissingHeader
from warpbound.program.kernel import Program
from warpbound.program.source_files import programs

BY_NVRTC = Options(compiler="nvrtc")


def compiled(source: str | Path) -> tuple[Program, ...]:
    return programs(source, machine.gpu("t4"), None, BY_NVRTC)


def kernel(parameters: str, body: str = "") -> str:
    return f"__global__ void k({parameters}) {{ {body} }}\n"


@pytest.mark.parametrize(("log", "text"), [
    ('k.cu(1): error: identifier "uint64_t" is undefined', "#include <stdint.h>\n"),
    ('k.cu(1): error: identifier "FLT_MAX" is undefined', "#include <float.h>\n"),
    ('k.cu(1): error: identifier "M_PI" is undefined', "#include <math.h>\n"),
    ('k.cu(1): error: identifier "INT_MAX" is undefined', "#include <limits.h>\n"),
    ('k.cu(1): error: identifier "half2" is undefined', "#include <cuda_fp16.h>\n"),
    ('k.cu(1): error: identifier "half_width" is undefined', ""),
    ('k.cu(1): error: identifier "mine" is undefined', ""),
])  # fmt: skip
def test_a_name_that_nvcc_knows_is_brought_once(log, text):
    before = remedies.Help({})
    after = remedies.more(log, before)
    assert after.headers.get(remedies.BROUGHT, "") == text
    assert remedies.more(log, after) == after
    assert (after == before) == (not text)


def test_a_header_that_is_not_found_is_left_out_with_its_includer():
    log = 'a.h(3): catastrophic error: cannot open source file "lib/b.h"\n  #include <lib/b.h>\n'
    after = remedies.more(log, remedies.Help({"c.h": "int c;"}))
    assert after.headers == {"c.h": "int c;", "lib/b.h": ""}
    assert after.left_out == {"lib/b.h": "a.h, line 3"}


@pytest.mark.cuda
@pytest.mark.parametrize("source", [
    kernel("uint *x, uint64_t y, ushort z, int32_t w, size_t s", "x[0] = y + z + w + s;"),
    kernel("float *x", "x[0] = x[1] < FLT_EPSILON ? INFINITY : float(M_PI) + NAN; x[2] = INT_MAX;"),
    kernel("half *x, __nv_bfloat16 *y, half2 z", "x[0] = __hadd(x[1], z.x); y[0] = __float2bfloat16(1.f);"),
    kernel("float *x", "x[0] = std::max(x[1], x[2]) + std::numeric_limits<float>::max();"),
], ids=["types", "limits", "halves", "std"])  # fmt: skip
def test_what_cuda_runtime_brings_is_there_without_a_header(source):
    assert [program.title for program in compiled(source)] == ["k"]


@pytest.mark.cuda
def test_headers_of_host_code_at_any_depth_are_stood_in_for(tmp_path):
    (tmp_path / "a.h").write_text('#include "b.h"\n#include <map>\ninline void f(std::map<int, int> m) {}\n')
    many = "sys/time.h", "unistd.h", "stdio.h", "stdlib.h", "string.h", "time.h", "pthread.h", "fstream"
    (tmp_path / "b.h").write_text("".join(f"#include <{name}>\n" for name in many) + "#define SCALE 3\n")
    (tmp_path / "k.cu").write_text(f'#include "a.h"\n#include <iostream>\n{kernel("int *x", "x[0] *= SCALE;")}')
    (program,) = compiled(tmp_path / "k.cu")
    assert program.title == "k"


@pytest.mark.cuda
def test_a_header_of_host_code_alone_goes_with_its_errors(tmp_path):
    (tmp_path / "threads.h").write_text("#include <pthread.h>\nstruct Thread { pthread_t id; };\n")
    (tmp_path / "k.cu").write_text(f'#include "threads.h"\nThread all;\n{kernel("int *x", "x[0] = 1;")}')
    (program,) = compiled(tmp_path / "k.cu")
    assert program.title == "k"


@pytest.mark.cuda
def test_a_project_header_that_is_nowhere_is_noted_where_no_kernel_needs_it(tmp_path):
    (tmp_path / "k.cu").write_text(f'#include "no_such_project.h"\n{kernel("int *x", "x[0] = 1;")}')
    (program,) = compiled(tmp_path / "k.cu")
    assert any("left out: <no_such_project.h>" in note for note in program.assumed)


@pytest.mark.cuda
def test_a_project_header_that_a_kernel_needs_is_named_with_its_includer(tmp_path):
    (tmp_path / "k.cu").write_text(f'#include "no_such_project.h"\n{kernel("Thing *x", "x->y = 1;")}')
    with pytest.raises(MissingHeader, match=r"k\.cu, line 1, includes <no_such_project\.h>, which is nowhere"):
        compiled(tmp_path / "k.cu")


@pytest.mark.cuda
def test_the_error_shown_is_the_one_of_the_users_device_code():
    source = "#include <iostream>\n" + kernel("int *x", "x[0] = unknown_word;") + 'int main() { std::cout << "a"; }\n'
    with pytest.raises(InputError, match=r'line 2: identifier "unknown_word" is undefined\.'):
        compiled(source)


@pytest.mark.cuda
def test_remedies_end_when_the_time_is_up(monkeypatch):
    source = '#include "a.h"\n' + kernel("int *x", "x[0] = 1;")
    monkeypatch.setattr(nvrtc_job, "PATIENCE_S", -1.0)
    with pytest.raises(InputError):
        compiled(source + "// other text than in the cache\n")
    monkeypatch.undo()
    assert compiled(source + "// other text than in the cache\n")[0].title == "k"
