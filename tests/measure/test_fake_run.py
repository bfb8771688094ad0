"""A whole run on a GPU whose parameters are known: what comes out is what was put in."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from support.fake_gpu import FACTS, FakeGpu, Truth
from support.fake_gpu.code import kind
from support.fake_gpu.memory import memory
from support.fake_gpu.sm import Chain, Place, played
from warpbound.machine import gpu
from warpbound.measure import board_page, chains, instruction_mix, loaded_latency, mixes, occupancy, synthetic_family
from warpbound.measure.board_profile import Summary, profile, verdict
from warpbound.measure.case import SHARES, Estimate
from warpbound.measure.runner import RawFile
from warpbound.simulate.synthetic_family import throughput

Run = tuple[FakeGpu, Path, dict[str, RawFile]]
TRUTH = Truth()
ONE_PERCENT = {
    "l1_latency": TRUTH.l1, "l2_latency": TRUTH.near, "l2_far_latency": TRUTH.far, "dram_latency": TRUTH.dram,
    "latency_clock": TRUTH.clock / 1e6, "launch_cost": 1e6 * TRUTH.launch, "block_interval": 1e9 * TRUTH.interval,
    "shared_latency": TRUTH.latencies["lds"], "alu_latency": TRUTH.latencies["fadd"],
    "l1_bandwidth": TRUTH.l1_bandwidth, "l2_bandwidth": TRUTH.l2_bandwidth / 1e9,
    "l2_shared_read_bandwidth": TRUTH.l2_together / 1e9, "l2_far_bandwidth": TRUTH.l2_far / 1e9,
    "l2_write_cost": TRUTH.l2_write_cost, "l2_reach": TRUTH.l2_reach,
    "dram_read_capacity": TRUTH.stream["dram_read_capacity"] / 1e9,
    "dram_write_capacity": TRUTH.stream["dram_write_capacity"] / 1e9,
    "block_start": 1e9 * TRUTH.stream["block_start"], "store_cost": 1e9 * TRUTH.stream["store_cost"],
    "latency_spread": TRUTH.stream["latency_spread"],
    "fp64_lanes": 32 * TRUTH.peaks["dfma"],
    "departure_delay_uncoalesced": TRUTH.delays[1],
}  # fmt: skip
ROUGHER = {  # small parts of large times: a thousandth of noise is a few per cent of them
    "launch_gap": (1e6 * TRUTH.gap, 0.03),
    "dram_wait_read": (1e9 * TRUTH.stream["dram_wait_read"], 0.1),
    "dram_wait_mixed": (1e9 * TRUTH.stream["dram_wait_mixed"], 0.1),
    "l1_lead_reach": (TRUTH.lead_reach, 0.05),  # between two sets, 16 KiB apart
    "dram_mix_cost": (TRUTH.stream["dram_mix_cost"], 0.1),
}


@pytest.mark.parametrize("name", ONE_PERCENT)
def test_parameters_to_one_percent(summary: Summary, name: str) -> None:
    assert summary.estimates[name][0][1].value == pytest.approx(ONE_PERCENT[name], rel=0.01)


@pytest.mark.parametrize("name", ROUGHER)
def test_small_parameters(summary: Summary, name: str) -> None:
    value, within = ROUGHER[name]
    assert summary.estimates[name][0][1].value == pytest.approx(value, rel=within)


def test_what_is_fitted_says_how_well_it_is_known(summary: Summary) -> None:
    for name in ("dram_wait_read", "dram_wait_mixed", "dram_mix_cost", "block_start"):
        found = dict(summary.estimates[name])["stream"]
        assert found.error is not None
        assert abs(found.value / fitted_truth(name) - 1.0) < 5.0 * found.error
        assert found.error < 0.1


def fitted_truth(name: str) -> float:
    """In the unit that is printed."""
    return TRUTH.stream[name] * (1.0 if name == "dram_mix_cost" else 1e9)


def test_direct_readings_stay_beside_the_fit(summary: Summary) -> None:
    by_mechanism = dict(summary.estimates["block_start"])
    assert list(by_mechanism) == ["stream", "launch"]
    assert by_mechanism["launch"].value == pytest.approx(1e9 * TRUTH.start, rel=0.01)
    assert dict(summary.estimates["store_cost"])["launch"].value == pytest.approx(1e9 * TRUTH.store, rel=0.02)
    assert dict(summary.estimates["latency_spread"])["pointer_chase"].value == pytest.approx(TRUTH.tail, rel=0.03)


def simulated(chain: Chain, warps: int) -> float:
    """Instructions, or loads, per cycle of an SM with so many warps: the truth, without runner, noise or other SMs."""
    blocks = -(-warps // 32)
    times = played(chain, Place(blocks, blocks, warps // blocks), 77)
    return len(chain.parts) * chain.turns * chain.ilp * warps / float(times.ended.max())


def least(rates: dict[int, float], wanted: float) -> int | None:
    """Fewest warps with that rate."""
    return min((warps for warps, rate in rates.items() if rate >= wanted), default=None)


@pytest.mark.parametrize("name", TRUTH.latencies)
def test_instructions(summary: Summary, name: str) -> None:
    table = summary.figures["instruction_mix: instructions"]
    assert isinstance(table, dict)
    assert table[name]["latency"] == pytest.approx(TRUTH.latencies[name], rel=0.01)
    assert table[name]["peak"] == pytest.approx(TRUTH.peaks[name], rel=0.01)
    for chains_, warps in table[name]["needed warps"].items():
        wanted = TRUTH.latencies[name] * TRUTH.peaks[name] / int(chains_)  # Little's law, whole warps of a scheduler
        assert warps == min(n for n in instruction_mix.QUICK_WARPS if n % 4 == 0 and n >= wanted)


def test_shared_memory_holds_the_blocks_asked_for(summary: Summary) -> None:
    assert summary.figures["occupancy: not as asked [asked: held]"] == {}
    rows = summary.figures["occupancy: blocks [asked, bytes of each, held, held with 256 B more]"]
    assert isinstance(rows, list)
    assert {asked: (held, more) for asked, _, held, more in rows} == {
        n: (n, None if n == 1 else n - 1) for n in occupancy.BLOCKS
    }


def test_register_banks(summary: Summary) -> None:
    found = summary.figures["instruction_mix: banks"]
    assert found["one conflict [cycle]"] == pytest.approx(TRUTH.bank_conflict, rel=0.01)  # type: ignore[index]


@pytest.mark.parametrize("level", chains.LEVELS)
@pytest.mark.parametrize("pattern", chains.SECTORS)
def test_latency_under_load_and_the_warps_it_needs(summary: Summary, level: str, pattern: str) -> None:
    curve = summary.figures[f"loaded_latency: {level} {pattern}"]
    assert isinstance(curve, dict)
    truth = memory(TRUTH, level, pattern)
    per_GBs = 1e-9 * chains.SECTORS[pattern] * chains.SECTOR * TRUTH.clock * FACTS.sm_count
    assert curve["latency"] == pytest.approx(truth.latency, rel=0.01)
    assert max(curve["peak GB/s by chains"].values()) == pytest.approx(truth.rate * per_GBs, rel=0.01)
    flying = dict[str, list[int]]()
    for ilp, needed in curve["needed warps by chains"].items():
        rates = {w: simulated(Chain((truth,), 16 * loaded_latency.rounds(pattern, w) // int(ilp), int(ilp)), w)
                 for w in loaded_latency.QUICK_WARPS}  # fmt: skip
        for share in loaded_latency.SHARES:
            easier, harder = (least(rates, (share + off) * truth.rate) for off in (-0.01, 0.01))
            said = needed[f"{100 * share:.0f} %"]
            assert easier is not None if said else harder is None
            assert said is None or (easier or 0) <= said <= (harder or 64)
            flying.setdefault(f"{100 * share:.0f} %", []).extend([int(ilp) * said] if said else [])
    assert curve["needed loads in flight"] == {share: min(many, default=None) for share, many in flying.items()}
    assert curve["needed loads in flight"]["90 %"] >= 0.89 * truth.latency * truth.rate  # Little's law


def test_the_contention_curve(summary: Summary) -> None:
    """The simulated SM has a + b X / (c - X) for open arrivals; a given number of warps comes close to it."""
    fit = summary.figures["loaded_latency: dram stream"]["fit"]  # type: ignore[index]
    assert fit["error"] < 0.01
    assert fit["a"] == pytest.approx(TRUTH.dram, rel=0.01)
    assert fit["b"] == pytest.approx(TRUTH.contention * TRUTH.dram, rel=0.15)
    assert fit["c GB/s"] == pytest.approx(TRUTH.stream["dram_read_capacity"] / 1e9, rel=0.01)
    assert 0.0 < fit["standard error of b"] < 0.1
    assert fit["standard error of c"] == 0.0


@pytest.mark.parametrize("level", chains.LEVELS)
@pytest.mark.parametrize("pattern", chains.SECTORS)
def test_contention_lies_in_the_range_that_is_stated(summary: Summary, level: str, pattern: str) -> None:
    """A given number of warps waits less than independent arrivals at the same rate: b comes out too low."""
    fit = summary.figures[f"loaded_latency: {level} {pattern}"]["fit"]  # type: ignore[index]
    truth = memory(TRUTH, level, pattern)
    low, high = fit["b from"], fit["b to"]
    assert low <= truth.growth <= high
    assert high / low <= (1.9 if truth.latency * truth.rate >= 30 else 6.0)


def test_single_accesses_under_load(summary: Summary) -> None:
    """One warp sees a constant and an exponential tail; more warps see more of both."""
    rows = summary.figures["latency_distribution: dram stream"]
    assert isinstance(rows, list)
    first, last = rows[0], rows[-1]
    shares = dict(zip(SHARES, first[3:], strict=True))
    tail = TRUTH.tail * TRUTH.dram
    assert shares[0.0] == pytest.approx(TRUTH.dram - tail + TRUTH.timing, rel=0.01)
    for share in (0.25, 0.5, 0.75):
        wanted = TRUTH.dram - tail + TRUTH.timing - tail * np.log(1.0 - share)
        assert shares[share] == pytest.approx(wanted, rel=0.03)
    assert last[2] > 1.05 * first[2]
    assert all(np.diff(row[3:]).min() >= 0.0 for row in rows)


def test_halves_of_l2(summary: Summary) -> None:
    mapped = summary.figures["l2_partitions: map"]
    assert isinstance(mapped, dict)
    assert mapped["groups"] == {"like the first SM": 66, "opposite": 66, "neither": 0}
    assert mapped["near, timing included [cycle]"] == TRUTH.near + TRUTH.timing
    for name, wanted in {"near": TRUTH.near, "far": TRUTH.far}.items():
        assert summary.figures[f"l2_partitions: {name}"]["latency"] == pytest.approx(wanted, rel=0.01)  # type: ignore[index]
    far = dict(summary.estimates["l2_far_bandwidth"])["l2_partitions"]
    assert far.value == pytest.approx(TRUTH.l2_far / 1e9, rel=0.01)
    assert summary.figures["l2_partitions: near"]["peak GB/s"] == pytest.approx(TRUTH.l2_bandwidth / 1e9, rel=0.01)  # type: ignore[index]
    assert summary.figures["l2_partitions: far over near"] == pytest.approx(TRUTH.far / TRUTH.near, rel=0.01)


def test_one_block_alone(summary: Summary) -> None:
    lanes, warps = (summary.figures[f"one_block: dram {name}"] for name in ("random", "stream, warps of one SM"))
    assert lanes["cycles for each transaction more"] == pytest.approx(TRUTH.transaction, rel=0.01)  # type: ignore[index]
    assert warps["for each sector"] == pytest.approx(TRUTH.departure, rel=0.01)  # type: ignore[index]


def test_the_cusp_of_the_family(summary: Summary) -> None:
    rows = summary.figures["synthetic_family: alpha"]
    assert isinstance(rows, dict)
    assert rows["0"]["latency"] == pytest.approx(TRUTH.dram, rel=0.01)
    assert rows["32"]["latency"] - rows["0"]["latency"] == pytest.approx(32 * TRUTH.latencies["fadd"], rel=0.05)
    assert summary.figures["synthetic_family: adds/cycle/SM (warps)"] == pytest.approx(TRUTH.peaks["fadd"], rel=0.01)
    assert rows["256"]["needed warps 90 %"] is not None
    steady = {w: throughput(Sm(), w, 128) for w in synthetic_family.QUICK_WARPS}
    curve = dict(rows["128"]["curve [warps, loads/cycle/SM]"])
    assert {w: curve[w] for w in (1, 8, 24, 40, 64)} == pytest.approx(
        {w: float(steady[w]) for w in (1, 8, 24, 40, 64)}, rel=0.05
    )


def test_the_family_is_predicted(fake_run: Run, summary: Summary) -> None:
    """Volkov's refined model lacks what makes the cusp round; with adders that fill gradually all points agree."""
    rows = board_page.family(list(fake_run[2]["synthetic_family"].records), summary)
    errors = board_page.errors(rows)
    assert len(rows) == len(synthetic_family.QUICK_WARPS) * len(synthetic_family.QUICK_ALPHAS)
    assert errors["gradual"][1] < 0.05
    assert errors["gradual"][0] < 0.015
    assert errors["gradual"] < errors["refined"] < errors["basic"]


