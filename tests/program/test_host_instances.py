"""Instances of kernel templates as launches in host code mean them."""

import pytest

from warpbound import machine
from warpbound.program.compile_options import Options
from warpbound.program.host_code import kernels_of
from warpbound.program.source_files import programs

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
        ("namespace n {\n" + TYPES + "}\nvoid f(float *p) { n::k<<<1, 1>>>(p, p, 3); }", ("n::k<float>",), ()),
    ],
)  # fmt: skip
def test_constants_are_put_in_place_and_arguments_deduced(source, launched, unknown):
    kernels = kernels_of(source, {})
    assert kernels.launched == launched
    assert kernels.deduced == unknown


@pytest.mark.cuda
def test_nvrtc_compiles_the_instances_and_names_them_by_their_values():
    source = VALUES + "void f(float *x) { constexpr int A = 4, B = A * 2; k<A, B><<<1, 1>>>(x); k<B, A><<<1, 1>>>(x); }"
    kernels = programs(source, machine.gpu("t4"), None, Options(compiler="nvrtc"))
    assert sorted(kernel.title.replace(" ", "") for kernel in kernels) == ["k<4,8>", "k<8,4>"]
