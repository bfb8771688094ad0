"""Guards of arithmetic that decide nothing: estimated where they cost much, within the bound that the note states."""

import re
from dataclasses import fields

import numpy as np
import pytest

from support.emulator.listed_accesses import listed
from warpbound import emulate
from warpbound.emulate import guard_shares, trace_recorder, traced_blocks
from warpbound.emulate.fast_paths import fast_paths
from warpbound.emulate.slice_assumptions import NOTHING
from warpbound.emulate.value_slicing import Slice, slice_of, slice_without_guards
from warpbound.kernel_launch import launch
from warpbound.program.source_files import compile_program

pytestmark = pytest.mark.cuda

CODE = """
extern "C" __global__ void weighed(const float* x, float* y, int n) {
    float total = 0;
    #pragma unroll 1
    for (int i = 0; i < n; i++) total += __expf(x[i * 32 + threadIdx.x]);
    y[threadIdx.x] = 1 / total;
}
extern "C" __global__ void chosen(const float* x, float* y, int n) {
    float total = 0;
    #pragma unroll 1
    for (int i = 0; i < n; i++) total += __expf(x[i * 32 + threadIdx.x]);
    if (total > 3) y[threadIdx.x] = 1;
}
extern "C" __global__ void inside(const float* x, float* y, int n) {
    float total = 0;
    #pragma unroll 1
    for (int i = 0; i < n; i++) {
        float v = __expf(x[i * 32 + threadIdx.x]);
        if (i + threadIdx.x < 70) v *= v + i;
        total += v;
    }
    y[threadIdx.x] = total;
}
extern "C" __global__ void hits(const float* x, float* y, int n) {
    unsigned s = threadIdx.x * 747796405u + blockIdx.x, inside = 0;
    #pragma unroll 1
    for (int i = 0; i < n; i++) {
        s ^= s << 13; s ^= s >> 17; s ^= s << 5;
        inside += s * 2.3e-10f < 0.2f;
        inside += s % 8 == 3;
    }
    y[threadIdx.x] = inside;
}
"""
ROUNDS = 400
FEW = 400  # instructions after which guards are estimated here


def arguments(kernel: str) -> dict[str, object]:
    """Exponents that are scaled in a tenth of the lanes first, and in most of them later on."""
    far = np.random.default_rng(1).random((ROUNDS, 32)) < np.linspace(0.1, 0.9, ROUNDS)[:, None]
    return {"x": np.where(far, -100, 1).astype(np.float32).ravel(), "y": np.zeros(32, np.float32), "n": ROUNDS}


def traces(kernel: str, monkeypatch: pytest.MonkeyPatch, board: str = "sm_90"):
    """The program, its trace with estimated guards where those cost much, and the trace with all values."""
    program = compile_program(CODE, board, kernel)
    asked = launch(grid=2, block=32, args=arguments(kernel))
    monkeypatch.setattr(trace_recorder, "LONG", FEW)
    quick = emulate.trace(program, asked, [0, 1])
    monkeypatch.setattr(trace_recorder, "LONG", 1 << 40)
    monkeypatch.setattr(traced_blocks, "slice_of", lambda program: Slice(frozenset(), {}))
    return program, quick, emulate.trace(program, asked, [0, 1])


@pytest.mark.parametrize("board", ["sm_80", "sm_120"])
@pytest.mark.parametrize("kernel", ["weighed", "inside"])
def test_only_lanes_of_guarded_arithmetic_differ_and_by_no_more_than_is_said(
    kernel: str, board: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, quick, whole = traces(kernel, monkeypatch, board)
    (note,) = set(quick.notes) - set(whole.notes)
    for field in fields(whole):
        if field.name not in ("accesses", "streams", "notes", "threads"):
            assert np.array_equal(getattr(quick, field.name), getattr(whole, field.name)), field.name
    assert all(listed(quick.accesses[space]) == listed(whole.accesses[space]) for space in whole.accesses)
    differing = np.flatnonzero((quick.threads != whole.threads).any(axis=0))
    assert len(differing)
    differing = [at for at in differing if at not in fast_paths(program)]
    assert all(program.instructions[at].guard and program.instructions[at].traits.is_arithmetic for at in differing)
    difference = abs(int(quick.threads.sum()) - int(whole.threads.sum())) / whole.threads.sum()
    stated = float(re.search(r"by ([0-9.]+) % at most", note)[1]) / 100
    assert 0.01 < difference < stated < 0.2


def test_guards_that_indices_decide_stay_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """`i + threadIdx.x < 70` costs nothing: the lanes of what it guards are counted."""
    program, quick, whole = traces("inside", monkeypatch)
    own = slice_without_guards(program, guard_shares.data_guards(program), NOTHING)
    code = program.instructions
    at = [i for i in own.unneeded - guard_shares.data_guards(program) if code[i].opcode == "FMUL" and code[i].guard]
    assert len(at) == 1
    assert np.array_equal(quick.threads[:, at], whole.threads[:, at])
    assert 0 < whole.threads[:, at].sum() < 32 * whole.executed[:, at].sum()


def test_values_that_decide_are_computed_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum decides a store: no guard of what it is made from may be estimated."""
    _, quick, whole = traces("chosen", monkeypatch)
    assert quick.notes == whole.notes
    assert np.array_equal(quick.threads, whole.threads)


def test_short_executions_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    program = compile_program(CODE, "sm_90", "weighed")
    asked = launch(grid=2, block=32, args=arguments("weighed") | {"n": 9})
    without = slice_without_guards(program, guard_shares.data_guards(program), NOTHING)
    assert slice_of(program).unneeded < without.unneeded
    quick = emulate.trace(program, asked, [0, 1])
    monkeypatch.setattr(traced_blocks, "slice_of", lambda program: Slice(frozenset(), {}))
    assert np.array_equal(quick.threads, emulate.trace(program, asked, [0, 1]).threads)
    assert not any("guarded" in note for note in quick.notes)


def test_guards_that_random_numbers_of_the_kernel_decide_are_estimated_too(monkeypatch: pytest.MonkeyPatch) -> None:
    program, quick, whole = traces("hits", monkeypatch, "sm_89")
    (note,) = set(quick.notes) - set(whole.notes)
    assert np.array_equal(quick.executed, whole.executed)
    difference = abs(int(quick.threads.sum()) - int(whole.threads.sum())) / whole.threads.sum()
    stated = float(re.search(r"by ([0-9.]+) % at most", note)[1]) / 100
    assert difference < stated < 0.1
    assert not guard_shares.data_guards(program)