@dataclass(frozen=True)
class Sm:
    """What the simulator's own family asks of an SM."""

    name: str = "of the test"
    memory_latency: float = TRUTH.dram
    memory_throughput: float = memory(TRUTH, "dram", "stream").rate
    alu_latency: float = TRUTH.latencies["fadd"]
    alu_throughput: float = TRUTH.peaks["fadd"]
    issue_throughput: float = 4.0
    schedulers: int = 4


def test_patterns_costs_camping_and_code_length(summary: Summary) -> None:
    figures = summary.figures
    assert figures["shared_patterns: load of 4 B"]["2"] == pytest.approx(2.0, rel=0.01)  # type: ignore[index]
    assert figures["global_patterns: l1 stride"]["32"] == pytest.approx(32.0, rel=0.01)  # type: ignore[index]
    assert figures["costs: barrier"]["16"] == pytest.approx(36.0, rel=0.01)  # type: ignore[index]
    assert figures["camping: worst stride"]["stride"] == TRUTH.camped_stride  # type: ignore[index]
    assert figures["camping: read 4 B, camped/spread"]["4"] == pytest.approx(TRUTH.camping, rel=0.01)  # type: ignore[index]
    full = figures["instruction_cache: 1 warps"]["full speed up to [B]"]  # type: ignore[index]
    assert full == TRUTH.code_cache
    trace = figures["x_model: f(k), large L1, 8192 B per warp"]
    peak = trace["peak [warps, loads/cycle/SM]"][0]  # type: ignore[index]
    assert peak <= 0.9 * TRUTH.l1_size / 8192 < peak + 6


