"""The papers' pictures and examples, run: scenarios.toml has what they print, or state in words."""

import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.logged_run import run_logged
from warpbound.models.volkov_2016 import contention, mixes
from warpbound.simulate.experiment import Experiment
from warpbound.simulate.scenarios import SCENARIOS
from warpbound.simulate.scenarios import hong_kim_2009 as hong_kim
from warpbound.simulate.scenarios import volkov_2016 as volkov
from warpbound.simulate.timelines import request_percentiles
from warpbound.simulate.warp_simulation import Outcome, run

CASES = tomllib.loads((Path(__file__).parent / "scenarios.toml").read_text())["case"]
QUANTITIES: dict[str, Callable[[Experiment, Outcome, str], Any]] = {
    "cycles": lambda x, done, _: done.cycles,
    "in_memory": lambda x, done, _: done.in_memory,
    "issues_of_warp": lambda x, done, warp: issues(done, int(warp)),
    "rate_of": lambda x, done, name: sum(r for s, r in zip(x.steps, done.rates, strict=True) if s.name == name),
    "most_common_occupancy_below_full": lambda x, done, _: most_common_below_full(done),
}


def issues(done: Outcome, warp: int) -> list[float]:
    own = done.log[(done.log["kind"] == "issue") & (done.log["warp"] == warp)]
    return list(own["cycle"])


def most_common_below_full(done: Outcome) -> int:
    times, warps = done.occupancy_over_time()
    lasted = np.bincount(warps[:-1], weights=np.diff(times))
    lasted[[0, -1]] = 0.0
    return int(np.argmax(lasted))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_what_the_paper_says(case: dict[str, Any]) -> None:
    x = SCENARIOS[case["scenario"]]().experiment
    name = max((q for q in QUANTITIES if case["quantity"].startswith(q)), key=len)
    got = QUANTITIES[name](x, run_logged(x), case["quantity"].removeprefix(name).removeprefix("_"))
    assert np.shape(got) == np.shape(case["expected"])
    np.testing.assert_allclose(got, case["expected"], rtol=case.get("rtol", 1e-12))


def test_cases_say_where_they_stand() -> None:
    assert len({case["id"] for case in CASES}) == len(CASES)
    assert all(case["where"] and case["kind"] in ("printed", "derived") for case in CASES)


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_says_what_it_is_and_runs(name: str) -> None:
    one = SCENARIOS[name]()
    assert one.title
    assert one.source
    assert run(one.experiment).issued.sum() > 0


@pytest.mark.parametrize("policy", ["round_robin", "greedy_then_oldest", "greedy_then_youngest", "oldest"])
@pytest.mark.parametrize("case", [c for c in CASES if c["id"].startswith("hk.case")], ids=lambda case: case["id"])
def test_hong_and_kims_totals_hold_for_every_scheduler(case: dict[str, Any], policy: str) -> None:
    x = SCENARIOS[case["scenario"]]().experiment
    assert run(replace(x, machine=replace(x.machine, policy=policy))).cycles == case["expected"]


# ---------------------------------------------------------------- Hong and Kim, synchronisation


@pytest.mark.parametrize("warps", [1, 2, 4, 6])
@pytest.mark.parametrize("turns", [1, 2, 5])
def test_a_barrier_costs_a_departure_for_each_other_warp(warps: int, turns: int) -> None:
    """Eq. 26 with one block: Departure_delay x (N_pWB - 1) a barrier; the last one has nothing behind it."""
    free, met = (run(hong_kim.synchronised(turns, warps, 1, w)).cycles for w in (hong_kim.FREELY, hong_kim.MEETING))
    assert met - free == 2.0 * (warps - 1) * (turns - 1)


def delay(warps: int, blocks: int) -> float:
    """What the barrier of program A adds to program B, beyond its own issue by the warps of all blocks."""
    a, b = (run(hong_kim.program(warps, blocks, lines)).cycles for lines in (hong_kim.PROGRAM_A, hong_kim.PROGRAM_B))
    return a - b


def test_synchronisation_costs_more_with_more_warps_and_more_blocks() -> None:
    """Section 6.4, Figures 30 and 31: the cost rises with the warps of a block, and with the blocks."""
    for blocks in (1, 2, 4):
        found = [delay(warps, blocks) for warps in (1, 2, 4, 8)]
        assert found == sorted(found)
        assert found[-1] > found[0]
    assert delay(4, 1) < delay(4, 2) < delay(4, 4)


# ---------------------------------------------------------------- Volkov, chapter 5 and 6


