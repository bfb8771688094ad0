"""Registers, shared memory, barriers, stack, spills and launch bounds against what ptxas -v prints."""

import re
from pathlib import Path

import numpy as np
import pytest

from support.compiled_examples import ARCHITECTURES, EXAMPLES, Built, build
from support.paths import ROOT
from warpbound.emulate import run
from warpbound.kernel_launch import launch
from warpbound.machine import gpu
from warpbound.program import nvrtc
from warpbound.program.cuda import Options, compile_cuda
from warpbound.program.host_code import split_host_code
from warpbound.program.instruction_encoding import parameter_base
from warpbound.program.kernel import Program
from warpbound.program.nvdisasm import disassemble
from warpbound.program.source_files import programs

pytestmark = pytest.mark.cuda

MANY = """
__constant__ float weights[8];
__device__ int counter;
__device__ float table[3] = {1, 2, 3};
__global__ void nothing(float* x) { x[0] = 1; }
__global__ void shared(float* x) {
  __shared__ float s[100];
  s[threadIdx.x % 100] = x[0];
  __syncthreads();
  x[1] = s[3] + weights[2] + table[threadIdx.x % 3];
}
__global__ void dynamic(float* x) {
  extern __shared__ float s[];
  s[threadIdx.x] = x[0];
  __syncthreads();
  x[1] = s[3];
}
__global__ void both(float* x) {
  extern __shared__ float s[];
  __shared__ double t[33];
  s[threadIdx.x] = x[0];
  t[threadIdx.x % 33] = x[2];
  __syncthreads();
  x[1] = s[3] + t[5];
}
__global__ void named_barriers(float* x) {
  asm volatile("bar.sync 3, 64;");
  x[0] = 1;
  asm volatile("bar.sync 9, 64;");
}
__global__ void __launch_bounds__(256) bounded(float* x) { x[threadIdx.x] += atomicAdd(&counter, 1); }
__global__ void __launch_bounds__(1024) squeezed(const float* x, float* y) {
  float a[99];
#pragma unroll
  for (int i = 0; i < 99; i++) a[i] = x[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 99; i++) y[i * 1024 + threadIdx.x] = a[i] * a[98 - i] + a[(i * 7) % 99];
}
__device__ __noinline__ float slow(float x, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s += sinf(x + i);
  return s;
}
__global__ void calls(float* x, int n) { x[threadIdx.x] = slow(x[0], n); }
__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__global__ void recursive(int* x) { x[0] = fib(x[1]); }
__global__ void local(float* x, int i) {
  float a[32];
  for (int k = 0; k < 32; k++) a[(k * i) % 32] = x[k];
  x[i] = a[i % 32];
}
struct Box { char c; double d; int a[5]; };
__global__ void parameters(char a, double b, short c, Box d, const float* __restrict__ e) {
  *(double*)e = b + a + c + d.d;
}
struct Large { int v[5000]; };
__global__ void large(const Large a, int* b) { *b = a.v[4999]; }
"""

_USED = re.compile(r"Used (\d+) registers")
_BARRIERS = re.compile(r"used (\d+) barriers")
_SHARED = re.compile(r"(\d+) bytes smem")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")


def said_by_ptxas(log: str) -> dict[str, dict[str, int]]:
    """Kernel -> registers, barriers, shared, stack, stores, loads."""
    found: dict[str, dict[str, int]] = {}
    for part in log.split("Compiling entry function '")[1:]:
        name = part.partition("'")[0]
        own = part.partition(f"Function properties for {name}")[2] or part
        stack, used = _STACK.search(own), _USED.search(part)
        barriers, shared = _BARRIERS.search(part), _SHARED.search(part)
        assert stack, part
        assert used, part
        found[name] = {
            "registers": int(used[1]), "barriers": int(barriers[1]) if barriers else 0,
            "shared": int(shared[1]) if shared else 0, "stack": int(stack[1]),
            "stores": int(stack[2]), "loads": int(stack[3]),
        }  # fmt: skip
    return found


def log_of(text: str, name: str, arch: int, options: Options) -> str:
    with nvrtc.header_folders() as bundled:
        places = (*options.include, *bundled)
        source = split_host_code(text, {}, lambda header: any((place / header).is_file() for place in places))
        flags = [f"-arch=sm_{arch}", "-lineinfo", "--ptxas-options=-v", *(f"-I{place}" for place in places)]
        flags += [f"-D{key}={value}" for key, value in options.defines] + list(options.extra)
        instances = [*source.instances, *([options.instance] if options.instance else [])]
        made = nvrtc.build(nvrtc.Unit(source.device, name), flags, instances)
    assert made.cubin, made.log
    return made.log


