"""malloc and free in kernels: memory of each lane's own, reused when it is free, NULL where there is no room."""

import numpy as np
import pytest

import warpbound
from warpbound.emulate.device_heap import FREE_OF_COST, DeviceHeap, uses_heap
from warpbound.kernel_launch import launch
from warpbound.program.source_files import compile_program

SOURCE = """
extern "C" __global__ void k(int *out, int n)
{ int i = threadIdx.x + blockIdx.x * blockDim.x, s = 0; int *p = (int *)malloc(4 * (n + i % 3));
  for (int j = 0; j < n; j++) p[j] = i * j;
  for (int j = 0; j < n; j++) s += p[j];
  out[i] = s; if (i % 2) free(p);
  if (i == 0) out[64] = malloc(1 << 26) == nullptr; }
"""
PRINTS = 'extern "C" __global__ void k(int *out, int n) { if (n < 0) printf("%d", n); out[0] = 1; }'


@pytest.mark.cuda
@pytest.mark.parametrize("arch", [75, 90, 120])
def test_every_lane_has_memory_of_its_own(arch):
    program = compile_program(SOURCE, f"sm_{arch}", "k")
    out = warpbound.run(program, launch(grid=2, block=32, args={"out": "i32[65]", "n": 5}))["out"]
    assert (out == [*np.arange(64) * 10, 1]).all()
    assert uses_heap(program)
    assert not uses_heap(compile_program(PRINTS, f"sm_{arch}"))


@pytest.mark.cuda
def test_a_kernel_with_malloc_has_a_time_that_says_what_it_lacks():
    program = compile_program(SOURCE, "sm_90", "k")
    result = warpbound.analyze(program, "h200", launch(grid=264, block=64, args={"out": "i32[16896]", "n": 5}))
    assert result["time_s"] > 0
    assert FREE_OF_COST in result["confidence"]["assumed"]


def test_freed_memory_is_handed_out_again():
    heap = DeviceHeap(4096, 96)
    first, second = heap.allocate(20), heap.allocate(33)
    assert (first, second) == (4096, 4128)
    before = heap.copy()
    assert (heap.allocate(17), heap.allocate(16), heap.allocate(0)) == (0, 4176, 0)
    heap.release(first)
    heap.release(first)  # no memory any more
    heap.release(7)
    assert [heap.allocate(32), heap.allocate(32)] == [first, 0]
    assert before.allocate(16) == 4176
