"""CUDA C++ as people write it: whole programs, names, templates, headers, line numbers, text encodings."""

import os
from pathlib import Path

import pytest

from support.compiled_examples import EXAMPLES, build, kernels
from warpbound import InputError
from warpbound.program import nvrtc_job
from warpbound.program.compile_options import Options
from warpbound.program.source_files import Source

pytestmark = pytest.mark.cuda

PROGRAM = """#include <cstdio>
#include <vector>
#include <string>
#include <iostream>
#include <algorithm>
#include <chrono>
#include <thrust/device_vector.h>
#include <cuda_runtime.h>
#define CHECK(call) do { if ((call) != cudaSuccess) { fprintf(stderr, "no\\n"); exit(1); } } while (0)
#define KERNEL __global__ void
using vec = std::vector<float>;
typedef std::vector<int> ivec;
using namespace std;
static const int BLOCK = 256;
const float SCALE = 2.0f;
int host_global = 3;
std::string title("x");
std::vector<float> make(int n);
template <typename T> struct Buffer { T* p; std::vector<T> host; Buffer(int n) { CHECK(cudaMalloc(&p, n * 4)); } };
class Timer { std::chrono::steady_clock::time_point t0; void start() { t0 = std::chrono::steady_clock::now(); } };
enum Mode { FAST, SLOW };
struct Vec3 {
  float x, y, z;
  void print() const { std::cout << x; }
  __host__ __device__ Vec3 operator+(Vec3 o) const { return {x + o.x, y + o.y, z + o.z}; }
};
__device__ float square(float x) { return x * x; }
template <typename T, int B> __global__ void reduce(const T* in, T* out, int n) {
  __shared__ T s[B];
  s[threadIdx.x] = in[blockIdx.x * B + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = s[n] * SCALE;
}
KERNEL plain(float* x, Vec3 v) {
  x[threadIdx.x] = square(v.x) + BLOCK + FAST;  // LINE
}
template <typename T> void run(T* a, T* b, int n) { reduce<T, 256><<<n / 256, 256>>>(a, b, n); }
auto lambda = [](int x) { return x + 1; };
bool ok(const vec& a) { for (auto v : a) if (v != 0) return false; return true; }
int main(int argc, char** argv) {
  vec h(BLOCK);
  float *a, *b;
  CHECK(cudaMalloc(&a, 4));
  reduce<float, 128><<<1, 128>>>(a, b, 1);
  reduce<double, BLOCK><<<1, BLOCK>>>((double*)a, (double*)b, 1);
  plain<<<1, 32>>>(a, Vec3{1, 2, 3});
  thrust::device_vector<int> v(3);
  cout << h.size() << endl;
}
"""


def titles(source: Source, arch: int = 80, kernel: str | None = None) -> list[str]:
    return sorted(one.title for one in kernels(source, arch, kernel))


# ---------------------------------------------------------------- host code


def test_a_whole_program_with_every_instance_it_launches() -> None:
    assert titles(PROGRAM) == ["plain", "reduce<double, BLOCK>", "reduce<float, 128>"]


def test_lines_keep_their_numbers_when_host_code_is_blanked() -> None:
    (plain,) = kernels(PROGRAM, kernel="plain")
    line = 1 + next(i for i, text in enumerate(PROGRAM.splitlines()) if "// LINE" in text)
    (store,) = (one for one in plain.instructions if one.opcode == "STG")
    assert store.place is not None
    assert store.place.outermost.line == line
    assert "// LINE" in plain.source_line(line)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_line_of_an_example_is_a_line_of_its_file(path: Path) -> None:
    for program in build(path, 90).programs:
        lines = path.read_text().splitlines()
        places = [one.place.outermost for one in program.instructions if one.place]
        assert places
        for place in places:
            assert place.file == str(path)
            assert lines[place.line - 1].strip()
        global_memory = [one for one in program.instructions if one.opcode in ("LDG", "STG") and one.place]
        for one in global_memory:
            assert one.place is not None
            assert one.place.outermost.line > 1


def test_places_name_the_file_as_the_user_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "k.cu").write_text('#include "h.h"\n__global__ void k(float* x) { x[0] = f(x[1]); }\n')
    (tmp_path / "sub" / "h.h").write_text(
        "__device__ float f(float x) {\n  float s = 0;\n"
        "  for (int i = 0; i < x; i++) s = s * x + sinf(s);\n  return s;\n}\n"
    )
    monkeypatch.chdir(tmp_path)
    (found,) = kernels(Path("sub/k.cu"))
    places = {one.place for one in found.instructions if one.place}
    assert {place.outermost.file for place in places} == {os.path.join("sub", "k.cu")}
    inlined = {place for place in places if place.outer}
    assert {(Path(place.file).name, place.line) for place in inlined} == {("h.h", 3)}
    assert {place.outer.line for place in inlined if place.outer} == {2}


