"""Rounds of loops in a steady state are not executed, and a trace does not show it."""

from dataclasses import fields

import numpy as np
import pytest

from support.emulator.listed_accesses import listed
from support.paths import EXAMPLES
from warpbound import emulate
from warpbound.emulate import steady_iterations, trace_recorder
from warpbound.emulate.steady_iterations import SteadyIterations
from warpbound.emulate.value_slicing import slice_of
from warpbound.kernel_launch import launch
from warpbound.program.source_files import compile_program

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("disassembled_together")]

HEAD = """extern "C" __global__ void k(const float* x, float* y, int n, int s) {
    int t = threadIdx.x, me = blockIdx.x * blockDim.x + t; float v = 0; __shared__ float kept[256];
"""
BODIES = {  # name -> body, whether rounds are left out
    "forward": ("for (int i = t; i < n; i += s) v += x[i] * x[i + 1];", True),
    "backward": ("for (int i = n - 1 - t; i >= 0; i -= s) v += x[i];", True),
    "rows apart": ("for (int i = 0; i < n / 16; i++) v += x[i * (1 + t % 32)];", True),
    "lanes that left": ("if (t % 3 == 0) return; for (int i = t; i < n; i += s) v += x[i];", True),
    "stores": ("for (int i = t; i < n; i += s) y[i] = x[i] + 1;", True),
    "nested": ("for (int k = 0; k < 5; k++) for (int i = 0; i < n / (8 << k); i++) v += x[i + k * t];", True),
    "a guard that changes": (
        "#pragma unroll 1\nfor (int i = 0; i < n / 8; i++) { if (i < 400) v += x[2 * i + t % 2]; v += x[i]; }", True,
    ),
    "a counter that wraps": ("#pragma unroll 1\nfor (unsigned a = -256; a != 256; a += 2) v += x[t];", True),
    "a number that turns negative": (
        "int a = 0x7ffffe00;\n#pragma unroll 1\nfor (int i = 0; i < 500 && a > 0; i++) { a += 3; v += x[i]; }", True,
    ),
    "shared memory that stays": (
        "kept[t] = t; __syncthreads();\n#pragma unroll 1\nfor (int i = 0; i < 200; i++) v += kept[t] * x[i];", True,
    ),
    "shared memory that moves": (
        "kept[t] = t; __syncthreads();\n#pragma unroll 1\nfor (int i = 0; i < 200; i++) v += kept[i] * x[i];", True,
    ),
    "shared memory that is filled in a loop": (
        "#pragma unroll 1\nfor (int i = 0; i < 40; i++) kept[i * 4 + t % 4] = x[i];\n__syncthreads();\n"
        "#pragma unroll 1\nfor (int i = 0; i < 50; i++) v += kept[i * 4 + t % 4];", True,
    ),
    "generic addresses": (
        "kept[t] = t; __syncthreads(); const float* from = n > 9 ? kept : x; const float* to = n > 9 ? kept + t : x;\n"
        "#pragma unroll 1\nfor (int i = 0; i < 150; i++) v += from[i] * to[0];", True,
    ),
    "steps that grow": ("int a = 0;\n#pragma unroll 1\nfor (int i = 0; i < 90; i++) { a += i; v += x[a]; }", False),
    "a period": (
        "unsigned a = 0xfffffe00u;\n#pragma unroll 1\nfor (int i = 0; i < 99; i++) { a += 8; v += x[(a >> 3) & 63]; }",
        False,
    ),
    "barriers": (
        "#pragma unroll 1\nfor (int i = 0; i < 40; i++) {"
        " kept[t] = x[i]; __syncthreads(); v += kept[255 - t]; __syncthreads(); }", True,
    ),
    "the rank of the block in its cluster": (
        "#pragma unroll 1\nfor (int i = 0; i < 40; i++) { __syncthreads(); if (s > 9) { unsigned rank;"
        ' asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank)); v += x[i * 8 + rank]; } }', True,
    ),
    "tiles": (
        "for (int i = 0; i + 256 <= n; i += 256) { kept[t] = x[i + t]; __syncthreads();\n#pragma unroll 1\n"
        "for (int j = 0; j < 32; j++) v += kept[j + t % 8] * x[j]; __syncthreads(); }", True,
    ),
    "a loop that grows": (
        "#pragma unroll 1\nfor (int i = 0; i < 30; i++)\n#pragma unroll 1\nfor (int j = 0; j < i; j++) v += x[j * 7];",
        True,
    ),
    "a product of two counters": (
        "#pragma unroll 1\nfor (int i = 0; i < 40; i++)\n#pragma unroll 1\nfor (int j = 0; j < 3; j++) v += x[i * j];",
        True,
    ),
    "a branch that turns": (
        "#pragma unroll 1\nfor (int i = 0; i < 60; i++) { if (i > 20) {\n#pragma unroll 1\n"
        "for (int j = 0; j < 3; j++) y[i * 8 + j] = v; } v += x[i]; }", True,
    ),
    "warps that go apart": (
        "#pragma unroll 1\nfor (int i = 0; i < 40; i++) {\n#pragma unroll 1\n"
        "for (int j = 0; j < t / 32; j++) v += x[i + j]; __syncthreads(); }", False,
    ),
    "lanes that leave an outer loop one by one": (
        "#pragma unroll 1\nfor (int j = t; j < 40; j++) {\n#pragma unroll 1\n"
        "for (int i = 0; i < 50; i++) y[t * 64 + j] += x[i * 256 + t]; }", True,
    ),
    "warps that meet": (
        "#pragma unroll 1\nfor (int i = 0; i < 60; i++) {"
        " if (t / 32 < s) { kept[t] = x[i]; __syncwarp(); v += kept[t ^ 1]; } __syncthreads(); }", True,
    ),
    "a counter that is shifted": (
        "#pragma unroll 1\nfor (int i = 0; i < 60; i++) {"
        ' int a; asm volatile("shl.b32 %0, %1, 4;" : "=r"(a) : "r"(i)); v += x[a + t]; if (a > 300) y[a] = v; }', True,
    ),
    "bits of a counter": (
        "#pragma unroll 1\nfor (int i = 0; i < 64; i++) { v += x[i >> 3]; __syncthreads(); }", False,
    ),
}  # fmt: skip


