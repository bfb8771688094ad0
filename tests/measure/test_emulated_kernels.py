"""Kernels of the suite executed without a GPU: the chains are what the readings take them for."""

import numpy as np
import pytest
from numpy.typing import NDArray

from support.compiled_suite import decoded
from warpbound.emulate import run
from warpbound.kernel_launch import launch

pytestmark = pytest.mark.cuda

FIRST = 0x00800000


def follow(chain: NDArray[np.uint32], start: int) -> list[int]:
    """Entries in the order of the chain, until it comes back."""
    seen = [start]
    while (at := int(chain[seen[-1]]) - FIRST) != start:
        seen.append(at)
    return seen


def test_a_random_chain_is_one_round_through_all() -> None:
    count, gap = 200, 16
    order = np.random.default_rng(1).permutation(count).astype(np.uint32)
    chain = np.zeros(count * gap, np.uint32)
    found = run(decoded("loaded_latency", 90)["weave_random"], launch(
        grid=2, block=64, args={"base": chain, "order": order, "count": count, "gap": gap}))["base"]  # fmt: skip
    assert sorted(follow(found, int(order[0]) * gap)) == [gap * i for i in range(count)]


def test_a_stream_chain_takes_every_thread_through_its_own_entries() -> None:
    entries, step = 512, 64
    args = {"base": np.zeros(entries, np.uint32), "entries": entries, "step": step}
    found = run(decoded("loaded_latency", 90)["weave"], launch(grid=2, block=64, args=args))["base"]
    rounds = [follow(found, thread) for thread in range(step)]
    assert sorted(sum(rounds, [])) == list(range(entries))


def test_own_sets_stay_apart() -> None:
    entries, own = 512, 128
    args = {"base": np.zeros(entries, np.uint32), "entries": entries, "own": own}
    found = run(decoded("x_model", 90)["weave_own"], launch(grid=2, block=64, args=args))["base"]
    for start in (0, 37, 130, 511):
        assert {at // own for at in follow(found, start)} == {start // own}
        assert len(follow(found, start)) == own // 32


@pytest.mark.parametrize("name", ["init", "read", "scale", "copy", "triad", "stencil3", "stencil5"])
def test_streams_compute_what_they_are_called(name: str) -> None:
    n, s = 300, -1.5
    random = np.random.default_rng(2)
    a, b, c = (random.random(n + 8) for _ in range(3))
    found = run(decoded("stream", 90)[name], launch(
        grid=3, block=128, args={"a": a, "b": b, "c": c, "s": s, "n": n}))["a"]  # fmt: skip
    wanted = a.copy()
    at = slice(2, n + 2)
    if name in ("init", "scale", "copy", "triad"):
        wanted[:n] = {"init": np.full(n, s), "scale": s * b[:n], "copy": b[:n], "triad": b[:n] + s * c[:n]}[name]
    elif name == "stencil3":
        wanted[at] = s * (b[1 : n + 1] + b[2 : n + 2] + b[3 : n + 3])
    elif name == "stencil5":
        wanted[at] = s * sum(b[k : n + k] for k in range(5))
    assert found == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("alpha", [0, 4, 16])
def test_adding_zeros_leaves_the_chain_alone(alpha: int) -> None:
    """The synthetic kernel ends and stamps every warp, so every address it followed was inside the array."""
    threads, warps = 128, 4
    entries = 16 * threads
    index = np.arange(entries, dtype=np.uint32)
    chain = FIRST + (index + threads) % entries
    found = run(decoded("synthetic_family", 90)[f"synthetic_{alpha}"], launch(
        grid=1, block=threads, args={"stamps": np.zeros(3 * warps, np.uint64), "array": chain.astype(np.uint32),
                                     "zero": 0.0, "rounds": 2}))["stamps"].reshape(-1, 3)  # fmt: skip
    assert (found[:, 1] >= found[:, 0]).all()
    assert found[:, 1].all()


def test_lines_of_a_kind_are_one_round() -> None:
    """Parted by their times, whatever these are; a chain that was there before leaves no trace."""
    lines = 12
    old = np.full(32 * lines, FIRST + 5, np.uint32)
    args = {"list": np.zeros(2 + 2 * lines, np.uint32), "cycles": np.zeros(lines, np.uint32), "array": old,
            "lines": lines, "tries": 2}  # fmt: skip
    found = run(decoded("l2_partitions", 90)["part_lines"], launch(grid=1, block=32, args=args))
    near, far = found["list"][:2].tolist()
    kinds = [found["list"][2 : 2 + near].tolist(), found["list"][2 + lines : 2 + lines + far].tolist()]
    assert sorted(kinds[0] + kinds[1]) == list(range(lines))
    times = found["cycles"]
    cut = (int(times.min()) + int(times.max())) // 2
    assert [line for line in range(lines) if times[line] > cut] == kinds[1]
    for kind in filter(None, kinds):
        for lane in (0, 31):
            assert [at // 32 for at in follow(found["array"], 32 * kind[0] + lane)] == kind
    stamps = np.zeros(3 * 4, np.uint64)
    args = {"stamps": stamps, "array": found["array"], "list": found["list"], "lines": lines, "far": 1, "rounds": 2}
    for chains in (1, 4):
        kernel = decoded("l2_partitions", 90)[f"half_of_l2_{chains}"]
        done = run(kernel, launch(grid=2, block=64, args=args))["stamps"].reshape(-1, 3)
        assert (done[:, 1] >= done[:, 0]).all()
        assert done[:, 1].all()


@pytest.mark.parametrize(("gap", "ordered"), [(1, False), (2, False), (16, True)])
def test_loaded_chains_stay_in_their_array(gap: int, ordered: bool) -> None:  # noqa: FBT001
    """Two chains of every thread, and the loads between the clocks follow what was woven."""
    threads, count = 64, 256
    order = np.random.default_rng(4).permutation(count).astype(np.uint32)
    chain = np.zeros(count * gap, np.uint32)
    if ordered:
        chain[order * gap] = FIRST + np.roll(order, -1) * gap
    else:
        at = np.arange(count * gap, dtype=np.uint32)
        chain = (FIRST + (at + gap * threads * 2) % (count * gap)).astype(np.uint32)
    args = {"stamps": np.zeros(3 * 2, np.uint64), "array": chain, "order": order if ordered else 0, "count": count,
            "gap": gap, "apart": 2 if ordered else 1, "touched": 0, "rounds": 1}  # fmt: skip
    found = run(decoded("loaded_latency", 90)["loaded_cg_2"], launch(grid=1, block=threads, args=args))["stamps"]
    assert found.reshape(-1, 3)[:, 1].all()