def test_host_code_that_is_not_understood_is_noted() -> None:
    text = "__global__ void k(int* x) { x[0] = 1; }\nint main() {\n  int n = f(4\n  k<<<1, n>>>(0);\n}\n"
    (broken,) = kernels(text)
    assert any(note.startswith("line 3: host code that is not understood") for note in broken.assumed)
    (sound,) = kernels(text.replace("f(4", "f(4);"))
    assert sound.assumed == ()


def test_headers_with_host_code_and_kernels(tmp_path: Path) -> None:
    (tmp_path / "kernels.cuh").write_text(
        "#pragma once\n#include <iostream>\n#include <vector>\n"
        "template <typename T> __global__ void scale(T* values, T by) { values[threadIdx.x] *= by; }\n"
        "inline void report(const std::vector<int>& v) { std::cout << v.size(); }\n"
    )
    (tmp_path / "main.cu").write_text(
        '#include "kernels.cuh"\nint main() { scale<float><<<1, 32>>>(nullptr, 2.f); report({1}); }\n'
    )
    (found,) = kernels(tmp_path / "main.cu")
    assert found.title == "scale<float>"
    assert [(one.name, one.type) for one in found.parameters] == [("values", "T*"), ("by", "T")]


def test_the_macros_and_types_of_the_c_library() -> None:
    text = """#include <math.h>
#include <float.h>
#include <limits.h>
#include <stdint.h>
#include <assert.h>
__global__ void k(float* x, int64_t n, uint32_t m) {
  assert(n > 0);
  x[0] = FLT_MAX + M_PI * INT_MAX + INFINITY;
  if (m == UINT32_MAX) x[1] = NAN;
}"""
    assert [one.type for one in kernels(text)[0].parameters] == ["float*", "int64_t", "uint32_t"]


def test_the_standard_library_in_device_code() -> None:
    text = """#include <limits>
#include <type_traits>
#include <algorithm>
#include <cmath>
#include <cstdint>
template <typename T, typename = typename std::enable_if<std::is_integral<T>::value>::type>
__device__ T same(T x) { return x; }
__global__ void k(int* x, float* y) {
  x[0] = std::numeric_limits<int>::max() - same(x[1]) + std::min(x[2], 3);
  y[0] = std::sqrt(y[1]) + std::abs(y[2]);
}"""
    assert titles(text) == ["k"]


@pytest.mark.parametrize(
    "text",
    [
        "__device__ float f(float x) { return x; }\nint main() {}\n__global__ void k(float* x) { x[0] = f(x[1]); }",
        "namespace a { __global__ void k(float* x) { x[0] = 1; }\nvoid host() { k<<<1, 1>>>(0); } }",
        'extern "C" {\n__global__ void k(float* x) { x[0] = 1; }\nint host(void) { return 1; }\n}',
        "#ifdef __CUDACC__\n__global__ void k(float* x) { x[0] = 1; }\n#else\n#include <none.h>\n#endif\n",
        "static __global__ void k(float* x) { x[0] = 1; }\nint main() { k<<<1, 1>>>(0); }",
        "namespace { __global__ void k(float* x) { x[0] = 1; } }\nint main() { k<<<1, 1>>>(0); }",
        "#define DEFINE(name) __global__ void name(float* x) { x[0] = 1; }\nDEFINE(k)\nint main() {}\n",
        "struct P { float a; P(float x) : a(x) { host(); } };\n__global__ void k(float* x, P p) { x[0] = p.a; }",
        "__constant__ float c[3];\n#include <map>\nstd::map<int, int> m;\n__global__ void k(float* x) { x[0] = c[1]; }",
        "constexpr int twice(int x) { return 2 * x; }\n__global__ void k(float* x) { x[0] = twice(3); }",
        "template <class T> struct Tile { T v[4]; };\nusing Small = Tile<float>;\n"
        "__global__ void k(float* x) { Small t; t.v[0] = x[1]; x[0] = t.v[0]; }",
        "enum Kind { A = 3, B };\n__global__ void k(float* x) { x[0] = B; }",
        "__global__ void __cluster_dims__(2, 1, 1) k(float* x) { x[0] = 1; }",
    ],
)  # fmt: skip
def test_ways_to_write_a_kernel(text: str) -> None:
    (found,) = kernels(text, arch=90)
    assert found.title.rpartition("::")[2] == "k"
    assert found.parameters[0].name == "x" or "DEFINE" in text