MOVING = (
    "shared memory that moves", "shared memory that is filled in a loop", "generic addresses", "tiles",
    "warps that meet",
)  # fmt: skip


@pytest.fixture
def left_out(monkeypatch):
    """The numbers of rounds that are left out, one each time."""
    counts = []
    before = SteadyIterations._leave_out
    monkeypatch.setattr(SteadyIterations, "_leave_out", lambda *these: (counts.append(these[3]), before(*these))[1])
    return counts


@pytest.mark.parametrize("most", [2_000_000, 3000])
@pytest.mark.parametrize("name", BODIES)
def test_traces_are_those_of_all_rounds(name, most, left_out, monkeypatch):
    body, steady = BODIES[name]
    monkeypatch.setattr(trace_recorder, "MOST_ACCESSES", most)
    program = compile_program(f"{HEAD}{body}\ny[me] = v; }}", "sm_90")
    words = {"x": "f32[65536]:rand", "y": "f32[65536]", "n": 8000, "s": 64}
    same_with_all_rounds(program, launch(grid=3, block=256, args=words), monkeypatch, moving=name in MOVING)
    assert bool(left_out) == steady


def test_a_long_loop_is_left_out_while_lanes_that_left_wait(left_out, monkeypatch):
    """All rounds let those lanes run after 64 of them: what a warp then issues again is the only difference."""
    body = (
        "#pragma unroll 1\nfor (int j = t; j < 12; j++) {\n#pragma unroll 1\n"
        "for (int i = 0; i < 500; i++) { v += x[i * 64 + t]; y[i * 100 + t * 5] = i; } y[j] = v; }"
    )
    program = compile_program(f"{HEAD}{body}\ny[me] = v; }}", "sm_90")
    asked = launch(grid=3, block=256, args={"x": "f32[65536]:rand", "y": "f32[65536]", "n": 8000, "s": 64})
    few = emulate.trace(program, asked, [0, 2])
    assert len(left_out) >= 10
    assert min(left_out) > 450
    monkeypatch.setattr(steady_iterations, "SETTLED", 1 << 40)
    whole = emulate.trace(program, asked, [0, 2])
    assert (few.threads == whole.threads).all()
    assert (few.executed <= whole.executed).all()
    assert whole.executed.sum() < 1.001 * few.executed.sum()


