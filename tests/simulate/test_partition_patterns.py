"""CampProf's patterns on simulated partitions: its micro-benchmarks, Figures 7 and 8, its proof, a clique counter."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpbound.machine import gpu
from warpbound.memory.coalescing import transactions
from warpbound.models.campprof_2011 import active_warps
from warpbound.simulate.partition_graph import clique_counter, count_cliques, random_graph
from warpbound.simulate.partition_patterns import (
    MICROS,
    Micro,
    camped_copy,
    counters,
    gem,
    micro,
    transpose,
)
from warpbound.simulate.partition_traces import half_warp_transactions
from warpbound.simulate.partition_views import busy, elasticity, steps
from warpbound.simulate.partitions import Machine, machine_of, simulate

GTX280 = machine_of(gpu("gtx280"))
UNLOADED = 434 / 1296e6  # s, a coalesced load


def most(size: int) -> float:
    """Bytes per second in transactions of that size where every partition is always busy."""
    return GTX280.partitions * size / float(GTX280.service(np.array(size)))


@pytest.mark.parametrize("size, occupied", [(32, 160), (64, 192), (128, 256)])
def test_a_transaction_costs_its_bytes_and_128_more(size: int, occupied: int) -> None:
    """The cost that puts R2 of the regressions into the paper's range, section 4.1."""
    assert most(size) == pytest.approx(GTX280.bandwidth * size / occupied)
AXIS = active_warps(32, 16)


def test_there_are_twelve_micro_benchmarks_of_six_types() -> None:
    assert len(set(MICROS)) == 12
    assert len({(one.operation, one.transaction) for one in MICROS}) == 6
    assert {one.transaction for one in MICROS} == {32, 64, 128}


@pytest.mark.parametrize("kind", MICROS, ids=str)
@pytest.mark.parametrize("warps", [1, 16, 18, 32])
def test_micro_benchmarks_do_what_they_are_for(kind: Micro, warps: int) -> None:
    pattern, per_sm = micro(kind, warps, GTX280)
    assert pattern.block_warps * per_sm == warps
    assert pattern.blocks == 30 * per_sm
    name = f"{'gld' if kind.operation == 'read' else 'gst'}_{kind.transaction}b"
    assert counters(pattern) == dict.fromkeys(counters(pattern), 0) | {name: 30 * warps * 32 * 2}
    home = pattern.address // 256 % 8
    assert (home == home[0]).all() == kind.camped
    assert (pattern.address % kind.transaction == 0).all()


@pytest.fixture(scope="module")
def slowdown() -> dict[tuple[str, int, int], float]:
    found = {}
    for spread in MICROS:
        if not spread.camped:
            for warps in (1, 8, 16, 24, 32):
                pair = [micro(replace(spread, camped=camped), warps, GTX280, 16) for camped in (True, False)]
                camped, free = (simulate(pattern, GTX280, per_sm).seconds for pattern, per_sm in pair)
                found[spread.operation, spread.word, warps] = camped / free
    return found


def test_camping_costs_up_to_about_seven_times(slowdown: dict[tuple[str, int, int], float]) -> None:
    """The paper: up to seven-fold, with reads of 64 bytes. Here 30 blocks on 8 partitions leave 7.5 at most."""
    assert slowdown["read", 4, 32] == pytest.approx(7, abs=0.5)
    assert max(slowdown.values()) <= 7.5


def test_camping_costs_more_with_more_warps_and_nothing_with_one(
    slowdown: dict[tuple[str, int, int], float],
) -> None:
    for word in (2, 4, 8):
        row = [slowdown["read", word, warps] for warps in (1, 8, 16, 24, 32)]
        assert row == sorted(row)
    assert slowdown["read", 2, 1] == pytest.approx(60 * float(GTX280.service(np.array(32))) / UNLOADED, rel=0.2)


def test_times_of_all_active_warps_grow_with_them() -> None:
    for kind in (MICROS[1], MICROS[4]):
        run = [simulate(pattern, GTX280, n).seconds for pattern, n in (micro(kind, w, GTX280, 8) for w in AXIS)]
        assert (np.diff(run) > -1e-9).all()


def test_gem_fills_the_pipeline_as_in_figure_7() -> None:
    """Partition p holds warp ((s - p) mod 8) + 1 at step s >= p; all are in use from step 8 on."""
    step = 1e-6
    machine = Machine(8, 1e15, 8, 256, 8 * 256 / step, 0.0, 0.0, 8, 0.0)
    table = steps(simulate(gem(8, 32), machine, 1), step)
    printed = [[(s - p) % 8 + 1 if s >= p else 0 for p in range(1, 9)] for s in range(1, 11)]
    assert table[:10].tolist() == printed
    full = (table > 0).all(axis=1)
    assert full[:7].tolist() == [False] * 7
    assert full[7:32].all()


def test_gem_camps_where_a_warp_stays_in_a_partition() -> None:
    """What the paper does not say: read 32 bytes at a time, its warps meet in the first partition again and again."""
    whole = simulate(gem(960, 32, 256, 128), GTX280, 32)
    small = simulate(gem(960, 128, 64, 32), GTX280, 32)
    assert whole.throughput > 0.7 * most(128)
    assert small.throughput < 0.7 * most(32)


