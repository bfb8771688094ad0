"""More at once in one warp: how far each degree pays, what registers it takes, what a chain of loads forbids."""

from dataclasses import replace

import pytest

from support.unit_of_work import BOARD, PLACE, work
from warpbound.predict import predict
from warpbound.residency import occupancy
from warpbound.whatif import whatifs
from warpbound.whatif.costs import Needs, takes
from warpbound.whatif.parallelism import (
    ahead,
    degree_of,
    interleaved,
    items,
    registers_of_loads,
    separable,
    worthwhile_degrees,
)
from warpbound.workload import Memory

FULL = occupancy(BOARD, 256, 32, 0)
LOOP = work(latency=16_000.0, parts={"issue": 400.0, "fixed": 400.0, "dram": 15_200.0}, phases=(1,) * 16)
WIDE = Memory(global_load_requests=10.0, l1_sectors_load=160.0, ideal_sectors=160.0)  # 16 B per lane


def test_loads_of_several_rounds_are_waited_for_together() -> None:
    waits = {degree_of(each.change): len(each.work.phases) for each in ahead(LOOP, PLACE, FULL)}
    assert waits == {2: 8, 4: 4, 8: 2}
    latency = {degree_of(each.change): each.work.latency for each in ahead(LOOP, PLACE, FULL)}
    assert latency == {degree: pytest.approx(800 + 15_200 / degree) for degree in (2, 4, 8)}
    assert not list(ahead(replace(LOOP, phases=(4,)), PLACE, FULL))
    assert [len(each.work.phases) for each in ahead(replace(LOOP, phases=(1, 1)), PLACE, FULL)] == [1]


def test_items_wait_together_and_issue_in_turn() -> None:
    four = interleaved(replace(LOOP, warps=640.0), 4)
    assert four.latency == pytest.approx(16_000 + 3 * 400)
    assert four.phases == (4,) * 16
    assert four.warps == 160.0


def test_registers_are_those_of_the_loads_held() -> None:
    assert registers_of_loads(replace(LOOP, phases=(2, 4))) == 3.0
    assert registers_of_loads(replace(LOOP, phases=(2, 4), memory=WIDE)) == 12.0
    needs = Needs(2.0, 1, 256, 0, 0, FULL)
    changes = [each.change for each in ahead(replace(LOOP, phases=(2,) * 16), PLACE, FULL)]
    assert [takes("loads in flight", change, needs).registers for change in changes] == [2, 6, 14]


def test_registers_that_do_not_fit_cost_warps() -> None:
    """64 registers x 256 threads: four blocks of eight warps; 56 more leave two."""
    tight = occupancy(BOARD, 256, 64, 0)
    assert tight.warps_per_sm == 32
    held = {degree_of(each.change): each.place.warps_per_sm for each in ahead(
        replace(LOOP, phases=(8,) * 16), PLACE, tight)}  # fmt: skip
    assert held == {2: 24.0, 4: 16.0, 8: 16.0}
    assert not list(ahead(replace(LOOP, phases=(300,) * 16), PLACE, tight))  # no thread has so many
    assert [degree_of(each.change) for each in items(replace(LOOP, phases=(30,) * 16), PLACE, tight)] == [2, 4]


def test_a_degree_stays_where_it_gains_enough_over_the_one_before() -> None:
    tried = list(ahead(LOOP, PLACE, FULL))
    pairs = [(gains, [degree_of(each.change) for each, stays in
              zip(tried, worthwhile_degrees(list(zip(tried, gains, strict=True))), strict=True) if stays])
             for gains in ((1.5, 2.0, 2.5), (1.5, 2.0, 2.05), (1.5, 1.5, 2.0), (1.5, 1.4, 1.3))]  # fmt: skip
    assert [degrees for _, degrees in pairs] == [[8], [4], [8], [2]]


def test_the_degree_of_an_answer_is_the_last_that_pays() -> None:
    """Latency 16,000 / 32 warps = 500 cycles, the next resource 100: four times the loads reach 144, eight 100."""
    for busy, degree in ((100.0, 8), (290.0, 2)):
        made = replace(LOOP, units={"xu": 4 * busy})
        (change,) = [w for w in whatifs(made, PLACE, FULL, chain=lambda: 1.0) if "loads in flight" in w.change]
        assert degree_of(change.change) == degree
        waited = max(busy, (800 + 15_200 / degree) / 32)
        assert change.speedup == pytest.approx(predict(made, PLACE).cycles["latency"] / waited)


@pytest.mark.parametrize(
    ("chain", "degrees"), [(1.0, [2, 4, 8]), (2.0, [2, 4, 8]), (4.0, [2, 4]), (8.0, [2]), (16.0, [])]
)
def test_a_chain_of_loads_bounds_the_degree(chain: float, degrees: list[int]) -> None:
    assert [degree for degree in (2, 4, 8) if separable(LOOP, chain, degree)] == degrees
    assert separable(LOOP, 1000.0, 1.0)
