"""Configurations of tunable kernels come out in a sane order, with what explains the best and the worst."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tuning_spaces import SPACES, Configuration, Ranked, predicted, ranking, summary

pytestmark = pytest.mark.cuda


def one(space: str, **macros: int) -> Configuration:
    """The configuration with exactly these macros."""
    (found,) = [each for each in SPACES[space]() if macros.items() <= dict(each.macros).items()]
    return found


@pytest.fixture(scope="module")
def asked() -> dict[str, Ranked]:
    """Five matrix products from no reuse in registers to much of it, two convolutions, two stencils."""
    return {
        "one each": predicted(one("gemm", TILE=16, DEPTH=4, WORK=1, UNROLL=4)),
        "four each": predicted(one("gemm", TILE=32, DEPTH=8, WORK=2, UNROLL=8)),
        "sixteen each": predicted(one("gemm", TILE=64, DEPTH=8, WORK=4, UNROLL=8)),
        "rolled": predicted(one("gemm", TILE=64, DEPTH=8, WORK=4, UNROLL=1)),
        "few filter rows": predicted(one("convolution2d", X=32, Y=2, EACH=1, UNROLL=1)),
        "filter unrolled": predicted(one("convolution2d", X=32, Y=8, EACH=4, UNROLL=7)),
        "narrow": predicted(one("stencil3d", X=16, Y=4, PLANES=16, UNROLL=1)),
        "wide": predicted(one("stencil3d", X=64, Y=4, PLANES=16, UNROLL=1)),
    }


@pytest.mark.parametrize("name", SPACES)
def test_a_space_has_a_hundred_different_configurations(name: str) -> None:
    space = SPACES[name]()
    assert len(set(space)) == len(space) >= 100


@pytest.mark.parametrize(("worse", "better"), [
    ("one each", "four each"),  # results per thread: fewer reads of shared memory per multiplication
    ("four each", "sixteen each"),
    ("rolled", "sixteen each"),  # the same work with more instructions
    ("few filter rows", "filter unrolled"),
    ("narrow", "wide"),  # 16 columns: two rows, hence more sectors, per request
])  # fmt: skip
def test_known_worse_is_ranked_below_known_better(asked: dict[str, Ranked], worse: str, better: str) -> None:
    assert asked[worse].time_s > asked[better].time_s


def test_products_rank_as_their_shared_memory_traffic(asked: dict[str, Ranked]) -> None:
    """Each multiplication takes 2 / WORK words of shared memory: counted, not predicted."""
    products = sorted((asked[name] for name in ("one each", "four each", "sixteen each")), key=lambda it: -it.time_s)
    read = [it.entry["memory"]["shared_wavefronts_load"] for it in products]
    assert all(more > fewer for more, fewer in pairwise(read))


def test_all_products_do_the_same_arithmetic(asked: dict[str, Ranked]) -> None:
    counted = {asked[name].entry["flop"]["fp32"] for name in ("one each", "four each", "sixteen each", "rolled")}
    assert counted == {2 * 1024**3}


def test_every_answer_is_explained(asked: dict[str, Ranked]) -> None:
    for found in asked.values():
        explained(found.entry)


def explained(entry: dict[str, Any]) -> None:
    """Bottleneck, what would help, and the code against the instruction caches; its cost in the time, or that it has
    none there."""
    assert entry["mode"] == "dynamic"
    assert entry["bottleneck"] in {bound["resource"] for bound in entry["bounds"]} | {"latency", "launch"}
    assert entry["whatifs"][0]["speedup"] > 1
    assert entry["whatifs"][0]["why"]
    code = entry["execution"]["code"]
    nearest = code["caches"][0]
    fits = code["hot_bytes"] <= nearest["bytes"]
    assert (code["held_by"] == nearest["name"]) == fits
    said = any("instruction fetches are not in the time" in note for note in entry["confidence"]["assumed"])
    assert said == (not fits)


def test_unrolled_code_beyond_the_nearest_instruction_cache_says_that_fetches_are_not_in_the_time() -> None:
    found = predicted(one("gemm", TILE=64, DEPTH=32, WORK=8, UNROLL=32))
    assert found.entry["execution"]["code"]["hot_bytes"] > 32 * 1024
    explained(found.entry)


@pytest.mark.full
@pytest.mark.parametrize("name", SPACES)
def test_a_hundred_configurations_are_ranked_and_both_ends_explained(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # nothing compiled before
    found, seconds = ranking(SPACES[name]()[:100])
    print(summary(found, seconds))  # noqa: T201  (measured, never asserted: see docs/ranking.md)
    assert len(found) == 100
    explained(found[0].entry)
    explained(found[-1].entry)
    assert found[-1].time_s > 1.5 * found[0].time_s, "the choice matters"
