"""Rewrites on the syntax tree: what they write, and what they leave alone."""

from pathlib import Path

import pytest

from warpbound.advice.array_rewrites import hoisted, padded, restricted, summed_in_register, unrolled
from warpbound.advice.syntax import KernelSource, kernel_source
from warpbound.advice.thread_rewrites import launch_bounds, swapped_axes
from warpbound.advice.variant import Question, difference
from warpbound.kernel_launch import launch
from warpbound.program.compile_options import Options

pytestmark = pytest.mark.cuda
SOURCE = Path(__file__).with_name("teaching_pairs.cu")
LAUNCH = launch(grid=4, block=(32, 8))


def subject(text: str, kernel: str = "k") -> tuple[Question, KernelSource]:
    found = kernel_source(text, kernel)
    assert found is not None
    return Question(Path("k.cu"), text, kernel, Options(), LAUNCH), found


def of_file(kernel: str) -> tuple[Question, KernelSource]:
    return subject(SOURCE.read_text(), kernel)


def test_a_row_is_padded_by_one() -> None:
    (variant,) = padded(*of_file("conflicts"))
    assert "tile[32][33]" in variant.question.text
    assert variant.line == 12


@pytest.mark.parametrize(("size", "becomes"), [("N", "[N + 1]"), ("N << 1", "[(N << 1) + 1]")])
def test_a_size_that_is_no_number_is_padded(size: str, becomes: str) -> None:
    text = f"__global__ void k() {{ __shared__ float t[8][{size}], line[8]; t[0][0] = line[0]; }}"
    (variant,) = padded(*subject(text))
    assert f"t[8]{becomes}" in variant.question.text


def test_arrays_of_the_grid_are_not_padded() -> None:
    text = "__global__ void k() { extern __shared__ float t[]; float u[4][4]; u[0][0] = t[0]; }"
    assert list(padded(*subject(text))) == []


def test_read_only_pointers_become_const_and_all_restrict() -> None:
    (variant,) = restricted(*of_file("in_memory"))
    head = "void in_memory(float* __restrict__ c, const float* __restrict__ a, const float* __restrict__ b, int n)"
    assert head in variant.question.text


@pytest.mark.parametrize("use", ["p[0] = 1;", "p[0]++;", "f(p);", "float* q = p; q[0] = 1;", "g(&p[0]);", "*p = 1;"])
def test_a_pointer_that_may_be_written_through_is_not_const(use: str) -> None:
    (variant,) = restricted(*subject(f"__global__ void k(float* p) {{ {use} }}"))
    assert "const" not in variant.question.text


def test_aliased_arguments_are_not_restrict() -> None:
    question, kernel = of_file("in_memory")
    shared = launch(grid=1, block=32, args=[*launch(grid=1, block=1, args={"a": "f32[8]"}).args])
    assert list(restricted(question, kernel)) != []
    aliased = Question(question.path, question.text, None, question.options, shared)
    object.__setattr__(aliased.launch.args[0], "kind", "alias")
    assert list(restricted(aliased, kernel)) == []


def test_a_sum_in_memory_moves_to_a_register() -> None:
    (variant,) = summed_in_register(*of_file("in_memory"))
    text = variant.question.text
    assert "auto running_0 = c[i];\n    for" in text
    assert "running_0 += a[i] * b[k];" in text
    assert "}\n    c[i] = running_0;" in text


@pytest.mark.parametrize(
    "body", ["c[k] += a[k];", "c[i] += c[i + 1];", "c[i] = a[k];", "i += 1; c[i] += a[k];"]
)
def test_what_is_no_sum_in_one_place_stays(body: str) -> None:
    text = f"__global__ void k(float* c, float* a, int i) {{ for (int k = 0; k < 8; ++k) {{ {body} }} }}"
    assert list(summed_in_register(*subject(text))) == []


def test_an_invariant_load_leaves_the_loop() -> None:
    loop = "for (int k = 0; k < 8; ++k) c[k] = a[i] + a[k] + a[i];"
    text = f"__global__ void k(float* c, float* a, int i) {{\n  {loop}\n}}\n"
    (variant,) = hoisted(*subject(text))
    assert "const auto hoisted_0 = a[i];\n  for" in variant.question.text
    assert "c[k] = hoisted_0 + a[k] + hoisted_0;" in variant.question.text


def test_a_load_of_an_array_that_the_loop_writes_stays() -> None:
    text = "__global__ void k(float* a, int i) { for (int k = 0; k < 8; ++k) a[k] = a[i]; }"
    assert list(hoisted(*subject(text))) == []


def test_a_pragma_replaces_the_one_that_is_there() -> None:
    text = "__global__ void k(int* c, int n) {\n  #pragma unroll 4\n  for (int i = 0; i < n; ++i)\n    c[i] = i;\n}\n"
    texts = [variant.question.text for variant in unrolled(*subject(text), (4, 8))]
    assert texts == [text.replace("unroll 4", "unroll 8")]


def test_a_pragma_gets_a_line_of_its_own() -> None:
    text = "__global__ void k(int* c, int n) { if (n) { c[0] = 1; for (int i = 0; i < n; ++i) c[i] = i; } }"
    (variant,) = unrolled(*subject(text), (2,))
    assert "c[0] = 1; \n#pragma unroll 2\nfor (int i" in variant.question.text


def test_only_innermost_loops_are_unrolled() -> None:
    text = "__global__ void k(int* c, int n) {\n  for (;;) {\n    for (int i = 0; i < n; ++i) c[i] = i;\n  }\n}\n"
    (variant,) = unrolled(*subject(text), (2,))
    assert "{\n    #pragma unroll 2\n    for (int i" in variant.question.text


def test_axes_change_places_in_code_and_block() -> None:
    (variant,) = swapped_axes(*of_file("columns"))
    assert "int x = blockIdx.x * blockDim.y + threadIdx.y;" in variant.question.text
    assert variant.question.launch.block == (8, 32, 1)
    assert variant.apply == "--block 8,32,1"


def test_launch_bounds_are_added_or_replaced() -> None:
    text = "__global__ void k(int* c) { c[0] = 1; }"
    added = [variant.question.text for variant in launch_bounds(*subject(text), (None, 4))]
    assert added == [text.replace("void k", f"void __launch_bounds__({words}) k") for words in ("256", "256, 4")]
    again = [variant.question.text for variant in launch_bounds(*subject(added[0]), (None, 4))]
    assert again == [added[1]]


def test_a_kernel_of_another_file_has_no_source_here() -> None:
    assert kernel_source("void k() {}\n__global__ void other();", "k") is None


def test_a_template_and_a_namespace_are_found() -> None:
    text = "namespace a { template <class T> __global__ void k(T* p) { p[0] = 1; } }"
    assert kernel_source(text, "a::k<float>") is not None


def test_a_difference_applies_as_a_patch() -> None:
    question, kernel = of_file("conflicts")
    (variant,) = padded(question, kernel)
    diff = difference(question, variant.question)
    assert diff.startswith("--- k.cu\n+++ k.cu\n@@")
    assert "-    __shared__ float tile[32][32];\n+    __shared__ float tile[32][33];\n" in diff
