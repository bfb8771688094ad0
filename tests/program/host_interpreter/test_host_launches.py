"""The launches of host code: what is found, what is a number, what remains, what a launch file still needs."""

from pathlib import Path

import pytest

from warpbound.program.host_interpreter import interpretation
from warpbound.program.host_launches import Assumed, host_launches
from warpbound.result.host_launches import HostLaunch

pytestmark = pytest.mark.cuda

KERNEL = "__global__ void k(float *x, int n) {}\n"
TEMPLATE = "template <int B, typename T> __global__ void t(T *x, T a) {}\n"


def launches(text: str, *words: str, **device: int) -> list[HostLaunch]:
    return host_launches(text, "a.cu", Assumed(words=words, device=device)).launches


def only(body: str, before: str = "", *words: str, **device: int) -> HostLaunch:
    text = f"{KERNEL}{TEMPLATE}{before}\nint main(int argc, char **argv) {{\nfloat *d;\n{body}\n}}"
    (launch,) = launches(text, *words, **device)
    return launch


# Before main, statements -> grid, block, dynamic shared memory, value of n (or what remains of it).
NUMBERS = {
    "plain": ("", "k<<<4, 32>>>(d, 7);", [4, 1, 1], [32, 1, 1], 0, 7),
    "macros": (
        "#define N 1000\n#define CEIL(a, b) (((a) + (b) - 1) / (b))",
        "k<<<CEIL(N, 256), 256>>>(d, N);",
        [4, 1, 1],
        [256, 1, 1],
        0,
        1000,
    ),
    "dim3": (
        "",
        "dim3 g(8, 2), b = dim3(16, 16); k<<<g, b, 4 * sizeof(float)>>>(d, g.y);",
        [8, 2, 1],
        [16, 16, 1],
        16,
        2,
    ),
    "dim3 of names": ("", "int w = 3, h = 5; dim3 g(w, h); k<<<g, dim3{8, 4, 2}>>>(d, 0);", [3, 5, 1], [8, 4, 2], 0, 0),
    "member of dim3": ("", "dim3 b; b.x = 64; b.y *= 2; k<<<1, b>>>(d, b.z);", [1, 1, 1], [64, 2, 1], 0, 1),
    "default of an argument": (
        "",
        "int n = argc > 1 ? atoi(argv[1]) : 512; k<<<n / 256, 256>>>(d, n);",
        [2, 1, 1],
        [256, 1, 1],
        0,
        512,
    ),
    "usage": ("", 'if (argc < 2) { printf("usage"); return 1; } k<<<2, 64>>>(d, 3);', [2, 1, 1], [64, 1, 1], 0, 3),
    "usage by exit": (
        "void usage() { exit(1); }",
        "if (argc != 2) usage(); k<<<2, 64>>>(d, 3);",
        [2, 1, 1],
        [64, 1, 1],
        0,
        3,
    ),
    "function": (
        "void go(int n, int &m) { m = 2 * n; }",
        "int m; go(5, m); k<<<m, 32>>>(d, m);",
        [10, 1, 1],
        [32, 1, 1],
        0,
        10,
    ),
    "result of a function": (
        "int up(int a, int b) { if (a % b) return a / b + 1; return a / b; }",
        "k<<<up(100, 32), 32>>>(d, 1);",
        [4, 1, 1],
        [32, 1, 1],
        0,
        1,
    ),
    "pointer to a variable": (
        "void set(int *p) { *p = 9; }",
        "int n = 1; set(&n); k<<<n, 32>>>(d, n);",
        [9, 1, 1],
        [32, 1, 1],
        0,
        9,
    ),
    "struct": ("struct P { int w; int h = 4; };", "P p; p.w = 6; k<<<p.w, 32>>>(d, p.h);", [6, 1, 1], [32, 1, 1], 0, 4),
    "method": (
        "struct A { int n; A(int m) : n(m) {} int twice() { return 2 * n; } };",
        "A a(8); k<<<a.twice(), 32>>>(d, a.n);",
        [16, 1, 1],
        [32, 1, 1],
        0,
        8,
    ),
    "loop that ends": ("", "int b = 1; while (b < 100) b *= 2; k<<<1, b>>>(d, b);", [1, 1, 1], [128, 1, 1], 0, 128),
    "switch": (
        "",
        "int m = 2, n = 0; switch (m) { case 1: n = 1; break; case 2: n = 5; break; default: n = 9; }"
        "k<<<n, 32>>>(d, n);",
        [5, 1, 1],
        [32, 1, 1],
        0,
        5,
    ),
    "enum": ("enum { A, B = 7, C };", "k<<<C, 32>>>(d, A);", [8, 1, 1], [32, 1, 1], 0, 0),
    "conditional compilation": (
        "#ifdef BIG\n#define N 64\n#elif defined(SMALL) || 2 > 1\n#define N 8\n#else\n#endif",
        "k<<<N, 32>>>(d, N);",
        [8, 1, 1],
        [32, 1, 1],
        0,
        8,
    ),
    "float arithmetic": ("", "k<<<(int)ceil(1000 / 256.0), 32>>>(d, 1000 / 256);", [4, 1, 1], [32, 1, 1], 0, 3),
    "unsigned wraps": ("", "unsigned u = 0; u -= 1; k<<<1, 32>>>(d, u >> 30);", [1, 1, 1], [32, 1, 1], 0, 3),
    "macro that launches": (
        "#define GO(g, ...) k<<<g, 32>>>(__VA_ARGS__)",
        "GO(3, d, 4);",
        [3, 1, 1],
        [32, 1, 1],
        0,
        4,
    ),
    "checked": (
        "#define CHECK(x) do { int e = (x); if (e) exit(1); } while (0)",
        "CHECK(cudaMalloc(&d, 64)); k<<<1, 32>>>(d, 2); CHECK(cudaGetLastError());",
        [1, 1, 1],
        [32, 1, 1],
        0,
        2,
    ),
    "both branches agree": (
        "",
        "int n; if (rand() > 3) n = 6; else n = 6; k<<<n, 32>>>(d, n);",
        [6, 1, 1],
        [32, 1, 1],
        0,
        6,
    ),
    "lambda": ("", "auto go = [&](int g) { k<<<g, 32>>>(d, g); }; go(5);", [5, 1, 1], [32, 1, 1], 0, 5),
    "cudaLaunchKernel": (
        "",
        "int n = 3; void *a[] = {&d, &n}; cudaLaunchKernel((void *)k, dim3(2), dim3(64), a, 8, 0);",
        [2, 1, 1],
        [64, 1, 1],
        8,
        3,
    ),
    "cudaLaunchKernelEx": (
        "",
        "cudaLaunchConfig_t c = {0}; c.gridDim = 6; c.blockDim = dim3(8, 8);"
        "c.dynamicSmemBytes = 32; cudaLaunchKernelEx(&c, k, d, 5);",
        [6, 1, 1],
        [8, 8, 1],
        32,
        5,
    ),
    "device": (
        "",
        "cudaDeviceProp p; cudaGetDeviceProperties(&p, 0);k<<<2 * p.multiProcessorCount, p.warpSize>>>(d, 1);",
        [264, 1, 1],
        [32, 1, 1],
        0,
        1,
    ),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_a_launch(name: str) -> None:
    before, body, grid, block, smem, n = NUMBERS[name]
    launch = only(body, before, multiProcessorCount=132)
    assert (launch.grid.value, launch.block.value, launch.smem.value) == (grid, block, smem)
    assert launch.arguments[1].value == n
    assert launch.is_reached
    assert not launch.varies


# Before main, statements -> parts of the grid, what remains of n.
UNKNOWN = {
    "argument": (
        "",
        "int n = atoi(argv[1]); k<<<(n + 255) / 256, 256>>>(d, n);",
        "(atoi(argv[1]) + 255) / 256",
        "atoi(argv[1])",
    ),
    "branches differ": ("", "int n = 1; if (rand() % 2) n = 4; k<<<8, 32>>>(d, n);", "8", "rand() % 2 ? 4 : 1"),
    "changed in a loop": ("", "int n = 4; for (int i = 0; i < rand(); i++) n += i; k<<<8, 32>>>(d, n);", "8", "n"),
    "written by a function that is not at hand": ("", "int n = 4; fill_in(&n); k<<<n, 32>>>(d, n);", "n", "n"),
    "board": (
        "",
        "cudaDeviceProp p; cudaGetDeviceProperties(&p, 0);int n = p.multiProcessorCount; k<<<n, 32>>>(d, n);",
        "p.multiProcessorCount",
        "p.multiProcessorCount",
    ),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_remains(name: str) -> None:
    before, body, grid, n = UNKNOWN[name]
    launch = only(body, before)
    assert launch.grid.parts[0] == grid
    assert (launch.grid.value is None) == (not grid.isdigit())
    assert (launch.arguments[1].value, launch.arguments[1].remains) == (None, n)
    assert "n (int)" in launch.needed


def test_arguments_of_the_program() -> None:
    body = 'int n = argc > 1 ? atoi(argv[1]) : 512; if (checkCmdLineFlag(argc, (const char **)argv, "w")) n *= 2;'
    assert only(f"{body} k<<<1, n>>>(d, n);", "", "64").block.value == [64, 1, 1]
    assert only(f"{body} k<<<1, n>>>(d, n);", "", "64", "-w").block.value == [128, 1, 1]


def test_a_launch_in_a_loop_says_that_it_varies() -> None:
    launch = only("for (int i = 1; i < 4; i++) k<<<i, 32>>>(d, 8 * i);")
    assert (launch.grid.value, launch.arguments[1].value, launch.varies) == ([1, 1, 1], 8, True)


def test_a_branch_that_is_not_taken() -> None:
    first, second = launches(
        f"{KERNEL}int main() {{ float *d; int q = 0;\nif (q) k<<<1, 2>>>(d, 3);\nk<<<4, 5>>>(d, 6); }}"
    )
    assert (first.is_reached, first.line, first.grid.value) == (False, 3, [1, 1, 1])
    assert (second.is_reached, second.line, second.grid.value) == (True, 4, [4, 1, 1])


def test_a_function_that_main_does_not_call() -> None:
    (launch,) = launches(f"{KERNEL}void run(float *x, int n) {{ k<<<n / 32, 32>>>(x, n); }}")
    assert (launch.grid.parts, launch.function, launch.is_reached) == (["n / 32", "1", "1"], "run", False)


def test_lambdas_that_macros_of_others_take_are_entered() -> None:
    text = TEMPLATE + "Tensor f(Tensor x) {\n  auto y = empty_like(x);\n  int rows = x.size(0);\n"
    text += '  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "f", [&] {\n'
    text += "    t<256, scalar_t><<<rows, 256, 0, stream()>>>(y.data_ptr<scalar_t>(), 1);\n  });\n  return y;\n}"
    (launch,) = launches(text)
    assert (launch.kernel, launch.grid.expression, launch.block.value) == ("t<256, scalar_t>", "rows", [256, 1, 1])


def test_template_arguments_are_numbers_and_types() -> None:
    launch = only("const int BM = 32; float *f; using T = float; t<2 * BM, float><<<1, BM>>>(f, 2);")
    assert launch.kernel == "t<64, float>"
    assert [argument.type for argument in launch.arguments] == ["float*", "float"]
    wrapped = launches(
        f"{TEMPLATE}template <int B> void go(double *x) {{ t<B, double><<<1, B>>>(x, 1.5); }}"
        "int main() { double *d; go<16>(d); go<32>(d); }"
    )
    assert [one.kernel for one in wrapped] == ["t<16, double>", "t<32, double>"]


def test_a_kernel_behind_a_pointer() -> None:
    assert only("auto f = &k; f<<<1, 2>>>(d, 3);").kernel == "k"
    assert only("void (*f)(float *, int) = k; f<<<1, 2>>>(d, 3);").kernel == "k"


def array(body: str, before: str = "") -> tuple[str, int | None, str | None]:
    result = only(f"{body} k<<<1, 32>>>(d, 0);", before).arguments[0].array
    assert result is not None
    return result.dtype, result.elements, result.fill


def test_sizes_of_device_arrays() -> None:
    assert array("int n = 100; cudaMalloc((void **)&d, n * sizeof(float));") == ("f32", 100, None)
    assert array("cudaMalloc(&d, 400); cudaMemset(d, 0, 400);") == ("f32", 100, "zeros")
    assert array("cudaMalloc(&d, 400); cudaMemset(d, 0, 400); cudaMemcpy(d, argv, 4, 1);") == ("f32", 100, None)
    assert array("cudaMallocManaged(&d, 8);") == ("f32", 2, None)
    assert array("size_t p; cudaMallocPitch(&d, &p, 100, 3);") == ("f32", 512 * 3 // 4, None)
    assert array("make(&d, 10);", "void make(float **p, int n) { cudaMalloc((void **)p, n * 4); }") == ("f32", 10, None)
    assert array("cudaMalloc(&d, 400); d += 25;") == ("f32", 75, None)


def test_a_macro_may_be_a_type() -> None:
    (launch,) = launches(
        "#define REAL double\n__global__ void k(REAL *x, const REAL a) {}\n"
        "int main() { REAL *d; cudaMalloc(&d, 10 * sizeof(REAL)); k<<<1, 1>>>(d, 2); }"
    )
    (x, a) = launch.arguments
    assert x.array is not None
    assert (x.type, x.array.dtype, x.array.elements, a.type, a.value) == ("double*", "f64", 10, "double", 2.0)


def test_the_same_memory_twice_is_an_alias() -> None:
    (launch,) = launches(
        "__global__ void two(int *a, int *b) {}\nint main() { int *d; cudaMalloc(&d, 80); two<<<1, 1>>>(d, d + 4); }"
    )
    second = launch.arguments[1].array
    assert second is not None
    assert (second.alias, second.offset_B) == ("a", 16)


def test_a_struct_by_value_has_its_members() -> None:
    (launch,) = launches(
        "struct P { const float *in; int n; float f[2]; };\n__global__ void s(P p) {}\n"
        "int main() { P p; float *d; cudaMalloc(&d, 40); p.in = d; p.n = 10; p.f[1] = 2.5f; s<<<1, 1>>>(p); }"
    )
    names = [argument.name for argument in launch.arguments]
    assert names == ["p.in", "p.n", "p.f[0]", "p.f[1]"]
    assert launch.arguments[0].array is not None
    assert (launch.arguments[0].array.elements, launch.arguments[1].value, launch.arguments[3].value) == (10, 10, 2.5)
    assert launch.needed == ["p.f[0] (float)"]


def test_headers_are_read(tmp_path: Path) -> None:
    (tmp_path / "sizes.h").write_text("#define N 96\ninline int half(int n) { return n / 2; }\n")
    text = f'#include "sizes.h"\n{KERNEL}int main() {{ float *d; k<<<half(N), 32>>>(d, N); }}'
    (launch,) = host_launches(text, "a.cu", Assumed(include=(tmp_path,))).launches
    assert launch.grid.value == [48, 1, 1]


def test_kernels_without_a_launch_and_symbols() -> None:
    result = host_launches(
        f"__constant__ float c[4];{KERNEL}{TEMPLATE}"
        "int main() { float h[4]; cudaMemcpyToSymbol(c, h, sizeof(h)); float *d; k<<<1, 1>>>(d, 1); }",
        "a.cu",
        Assumed(),
    )
    assert (result.not_launched, result.symbols) == (["t"], ["c (16 bytes)"])


@pytest.mark.parametrize(
    "text",
    [
        "int main() { for (;;) ; }",
        "int f(int n) { return f(n - 1); } int main() { f(3); }",
        "#define A A\nint x = A;",
        "int main() { k<<<",
        "}}}} ((( <<<>>>",
        "#if\n#elif\n#endif\n#endif",
        "int main() { int a[1 << 30]; a[-1] = 1 << 99; }",
        "template <class T> void f() { f<T*>(); } int main() { f<int>(); }",
        "int main() { while (1) { main(); } }",
        "#define B(x) B(x) + 1\nint main() { return B(2); }",
        "int main() { int x = 1 / 0 + 5 % 0; }",
    ],
)
def test_strange_code_ends(text: str) -> None:
    assert host_launches(text, "a.cu", Assumed()).launches == []


def test_nothing_is_too_deep_and_a_file_has_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    deep = f"int depth = {'(' * 3000}1{')' * 3000};\n"
    assert launches(f"{KERNEL}{deep}int main() {{ k<<<4, 32>>>(0, depth); }}")[0].grid.value == [4, 1, 1]
    loop = "int a = 0; for (int j = 0; j < 400; j++) a += j; k<<<a, 32>>>(0, a);"
    many = "".join(f"void f{i}() {{ {loop} }}\n" for i in range(9))
    assert len(launches(KERNEL + many)) == 9
    monkeypatch.setattr(interpretation, "PATIENCE_S", -1.0)
    assert len(launches(KERNEL + many)) < 9
