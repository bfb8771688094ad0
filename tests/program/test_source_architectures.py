"""Which architecture a source is compiled for."""


import pytest

from support.compiled_examples import kernels
from support.paths import ROOT
from warpbound import InputError
from warpbound.machine import gpu
from warpbound.program.cuda import Options
from warpbound.program.source_files import plain_name, programs

pytestmark = pytest.mark.cuda


# ---------------------------------------------------------------- architectures


def test_features_of_one_architecture_are_used_where_needed_and_said() -> None:
    text = '__global__ void k() { asm volatile("wgmma.fence.sync.aligned;"); }'
    (found,) = kernels(text, arch=90)
    assert (found.arch, found.features) == (90, "a")
    assert any("sm_90a" in note for note in found.assumed)
    (asked,) = kernels(text, arch=90, options=Options(extra=("-arch=sm_90a",)))
    assert (asked.features, asked.assumed) == ("a", ())


def test_an_architecture_among_the_options_must_be_the_gpus() -> None:
    with pytest.raises(InputError, match="the code would be for sm_80, the GPU is sm_90"):
        kernels("__global__ void k() {}", arch=90, options=Options(extra=("-arch=sm_80",)))


@pytest.mark.parametrize("name, arch", [("sm_61", 61), ("sm_70", 70)])
def test_older_machines_are_answered_from_a_proxy(name: str, arch: int) -> None:
    (found,) = programs(ROOT / "examples" / "saxpy.cu", gpu(name), None, Options())
    assert (found.arch, found.proxy_isa) == (75, "sm_75")


def test_machines_without_any_compiler_are_refused() -> None:
    with pytest.raises(InputError, match="No available compiler generates code for compute capability 3.5"):
        kernels("__global__ void k() {}", arch=35)


def test_kernels_come_in_the_order_of_the_source() -> None:
    text = "".join(f"__global__ void {name}(int* x) {{ x[0] = {i}; }}\n" for i, name in enumerate("cadb"))
    text += "template <class T> __global__ void t(T* x) { x[0] = 1; }\nvoid f() { t<float><<<1, 1>>>(0); }\n"
    found = programs(text, gpu("sm_90"), None, Options())
    assert [plain_name(one.title).partition("<")[0] for one in found] == ["c", "a", "d", "b", "t"]
