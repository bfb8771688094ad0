"""Limits of an SM set by hand: every one acts, none is taken that cannot be, and an answer follows."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from warpbound import machine, occupancy
from warpbound.cli import main
from warpbound.errors import CommandError
from warpbound.isa.limits import MEANINGS, compute_capabilities, limits, settable, with_limits
from warpbound.memory.hierarchy import facts
from warpbound.time_model.parameter_fallbacks import parameter_fallbacks

H200 = machine.gpu("h200")


def held(**limits_set: float) -> int:
    """Warps of blocks of 250 threads, 40 registers and 3000 bytes."""
    return occupancy(machine.override(H200, limits_set), 250, 40, 3000).warps_per_sm


def test_what_an_sm_holds_follows_each_limit() -> None:
    assert held() == 48  # 6 blocks: 40 x 32 = 1280 registers a warp, 12 warps in 16384 of a sub-core, 48 of an SM
    assert held(max_warps_per_sm=40) == 40
    assert held(max_blocks_per_sm=2) == 16
    assert held(registers_per_sm=131072) == 64
    assert held(register_unit=2048) == 32  # 8 warps a sub-core
    assert held(shared_per_sm=20480) == 40  # 5 blocks of 4096 bytes, its reserve within
    assert held(shared_unit=65536) == 24  # 3 of 64 KiB in 228
    assert held(reserved_shared_per_block=64000) == 24
    assert held(warp_unit=16) == 24  # a block of 8 warps counts 16: 3 of them take the registers of 48
    assert held(sub_cores=1) == 48
    assert held(max_registers_per_block=8192) == 0
    assert held(launch_check_warps=64) == 0
    assert held(max_shared_per_block=2000, reserved_shared_per_block=0) == 0
    for tight, why in (
        ({"max_threads_per_block": 128}, "threads per block"),
        ({"max_registers_per_thread": 32}, "regis"),
    ):
        with pytest.raises(CommandError, match=why):
            held(**tight)


def test_barriers_are_limited_by_the_board_as_set() -> None:
    few = machine.override(H200, {"barriers_per_sm": 32})
    assert occupancy(few, 128, 32, 0, barriers=16).limiters == ("barriers",)
    assert occupancy(few, 128, 32, 0, barriers=16).blocks_per_sm == 2


def test_shared_memory_per_sm_is_the_largest_carve_out() -> None:
    small = machine.override(H200, {"shared_per_sm": 50 * 1024}).limits
    assert small.carveouts_KiB == (0, 8, 16, 32, 50)
    large = machine.override(H200, {"shared_per_sm": 300 * 1024})
    assert large.limits.unified_l1_shared_KiB == 300  # holds it
    assert facts(large, 1, 290 * 1024).l1_bytes == 0
    more_l1 = machine.override(H200, {"unified_l1_shared_KiB": 512})
    assert facts(more_l1, 1, 0).l1_bytes - facts(H200, 1, 0).l1_bytes == 256 * 1024
    assert facts(machine.override(H200, {"least_carveout_KiB": 0}), 1, 0).l1_bytes == 256 * 1024


@pytest.mark.parametrize("capability", compute_capabilities())
def test_own_numbers_change_nothing(capability: str) -> None:
    own = limits(capability)
    assert with_limits(own, settable(own)) == own
    assert set(settable(own)) <= set(MEANINGS)


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_warps_per_sm", 0), ("max_warps_per_sm", 1.5), ("shared_per_sm", 1000), ("register_unit", -1),
     ("max_blocks_per_sm", float("nan")), ("registers_per_sm", 2**31)],
)  # fmt: skip
def test_what_cannot_be(name: str, value: float) -> None:
    with pytest.raises(CommandError, match=f"{name} = .* is out of range"):
        machine.override(H200, {name: value})


def test_a_limit_that_the_architecture_does_not_have() -> None:
    with pytest.raises(CommandError, match="no limit barriers_per_sm"):
        machine.override(machine.gpu("gtx280"), {"barriers_per_sm": 16})


def test_limits_and_parameters_are_set_together_and_one_after_the_other() -> None:
    both = machine.override(H200, {"l2_latency": 300.0, "max_warps_per_sm": 32})
    again = machine.override(both, {"max_blocks_per_sm": 4})
    assert again.limits == replace(H200.limits, max_warps_per_sm=32, max_blocks_per_sm=4)
    assert again.value("l2_latency") == 300.0
    assert {"l2_latency", "max_warps_per_sm", "max_blocks_per_sm"} <= set(again.assumed)


def test_the_command_line_prints_and_takes_them() -> None:
    shown = CliRunner().invoke(main, ["gpus", "h200"])
    assert "max_warps_per_sm" in shown.output
    refused = CliRunner().invoke(main, ["analyze", "no.cu", "--gpu", "h200", "--set", "max_warps_per_smm=3"])
    assert refused.exit_code == 2
    assert "max_warps_per_sm" in refused.output


@pytest.mark.parametrize("name", [*parameter_fallbacks(H200)][::3])
def test_set_takes_what_a_board_has_no_value_for(name: str) -> None:
    """In the unit that `warpbound gpus NAME` prints, which tells of it too."""
    own = parameter_fallbacks(H200)[name]
    shown = CliRunner().invoke(main, ["gpus", "h200", "--format", "json"])
    assert json.loads(shown.output)["stand_ins"][name] == {"value": own.value, "unit": own.unit, "from": own.origin}
    assert f"{name:27} {own.value:>8.4g} {own.unit}" in CliRunner().invoke(main, ["gpus", "h200"]).output
    words = ["predict", "volkov-vector-add", "--gpu", "h200", "--format", "json", "--set", f"{name}={3 * own.value}"]
    answered = CliRunner().invoke(main, words)
    assert answered.exit_code == 0, answered.output


@pytest.mark.parametrize(
    "name, value", [("l2_latency", 0.0), ("l2_latency", -5.0), ("l2_latency", 1e300), ("l2_latency", 1e-300),
                    ("sm_count", 0.5), ("l2_latency", float("inf")), ("l2_latency", float("nan"))]
)  # fmt: skip
def test_a_parameter_that_no_machine_has_is_refused(name: str, value: float) -> None:
    with pytest.raises(CommandError, match=rf"{name} = .* is out of range\. Give a positive .* to 1e\+15\."):
        machine.override(H200, {name: value})