@pytest.mark.parametrize("diagonal, homes", [(False, 1), (True, 8)])
def test_blocks_of_a_transpose_write_where_figure_8_says(diagonal: bool, homes: int) -> None:  # noqa: FBT001
    pattern = transpose(2048, diagonal=diagonal, blocks=128)
    home = (pattern.address // 256 % 8).reshape(128, 8, 2, 2)
    read, written = home[:, :, 0], home[:, :, 1]
    assert np.bincount(read.reshape(-1), minlength=8).tolist() == [256] * 8
    assert np.count_nonzero(np.bincount(written.reshape(-1), minlength=8)) == homes
    assert counters(pattern)["gld_64b"] == counters(pattern)["gst_64b"] == 128 * 16


def test_diagonal_blocks_free_the_transpose_of_camping() -> None:
    runs = {diagonal: simulate(transpose(512, diagonal=diagonal), GTX280, 4) for diagonal in (False, True)}
    assert runs[True].throughput > 0.9 * most(64)
    assert runs[False].throughput < 0.6 * most(64)


def test_both_transposes_move_every_element_once() -> None:
    for diagonal in (False, True):
        address = transpose(256, diagonal=diagonal).address.reshape(-1, 2, 2)
        for side in (0, 1):
            assert (np.sort(address[:, side].reshape(-1)) == 64 * np.arange(4096) + side * 262144).all()


def test_a_padded_row_frees_the_camped_copy() -> None:
    pattern = camped_copy(480, 8, GTX280)
    camped = simulate(pattern, GTX280, 16)
    assert np.count_nonzero(busy(camped)) == 1
    padded = replace(pattern, address=pattern.address + pattern.address // 2048 * 256)
    assert simulate(padded, GTX280, 16).seconds < camped.seconds / 2


def test_micro_benchmarks_are_bound_by_memory_and_arithmetic_by_the_core() -> None:
    """The paper's proof: which clock makes the kernel faster."""
    for kind in MICROS:
        pattern, per_sm = micro(kind, 32, GTX280, 16)
        found = elasticity(pattern, GTX280, per_sm)
        assert found.binds == "memory"
        assert found.memory > 0.5
    pattern, per_sm = micro(MICROS[0], 32, GTX280, 16)
    busy_core = elasticity(replace(pattern, cycles=np.full_like(pattern.cycles, 400)), GTX280, per_sm)
    assert busy_core.binds == "core"
    assert busy_core.core > 0.9


# --- clique counter ---


@settings(max_examples=20, deadline=None)
@given(vertices=st.integers(3, 24), edges=st.integers(1, 150), seed=st.integers(0, 999), size=st.integers(2, 5))
def test_cliques_are_counted_right(vertices: int, edges: int, seed: int, size: int) -> None:
    graph = random_graph(vertices, edges, seed)
    near = [set(graph.neighbours[graph.first[v] : graph.first[v + 1]].tolist()) for v in range(vertices)]
    by_hand = sum(all(b in near[a] for a, b in combinations(some, 2)) for some in combinations(range(vertices), size))
    total, read = count_cliques(graph, size)
    assert total == by_hand
    assert all(v in near[u] for v in range(vertices) for u in near[v])
    words = vertices + 1 + len(graph.neighbours)
    assert all(0 <= word < words for one in read for word in one)


def test_clique_counter_uses_all_partitions_and_is_repeatable() -> None:
    patterns = [clique_counter(count_cliques(random_graph(960, 1920), 3)[1], 30, 1) for _ in range(2)]
    run, again = (simulate(pattern, GTX280, 1) for pattern in patterns)
    assert (busy(run) > 0.5 * busy(run).max()).all()
    assert run.events == again.events


def test_every_configuration_of_the_clique_counter_reads_the_same_words() -> None:
    """Vertices go in turn over the threads: fewer warps have more of them; lanes together share transactions."""
    _, words = count_cliques(random_graph(960, 1920), 4)
    lone, many = (clique_counter(words, 1, warps) for warps in (1, 30))
    assert len(lone.requests) == 1
    assert len(many.requests) == 30
    assert set(lone.address // 128) == set(many.address // 128)


# --- transactions of real accesses ---


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), word=st.sampled_from([1, 2, 4, 8, 16]), spread=st.sampled_from([64, 300, 5000]))
def test_half_warp_transactions_are_those_of_the_coalescing_rule(seed: int, word: int, spread: int) -> None:
    random = np.random.default_rng(seed)
    address = (word * random.integers(0, spread, (20, 32))).astype(np.uint64)
    active = random.random((20, 32)) < random.random()
    row, start, size = half_warp_transactions(address, active, word)
    expected = transactions(address, active, word, 13)
    assert np.bincount(row, minlength=20).tolist() == expected.count.tolist()
    assert np.bincount(row, size, 20).tolist() == expected.bytes.tolist()
    assert (start % size == 0).all()
    for i in range(20):
        pieces = zip(start[row == i].tolist(), size[row == i].tolist(), strict=True)
        covered = {byte for at, n in pieces for byte in range(at, at + n)}
        assert set(address[i][active[i]].astype(int).tolist()) <= covered