def steady(adds: int) -> float:
    """Groups per cycle of an SM that 64 warps keep full, by the middle half of eight times as many: where additions and
    LDS fill both pipes at once, these warps fill neither (0.80 and 0.94 of it at 4 and 16 additions)."""
    parts = (kind(TRUTH, "lds"), *(kind(TRUTH, "fadd"),) * adds)
    turns = mixes.groups(adds, 1) * mixes.ROUNDS
    place = Place(8 * 16, 16, 4, TRUTH.block_start * TRUTH.clock)
    ended = np.sort(played(Chain(parts, turns), place, 77).ended.ravel())
    first, last = len(ended) // 4, 3 * len(ended) // 4
    return turns * (last - first) / float(ended[last] - ended[first])


def test_mixes_add_up_and_have_their_cusp(summary: Summary) -> None:
    found = summary.figures["mixes: FADD and LDS"]
    assert isinstance(found, dict)
    assert found["others/cycle/SM (warps)"] == pytest.approx(TRUTH.peaks["lds"], rel=0.01)
    assert found["adds/cycle/SM (warps)"] <= TRUTH.peaks["fadd"]
    rows = found["FADD : other"]
    for adds in mixes.QUICK_PARTS:
        alone = adds * TRUTH.latencies["fadd"] + TRUTH.latencies["lds"]
        assert rows[f"{adds}:1"]["latency"] == pytest.approx(alone, rel=0.01)
        best = TRUTH.peaks["lds"] if adds == 1 else steady(adds)
        assert rows[f"{adds}:1"]["best groups/cycle/SM"] == pytest.approx(best, rel=0.01)
    least_warps = 0.9 * (TRUTH.latencies["fadd"] + TRUTH.latencies["lds"])
    assert rows["1:1"]["needed warps 90 %"] >= least_warps
    double = summary.figures["mixes: FADD and LDS, conflicts 2"]
    assert double["others/cycle/SM (warps)"] == pytest.approx(TRUTH.peaks["lds"] / 2, rel=0.01)  # type: ignore[index]


