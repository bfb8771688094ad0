"""Scores of gathers: counts from a few blocks against those of all blocks (docs/model-notes/sampling-gathered-data.md).

    python tools/gather_scores.py [BOARD [BLOCKS]]

Caches are cold. Beside each error is the standard error that the answer states.
"""

import math
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from warpbound import emulate
from warpbound.analysis import Settings
from warpbound.analysis.answer import analyze_kernel
from warpbound.analysis.case import checked_case
from warpbound.analysis.sampled import cache_facts
from warpbound.kernel_launch import launch
from warpbound.machine import gpu
from warpbound.memory.traffic import How, traffic
from warpbound.program.source_files import compile_program

THREADS, TIMES, VERTICES, KEYS = 128, 16, 200_000, 1 << 20
CODE = """
extern "C" __global__ void search(const int* __restrict__ keys, const int* __restrict__ wanted, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, low = 0, high = n;
    while (low < high) { int at = (low + high) / 2; if (keys[at] < wanted[i]) low = at + 1; else high = at; }
    y[i] = low;
}
extern "C" __global__ void walk(const int* __restrict__ start, const int* __restrict__ edges, int* y, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = i % 200000;
    unsigned random = i * 2654435761u + 12345u;
    for (int k = 0; k < steps; k++) {
        int first = start[at], end = start[at + 1];
        random = random * 1664525u + 1013904223u;
        at = edges[first + (random >> 8) % (unsigned)(end - first)];
    }
    y[i] = at;
}
extern "C" __global__ void gather(const float* __restrict__ x, const int* __restrict__ index, float* y, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = 0;
    for (int k = 0; k < m; k++) v += x[index[k * gridDim.x * blockDim.x + i]];
    y[i] = v;
}
"""


def cases(blocks: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Name, kernel and arguments."""
    random, threads = np.random.default_rng(3), blocks * THREADS
    keys = np.sort(random.integers(0, 1 << 30, KEYS)).astype(np.int32)
    wanted = random.integers(0, 1 << 30, threads).astype(np.int32)
    for name, each in (("binary searches", wanted), ("binary searches, sorted", np.sort(wanted))):
        yield name, "search", {"keys": keys, "wanted": each, "y": f"i32[{threads}]", "n": KEYS}
    degree = np.minimum(2000, random.pareto(1.5, VERTICES) * 4 + 1).astype(np.int64)
    start = np.concatenate([[0], np.cumsum(degree)]).astype(np.int32)
    by_degree = np.searchsorted(np.cumsum(degree) / degree.sum(), random.random(start[-1]))
    for name, ends in (("walks to popular vertices", by_degree), ("walks", random.integers(0, VERTICES, start[-1]))):
        yield name, "walk", {"start": start, "edges": ends.astype(np.int32), "y": f"i32[{threads}]", "steps": 10}
    for size in (1 << 12, 1 << 15, 1 << 18, 1 << 22):
        rank = np.minimum(size - 1, random.pareto(1.0, threads * TIMES) * 8).astype(np.int64)
        popular = random.permutation(size)[rank]
        for name, index in (("equal", random.integers(0, size, threads * TIMES)), ("unequal", popular)):
            words = {"x": f"f32[{size}]:rand", "index": index.astype(np.int32), "y": f"f32[{threads}]", "m": TIMES}
            yield f"{size} numbers, {name}", "gather", words


def scores(board: str, blocks: int) -> Iterator[str]:
    """A row of a table for each case."""
    for name, kernel, words in cases(blocks):
        program, settings = compile_program(CODE, f"sm_{gpu(board).arch}", kernel), Settings(cache="cold")
        asked = launch(grid=blocks, block=THREADS, args=words)
        result = analyze_kernel(program, board, asked, settings)
        trace = emulate.trace(program, asked, range(math.prod(asked.grid)))
        facts = cache_facts(checked_case(program, gpu(board), asked, settings))
        whole = traffic(program, trace, facts, How(cache="cold", grid=asked.grid, sector_limit=10**9))
        assert result.sample is not None
        assert result.sample.memory_error is not None
        assert result.memory is not None
        row, stated = [name, str(result.sample.blocks)], result.sample.memory_error
        for count in ("l2_sectors_read", "dram_bytes_read"):
            found, true = getattr(result.memory, count), getattr(whole, count)
            row += [f"{100 * (found / true - 1):+.1f}", f"{100 * stated[count] / found:.1f}"]
        yield "| " + " | ".join(row) + " |"


if __name__ == "__main__":
    board, blocks = (*sys.argv[1:], *("a100-pcie-40gb", "1000")[len(sys.argv) - 1 :])
    sys.stdout.write("| gather | blocks | L2 reads, % | stated | DRAM bytes, % | stated |\n|---|---|---|---|---|---|\n")
    for line in scores(board, int(blocks)):
        sys.stdout.write(line + "\n")
