"""The lead of older warps: by hand, against counters of three boards, and what must always hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import warpbound
from warpbound.emulate import trace
from warpbound.kernel_launch import launch
from warpbound.machine import gpu
from warpbound.memory import hierarchy, lead
from warpbound.memory.answers import step_and_age
from warpbound.memory.caches import Cache, estimate, exact, l1
from warpbound.memory.spaces import spaces

WARPS, KIB = 8, 1024


def reading_again(bytes_, rounds, lines=2):
    """Loads of 8 warps that read `bytes_` round by round, warp by warp `lines` lines, as gpu-cache does."""
    each = bytes_ // (128 * WARPS * lines)
    warp, ordinal = np.divmod(np.arange(WARPS * each * rounds), each * rounds)
    line = ((ordinal % each) * WARPS + warp)[:, None] * lines + np.arange(lines)
    speed = lead.speeds(np.zeros(WARPS, np.int64), np.arange(WARPS))
    places = []
    for pace in (np.ones(WARPS), speed):
        order = np.lexsort((warp, (ordinal + 0.5) / pace[warp]))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        places.append(np.repeat(place, lines))
    sectors = line.reshape(-1) * 4
    return lead.Loads(sectors, np.zeros(len(sectors), np.int64), places[0], lambda: places[1])


def missing(kB, board, l1_KiB, simulate=estimate):
    """Share of the reads that miss in the twelve rounds after the first twelve."""
    reach = gpu(board).value("l1_lead_reach")
    misses = []
    for rounds in (12, 24):
        loads = reading_again(kB * KIB, rounds)
        found = lead.hits(loads, l1(l1_KiB * KIB), reach, simulate)
        misses.append(np.count_nonzero(~found))
    return (misses[1] - misses[0]) / (len(loads.sector) / 2)


def test_speeds_by_hand():
    # four warps of one SM, listed youngest first, and one alone on another
    speed = lead.speeds(np.array([0, 0, 0, 0, 5]), np.array([3, 2, 1, 0, 4]))
    assert speed.tolist() == [1 / 8, 3 / 8, 5 / 8, 7 / 8, 1 / 2]


def test_two_warps_by_hand():
    # Warp A reads lines a b a b a b, warp B c d c d c d; the cache holds 3. In step (a c b d a c ...) every line comes
    # again after 3 others: no hit. By age A goes at 3/4, at times 2/3, 2, 10/3, 14/3, 6, 22/3, and B at 1/4, at 2, 6,
    # 10, 14, 18, 22: a b c A B A d B c D C D, where capitals are found. A hits from its third load on, B from its
    # fourth: its second c comes after d, b and a.
    line = np.array([0, 1] * 3 + [2, 3] * 3)
    warp, ordinal = np.repeat([0, 1], 6), np.tile(np.arange(6), 2)
    orders = []
    for pace in (np.ones(2), lead.speeds(np.zeros(2, np.int64), np.arange(2))):
        when = (ordinal + 0.5) / pace[warp]
        orders.append(np.argsort(np.lexsort((warp, when))))
    loads = lead.Loads(line * 4, np.zeros(12, np.int64), orders[0], lambda: orders[1])
    cache = Cache(1, 3, "tag bank")
    for simulate in (estimate, exact):
        assert not lead.hits(loads, cache, 1.0, simulate).any()
        found = lead.hits(loads, cache, 4 / 3, simulate)  # 4 lines in a cache of 3
        assert found[:6].tolist() == [False, False, True, True, True, True]
        assert found[6:].tolist() == [False, False, False, True, True, True]
        assert not lead.hits(loads, cache, 1.2, simulate).any()  # 4 ways are not reached: no lead begins


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
        assert missing(kB, board, l1_KiB) == pytest.approx(share, abs=0.11), kB
    for kB, share in CALIBRATED[board].items():
        assert missing(kB, board, l1_KiB) == pytest.approx(share, abs=0.13), kB


def test_estimate_and_exact_agree():
    for kB in (120, 148, 172, 204, 236):
        one, other = (missing(kB, "v100-pcie", 128, how) for how in (estimate, exact))
        assert one == pytest.approx(other, abs=0.03), kB


LINES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12)), min_size=1, max_size=80)


def by_warps(lines):
    """Loads of up to four warps, (warp, line) each, in the order of the list and by age."""
    warp, line = np.array(lines).T
    ordinal = np.array([np.count_nonzero(warp[:k] == warp[k]) for k in range(len(warp))])
    speed = lead.speeds(np.zeros(4, np.int64), np.arange(4))
    ahead = np.argsort(np.lexsort((warp, (ordinal + 0.5) / speed[warp])))
    return lead.Loads(line * 4, np.zeros(len(line), np.int64), np.arange(len(line)), lambda: ahead)


@given(LINES, st.integers(1, 8), st.floats(1.0, 3.0), st.sampled_from([estimate, exact]))
def test_a_larger_cache_or_reach_never_loses_a_hit(lines, ways, reach, simulate):
    loads = by_warps(lines)
    less = lead.hits(loads, Cache(1, ways, "tag bank"), reach, simulate)
    more = lead.hits(loads, Cache(1, ways + 1, "tag bank"), reach, simulate)
    further = lead.hits(loads, Cache(1, ways, "tag bank"), reach + 1, simulate)
    assert not (less & ~more).any()
    assert not (less & ~further).any()


@given(LINES, st.integers(1, 8))
def test_a_lead_only_adds_and_needs_a_reach(lines, ways):
    loads, cache = by_warps(lines), Cache(1, ways, "tag bank")
    in_step = lead.hits(loads, cache, 1.0, estimate)
    assert not (in_step & ~lead.hits(loads, cache, 2.0, estimate)).any()
    held = lead.Loads(loads.sector, loads.sm, loads.rank, None)
    assert np.array_equal(lead.hits(held, cache, 2.0, estimate), in_step)


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
    rank, ahead = step_and_age(program, seen, plan, (found.global_.accesses, found.words.accesses))
    assert (ahead is None) == (kernel == "held_together")
    if ahead is not None:
        oldest = np.flatnonzero(found.global_.accesses.warp == 0)
        assert ahead()[oldest].max() < rank[oldest].max()  # it is done sooner