def held(done: Outcome, begin: float, end: float) -> np.ndarray:
    """Resident warps at a thousand moments of that share of the run."""
    times, warps = done.occupancy_over_time()
    moments = np.linspace(begin * done.cycles, end * done.cycles, 1000)
    return np.asarray(warps[np.searchsorted(times, moments, side="right") - 1])


def test_warps_that_start_together_drift_apart() -> None:
    """Section 5.6: blocks start at about the same time at first; later their starts are spread over the time."""
    done = run(volkov.figure_5_1("5.1").experiment)
    starts = np.sort(done.started.reshape(-1, 4)[:, 0])

    def unevenness(these: np.ndarray) -> float:
        gaps = np.diff(these)
        return float(gaps.std() / gaps.mean())

    assert unevenness(starts[:80]) > unevenness(starts[-500:])
    life = float(np.nanmean(done.latencies))
    times, warps = done.occupancy_over_time()
    rounds = [warps[(times > life * (n + 0.5)) & (times < life * (n + 1.5))].min() for n in range(3)]
    assert all(26 <= least <= 36 for least in rounds)  # "drops nearly in half" between rounds
    early, late = held(done, 0.002, 3 * life / done.cycles), held(done, 0.6, 0.95)
    assert np.mean(early == 64) > 0.7  # "equals 64 warps most of the time"
    assert np.mean(late == 64) < 0.6  # over half of the time: more than the thesis' "relatively short periods"
    assert 44 <= np.percentile(late, 5) <= 52  # "oscillates between approximately 48 and 64 warps"
    assert late.max() == 64


def test_smaller_blocks_lose_less() -> None:
    """Section 5.8, Figure 5.3: with 64 warps, shorter blocks vary less and are faster."""
    small, large = (run(volkov.figure_5_3(warps).experiment) for warps in (4, 32))
    assert small.occupancy > large.occupancy
    assert small.rates[0] > large.rates[0]


def test_persistent_blocks_end_unevenly() -> None:
    """Section 5.9, Figure 5.4: about half end two thirds through; more blocks are a few per cent faster."""
    persistent, many = (run(volkov.figure_5_4(*how).experiment) for how in ((2, 40_000), (80, 1_000)))
    ended = np.sort(persistent.ended) / persistent.cycles
    assert 0.3 < ended[len(ended) // 2 - 1] < 0.75
    assert 1.0 < persistent.cycles / many.cycles < 1.1


@pytest.mark.parametrize("warps", [4, 16, 32, 48, 64])
def test_latency_grows_with_load_as_fitted(warps: int) -> None:
    """Sections 6.4 and 6.5 with the GTX 680's values of Tables 4.1 and 6.5: latency at so many warps."""
    done = run(volkov.loaded_latency(warps).experiment)
    mix = mixes.Mix(warps, 0.0, 301.0, 9.0, 0.1338, 4.0, 4.0)
    fitted = contention.Memory(300.0, (32.0,), (170e9 / (128 * 8 * 1.124e9),))
    assert done.request_latency == pytest.approx(warps / contention.predict(mix, fitted).rate, rel=0.05)


def test_latencies_scatter_as_measured() -> None:
    """Table 6.6: the middle 90 % of single latencies lie in 292 to 324 cycles when idle; far wider when loaded."""
    idle, loaded = (request_percentiles(run_logged(volkov.loaded_latency(warps).experiment)) for warps in (1, 64))
    assert (idle["5"], idle["50"], idle["95"]) == pytest.approx((292, 300, 324), abs=3)
    assert loaded["95"] - loaded["5"] > 5 * (idle["95"] - idle["5"])
    assert loaded["0"] == pytest.approx(280, abs=12)
    measured = {"5": 340, "25": 416, "50": 488, "75": 572, "95": 708}  # Table 6.6 at 144 GB/s
    assert {name: loaded[name] for name in measured} == pytest.approx(measured, rel=0.11)


def test_loaded_latencies_are_a_bell_curve() -> None:
    """Figure 6.5, bottom right: one maximum in the middle, where idle memory has it at the left end."""
    for warps, middle in ((1, (0.0, 0.4)), (64, (0.3, 0.7))):
        spent = run_logged(volkov.loaded_latency(warps).experiment).request_latencies
        counts, edges = np.histogram(spent, 16, np.percentile(spent, [0.5, 99.5]))
        place = (edges[counts.argmax()] - edges[0]) / (edges[-1] - edges[0])
        assert middle[0] <= place <= middle[1]