def assert_as_said(program: Program, said: dict[str, int]) -> None:
    ours = {
        "registers": program.registers, "barriers": program.barriers, "shared": program.shared_bytes,
        "stack": program.local_bytes, "stores": program.spills[0], "loads": program.spills[1],
    }  # fmt: skip
    assert ours == said, program.title


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(path: Path, arch: int) -> None:
    made: Built = build(path, arch)
    said = said_by_ptxas(log_of(path.read_text(), str(path.relative_to(ROOT)), arch, made.options))
    for program in made.programs:
        assert_as_said(program, said[program.name])


@pytest.fixture(params=ARCHITECTURES, scope="module")
def many(request: pytest.FixtureRequest) -> dict[str, Program]:
    return {one.title: one for one in programs(MANY, gpu(f"sm_{request.param}"), None, Options())}


def test_a_file_of_many_kernels(many: dict[str, Program]) -> None:
    arch = next(iter(many.values())).arch
    said = said_by_ptxas(log_of(MANY, "many.cu", arch, Options()))
    assert {one.name for one in many.values()} == said.keys()
    for program in many.values():
        assert_as_said(program, said[program.name])


def test_the_drivers_reserve_is_no_shared_memory_of_the_kernel(many: dict[str, Program]) -> None:
    sizes = {name: one.shared_bytes for name, one in many.items()}
    assert (sizes["nothing"], sizes["shared"], sizes["dynamic"], sizes["both"]) == (0, 400, 0, 272)


def test_launch_bounds(many: dict[str, Program]) -> None:
    assert {name: one.max_threads for name, one in many.items() if one.max_threads} == {
        "bounded": 256, "squeezed": 1024,
    }  # fmt: skip
    assert many["squeezed"].registers <= 64


def test_spills_are_seen_in_the_code_too(many: dict[str, Program]) -> None:
    squeezed = many["squeezed"]
    stores = [one for one in squeezed.instructions if one.opcode == "STL"]
    loads = [one for one in squeezed.instructions if one.opcode == "LDL"]
    width = {"64": 8, "128": 16}

    def size(one: object) -> int:
        return max((width.get(word, 4) for word in one.modifiers), default=4)  # type: ignore[attr-defined]

    assert sum(map(size, stores)) == squeezed.spills[0] > 0
    assert sum(map(size, loads)) == squeezed.spills[1] > 0
    assert many["local"].local_bytes >= 128
    assert many["local"].spills == (0, 0)


def test_named_barriers_count_to_the_highest(many: dict[str, Program]) -> None:
    assert many["named_barriers"].barriers == 10


def test_parameters(many: dict[str, Program]) -> None:
    box = many["parameters"]
    assert [(one.name, one.offset, one.size) for one in box.parameters] == [
        ("a", 0, 1), ("b", 8, 8), ("c", 16, 2), ("d", 24, 40), ("e", 64, 8),
    ]  # fmt: skip
    assert box.parameters[4].type == "const float* __restrict__"
    large = many["large"]  # more than 4 KB: listed in another way
    assert [(one.name, one.offset, one.size) for one in large.parameters] == [("a", 0, 20000), ("b", 20000, 8)]
    assert box.parameter_base == (0x160 if box.arch < 90 else 0x210 if box.arch < 100 else 0x380)
    assert box.parameter_base == parameter_base(box.arch)


@pytest.mark.parametrize("board", ["t4", "a40", "h200", "rtx-5090"])
def test_a_listing_is_executed_like_its_code(board: str) -> None:
    text = "__global__ void k(int n, const double* x, double* y) { int i = threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"
    machine = gpu(board)
    made = compile_cuda(text, "k.cu", machine.arch, Options())
    (listed,) = programs(disassemble(made.cubin, "k"), machine, None, Options())
    assert listed.parameters == ()
    values = {0: np.int32(20), 1: np.arange(32.0), 2: np.ones(32)}
    found = run(listed, launch(grid=1, block=32, args=values))
    assert found["2"].tolist() == [2.0 * i if i < 20 else 1.0 for i in range(32)]


def test_constants_and_globals_are_there(many: dict[str, Program]) -> None:
    symbols = {one.name: one for one in many["shared"].symbols}
    assert symbols["weights"].size == 32
    assert symbols["weights"].section == ".nv.constant3"
    table = symbols["table"]
    raw = many["shared"].data[table.section][table.offset : table.offset + table.size]
    assert raw == b"\0\0\x80?\0\0\0@\0\0@@"
    assert symbols["counter"].size == 4
