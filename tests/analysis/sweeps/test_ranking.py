"""Configurations of tunable kernels come out in a sane order, with what explains the best and the worst."""

import time
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from support.tuning_spaces import SPACES, ranked, ranked_as_text, summary

pytestmark = pytest.mark.cuda

Entry = dict[str, Any]
FETCHES = "a sub-core fetches code from"
CHOSEN = {  # five matrix products from no reuse in registers to much of it, two convolutions, two stencils
    "one each": ("gemm", "TILE == 16 and DEPTH == 4 and WORK == 1 and UNROLL == 4"),
    "four each": ("gemm", "TILE == 32 and DEPTH == 8 and WORK == 2 and UNROLL == 8"),
    "sixteen each": ("gemm", "TILE == 64 and DEPTH == 8 and WORK == 4 and UNROLL == 8"),
    "rolled": ("gemm", "TILE == 64 and DEPTH == 8 and WORK == 4 and UNROLL == 1"),
    "few filter rows": ("convolution2d", "X == 32 and Y == 2 and EACH == 1 and UNROLL == 1"),
    "filter unrolled": ("convolution2d", "X == 32 and Y == 8 and EACH == 4 and UNROLL == 7"),
    "two rows": ("stencil3d", "X == 32 and Y == 2 and PLANES == 16 and UNROLL == 1"),
    "four rows": ("stencil3d", "X == 64 and Y == 4 and PLANES == 16 and UNROLL == 1"),
}
USUAL = ("two rows", "four rows")  # in the usual tests, too


def one(space: str, where: str) -> Entry:
    """The answer for the one tuning for which that is true."""
    (found,) = ranked(SPACES[space], where, processes=1)
    return found


@cache
def chosen(title: str) -> Entry:
    """The answer for one of CHOSEN, computed once."""
    return one(*CHOSEN[title])


@pytest.mark.parametrize("name", SPACES)
def test_a_space_has_a_hundred_different_tunings(name: str) -> None:
    names = [one.name for one in SPACES[name].tunings()]
    assert len(set(names)) == len(names) >= 100


@pytest.mark.parametrize(("worse", "better"), [
    ("one each", "four each"),  # results per thread: fewer reads of shared memory per multiplication
    ("four each", "sixteen each"),
    ("rolled", "sixteen each"),  # the same work with more instructions
    ("few filter rows", "filter unrolled"),
    ("two rows", "four rows"),  # the rows on both sides are read for every two rows, not for every four
])  # fmt: skip
def test_known_worse_is_ranked_below_known_better(worse: str, better: str) -> None:
    assert chosen(worse)["time_s"] > chosen(better)["time_s"]


@pytest.mark.broad
def test_products_rank_as_their_shared_memory_traffic() -> None:
    """Each multiplication takes 2 / WORK words of shared memory: counted, not predicted."""
    products = sorted(map(chosen, ("one each", "four each", "sixteen each")), key=lambda it: -it["time_s"])
    read = [it["memory"]["shared_wavefronts_load"] for it in products]
    assert all(more > fewer for more, fewer in pairwise(read))


@pytest.mark.broad
def test_all_products_do_the_same_arithmetic() -> None:
    counted = {chosen(name)["flop"]["fp32"] for name in ("one each", "four each", "sixteen each", "rolled")}
    assert counted == {2 * 1024**3}


@pytest.mark.parametrize(
    "title", [title if title in USUAL else pytest.param(title, marks=pytest.mark.broad) for title in CHOSEN]
)
def test_every_answer_is_explained(title: str) -> None:
    explained(chosen(title))


def explained(entry: Entry) -> None:
    """Bottleneck, what would help, and the code against the instruction caches: a remark and a bound where the nearest
    does not hold it."""
    assert entry["mode"] == "dynamic"
    assert entry["bottleneck"] in {bound["resource"] for bound in entry["bounds"]} | {"latency", "launch"}
    assert entry["whatifs"][0]["speedup"] > 1
    assert entry["whatifs"][0]["why"]
    code = entry["execution"]["code"]
    nearest = code["caches"][0]
    fits = code["hot_bytes"] <= nearest["bytes"]
    assert (code["held_by"] == nearest["name"]) == fits
    said = any(FETCHES in note for note in entry["confidence"]["assumed"])
    assert said == (not fits)
    assert fits or "fetch" in {bound["resource"] for bound in entry["bounds"]}


@pytest.mark.parametrize(
    "where", ["X == 32 and Y == 8 and UNROLL == 1", "X == 64 and Y == 4 and EACH == 1 and UNROLL == 1"]
)
def test_times_alone_are_those_of_whole_answers(where: str) -> None:
    """The command prints times, and explains the fastest and the slowest; JSON has everything of every tuning."""
    whole, quick = (how(SPACES["convolution2d"], where, processes=1) for how in (ranked, ranked_as_text))
    same = ("defines", "time_s", "bottleneck", "runner_up", "bounds", "confidence", "occupancy")
    for field in same:
        assert [entry[field] for entry in quick] == [entry[field] for entry in whole], field
    assert quick[0] == whole[0]
    assert quick[-1] == whole[-1]
    assert not any(entry["whatifs"] for entry in quick[1:-1])


@pytest.mark.broad
def test_unrolled_code_beyond_the_nearest_instruction_cache_is_fetched() -> None:
    found = one("gemm", "TILE == 64 and DEPTH == 32 and WORK == 8 and UNROLL == 32")
    assert found["execution"]["code"]["hot_bytes"] > 32 * 1024
    explained(found)


@pytest.mark.full
@pytest.mark.parametrize("name", SPACES)
def test_a_hundred_tunings_are_ranked_and_both_ends_explained(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # nothing compiled before
    begun = time.perf_counter()
    found = ranked(SPACES[name])
    print(summary(found, time.perf_counter() - begun, 0.0))  # noqa: T201  (measured, never asserted: docs/ranking.md)
    assert len(found) >= 100
    assert not any("error" in entry for entry in found)
    explained(found[0])
    explained(found[-1])
    assert found[-1]["time_s"] > 1.5 * found[0]["time_s"], "the choice matters"
