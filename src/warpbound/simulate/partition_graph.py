"""A k-clique counter on a random graph as an access pattern; examples/clique_counter.cu is the same program.

Source   A. M. Aji, M. Daga, W. Feng, CF 2011, section 5.2: vertices in turn over the threads, adjacency lists in global
         memory, larger cliques from smaller ones by adding common vertices, backtracking. The program is ours.
Models   A thread follows the list of the clique's last vertex and looks up each later vertex in the lists of the others
         by bisection; the lanes of a warp advance together, each through its own list of addresses, and wait for every
         word.
Omits    Adding up the counts of the threads.
"""

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from warpbound.quick_dataclasses import dataclass
from warpbound.simulate.partition_traces import ISSUE_CYCLES, half_warp_transactions
from warpbound.simulate.partitions import Pattern, Whole

WORD_B = 4
COMPARISONS = 4  # instructions for a word that is read: address, comparison, count, branch (assumed)


@dataclass(frozen=True)
class Graph:
    """Sorted adjacency lists: those of vertex v are neighbours[first[v]:first[v + 1]]."""

    first: Whole
    neighbours: Whole

    @property
    def vertices(self) -> int:
        """How many."""
        return len(self.first) - 1


def random_graph(vertices: int, edges: int, seed: int = 0) -> Graph:
    """Edges drawn at random; repeated ones and those from a vertex to itself are dropped."""
    ends = np.random.default_rng(seed).integers(0, vertices, (edges, 2))
    low, high = ends.min(axis=1), ends.max(axis=1)
    pairs = np.unique(low[low < high] * vertices + high[low < high])
    low, high = pairs // vertices, pairs % vertices
    both = np.sort(np.concatenate([low * vertices + high, high * vertices + low]))
    first = np.searchsorted(both // vertices, np.arange(vertices + 1))
    return Graph(first.astype(np.int64), (both % vertices).astype(np.int64))


def count_cliques(graph: Graph, size: int) -> tuple[int, list[list[int]]]:
    """Cliques of `size` vertices, and the words read for each first vertex: indices into first, then neighbours."""
    begins, neighbours, base = graph.first.tolist(), graph.neighbours.tolist(), graph.vertices + 1
    total, words_read = 0, []
    for v in range(graph.vertices):
        words = [v, v + 1]
        clique, at = [v], [begins[v]]
        while clique:
            last = clique[-1]
            if at[-1] == begins[last + 1]:
                clique.pop()
                at.pop()
                continue
            u = neighbours[at[-1]]
            words.append(base + at[-1])
            at[-1] += 1
            if u <= last or not all(_adjacent(begins, neighbours, w, u, words) for w in clique[:-1]):
                continue
            if len(clique) == size - 1:
                total += 1
                continue
            words += [u, u + 1]
            clique.append(u)
            at.append(begins[u])
        words_read.append(words)
    return total, words_read


def _adjacent(begins: list[int], neighbours: list[int], v: int, u: int, words: list[int]) -> bool:
    """Whether u is in the list of v, by bisection; adds the words that are read to `words`."""
    words += [v, v + 1]
    low, high = begins[v], begins[v + 1]
    while low < high:
        middle = (low + high) // 2
        words.append(len(begins) + middle)
        if neighbours[middle] == u:
            return True
        low, high = (middle + 1, high) if neighbours[middle] < u else (low, middle)
    return False


def clique_counter(by_vertex: Sequence[Sequence[int]], blocks: int, block_warps: int) -> Pattern:
    """The pattern of a launch of so many blocks that read these words for each vertex, as `count_cliques` gives them.

    A word that several lanes of a half-warp need is read once.
    """
    warps = blocks * block_warps
    by_thread = [list(chain.from_iterable(by_vertex[thread :: 32 * warps])) for thread in range(32 * warps)]
    steps = [max(len(words) for words in by_thread[32 * w : 32 * w + 32]) for w in range(warps)]
    address, active = _in_step(by_thread, steps)
    row, start, size_B = half_warp_transactions(address, active, WORD_B)
    requests = len(address)
    return Pattern(
        block_warps=block_warps,
        requests=np.array(steps, np.int64),
        transactions=np.bincount(row, minlength=requests).astype(np.int64),
        cycles=np.full(requests, COMPARISONS * ISSUE_CYCLES, np.int64),
        waits=np.ones(requests, bool),
        barrier=np.zeros(requests, bool),
        address=start,
        size=size_B,
    )


def _in_step(by_thread: list[list[int]], steps: list[int]) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Addresses and active lanes of every step of every warp, (requests, 32) each."""
    address = np.zeros((sum(steps), 32), np.uint64)
    active = np.zeros((sum(steps), 32), bool)
    at = 0
    for warp, count in enumerate(steps):
        for lane, words in enumerate(by_thread[32 * warp : 32 * warp + 32]):
            address[at : at + len(words), lane] = WORD_B * np.array(words, np.uint64)
            active[at : at + len(words), lane] = True
        at += count
    return address, active
