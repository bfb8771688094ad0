"""predict_launch: what it returns, how it behaves for small and odd launches, what it says of boards that lack data."""

from dataclasses import replace

import numpy as np
import pytest

from warpbound.errors import InputError
from warpbound.machine import Claim, catalogue, gpu, override
from warpbound.time_model import LaunchedWork, calibrate, predict_launch
from warpbound.time_model.parameter_uncertainty import SAME_PATH, of_quantity, spread
from warpbound.time_model.parameters import (
    CALIBRATED,
    FITTED,
    RELATIVES,
    VARIED,
    fitted_parameters,
    from_relatives,
    kind_of_memory,
    two_sides,
)
from warpbound.time_model.stall_reasons import REASONS
from warpbound.time_model.streams import from_l2, workload

A100 = gpu("a100-sxm-80gb")
CLOCK = 1.41e9


def spread_on(name, board):
    return spread(name, fitted_parameters(board), board)


def ask(name="scale", blocks=100_000, fits=8, warps=8, board=A100, work=None):
    return predict_launch(LaunchedWork(work or workload(name, board, CLOCK), board, CLOCK, blocks, fits, warps))


def test_what_it_says():
    found = ask()
    assert found.bottleneck == "dram"
    assert found.runner_up == "l2"
    assert found.interval[0] < found.time_s < found.interval[1]
    assert found.utilization["dram"] == pytest.approx(0.97, abs=0.02)
    assert found.waiting["dram"] > found.waiting["l2"] >= 0
    assert found.rate * (found.residence_s + sum(found.waiting.values())) == pytest.approx(8, rel=1e-6)
    assert set(found.doubts) == set(VARIED)
    assert found.assumed == ()
    moved = 100_000 * 8 * 512
    assert moved / 1.75e12 < found.time_s < moved / 1.6e12


def test_few_blocks_cost_the_launch():
    one = ask(blocks=1)
    assert one.bottleneck == "launch"
    assert one.time_s == pytest.approx(A100.value("launch_gap") + one.residence_s, rel=0.05)
    assert ask(blocks=2).time_s >= one.time_s


@pytest.mark.parametrize("name", ["init", "read", "scale"])
def test_more_blocks_never_take_less(name):
    counts = [1, 50, 108, 109, 216, 500, 864, 865, 1000, 1728, 10_000, 10_001, 200_000]
    times = [ask(name, blocks=count).time_s for count in counts]
    assert all(after >= before * (1 - 1e-9) for before, after in zip(times, times[1:], strict=False))


def test_a_latency_bound_grid_takes_whole_waves():
    one, two = (ask("read", blocks=count, fits=1, warps=1) for count in (108, 109))
    assert two.time_s - one.time_s == pytest.approx(one.residence_s, rel=0.08)


def test_barriers_join_the_warps_of_a_block():
    plain = workload("scale", A100, CLOCK)
    joined = replace(plain, barriers=3.0, phases=(1, 1, 1, 1))
    tails = ask(work=joined).residence_s - ask(work=replace(plain, phases=(1, 1, 1, 1))).residence_s
    assert tails > 0
    assert ask(work=joined).rate < ask(work=plain).rate


def test_sparse_sectors_are_lines_of_their_own():
    dense = workload("read", A100, CLOCK)
    sparse = dense.with_memory(l1_sectors_load=32.0, l2_sectors_read=32.0, dram_bytes_read=1024.0, ideal_sectors=4.0)
    assert ask(work=sparse, warps=1).residence_s > ask(work=dense, warps=1).residence_s


def test_l2_resident_data_waits_for_l2():
    warm = from_l2(workload("scale", A100, CLOCK), A100, CLOCK)
    assert ask(work=warm).time_s < ask().time_s
    assert "dram" not in ask(work=warm).utilization or ask(work=warm).utilization["dram"] == 0


@pytest.mark.parametrize("key", [key for key in catalogue() if gpu(key).board])
def test_every_board_answers(key):
    board = gpu(key)
    found = predict_launch(LaunchedWork(workload("triad", board, 1e9), board, 1e9, 50_000, 4.0, 4))
    moved = 50_000 * 4 * 768
    assert found.time_s > moved / board.value("dram_bandwidth")
    assert set(found.assumed) <= set(FITTED)
    assert key in CALIBRATED or "latency_spread" in found.assumed


def test_what_a_board_lacks_is_its_relatives_and_is_less_sure():
    bare = replace(A100, parameters={n: q for n, q in A100.parameters.items() if n == "block_start" or n not in FITTED})
    found = ask(board=bare)
    assert "dram_read_capacity" in found.assumed
    assert "block_start" not in found.assumed
    assert found.interval[1] - found.interval[0] > 1.2 * (ask().interval[1] - ask().interval[0])
    assert found.time_s == pytest.approx(ask().time_s, rel=0.1)
    assert fitted_parameters(bare).values.launch_gap == pytest.approx(A100.value("launch_gap"))
    less = override(A100, {"dram_achievable_bandwidth": 1000})
    assert from_relatives("dram_read_capacity", less) == pytest.approx((866 / 866 + 1865 / 1865) / 2 * 1e12)
    assert from_relatives("dram_write_capacity", less) == pytest.approx((894.9 / 866 + 1886 / 1865) / 2 * 1e12)
    pins = override(A100, {"dram_bandwidth": 1880, "dram_achievable_bandwidth": 1865})
    assert from_relatives("dram_write_capacity", pins) == 1880e9


