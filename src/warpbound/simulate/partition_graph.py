"""A clique counter on a random graph as an access pattern: each thread counts the triangles of its vertices.

Source   A. M. Aji, M. Daga, W. Feng, CF 2011, section 5.2: vertices in turn over the threads, adjacency lists in global
         memory, intersections of them. The program is ours; its cliques are of three vertices.
Models   Thread v reads its own list, then for each neighbour u > v the ends of u's list and the list, word by word; the
         lanes of a warp go in step, each through its own list of addresses, and wait for every word.
Omits    Writing the result.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
    """That many edges drawn at random; those drawn twice and those from a vertex to itself are left out."""
    drawn = np.random.default_rng(seed).integers(0, vertices, (edges, 2))
    low, high = drawn.min(axis=1), drawn.max(axis=1)
    pairs = np.unique(low[low < high] * vertices + high[low < high])
    low, high = pairs // vertices, pairs % vertices
    both = np.sort(np.concatenate([low * vertices + high, high * vertices + low]))
    first = np.searchsorted(both // vertices, np.arange(vertices + 1))
    return Graph(first.astype(np.int64), (both % vertices).astype(np.int64))


def count_triangles(graph: Graph) -> tuple[int, list[list[int]]]:
    """Triangles of the graph, and the words that each thread reads: indices into first, then neighbours."""
    total, read = 0, []
    lists = [graph.neighbours[graph.first[v] : graph.first[v + 1]].tolist() for v in range(graph.vertices)]
    base = graph.vertices + 1
    begins = graph.first.tolist()
    for v, mine in enumerate(lists):
        words = [v, v + 1, *range(base + begins[v], base + begins[v + 1])]
        later = {u for u in mine if u > v}
        for u in sorted(later):
            words += [u, u + 1, *range(base + begins[u], base + begins[u + 1])]
            total += sum(1 for other in lists[u] if other > u and other in later)
        read.append(words)
    return total, read


def clique_counter(graph: Graph) -> Pattern:
    """The pattern, one vertex a thread, one warp a block; words that lanes of a half-warp share are read once."""
    _, read = count_triangles(graph)
    warps = -(-graph.vertices // 32)
    read += [[] for _ in range(32 * warps - graph.vertices)]
    steps = [max(len(words) for words in read[32 * w : 32 * w + 32]) for w in range(warps)]
    address, active = _in_step(read, steps)
    row, start, size = half_warp_transactions(address, active, WORD_B)
    requests = len(address)
    return Pattern(
        block_warps=1,
        requests=np.array(steps, np.int64),
        transactions=np.bincount(row, minlength=requests).astype(np.int64),
        cycles=np.full(requests, COMPARISONS * ISSUE_CYCLES, np.int64),
        waits=np.ones(requests, bool),
        barrier=np.zeros(requests, bool),
        address=start,
        size=size,
    )


def _in_step(read: list[list[int]], steps: list[int]) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Addresses and active lanes of every step of every warp, (requests, 32) each."""
    address = np.zeros((sum(steps), 32), np.uint64)
    active = np.zeros((sum(steps), 32), bool)
    at = 0
    for warp, count in enumerate(steps):
        for lane, words in enumerate(read[32 * warp : 32 * warp + 32]):
            address[at : at + len(words), lane] = WORD_B * np.array(words, np.uint64)
            active[at : at + len(words), lane] = True
        at += count
    return address, active
