"""The lead of older warps: by hand, against counters of three boards, and what must always hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import warpbound
from warpbound.emulate import trace
from warpbound.kernel_launch import launch
from warpbound.machine import gpu
from warpbound.memory import hierarchy, warp_runahead
from warpbound.memory.caches import Cache, estimate, exact, l1
from warpbound.memory.sampled_accesses import spaces
from warpbound.memory.served_levels import step_and_age

WARPS, KIB = 8, 1024


def reading_again(bytes_, rounds, lines=2):
    """Loads of 8 warps that read `bytes_` round by round, warp by warp `lines` lines, as gpu-cache does."""
    each = bytes_ // (128 * WARPS * lines)
    warp, ordinal = np.divmod(np.arange(WARPS * each * rounds), each * rounds)
    line = ((ordinal % each) * WARPS + warp)[:, None] * lines + np.arange(lines)

    def ahead(leaders):
        generation = warp_runahead.generations(np.zeros(WARPS, np.int64), np.arange(WARPS), leaders)[warp]
        return np.repeat(ranks(warp_runahead.delayed(ordinal + 0.5, generation, each * rounds), warp), lines)

    sectors = line.reshape(-1) * 4
    in_step = np.repeat(ranks(ordinal + 0.5, warp), lines)
    return warp_runahead.Loads(sectors, np.zeros(len(sectors), np.int64), in_step, ahead)


def ranks(when, warp):
    """Place in time of each access, the older warp first where two happen at once."""
    place = np.empty(len(when), np.int64)
    place[np.lexsort((warp, when))] = np.arange(len(when))
    return place


def missing(kB, board, l1_KiB, simulate=estimate):
    """Share of the reads that miss in the twelve rounds after the first twelve."""
    reach = gpu(board).value("l1_lead_reach")
    misses = []
    for rounds in (12, 24):
        loads = reading_again(kB * KIB, rounds)
        found = warp_runahead.lookup(loads, l1(l1_KiB * KIB), reach, simulate).hit
        misses.append(np.count_nonzero(~found))
    return (misses[1] - misses[0]) / (len(loads.sector) / 2)


def test_generations_by_hand():
    # four warps of one SM, listed youngest first, and one alone on another
    together, by_age = np.array([0, 0, 0, 0, 5]), np.array([3, 2, 1, 0, 4])
    assert warp_runahead.generations(together, by_age, 0.5).tolist() == [1, 1, 0, 0, 0]
    assert warp_runahead.generations(together, by_age, 0.75).tolist() == [1, 0, 0, 0, 0]
    assert warp_runahead.generations(together, by_age, 0.1).tolist() == [3, 2, 1, 0, 0]


def test_a_generation_goes_slowly_until_the_one_before_is_through():
    # Of 9 accesses the first generation's last is at 9. Until then the second did 3, and is through at 9 + 6; until
    # then the third did 5, and is through at 15 + 4.
    when, generation = np.array([9.0, 3.0, 9.0, 5.0, 9.0]), np.array([0, 1, 1, 2, 2])
    assert warp_runahead.delayed(when, generation, 9.0) == pytest.approx([9, 9, 15, 15, 19])


def test_two_warps_by_hand():
    # Warp A reads lines a b a b a b, warp B c d c d c d; the cache holds 3. In step (a c b d a c ...) every line comes
    # again after 3 others: no hit. With A as leader it is at 1/2, 3/2, ... 11/2, and B at 3/2, 9/2, then, as A is
    # through at 6 and B did two of its six, at 13/2, ... 19/2: a b c A B A d B c D C D, where capitals are found. A
    # hits from its third load on, B from its fourth: its second c comes after a, b and d.
    line = np.array([0, 1] * 3 + [2, 3] * 3)
    warp, ordinal = np.repeat([0, 1], 6), np.tile(np.arange(6), 2)
    ahead = ranks(warp_runahead.delayed(ordinal + 0.5, warp, 6.0), warp)
    loads = warp_runahead.Loads(line * 4, np.zeros(12, np.int64), ranks(ordinal + 0.5, warp), lambda _: ahead)
    cache = Cache(1, 3)
    for simulate in (estimate, exact):
        assert not warp_runahead.lookup(loads, cache, 1.0, simulate).hit.any()
        found = warp_runahead.lookup(loads, cache, 4 / 3, simulate).hit  # 4 lines in a cache of 3
        assert found[:6].tolist() == [False, False, True, True, True, True]
        assert found[6:].tolist() == [False, False, False, True, True, True]
        assert not warp_runahead.lookup(loads, cache, 1.2, simulate).hit.any()  # 4 ways: no warp runs ahead


# L2 reads over all reads, by counters: te42kyfo/gpu-benches @1c36d50, gpu-cache/v100.txt and a100_80.txt, and
# @266497d, cuda-cache/h100_pcie.txt. [kB: share]. The rows on both sides of the last fall gave `l1_lead_reach`.
COUNTED = {
    "v100-pcie": (128, {120: 0.0, 148: 0.078, 172: 0.147}),
    "a100-sxm-80gb": (160, {148: 0.0, 172: 0.113, 328: 1.0}),
    "h100-pcie": (224, {204: 0.0, 236: 0.057, 280: 0.113}),
}
CALIBRATED = {
    "v100-pcie": {204: 0.331, 236: 0.996},
    "a100-sxm-80gb": {204: 0.161, 236: 0.995},
    "h100-pcie": {328: 0.154},
}


@pytest.mark.parametrize("board", COUNTED)
def test_reads_beyond_l1_as_counted(board):
    l1_KiB, rows = COUNTED[board]
    for kB, share in rows.items():
        assert missing(kB, board, l1_KiB) == pytest.approx(share, abs=0.08), kB
    for kB, share in CALIBRATED[board].items():
        assert missing(kB, board, l1_KiB) == pytest.approx(share, abs=0.13), kB


def test_estimate_and_exact_agree():
    for kB in (120, 148, 172, 204, 236):
        one, other = (missing(kB, "v100-pcie", 128, how) for how in (estimate, exact))
        assert one == pytest.approx(other, abs=0.03), kB


def test_an_eighth_of_the_lines_finds_the_leaders(monkeypatch):
    whole = [missing(kB, "v100-pcie", 128) for kB in (148, 172, 204)]
    monkeypatch.setattr(warp_runahead, "MANY", 0)
    assert [missing(kB, "v100-pcie", 128) for kB in (148, 172, 204)] == pytest.approx(whole, abs=0.01)


LINES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12)), min_size=1, max_size=80)


def by_warps(lines):
    """Loads of up to four warps, (warp, line) each, in the order of the list and by age."""
    warp, line = np.array(lines).T
    ordinal = np.array([np.count_nonzero(warp[:k] == warp[k]) for k in range(len(warp))])

    def ahead(leaders):
        generation = warp_runahead.generations(np.zeros(4, np.int64), np.arange(4), leaders)[warp]
        return ranks(warp_runahead.delayed(ordinal + 0.5, generation, ordinal.max() + 1.0), warp)

    return warp_runahead.Loads(line * 4, np.zeros(len(line), np.int64), np.arange(len(line)), ahead)


@given(LINES, st.integers(1, 8), st.floats(1.0, 3.0), st.sampled_from([estimate, exact]))
def test_a_larger_cache_or_reach_never_loses_a_hit(lines, ways, reach, simulate):
    loads = by_warps(lines)
    less = warp_runahead.lookup(loads, Cache(1, ways), reach, simulate).hit
    more = warp_runahead.lookup(loads, Cache(1, ways + 1), reach, simulate).hit
    further = warp_runahead.lookup(loads, Cache(1, ways), reach + 1, simulate).hit
    assert min(np.count_nonzero(more), np.count_nonzero(further)) >= np.count_nonzero(less)


@given(LINES, st.integers(1, 8))
def test_a_lead_only_adds_and_needs_a_reach(lines, ways):
    loads, cache = by_warps(lines), Cache(1, ways)
    in_step = warp_runahead.lookup(loads, cache, 1.0, estimate).hit
    assert not (in_step & ~warp_runahead.lookup(loads, cache, 2.0, estimate).hit).any()
    held = warp_runahead.Loads(loads.sector, loads.sm, loads.rank, None)
    assert np.array_equal(warp_runahead.lookup(held, cache, 2.0, estimate).hit, in_step)


KERNELS = """
extern "C" __global__ void free_to_run(float* y, const float* x) {
    for (int k = 0; k < 8; ++k) y[threadIdx.x] += x[(k * 256 + threadIdx.x) % 512];
}
extern "C" __global__ void held_together(float* y, const float* x) {
    for (int k = 0; k < 8; ++k) { y[threadIdx.x] += x[(k * 256 + threadIdx.x) % 512]; __syncthreads(); }
}
"""


@pytest.mark.parametrize("kernel", ["free_to_run", "held_together"])
def test_barriers_keep_warps_in_step(kernel):
    program = warpbound.compile(KERNELS, gpu("a100-sxm-80gb"), kernel=kernel)
    args = {"y": np.zeros(256, np.float32), "x": np.ones(512, np.float32)}
    seen = trace(program, launch(grid=(1, 1, 1), block=(256, 1, 1), args=args), [0])
    machine = hierarchy.Facts(80, 108, 1, 128 << 10, 4 << 20)
    plan = hierarchy.schedule(seen, machine)
    found = spaces(program, seen, machine, plan, np.ones(len(seen.warps)))
    parts = (found.global_.accesses, found.words.accesses)
    warp = np.concatenate([one.warp for one in parts])
    when = hierarchy.moments_of_rows(seen, parts)
    rank, ahead = step_and_age(program, (seen, plan), warp, (when, float(when.max()) + 0.5))
    assert (ahead is None) == (kernel == "held_together")
    if ahead is not None:
        oldest = np.flatnonzero(found.global_.accesses.warp == 0)
        assert ahead(0.5)[oldest].max() < rank[oldest].max()  # it is done sooner