def test_products_of_warp_groups(summary: Summary) -> None:
    assert dict(summary.estimates["tensor_fp16"])["wgmma"].value == pytest.approx(TRUTH.wgmma, rel=0.01)


def test_what_translation_reaches(summary: Summary) -> None:
    found = summary.figures["pointer_chase: pages of 2048 KiB"]
    assert isinstance(found, dict)
    assert found["spanned without delay [B]"] <= TRUTH.reach < found["delayed from [B]"]
    first, last = found["curve [B, cycles]"][0], found["curve [B, cycles]"][-1]
    assert last[1] - first[1] == pytest.approx(TRUTH.translation, rel=0.01)


def test_the_profile_is_a_board(summary: Summary, tmp_path: Path) -> None:
    path = tmp_path / "profile.toml"
    path.write_text(profile(summary, gpu("h200")), "utf-8")
    board = gpu(path)
    assert board.value("dram_latency") == pytest.approx(TRUTH.dram, rel=0.01)
    assert board.parameters["dram_latency"].how == "measured"
    assert "pointer_chase.json" in board.parameters["dram_latency"].source
    assert "standard error" in board.parameters["dram_wait_mixed"].note
    before = gpu("h200").parameters["dram_latency"]
    assert before.value in [claim.value for claim in board.parameters["dram_latency"].others]
    assert board.parameters["tdp"] == gpu("h200").parameters["tdp"] if "tdp" in board.parameters else True


def test_a_profile_of_an_unknown_board_says_what_the_driver_says(summary: Summary) -> None:
    table = tomllib.loads(profile(summary, None))
    assert table["parameters"]["sm_count"]["value"] == FACTS.sm_count
    assert table["parameters"]["dram_bus"]["how"] == "vendor"


def test_the_verdict_counts(summary: Summary) -> None:
    lines = verdict(summary, gpu("h200"))
    assert lines[-1].startswith("Against NVIDIA H200: ")
    assert any(line.startswith("l1_latency") and "catalogue" in line for line in lines)
    alone = Summary(FACTS, "", {"tdp": [("x", Estimate(1, "W"))]})
    assert "not in the catalogue" in verdict(alone, None)[0]


def test_the_fit_of_device_memory_leaves_nothing(summary: Summary) -> None:
    errors = summary.figures["stream: mean error of the fit"]
    assert isinstance(errors, dict)
    assert set(errors) == {"init", "read", "scale"}
    assert max(errors.values()) < 0.01