def test_lanes_of_a_warp_may_read_two_memories(left_out, monkeypatch):
    body = (
        "kept[t] = t; __syncthreads(); const float* from = t < 99 ? kept : x;\n"
        "#pragma unroll 1\nfor (int i = 0; i < 150; i++) v += from[i]; y[me] = v; }"
    )
    args = {"x": "f32[65536]:rand", "y": "f32[65536]", "n": 8000, "s": 64}
    program = compile_program(f"{HEAD}{body}", "sm_90")
    same_with_all_rounds(program, launch(grid=3, block=256, args=args), monkeypatch, moving=True)
    assert left_out


@pytest.mark.parametrize("name", ["matmul_naive", "softmax", "convolution"])
def test_traces_of_examples_are_those_of_all_rounds(name, monkeypatch):
    program = compile_program(EXAMPLES / f"{name}.cu", "sm_90")
    same_with_all_rounds(program, launch(EXAMPLES / f"{name}.toml"), monkeypatch)


def same_with_all_rounds(program, asked, monkeypatch, *, moving=False):
    """moving : accesses to shared memory that move are other rows, and take other room where there is little."""
    few = emulate.trace(program, asked, [0, 2])
    monkeypatch.setattr(steady_iterations, "SETTLED", 1 << 40)
    whole = emulate.trace(program, asked, [0, 2])
    for field in fields(whole):
        if field.name not in ("accesses", "streams", *(("notes", "dropped") if moving else ())):
            assert np.array_equal(getattr(few, field.name), getattr(whole, field.name)), field.name
    assert all(np.array_equal(few.streams[row], stream) for row, stream in whole.streams.items())
    if moving:
        assert recorded(few) == recorded(whole)
    for space, accesses in whole.accesses.items():
        if moving:
            assert whole.dropped or listed(few.accesses[space]) == listed(accesses)
            continue
        for part in ("instruction", "warp", "addresses", "active", "times"):
            assert np.array_equal(getattr(few.accesses[space], part), getattr(accesses, part)), (space, part)


def recorded(trace):
    """Accesses that are recorded, and those for which there was no room."""
    rows = trace.accesses.values()
    return sum(each.repeated(np.ones(len(each.warp))).sum() for each in rows) + trace.dropped


def test_a_long_loop_of_few_warps_takes_few_steps(left_out, monkeypatch):
    monkeypatch.setattr(trace_recorder, "MOST_ACCESSES", 3000)
    program = compile_program(f"{HEAD}{BODIES['forward'][0]}\ny[me] = v; }}", "sm_90")
    words = {"x": "f32[400000000]:zeros", "y": "f32[64]", "n": 399_999_000, "s": 2560}
    trace = emulate.trace(program, launch(grid=1, block=32, args=words), [0])
    assert not trace.stopped
    assert trace.executed.sum() > 400_000
    assert sum(left_out) > 5000
    assert trace.dropped > 100_000


def test_a_sum_that_starts_under_the_guard_of_its_branch_needs_no_values():
    """A kernel for sm_80 zeroes its sum under the predicate under which it then jumps over the loop."""
    program = compile_program(f"{HEAD}{BODIES['forward'][0]}\ny[me] = v; }}", "sm_80")
    loads = [at for at, one in enumerate(program.instructions) if one.opcode == "LDG"]
    assert set(loads) <= slice_of(program).unneeded