def test_latin_1_and_marked_text(tmp_path: Path) -> None:
    text = "// gr\xf6\xdfer\n__global__ void k(float* x) { x[0] = 1; }\n"
    for encoding in ("latin-1", "utf-8-sig", "utf-16"):
        path = tmp_path / f"{encoding}.cu"
        path.write_text(text, encoding=encoding)
        assert titles(path) == ["k"]


# ---------------------------------------------------------------- names


NAMES = """
namespace a { __global__ void k(float* x) { x[0] = 1; } }
namespace b { namespace c { __global__ void k(float* y, int n) { y[n] = 2; } } }
__global__ void over(float* x) { x[0] = 1; }
__global__ void over(int* z) { z[0] = 1; }
template <typename T, int N> __global__ void t(T* x) { x[0] = N; }
namespace d { template <typename T> __global__ void inner(T* x) { x[0] = 1; } }
extern "C" __global__ void plain_c(float* x) { x[0] = 1; }
"""


@pytest.mark.parametrize(
    "asked, found",
    [
        ("a::k", ["_ZN1a1kEPf"]),
        ("b::c::k", ["_ZN1b1c1kEPfi"]),
        ("k", ["_ZN1a1kEPf", "_ZN1b1c1kEPfi"]),
        ("_ZN1a1kEPf", ["_ZN1a1kEPf"]),
        ("over", ["_Z4overPf", "_Z4overPi"]),
        ("plain_c", ["plain_c"]),
        ("t<float, 3>", ["_Z1tIfLi3EEvPT_"]),
        ("t<float,3>", ["_Z1tIfLi3EEvPT_"]),
        ("d::inner<double>", ["_ZN1d5innerIdEEvPT_"]),
        ("inner<double>", ["_ZN1d5innerIdEEvPT_"]),
    ],
)
def test_kernels_by_every_name(asked: str, found: list[str]) -> None:
    assert sorted(one.name for one in kernels(NAMES, kernel=asked)) == found


def test_an_unknown_kernel_is_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r"has no kernel `nope`.*a::k.*over \(_Z4overPf\)"):
        kernels(NAMES, kernel="nope")


def test_an_instance_that_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match="has no kernel `t<float, banana>`"):
        kernels(NAMES, kernel="t<float, banana>")


