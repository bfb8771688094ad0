"""Races on shared memory: named where the order of warps decides, and only there."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import warpbound
from warpbound.emulate.shared_races import Race, shared_races, unchecked
from warpbound.program import Program

THREADS, WARPS, CELLS = 128, 4, 3
SOURCE = """
#define KERNEL(name) extern "C" __global__ void name(int *p)
#define T threadIdx.x
KERNEL(unordered) { __shared__ int s[128]; s[T] = p[T]; p[T] = s[127 - T]; }
KERNEL(ordered) { __shared__ int s[128]; s[T] = p[T]; __syncthreads(); p[T] = s[127 - T]; }
KERNEL(reused) {
    __shared__ int s[128];
    int v = p[T];
    for (int i = 0; i < 4; i++) { s[T] = v + i; __syncthreads(); v += s[(T + 40) & 127]; }
    p[T] = v;
}
KERNEL(last_one) { __shared__ int s; s = T; __syncthreads(); p[T] = s; }
KERNEL(flag) { __shared__ int s; if (T == 0) s = 0; __syncthreads(); if (p[T] > 0) s = 1; __syncthreads(); p[T] = s; }
KERNEL(sum) { __shared__ int s; if (T == 0) s = 0; __syncthreads(); atomicAdd(&s, p[T]); __syncthreads(); p[T] = s; }
KERNEL(one_warp) { __shared__ int s[128]; s[T] = p[T]; __syncwarp(); p[T] = s[T ^ 1]; }
KERNEL(bytes) { __shared__ char s[128]; s[T] = p[T]; __syncthreads(); p[T] = s[127 - T]; }
KERNEL(lock) { __shared__ int s; if (T == 0) s = 0; __syncthreads(); p[T] = atomicCAS(&s, 0, T); }
extern "C" __global__ void script(const int *what, const int *cell, const int *barrier, int steps, int *out) {
    __shared__ int s[3];
    int sum = 0;
    for (int i = 0; i < steps; i++) {
        int w = T / 32 * steps + i;
        if (T % 32 == 0 && what[w] == 1) s[cell[w]] = 1 + w;
        if (T % 32 == 0 && what[w] == 2) sum += s[cell[w]];
        if (barrier[i]) __syncthreads();
    }
    out[T] = sum;
}
"""


@cache
def compiled(kernel: str) -> Program:
    return warpbound.compile(SOURCE, "t4", kernel=kernel)


def races_of(kernel: str) -> tuple[Race, ...]:
    values = np.arange(1, 2 * THREADS + 1, dtype=np.int32)
    launch = warpbound.launch(grid=(2,), block=(THREADS,), args={"p": values})
    return shared_races(compiled(kernel), launch, range(2))


@pytest.mark.cuda
@pytest.mark.parametrize(
    "kernel, pairs",
    [
        ("unordered", [("STS", "LDS")]),
        ("ordered", []),
        ("reused", [("LDS", "STS")]),
        ("last_one", [("STS", "STS")]),
        ("flag", []),
        ("sum", []),
        ("one_warp", []),
        ("bytes", []),
    ],
)
def test_accesses_race_where_the_order_of_warps_decides(kernel: str, pairs: list[tuple[str, str]]) -> None:
    program, races = compiled(kernel), races_of(kernel)
    named = {tuple(program.instructions[at].opcode for at in (race.first, race.second)) for race in races}
    assert named == set(pairs)
    for race in races:
        assert 0 <= race.address < 4 * THREADS
        assert race.warps[0] != race.warps[1]
        assert race.block in (0, 1)


@pytest.mark.cuda
def test_what_a_lock_orders_is_not_judged() -> None:
    assert unchecked(compiled("ordered")) == ""
    assert "may be a lock" in unchecked(compiled("lock"))
    assert races_of("lock") == ()


@st.composite
def scripts(draw: st.DrawFn) -> tuple[list[list[tuple[int, int]]], list[bool]]:
    """What each warp does in each step (0 nothing, 1 a store, 2 a load; of which cell); after which steps all meet."""
    steps = draw(st.integers(1, 6))
    row = st.lists(st.tuples(st.integers(0, 2), st.integers(0, CELLS - 1)), min_size=steps, max_size=steps)
    return draw(st.lists(row, min_size=WARPS, max_size=WARPS)), draw(
        st.lists(st.booleans(), min_size=steps, max_size=steps)
    )


def may_differ(script: list[list[tuple[int, int]]], barriers: list[bool]) -> bool:
    """Whether two warps access a cell between the same barriers and one of them stores; every store has its value."""
    intervals = np.concatenate([[0], np.cumsum(barriers)[:-1]])
    met = [
        (warp, interval, cell, what)
        for warp, row in enumerate(script)
        for (what, cell), interval in zip(row, intervals.tolist(), strict=True)
        if what
    ]
    return any(a[0] != b[0] and a[1:3] == b[1:3] and 1 in (a[3], b[3]) for a, b in combinations(met, 2))


@pytest.mark.cuda
@settings(max_examples=15, deadline=None)
@given(scripts())
def test_races_are_those_of_a_comparison_of_all_pairs(case: tuple[list[list[tuple[int, int]]], list[bool]]) -> None:
    script, barriers = case
    table = np.array(script, np.int32)
    launch = warpbound.launch(
        grid=(1,), block=(THREADS,),
        args={
            "what": np.ascontiguousarray(table[..., 0]), "cell": np.ascontiguousarray(table[..., 1]),
            "barrier": np.array(barriers, np.int32), "steps": np.int32(len(barriers)),
            "out": np.zeros(THREADS, np.int32),
        },
    )  # fmt: skip
    assert bool(shared_races(compiled("script"), launch, [0])) == may_differ(script, barriers)
