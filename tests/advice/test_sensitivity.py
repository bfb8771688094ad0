"""Shares, slack and interactions of a made-up time with known answers."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

import warpbound
from support.unit_of_work import work
from warpbound.advice import sensitivity
from warpbound.advice.sensitivity import Timed
from warpbound.memory.counters import Memory
from warpbound.predict import Place
from warpbound.workload import Workload

GPU = warpbound.gpu("h200")
PLACE = Place(GPU, 1.98e9, 64.0, 132.0)
START = replace(work(warp_instructions=100.0, units={"xu": 40.0}, memory=Memory(dram_bytes_read=320.0)), warps=1e4)


def issue(x: Workload) -> float:
    return x.warp_instructions / 100.0


def dram(x: Workload) -> float:
    return x.memory.dram_bytes_read / 320.0


def timed(time: object) -> Timed:
    def seconds(many: Sequence[tuple[Workload, Place]]) -> Sequence[float]:
        return [time(each) for each, _ in many]  # type: ignore[operator]

    return Timed(START, PLACE, seconds, seconds([(START, PLACE)])[0], {"dram": 3.0, "issue": 2.0, "launch": 1.0})


def test_shares_of_a_sum_are_its_terms() -> None:
    shares = sensitivity.shares(timed(lambda x: 3.0 * dram(x) + 2.0 * issue(x) + 1.0))
    assert shares["dram"] == pytest.approx(3.0 * (1 - sensitivity.GONE))
    assert shares["issue"] == pytest.approx(2.0 * (1 - sensitivity.GONE))
    assert sum(shares.values()) == pytest.approx(6.0)


def test_shares_of_a_tie_are_equal() -> None:
    shares = sensitivity.shares(timed(lambda x: max(3.0 * dram(x), 3.0 * issue(x))))
    assert shares["dram"] == pytest.approx(shares["issue"])


def test_slack_is_the_distance_to_what_binds() -> None:
    slack = sensitivity.slack(timed(lambda x: max(3.0 * dram(x), 1.5 * issue(x))))
    assert slack["dram"] == 1.0
    assert slack["issue"] == 2.0


def test_what_never_binds_has_no_end_of_slack() -> None:
    assert sensitivity.slack(timed(lambda x: 3.0 * dram(x)))["issue"] is None


def test_the_least_change_is_found_to_a_fortieth() -> None:
    (lever,) = sensitivity.least_changes(timed(lambda x: 3.0 * dram(x) + 1.0), 2.5)
    assert lever.resources == ["dram"]
    assert lever.left == 0.5


def test_pairs_are_tried_where_none_alone_suffices() -> None:
    (lever,) = sensitivity.least_changes(timed(lambda x: max(3.0 * dram(x), 3.0 * issue(x))), 1.5)
    assert lever.resources == ["dram", "issue"]
    assert lever.left == 0.5


def test_a_tie_makes_a_pair_worth_more_than_its_parts() -> None:
    pairs = sensitivity.interactions(timed(lambda x: max(3.0 * dram(x), 3.0 * issue(x))))
    assert pairs[0].alone == [1.0, 1.0]
    assert pairs[0].together > 1.2
    assert {word for change in pairs[0].changes for word in ("DRAM", "instructions") if word in change} == {
        "DRAM", "instructions",
    }  # fmt: skip


def test_a_sum_has_no_interaction_to_name() -> None:
    assert sensitivity.interactions(timed(lambda x: 1.0)) == []
