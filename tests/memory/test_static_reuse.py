"""Sectors that an iteration touches again are counted once: against sectors counted one by one, and the execution."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import warpbound
from support.paths import ROOT
from warpbound.machine import gpu
from warpbound.memory.address_arithmetic import addresses
from warpbound.memory.static_accesses import Access, predicted, threads_of
from warpbound.memory.static_reuse import first_touches
from warpbound.program import Program, programs
from warpbound.program.cuda import Options
from warpbound.workload.static_paths import loops, whole

BLOCK = 64
SOURCE = r"""
#define I (blockIdx.x * blockDim.x + threadIdx.x)
extern "C" {
__global__ void vectors(const float *a, float *b, int n) {
    float v[16];
#pragma unroll
    for (int c = 0; c < 16; c++) v[c] = a[I * 16 + c];
#pragma unroll
    for (int c = 0; c < 16; c++) b[I * 16 + c] = v[15 - c] * 2;
}
__global__ void stencil(const float *a, float *b, int n) { b[I + 8] = a[I + 7] + a[I + 8] + a[I + 9]; }
__global__ void apart(const float *a, float *b, int n) { b[I] = a[I] + a[I + 4096]; }
__global__ void others(const float *a, float *b, int n) { b[I] = a[I] + a[I * 2]; }
__global__ void along(const float *a, float *b, int n) {
    float sum = 0;
#pragma unroll 1
    for (int c = 0; c < n; c++) sum += a[I * 64 + c];
    b[I] = sum;
}
__global__ void striding(const float *a, float *b, int n) {
    float sum = 0;
#pragma unroll 1
    for (int c = 0; c < n; c++) sum += a[I + 256 * c];
    b[I] = sum;
}
}
"""


@cache
def compiled() -> dict[str, Program]:
    return {program.name: program for program in programs(SOURCE.encode(), gpu("h200"), None, Options())}


def accesses(name: str) -> list[Access]:
    """Of global memory, in the order of the code."""
    program = compiled()[name]
    threads = threads_of(program, (BLOCK, 1, 1), None, {})
    found = predicted(program, 90, threads, [whole(program), *(loop.stream for loop in loops(program))])
    return [found[place] for place in sorted(found) if place[1] == "global"]


def once(words: list[np.ndarray]) -> list[float]:
    """Share of the sectors of each access, (warps, 32) words of 4 bytes, that those before it did not touch."""
    shares, seen = [], [set[int]() for _ in words[0]]
    for word in words:
        own = [set((row * 4 // 32).tolist()) for row in word]
        shares.append(sum(len(new - old) for new, old in zip(own, seen, strict=True)) / sum(map(len, own)))
        seen = [old | new for new, old in zip(own, seen, strict=True)]
    return shares


LANES = np.arange(BLOCK).reshape(-1, 32) + 8


def test_vectors_of_threads_are_read_and_written_once() -> None:
    found = accesses("vectors")
    shares = once([LANES * 16 + c for c in range(16)])
    assert sorted(shares)[-2:] == [1.0, 1.0]
    assert sorted(x.first_touch for x in found[:16]) == sorted(shares)
    assert sum(x.sectors * x.first_touch for x in found) == pytest.approx(2 * 32 * 16 * 4 / 32)


def test_a_stencil_reads_its_row_once() -> None:
    *loads, store = accesses("stencil")
    words = [LANES - 8 + offset for offset in (7, 8, 9)]
    total = sum(len(set(np.concatenate([own[warp] for own in words]) * 4 // 32)) for warp in range(len(LANES)))
    assert total == 6 * len(LANES)  # four full ones and a word in each of the two beside them
    assert sum(x.sectors * x.first_touch for x in loads) == pytest.approx(6)
    assert sorted(x.first_touch for x in loads) == pytest.approx(sorted(once(words)), abs=0.3)
    assert store.first_touch == 1.0


def test_accesses_of_one_array_may_differ_in_what_moves_them() -> None:
    """Other loops move two of them by other steps: rows are counted at the alignments of both."""
    program = compiled()["stencil"]
    threads = threads_of(program, (BLOCK, 1, 1), None, {})
    found = addresses(program.instructions, 90, threads, [whole(program)])
    alone = first_touches(program.instructions, found, threads)
    (first, *_) = sorted(alone)
    found[first] = replace(found[first], step=32)
    assert first_touches(program.instructions, found, threads) == pytest.approx(alone)


@pytest.mark.parametrize("name", ["apart", "others"])
def test_what_is_far_away_or_not_comparable_is_not_shared(name: str) -> None:
    assert [x.first_touch for x in accesses(name)] == [1.0] * 3


def test_a_loop_along_a_sector_finds_it_in_seven_of_eight_iterations() -> None:
    load, store = accesses("along")
    assert load.first_touch == pytest.approx(1 / 8)
    assert store.first_touch == 1.0


def test_a_loop_that_strides_touches_new_sectors() -> None:
    load, _ = accesses("striding")
    assert load.first_touch == 1.0


@pytest.mark.parametrize("kernel", ["mxv_lcs", "mxv_per_thread"])
def test_threads_for_dram_are_those_of_the_execution(kernel: str) -> None:
    """P of the notes' kernels from the code alone, and with contents; an eighth, counted access by access."""
    path = ROOT / "examples" / "papers" / f"{kernel}.cu"
    program = warpbound.compile(path, "gtx1080")
    executed = warpbound.analyze(program, "gtx1080", warpbound.launch(path.with_suffix(".toml")))
    alone = warpbound.analyze(program, "gtx1080", warpbound.launch(grid=80, block=128))
    assert (alone["mode"], executed["mode"]) == ("static", "dynamic")
    assert alone["loops"][0]["P"] == pytest.approx(executed["loops"][0]["P"], rel=0.1)


@pytest.mark.parametrize("arguments", [{}, None], ids=["static", "dynamic"])
def test_a_loop_is_divided_at_its_barriers(arguments: dict[str, str] | None) -> None:
    """The tiled product loads up to one barrier and computes up to the next."""
    path = ROOT / "examples" / "matmul_tiled.cu"
    given = warpbound.launch(path.with_suffix(".toml"))
    launch = warpbound.launch(grid=given.grid, block=given.block) if arguments == {} else given
    (loop,) = warpbound.analyze(warpbound.compile(path, "h200"), "h200", launch)["loops"]
    loading, computing = loop["intervals"]
    assert loading["warp_instructions"] + computing["warp_instructions"] == loop["warp_instructions"]
    assert loading["latency_parts"]["dram"] + loading["latency_parts"]["l2"] > 0
    assert computing["demand"]["shared"] > 0.9 * loop["demand"]["shared"]
    assert computing["P"] is None
    assert loading["P"] < loop["P"]
    assert computing["Q"] < loading["Q"]


def test_a_loop_without_barriers_is_one_interval() -> None:
    program = warpbound.compile(ROOT / "examples" / "matmul_naive.cu", "h200")
    every = warpbound.analyze(program, "h200", warpbound.launch(grid=(64, 64), block=(32, 32)))["loops"]
    assert [loop["intervals"] for loop in every] == [[] for _ in every]
