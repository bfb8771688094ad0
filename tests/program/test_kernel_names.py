"""Names of kernels in machine code: plain, with their template arguments, as a name expression asks for them."""

import pytest

from warpbound.machine import gpu
from warpbound.program.cuda import Options, compile_cuda
from warpbound.program.kernel_names import normalized, plain_name, title_of
from warpbound.program.source_files import compile_program, programs


@pytest.mark.parametrize(
    "mangled, plain",
    [
        ("saxpy", "saxpy"),
        ("_Z5saxpyifPKfPf", "saxpy"),
        ("_ZN2ns5saxpyEifPf", "ns::saxpy"),
        ("_Z1tIfLi3EEvPT_", "t"),
        ("_ZN42_GLOBAL__N__00000000_4_k_cu_0119faae_306722anEPi", "an"),
        ("_Z", "_Z"),
    ],
)
def test_plain_names(mangled: str, plain: str) -> None:
    assert plain_name(mangled) == plain


@pytest.mark.parametrize(  # as c++filt has them, but for the two closing brackets that it keeps apart
    "mangled, told",
    [
        ("_Z5scaleIfEvPT_", "scale<float>"),
        ("_ZN7physics6detail4polyIdLi3EEEvPKT_PS2_i", "physics::detail::poly<double, 3>"),
        ("_Z1kI6__halfLb1ELin3EEvv", "k<__half, true, -3>"),
        ("_Z1kILj5ELm7EEvv", "k<5, 7>"),
        ("_Z1kIRKiOfEvv", "k<int const&, float&&>"),
        ("_Z1kIPKfS1_Evv", "k<float const*, float const*>"),
        ("_Z1kIJifdEEvv", "k<int, float, double>"),
        ("_Z1kIN2ns1TENS0_1UEEvv", "k<ns::T, ns::U>"),
        ("_Z1kI4PairIifES1_EvT_", "k<Pair<int, float>, Pair<int, float>>"),
        ("_ZN1aI1bE1cIS0_EEvv", "a<b>::c<b>"),
        ("_Z1kISt4lessIfES1_Evv", "k<std::less<float>, std::less<float>>"),
        ("_Z1kIXadL_Z1fvEEEvv", "k"),  # an expression
        ("_Z1kIA3_iEvv", "k"),  # an array
        ("_Z1kIS9_Evv", "k"),  # refers to nothing
        ("_Z1kI" + "P" * 5000, "k"),
        ("_ZN2ns5saxpyEifPf", "ns::saxpy"),
    ],
)
def test_template_arguments_of_mangled_names(mangled: str, told: str) -> None:
    assert title_of(mangled) == told


@pytest.mark.parametrize(
    "written, mangled",
    [
        ("k<const unsigned int*>", "_Z1kIPKjEvv"),
        ("k<const unsigned*>", "_Z1kIPKjEvv"),
        ("k<unsigned const *>", "_Z1kIPKjEvv"),
        ("k<const long long>", "_Z1kIKxEvv"),
        ("k<const ns::Pair<int, float>&, 3L>", "_Z1kIRKN2ns4PairIifEELl3EEvv"),
    ],
)
def test_a_name_expression_is_that_of_the_mangling(written: str, mangled: str) -> None:
    assert normalized(written) == normalized(title_of(mangled))
    assert normalized(written) != normalized(title_of(mangled.replace("K", "")))  # without the const


@pytest.mark.cuda
@pytest.mark.parametrize("name", ["apply<const float, 5u>", "ns::apply<float const,5>", "_ZN2ns5applyIKfLj5EEEvPT_"])
def test_a_cubin_is_asked_by_name_expression(name: str) -> None:
    text = "namespace ns { template <class T, unsigned N> __global__ void apply(T* x) { if (x[0] > N) __trap(); } }\n"
    text += "template __global__ void ns::apply<const float, 5>(const float*);\n"
    text += "template __global__ void ns::apply<const float, 6>(const float*);\n"
    cubin = compile_cuda(text, "k.cu", 90, Options()).cubin
    (found,) = programs(cubin, gpu("h200"), name, Options())
    assert found.title == "ns::apply<float const, 5>"
    assert len(programs(cubin, gpu("h200"), "apply", Options())) == 2


@pytest.mark.cuda
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_parameters_have_the_names_of_the_definition(order: tuple[int, int]) -> None:
    texts = ("__global__ void k(const float* a, int, float);",
             "__global__ void k(const float *__restrict__ x, int count, float scale)\n"
             "{ ((float*)x)[0] = scale * count; }")  # fmt: skip
    program = compile_program("\n".join(texts[i] for i in order), "h200")
    assert [parameter.name for parameter in program.parameters] == ["x", "count", "scale"]


@pytest.mark.cuda
def test_an_overload_keeps_its_own_names() -> None:
    text = "__global__ void k(int n);\n__global__ void k(float *x, int n) { *x = n; }\n__global__ void k(int m) {}"
    names = {tuple(one.name for one in program.parameters) for program in programs(text, gpu("h200"), None, Options())}
    assert names == {("x", "n"), ("m",)}