def test_a_name_that_the_compiler_refuses_is_refused_by_one_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other reading of the file has more names."""
    readings, read = [], nvrtc_job.Job._with_remedies
    monkeypatch.setattr(nvrtc_job.Job, "_with_remedies", lambda job, *rest: readings.append(job) or read(job, *rest))
    text = '#include <cstdio>\ntemplate <class T> __global__ void t(T* x) { x[0] = 1; }\nint main() { puts("t"); }'
    with pytest.raises(InputError, match="has no kernel `t<banana>`"):
        kernels(text, options=Options(instance="t<banana>"))
    assert len(readings) == 1


def test_templates_that_nothing_instantiates() -> None:
    (example,) = kernels("namespace d { template <class T, int N> __global__ void t(T* x) { x[N] = 1; } }")
    assert example.title == "d::t<float, 256>"
    assert any("d::t<float, 256> is an example" in note for note in example.assumed)
    with pytest.raises(InputError, match=r"nothing instantiates .*\(d::t\).*--kernel 'd::t<float>'"):
        kernels("namespace d { template <class F> __global__ void t(F f) { f(threadIdx.x); } }")


def test_one_function_of_the_host_with_c_linkage() -> None:
    text = '#define API __attribute__((visibility("default")))\nextern "C" __global__ void k(float* x) { x[0] = 1; }\n'
    (found,) = kernels(text + 'extern "C" API int go(float* x) { k<<<1, 1>>>(x); return cudaGetLastError(); }\n')
    assert found.title == "k"


def test_instances_spelled_out_are_titled() -> None:
    text = (
        "template <class T> __global__ void t(T* x) { x[0] = 1; }\n"
        "template __global__ void t<float>(float*);\ntemplate __global__ void t<int>(int*);\n"
    )
    assert titles(text) == ["t<float>", "t<int>"]


def test_parameters_of_overloads_keep_what_they_agree_on() -> None:
    first, second = kernels(NAMES, kernel="over")
    assert {first.parameters[0].name, second.parameters[0].name} == {""}
    (k,) = kernels(NAMES, kernel="b::c::k")
    assert [(one.name, one.type) for one in k.parameters] == [("y", "float*"), ("n", "int")]


LIMITED = """#define BOUNDS_1(n) __launch_bounds__(n)
#define BOUNDS_2(n, m) __launch_bounds__((n), (m))
#define SMALL __launch_bounds__(64)
#define GLOBAL __global__ SMALL
BOUNDS_1(256) __global__ void before(float* x) { x[0] = 1; }
__global__ BOUNDS_2(64, 2) void between(float* x) { x[0] = 2; }
template <int N>
__global__ void BOUNDS_1(N * 32)
behind(float* x) { x[0] = N; }
GLOBAL void hidden(float* x) { x[0] = 3; }
const char* text = "host";
int main() { behind<4><<<1, 128>>>(nullptr); before<<<1, 256>>>(nullptr); return text[0]; }
"""


def test_limits_behind_macros() -> None:
    found = {one.title: one.max_threads for one in kernels(LIMITED)}
    assert found == {"before": 256, "between": 64, "behind<4>": 128, "hidden": 64}


@pytest.mark.parametrize(
    "head",
    [
        "struct __align__(16) P { float x, y; };",
        "struct __builtin_align__(8) P { float x, y; };",
        "typedef struct __align__(8) { float x, y; } P;",
        "#define ALIGNED(n) __align__(n)\nstruct ALIGNED(16) P { float x, y; };",
    ],
)
def test_aligned_structs_beside_host_code(head: str) -> None:
    text = f"{head}\n__global__ void k(P* p) {{ p[threadIdx.x].x = 1; }}\nint main() {{ k<<<1, 32>>>(nullptr); }}\n"
    (found,) = kernels(text)
    assert found.title == "k"


def test_instances_that_depend_on_the_function_around() -> None:
    text = "template <class T> __global__ void k(T* o) { *o = 1; }\n"
    text += "template <class T> void go() { k<T><<<1, 1>>>(nullptr); }\nint main() { go<float>(); }\n"
    (example,) = kernels(text)
    assert any("k<float> is an example" in note for note in example.assumed)
    (found,) = kernels(text, kernel="k<float>")
    assert (example.title, found.title) == ("k<float>", "k<float>")
    assert not any("example" in note for note in found.assumed)


def test_templates_without_an_instance_are_said() -> None:
    text = "".join(f"template <class T> __global__ void t{i}(T* o) {{ *o = 1; }}\n" for i in range(6))
    text += "__global__ void plain() {}\nint main() { auto p = make(); t0<float><<<1, 1>>>(p); t1<<<1, 1>>>(p); }\n"
    for one in kernels(text):
        assert "kernel templates that nothing instantiates are left out: t1, t2, t3, t4, 1 more" in one.assumed
    (asked,) = kernels(text, kernel="t1<float>")
    assert not any("left out" in note for note in asked.assumed)


def test_what_only_a_launch_names_stays() -> None:
    text = "template <class T> struct Twice { static __device__ T of(T a) { return 2 * a; } };\n"
    text += "template <template <class> class F, class T> __global__ void k(T* x) { x[0] = F<T>::of(x[0]); }\n"
    text += "__global__ void other() {}\nint main() { k<Twice, double><<<1, 1>>>(nullptr); }\n"
    assert {one.title for one in kernels(text)} == {"k<Twice, double>", "other"}


def test_a_launch_whose_template_arguments_cannot_be_deduced_is_said() -> None:
    text = "struct F { __device__ void operator()(int) {} };\n"
    text += "namespace ns { template <class T> __global__ void t(T o) { o(1); } }\n"
    text += "int main() { auto p = make(); ns::t<<<1, 1>>>(p); }\n"
    with pytest.raises(InputError, match=r"launch of ns::t leaves its template arguments .* --kernel 'ns::t<float>'"):
        kernels(text)
    (beside,) = kernels(f"__global__ void plain() {{}}\n{text}")
    assert any("the launch of ns::t leaves its template arguments" in note for note in beside.assumed)
    (asked,) = kernels(text, kernel="t<F>")
    assert (asked.title, asked.assumed) == ("ns::t<F>", ())


def test_the_empty_kernel_of_cub_is_left_out_beside_others() -> None:
    probe = "namespace cub { namespace V { namespace detail { template <class T> __global__ void EmptyKernel() {}\n"
    probe += "template __global__ void EmptyKernel<void>(); } } }\n"
    own = "__global__ void k(float* x) { *x = 1; }\n"
    assert titles(probe + own) == ["k"]
    assert titles(probe) == ["cub::V::detail::EmptyKernel<void>"]
