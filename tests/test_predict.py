"""The bounds of one unit of work on one board: worksheets worked by hand, each bound the tightest once, scaling."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.unit_of_work import BOARD, CLOCK, PLACE, ROUND, work, workloads
from warpbound.machine import Gpu, gpu, override
from warpbound.model_inputs.resources import demand, scaled_demand
from warpbound.predict import CHIP, Place, active_sms, predict, saturating_warps, throughput
from warpbound.result.quantities import THROUGHPUT_RESOURCES
from warpbound.workload import Memory, Workload

# --------------------------------------------------------------------- the worksheet of Volkov 3.6


def test_worksheet_of_one_warp() -> None:
    """A warp like that of Table 3.4: so many cycles of each resource, by hand."""
    warp = work(
        warp_instructions=100.0,
        units={"fma": 60.0, "fmaheavy": 80.0, "alu": 40.0, "fp64": 32.0, "xu": 64.0, "lsu": 48.0, "uniform": 8.0,
               "tmem": 24.0},
        tensor={"fp16": 2048.0},
        memory=Memory(
            l1_wavefronts=12.0, l2_sectors_read=20.0, l2_sectors_written=12.0, dram_bytes_read=640.0,
            dram_bytes_written=320.0, shared_wavefronts_load=9.0, shared_wavefronts_store=3.0,
            shared_wavefronts_atomic=2.0,
        ),
    )  # fmt: skip
    assert demand(warp, BOARD, CLOCK) == pytest.approx(
        {
            "issue": 25.0,          # 100 instructions, 4 schedulers of one per cycle
            "fma": 20.0,            # its heavy half, 80 cycles of a sub-core, over 4 sub-cores
            "alu": 10.0,
            "fp64": 8.0,
            "xu": 16.0,
            "lsu": 12.0,
            "uniform": 2.0,
            "tensor": 2.0,          # 2048 multiply-adds at 1024 per cycle and SM
            "tmem": 6.0,            # a part of it in each sub-core
            "shared": 14.0,         # 9 + 3 + 2 wavefronts, one per cycle
            "l1": 12.0,             # 12 wavefronts of 128 B at 128 B per cycle
            "l2": 16.0,             # 32 sectors of 32 B; 6400 GB/s are 64 B per cycle and SM
            "dram": 60.0,           # 960 B; 1600 GB/s are 16 B per cycle and SM
        }
    )  # fmt: skip
    found = predict(warp, PLACE)
    assert found.cycles["latency"] == 25.0  # 800 cycles among 32 warps
    assert (found.bottleneck, found.runner_up) == ("dram", "latency")  # 60, then 25: latency before issue
    assert found.rate == pytest.approx(1 / 60)
    assert found.warps_needed == pytest.approx(800 / 60)  # eq. 3.10
    assert found.utilization["dram"] == pytest.approx(1.0)
    assert found.utilization["xu"] == pytest.approx(16 / 60)
    assert found.time_s is None
    assert found.slowest_s is None


TIGHTEST: dict[str, dict[str, object]] = {
    "latency": {"latency": 8000.0},
    "issue": {"warp_instructions": 1000.0},
    "fetch": {"units": {"fetch": 32 * 900.0}},  # once for the 32 warps of an SM
    "alu": {"units": {"aluheavy": 900.0}},
    "fma": {"units": {"fp16": 900.0}},
    "fp64": {"units": {"fp64": 900.0}},
    "xu": {"units": {"xu": 900.0}},
    "uniform": {"units": {"uniform": 900.0}},
    "lsu": {"units": {"tex": 900.0}},
    "tensor": {"tensor": {"bf16": 1e6}},
    "tmem": {"units": {"tmem": 900.0}},
    "shared": {"memory": Memory(shared_wavefronts_store=200.0)},
    "l1": {"memory": Memory(l1_wavefronts=200.0)},
    "l2": {"memory": Memory(l2_sectors_written=400.0)},
    "dram": {"memory": Memory(dram_bytes_written=4096.0)},
}


@pytest.mark.parametrize("resource", TIGHTEST)
def test_each_bound_is_the_tightest_once(resource: str) -> None:
    found = predict(work(**TIGHTEST[resource]), PLACE)
    assert found.bottleneck == resource
    assert found.bounds.bottleneck == resource
    assert found.rate == pytest.approx(1 / found.cycles[resource])
    assert found.rate == float(found.bounds.rate)
    assert max(found.cycles, key=lambda name: found.cycles[name]) == resource
    assert max(found.utilization.values()) == found.utilization[resource] == pytest.approx(1)


def test_warps_share_the_code_that_a_sub_core_fetches() -> None:
    fetching = work(units={"fetch": 32 * 900.0}, warps=64_000.0)
    eased = predict(scaled_demand(fetching, "fetch", 0.5), PLACE)
    assert (eased.cycles["fetch"], eased.cycles["issue"]) == (450.0, predict(fetching, PLACE).cycles["issue"])
    few = predict(fetching, replace(PLACE, warps_per_sm=16.0))
    assert (few.cycles["fetch"], predict(fetching, PLACE).cycles["fetch"]) == (1800.0, 900.0)
    over = throughput(fetching, PLACE, np.array([16.0, 32.0]))
    assert over.limits["fetch"] == pytest.approx([1 / 1800, 1 / 900])


def test_every_resource_is_among_them() -> None:
    assert {*THROUGHPUT_RESOURCES, "latency"} == set(TIGHTEST)


def test_a_unit_that_no_report_names_binds_nothing() -> None:
    assert set(predict(work(units={"adu": 1e6, "cbu": 1e6, "fma": 4.0}), PLACE).cycles) == {"latency", "issue", "fma"}


# ------------------------------------------------------------------------------------------- time


def test_time_of_a_launch() -> None:
    found = predict(work(warps=64_000.0), PLACE)
    # 640 warps on each SM, 32 at a time in 800 cycles: 20 rounds, 16,000 cycles, 16 us; launch 2 us
    assert found.time_s == pytest.approx(18e-6)
    # not overlapped: 20 rounds of 800 and 640 warps of 25 issue cycles
    assert found.slowest_s == pytest.approx(2e-6 + 16e-6 + 16e-6)
    assert (found.bottleneck, found.runner_up) == ("latency", "issue")


def test_a_small_launch_takes_one_latency() -> None:
    found = predict(work(warps=800.0), PLACE)
    # 8 warps on each SM, all resident at once: 800 cycles, whatever more an SM would hold
    assert found.time_s == pytest.approx(2e-6 + 0.8e-6)
    assert found.cycles["latency"] == 100.0  # 800 cycles among 8 warps
    assert found.utilization["issue"] == pytest.approx(0.25)  # 8 warps x 25 cycles of 800
    assert found.bottleneck == "launch"
    assert found.runner_up == "latency"


def test_the_last_round_counts_whole_in_the_slow_limit() -> None:
    found = predict(work(warps=4_800.0), PLACE)  # 48 warps on each SM: a round and a half
    assert found.time_s == pytest.approx(2e-6 + 1.2e-6)
    assert found.slowest_s == pytest.approx(2e-6 + 2 * 0.8e-6 + 48 * 25e-9)


def test_the_launch_is_the_runner_up_where_it_is_next() -> None:
    found = predict(work(warps=9_600.0, latency=100.0), PLACE)
    # 96 warps on each SM: issue 96 x 25 = 2400 cycles, launch 2000, latency 96 / 32 x 100 = 300
    assert (found.bottleneck, found.runner_up) == ("issue", "launch")
    shorter = predict(work(warps=6_400.0, latency=100.0), PLACE)  # issue 1600 cycles, launch 2000
    assert (shorter.bottleneck, shorter.runner_up) == ("launch", "issue")


def test_a_loop_is_launched_by_nobody() -> None:
    assert "launch" not in {predict(work(), PLACE).bottleneck, predict(work(), PLACE).runner_up}


def test_few_sms_share_the_chips_rates() -> None:
    heavy = work(
        units={"xu": 64.0}, memory=Memory(dram_bytes_read=960.0, l2_sectors_read=32.0, l1_wavefronts=12.0)
    )
    alone = predict(heavy, replace(PLACE, active_sms=25.0))
    everyone = predict(heavy, PLACE)
    assert alone.cycles["dram"] == pytest.approx(everyone.cycles["dram"] / 4)  # 25 SMs, each with four shares
    assert alone.cycles["l2"] == pytest.approx(everyone.cycles["l2"] / 4)
    for own in ("l1", "xu", "issue", "latency"):
        assert alone.cycles[own] == everyone.cycles[own]


def test_fewer_sms_take_longer_for_the_same_launch() -> None:
    launch = work(warps=64_000.0, units={"xu": 640.0})
    all_sms, half = predict(launch, PLACE), predict(launch, replace(PLACE, active_sms=50.0))
    assert all_sms.time_s is not None
    assert half.time_s is not None
    assert half.time_s - 2e-6 == pytest.approx(2 * (all_sms.time_s - 2e-6))


@pytest.mark.parametrize(
    "blocks, active", [(1, 1), (50, 50), (100, 100), (101, 50.5), (150, 75), (200, 100), (10_001, 10_001 / 101)]
)
def test_an_sm_that_waits_for_the_busiest_counts_in_part(blocks: int, active: float) -> None:
    assert active_sms(blocks, 100.0) == pytest.approx(active)


def test_time_is_that_of_the_busiest_sm() -> None:
    # 101 blocks of 8 warps on 100 SMs: one SM has two blocks, 16 warps of 160 XU cycles
    made = work(warps=808.0, units={"xu": 640.0})
    found = predict(made, replace(PLACE, active_sms=active_sms(101, 100.0)))
    assert found.time_s == pytest.approx(2e-6 + 16 * 160e-9)
    # while DRAM serves all warps alike: 808 x 960 B at 1600 GB/s
    made = work(warps=808.0, memory=Memory(dram_bytes_read=96_000.0))
    found = predict(made, replace(PLACE, active_sms=active_sms(101, 100.0)))
    assert found.time_s == pytest.approx(2e-6 + 808 * 96_000 / 1600e9)


def test_warps_that_saturate_each_resource() -> None:
    found = saturating_warps(work(units={"xu": 64.0}), BOARD, CLOCK)
    assert found["xu"] == pytest.approx(800 / 16)
    assert found["issue"] == pytest.approx(800 / 25)
    assert found["dram"] == float("inf")


def test_needed_warps_are_where_the_bounds_cross() -> None:
    busy = work(units={"xu": 96.0})
    needed = predict(busy, PLACE).warps_needed
    assert needed == pytest.approx(800 / 25)
    crossing = throughput(busy, PLACE, np.array([0.5 * needed, needed, 2 * needed]))
    assert list(crossing.bottleneck) == ["latency", "latency", "issue"]
    assert crossing.rate[1] == pytest.approx(float(crossing.limits["issue"][1]))


# ---------------------------------------------------------------------------------------- scaling


@given(workloads(), st.integers(1, 63))
@settings(max_examples=150, deadline=None)
def test_more_warps_never_hurt(made: Workload, warps: int) -> None:
    few, more = (predict(made, replace(PLACE, warps_per_sm=float(n))) for n in (warps, warps + 1))
    assert more.rate >= few.rate
    if few.time_s is not None and more.time_s is not None:
        assert more.time_s <= few.time_s


@given(workloads(), st.sampled_from(["dram_achievable_bandwidth", "l2_bandwidth", "l1_bandwidth", "tensor_fp16"]))
@settings(max_examples=150, deadline=None)
def test_a_faster_machine_never_hurts_and_helps_at_most_as_much(made: Workload, parameter: str) -> None:
    faster = override(BOARD, {parameter: 2 * _in_unit(parameter)})
    before, after = predict(made, PLACE), predict(made, replace(PLACE, gpu=faster))
    assert before.rate <= after.rate * (1 + 1e-12) <= 2 * before.rate * (1 + 2e-12)


def _in_unit(parameter: str) -> float:
    return float(ROUND.get(parameter, 1024))


@given(workloads())
@settings(max_examples=150, deadline=None)
def test_twice_the_clock_with_twice_the_bandwidth_is_half_the_time(made: Workload) -> None:
    faster = override(
        BOARD, {p: 2 * ROUND[p] for p in ("l2_bandwidth", "dram_achievable_bandwidth")} | {"launch_cost": 1.0}
    )
    before, after = predict(made, PLACE), predict(made, replace(PLACE, gpu=faster, clock_hz=2 * CLOCK))
    assert after.cycles == pytest.approx(before.cycles)
    assert after.rate == pytest.approx(before.rate)
    if before.time_s is not None:
        assert after.time_s == pytest.approx(before.time_s / 2)


@given(workloads())
@settings(max_examples=150, deadline=None)
def test_utilization_is_a_fraction_and_the_interval_holds_the_time(made: Workload) -> None:
    found = predict(made, PLACE)
    assert all(0 <= used <= 1 for used in found.utilization.values())
    assert found.bottleneck != found.runner_up
    if found.time_s is not None and found.slowest_s is not None:
        assert found.time_s <= found.slowest_s * (1 + 1e-12)
        assert found.slowest_s - 2e-6 <= 3.01 * (found.time_s - 2e-6)  # two parts, and a round begun counts whole


@pytest.mark.parametrize("resource", [name for name in TIGHTEST if name not in ("latency", "fetch")])
def test_easing_a_resource_eases_it_alone(resource: str) -> None:
    full = work(
        units={"fma": 60.0, "fp16": 90.0, "alu": 40.0, "fp64": 32.0, "xu": 64.0, "lsu": 48.0, "uniform": 8.0,
               "tmem": 8.0},
        tensor={"fp16": 2048.0},
        memory=Memory(**dict.fromkeys(Memory.__dataclass_fields__, 10.0)),
    )
    before, after = demand(full, BOARD, CLOCK), demand(scaled_demand(full, resource, 0.5), BOARD, CLOCK)
    assert {name for name in before if before[name] != after[name]} == {resource}
    assert after[resource] == pytest.approx(before[resource] / 2)


def test_what_the_chip_shares() -> None:
    assert set(CHIP) == {"l2", "dram"}


def test_boards_of_the_catalogue_answer(any_board: Gpu) -> None:
    place = Place(any_board, any_board.value("boost_clock"), 16.0, any_board.value("sm_count"))
    found = predict(work(**TIGHTEST["dram"], warps=1e6), place)
    assert found.bottleneck == "dram"
    assert found.time_s is not None
    moved = 4096e6 / (found.time_s - any_board.value("launch_cost"))
    assert moved == pytest.approx(any_board.value("dram_achievable_bandwidth"))


@pytest.fixture(params=["v100-pcie", "a100-sxm-80gb", "h200", "rtx-4090"])
def any_board(request: pytest.FixtureRequest) -> Gpu:
    return gpu(request.param)
