"""Instances of kernel templates as launches in host code mean them."""

import numpy as np
import pytest

import warpbound
from warpbound import machine
from warpbound.kernel_launch import launch
from warpbound.program.compile_options import Options
from warpbound.program.host_code import kernels_of
from warpbound.program.source_files import compile_program, programs

VALUES = "template <int N, int M> __global__ void k(float *x) { x[N * threadIdx.x] = M; }\n"
TYPES = "template <typename T> __global__ void k(const T *__restrict__ x, T *y, int n) { y[n] = x[n]; }\n"
MIXED = "template <typename T, int N> __global__ void k(T *x) { x[threadIdx.x] += N; }\n"
FUNCTOR = (
    "struct Scale { float a; __device__ float operator()(int i) const { return a * i; } };\n"
    "template <class Op> struct Twice { Op op; __device__ float operator()(int i) const { return 2 * op(i); } };\n"
    "template <class F> __global__ void k(float *x, F f) { x[threadIdx.x] = f(threadIdx.x); }\n"
)
BY_VALUE = "template <class A, class B> __global__ void k(A a, B *b) { *b = a; }\n"


@pytest.mark.parametrize(
    ("source", "launched", "unknown"),
    [
        (VALUES + "void f(float *x) { const int N = 4; k<N, 8><<<1, N>>>(x); }", ("k<4, 8>",), ()),
        (VALUES + "void f(float *x) { constexpr int A = 4, B = A * 2; k<A, B><<<1, 1>>>(x); }", ("k<4, (4 * 2)>",), ()),
        (VALUES + "void f(float *x, int n) { const int N = n; k<N, 1><<<1, 1>>>(x); }", ("k<n, 1>",), ()),
        (VALUES + "void f(float *x) { const int N = 1; k<N, 1><<<1, 1>>>(x); } void g(float *x) { const int N = 2; "
         "k<N, 1><<<1, 1>>>(x); }", ("k<1, 1>", "k<2, 1>"), ()),
        (TYPES + "void f(double *p, double *q) { k<<<1, 1>>>(p, q, 3); }", ("k<double>",), ()),
        (TYPES + "void f() { float *p[2], *q; k<<<1, 1>>>(p[0], q, 3); }", ("k<float>",), ()),
        (TYPES + "void f(void *p) { k<<<1, 1>>>((const float *)p, (float *)p, 3); }", ("k<float>",), ()),
        (TYPES + "void f() { using real = float; real *p; k<<<1, 1>>>(p, p, 3); }", ("k<float>",), ()),
        (TYPES + "void f() { auto p = g(); k<<<1, 1>>>(p, p, 3); }", (), ("k",)),
        (MIXED + "void f(float *x) { k<<<1, 1>>>(x); }", (), ("k",)),
        (BY_VALUE + "void f(float *x) { k<<<1, 1>>>(2.5, x); k<<<1, 1>>>(2, x); }",
         ("k<double, float>", "k<int, float>"), ()),
        (FUNCTOR + "void f(float *x) { k<<<1, 1>>>(x, Scale{2}); }", ("k<Scale>",), ()),
        (FUNCTOR + "void f(float *x) { k<<<1, 1>>>(x, Scale(2)); k<<<1, 1>>>(x, Twice<Scale>{}); }",
         ("k<Scale>", "k<Twice<Scale>>"), ()),
        (FUNCTOR + "void f(float *x) { Scale s{2}; k<<<1, 1>>>(x, s); k<<<1, 1>>>(x, chosen(2)); }",
         ("k<Scale>",), ()),
        (FUNCTOR + "void f(float *x) { k<<<1, 1>>>(x, chosen(2)); }", (), ("k",)),
        (FUNCTOR + "void f(float *x, float a) { k<<<1, 1>>>(x, [=] __device__ (int i) { return a * i; }); }",
         ("k<lambda_4_44>",), ()),
        (FUNCTOR + "void f(float *x) { auto g = [] __host__ __device__ (int i) { return 2 * i; }; k<<<1, 1>>>(x, g); }",
         ("k<lambda_4_29>",), ()),
        (FUNCTOR + "void f(float *x) { auto a = h(); k<<<1, 1>>>(x, [=] __device__ (int i) { return a * i; }); }",
         (), ("k",)),
        (FUNCTOR + "void f(float *x, float a) { k<<<1, 1>>>(x, [&] __device__ (int i) { return a * i; }); }",
         (), ("k",)),
        ("namespace n {\n" + TYPES + "}\nvoid f(float *p) { n::k<<<1, 1>>>(p, p, 3); }", ("n::k<float>",), ()),
    ],
)  # fmt: skip
def test_constants_are_put_in_place_and_arguments_deduced(source, launched, unknown):
    kernels = kernels_of(source, {})
    assert kernels.instances == launched
    assert kernels.deduced == unknown


@pytest.mark.cuda
def test_nvrtc_compiles_the_instances_and_names_them_by_their_values():
    source = VALUES + "void f(float *x) { constexpr int A = 4, B = A * 2; k<A, B><<<1, 1>>>(x); k<B, A><<<1, 1>>>(x); }"
    kernels = programs(source, machine.gpu("t4"), None, Options(compiler="nvrtc"))
    assert sorted(kernel.title.replace(" ", "") for kernel in kernels) == ["k<4,8>", "k<8,4>"]


LAMBDAS = FUNCTOR + """struct Host { int a; };
void f(float *x, const float *w, float a, Host h) {
  int shift = 3;
  auto g = [=] __device__ (int i) { float v = w[i + shift];  // captures a pointer, a number and a variable
    return a * v; };
  k<<<1, 32>>>(x, g);
  k<<<1, 32>>>(x, [=] __device__ (int i) { return i - shift - h.a; });
}"""


@pytest.mark.cuda
@pytest.mark.parametrize("arch", [75, 90])
def test_nvrtc_compiles_lambdas_of_host_code(arch):
    program = compile_program(LAMBDAS, f"sm_{arch}", "k<lambda_10_19>", compiler="nvrtc")
    copies = np.array((3, 4), [("shift", "<i4"), ("h", "<i4")])[()]
    out = warpbound.run(program, launch(grid=1, block=32, args={"x": np.zeros(32, np.float32), "f": copies}))["x"]
    assert (out == np.arange(32) - 7).all()
    kernels = programs(LAMBDAS, machine.gpu("t4"), None, Options(compiler="nvrtc"))
    assert sorted(kernel.title for kernel in kernels) == ["k<lambda_10_19>", "k<lambda_7_12>"]
    assert not any("not understood" in note for kernel in kernels for note in kernel.assumed)