def test_relatives_have_the_same_kind_of_memory():
    keys = ("p100", "a100-sxm-40gb", "h200", "b200", "rtx-4090", "t4", "gtx1080", "k40")
    kinds = [kind_of_memory(gpu(key)) for key in keys]
    later = "HBM of Hopper and later"
    assert kinds == ["HBM", "HBM", later, later, "GDDR", "GDDR", "GDDR", "GDDR"]
    for key, kind in zip(keys, kinds, strict=True):
        mean = np.mean([gpu(one).value("store_cost") for one in RELATIVES[kind]])
        assert from_relatives("store_cost", gpu(key)) == pytest.approx(mean)
        interval = ("a40", "l40") if kind == "GDDR" else ("a100-sxm-80gb",)  # of stacked memory that one alone
        clock = gpu(key).value("boost_clock")
        cycles = np.mean([gpu(one).value("block_interval") * gpu(one).value("boost_clock") for one in interval])
        assert from_relatives("block_interval", gpu(key)) * clock == pytest.approx(cycles)


def test_what_writes_cost_l2_goes_by_its_sides():
    """Not by the memory behind it: stacked memory had an L2 of one side before the A100."""
    two = [key for key in catalogue() if two_sides(gpu(key))]
    assert {"a100-pcie-40gb", "h100-sxm", "gh200", "b200"} <= set(two)
    assert not {"p100", "v100-pcie", "v100-sxm2", "l40", "t4", "rtx-5090"} & set(two)
    costs = {key: gpu(key).value("l2_write_cost") for key in ("a40", "l40", "a100-sxm-80gb")}
    for key in ("p100", "v100-sxm2", "rtx-2080-ti"):
        assert from_relatives("l2_write_cost", gpu(key)) == pytest.approx((costs["a40"] + costs["l40"]) / 2)
    for key in ("a100-pcie-40gb", "h100-sxm", "b200"):
        assert from_relatives("l2_write_cost", gpu(key)) == costs["a100-sxm-80gb"]


@pytest.mark.parametrize("name", ["init", "read", "triad", "stencil5"])
@pytest.mark.parametrize("warps, fits", [(1, 1), (8, 2), (32, 2)])
def test_stalls_add_up_to_the_time_of_a_block(name, warps, fits):
    found = ask(name, warps=warps, fits=fits)
    assert set(found.stalls) == set(REASONS)
    assert min(found.stalls.values()) >= 0
    assert sum(found.stalls.values()) == pytest.approx(fits / found.rate, rel=1e-9)


def test_stalls_name_what_is_waited_for():
    plain = workload("scale", A100, CLOCK)
    dram, warm = ask(), ask(work=from_l2(plain, A100, CLOCK), fits=1)
    assert max(dram.stalls, key=dram.stalls.get) == "long scoreboard"
    assert dram.stalls["barrier"] == 0
    assert warm.stalls["long scoreboard"] < dram.stalls["long scoreboard"]
    chip = replace(from_l2(plain, A100, CLOCK), parts={"fixed": 10.0, "issue": 10.0, "shared": 0.0}, latency=20.0)
    fma = ask(work=replace(chip, units={"fma": 4000.0}))
    shared = ask(work=chip.with_memory(shared_wavefronts_load=400.0))
    issue = ask(work=replace(chip, warp_instructions=5000.0))
    l1 = ask(work=chip.with_memory(l1_wavefronts=400.0))
    joins = replace(plain, barriers=40.0, phases=(1,) * 41)
    fetching = ask(work=replace(chip, units={"fetch": 4e5}))
    wanted = {"no instruction": fetching, "math pipe throttle": fma, "mio throttle": shared, "not selected": issue,
              "lg throttle": l1, "barrier": ask(work=joins, fits=1)}  # fmt: skip
    for reason, found in wanted.items():
        assert max(found.stalls, key=found.stalls.get) == reason


@pytest.mark.parametrize("warps, fits", [(1, 1), (4, 1), (4, 4), (32, 2)])
def test_code_is_fetched_once_for_all_resident_warps(warps, fits):
    plain = workload("read", A100, CLOCK)
    code = replace(plain, parts={}, latency=20.0, phases=(), units={"fetch": 1e6}).with_memory(
        l1_sectors_load=0.0, l2_sectors_read=0.0, dram_bytes_read=0.0
    )
    found = ask(work=code, warps=warps, fits=fits)
    assert found.bottleneck == "fetch"
    assert found.utilization["fetch"] == pytest.approx(1)
    assert found.rate == pytest.approx(fits * CLOCK / 1e6)  # as many blocks as fit, for each time that code passes


def test_fetches_beside_other_work_cost_nothing():
    """Lines arrive while instructions issue: the larger of both counts, not the sum."""
    plain = workload("scale", A100, CLOCK)
    busy = ask(work=replace(plain, units={"fma": 4000.0}))
    both = ask(work=replace(plain, units={"fma": 4000.0, "fetch": 16 * 3900.0}))
    assert both.time_s == pytest.approx(busy.time_s, rel=0.003)  # the last wave has fewer blocks that share them
    assert ask(work=replace(plain, units={"fma": 4000.0, "fetch": 16 * 5000.0})).time_s > 1.2 * busy.time_s


def test_a_warp_that_starts_waits_for_its_first_instruction():
    """Nsight Compute: 8 cycles of `no instruction` for each warp, even in kernels of 15 instructions."""
    assert ask().stalls["no instruction"] * CLOCK == pytest.approx(8)
    old = gpu("gtx1080")
    found = predict_launch(LaunchedWork(workload("scale", old, 1.6e9), old, 1.6e9, 10_000, 8, 8))
    assert found.stalls["no instruction"] == 0


def test_spreads_by_how_a_value_became_known_and_by_what_others_say():
    latency = replace(A100.parameters["dram_latency"], value=500.0, others=())
    assert of_quantity(latency) == 0.01
    assert of_quantity(replace(latency, how="assumed")) == 0.15
    claims = tuple(Claim(value, "somebody") for value in (520.0, 550.0, 290.0))  # 4, 10 and 42 % off
    assert of_quantity(replace(latency, others=claims)) == pytest.approx(0.05)
    assert of_quantity(replace(latency, others=claims, source="command line")) == 0.01


def test_a_far_side_of_l2_has_its_own_spread_and_leaves_the_near_one_alone():
    one = replace(A100, parameters={n: q for n, q in A100.parameters.items() if n != "l2_far_latency"})
    assert spread_on("l2_latency", one) == spread_on("l2_latency", A100) < 0.03
    assert spread_on("l2_far_latency", A100) > 0 == spread_on("l2_far_latency", one)


def test_what_relatives_tell_is_less_sure_than_a_fit():
    h200 = gpu("h200")
    for name in calibrate.STREAM_RANGES:
        assert spread(name, fitted_parameters(h200), h200) >= spread(name, fitted_parameters(A100), A100)


def test_the_launch_does_not_know_the_memory():
    gddr, measured = gpu("rtx-4090"), gpu("gh200")
    assert spread_on("launch_gap", gddr) == spread_on("launch_gap", gpu("h100-sxm"))
    assert spread_on("block_start", gddr) == 0.10
    assert spread_on("launch_gap", measured) == 0.05  # its launch cost was measured


def test_an_assumed_rate_of_l1_is_that_of_the_architecture_s_path():
    assert spread_on("l1_bandwidth", gpu("gh200")) == SAME_PATH
    typed = override(gpu("gh200"), {"l1_bandwidth": 90.0})
    assert spread_on("l1_bandwidth", typed) <= SAME_PATH


@pytest.mark.parametrize("name", VARIED)
def test_a_parameter_in_doubt_widens_the_interval_of_what_it_moves(name):
    """At least one of launches bound by DRAM, L2, L1, latency, the launch and the start of blocks feels it."""
    warm = from_l2(workload("scale", A100, CLOCK), A100, CLOCK)
    late = replace(warm, parts={"l1": 200.0, "shared": 200.0, "fixed": 50.0}, latency=450.0)
    l1 = late.with_memory(l1_wavefronts=200.0)
    far = from_l2(workload("read", A100, CLOCK), A100, CLOCK).with_memory(l2_sectors_far=8.0)
    asked = [
        ask(), ask(blocks=20_000, work=warm), ask(blocks=1), ask(blocks=400, fits=1, work=late),
        ask(blocks=4000, work=l1), ask(blocks=500_000, fits=32, warps=1, work=warm), ask(fits=1, warps=2, work=warm),
        ask(work=warm.with_memory(hottest_updates=32.0)), ask(blocks=20_000, fits=2, warps=32, work=far),
        ask(blocks=400, fits=1, work=replace(far, parts={"l2": 400.0, "fixed": 50.0}, latency=450.0)),
        ask(work=workload("read", A100, CLOCK)),
    ]  # fmt: skip
    assert max(found.doubts[name] / found.time_s for found in asked) > 1e-3


def test_a_value_from_the_command_line_is_used():
    assert ask(blocks=1, board=override(A100, {"launch_gap": 20})).time_s > 20e-6


def test_refusals():
    with pytest.raises(InputError, match="is one iteration, not a warp"):
        ask(work=replace(workload("scale", A100, CLOCK), unit="iteration"))
    with pytest.raises(InputError, match="No block runs"):
        ask(fits=0)
