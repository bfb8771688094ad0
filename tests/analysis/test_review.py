"""What counts as a difference between two answers, and when a gate fails."""

import math

import pytest
from msgspec import structs

from warpbound.analysis.review import RESOLUTION, compared
from warpbound.report.review import duration, markdown, verdict
from warpbound.report.review_formats import bencher, github_action_benchmark, sarif
from warpbound.result.review import KernelChange, KernelState

STATE = KernelState(
    kernel="k", gpu="h200", file="k.cu", launch="k.toml", mode="dynamic", line=7, code="a", registers=32, spill_bytes=0,
    shared_bytes=0, warps_per_sm=64, instructions=100, warp_instructions=1e6, dram_bytes=1e8, l2_sectors=1e7,
    time_s=1e-3, time_interval_s=[0.9e-3, 1.1e-3], bottleneck="dram", sampling_error=0.0,
)  # fmt: skip
STATIC = structs.replace(STATE, mode="static", time_s=None, time_interval_s=None, cycles_per_warp=100.0)


def change(old: KernelState, fail_above: float | None = None, **values: object) -> KernelChange:
    (result,) = compared([old], [structs.replace(old, code="b", **values)], fail_above).kernels
    return result


@pytest.mark.parametrize("factor, direction", [
    (1.0, "same"), (1.02, "same"), (0.98, "same"), (1.0 + 1.01 * RESOLUTION, "slower"), (0.97, "faster"), (3, "slower"),
])  # fmt: skip
def test_only_what_the_model_resolves_counts(factor: float, direction: str) -> None:
    result = change(STATE, time_s=1e-3 * factor)
    assert (result.direction, result.significant) == (direction, direction != "same")


def test_the_resolution_is_that_of_two_intervals_and_both_samples() -> None:
    assert pytest.approx(0.015 * math.sqrt(2)) == RESOLUTION
    noisy = structs.replace(STATE, sampling_error=0.03)
    expected = math.sqrt(2 * 0.015**2 + (2 * 0.03) ** 2 + (2 * 0.01) ** 2)
    assert change(noisy, sampling_error=0.01, time_s=1.06e-3).resolution == pytest.approx(expected)
    assert not change(noisy, sampling_error=0.01, time_s=1.06e-3).significant
    assert change(noisy, sampling_error=0.01, time_s=1.08e-3).significant


@pytest.mark.parametrize("factor, above, state", [
    (1.06, 5.0, "fails"), (1.04, 5.0, "passes"), (1.06, None, ""), (0.5, 0.0, "passes"), (1.01, 0.0, "passes"),
    (1.5, 49.9, "fails"),
])  # fmt: skip
def test_the_gate(factor: float, above: float | None, state: str) -> None:
    assert change(STATE, above, time_s=1e-3 * factor).fails is (state == "fails")
    diff = compared([STATE], [structs.replace(STATE, time_s=1e-3 * factor)], above)
    assert diff.failed is (state == "fails")
    assert ("The gate" in verdict(diff), state in verdict(diff)) == (bool(state), True)


def test_static_answers_are_judged_by_bounds_spills_and_residents() -> None:
    assert change(STATIC, 5, cycles_per_warp=120.0).fails
    assert change(STATIC, 5, cycles_per_warp=101.0).direction == "same"
    assert change(STATIC, 5, spill_bytes=16).fails
    assert change(STATIC, 5, warps_per_sm=48).fails
    assert not change(STATIC, 5, warps_per_sm=64, registers=40).significant
    assert change(STATIC, 5, mode="dynamic", time_s=1e-3, cycles_per_warp=None).direction == "changed"


def test_what_goes_with_a_difference_is_named() -> None:
    assert "DRAM traffic" in change(STATE, time_s=2e-3, dram_bytes=2e8).reason
    assert "16 bytes of spills" in change(STATE, time_s=2e-3, spill_bytes=16, dram_bytes=2e8).reason
    assert "lsu binds instead of dram" in change(STATE, time_s=2e-3, bottleneck="lsu").reason
    assert change(STATE, time_s=2e-3).changes[0].relative == pytest.approx(1.0)


def test_kernels_are_matched_also_by_a_new_name() -> None:
    other = structs.replace(STATE, kernel="other", file="o.cu")
    renamed = structs.replace(STATE, kernel="renamed")
    diff = compared([STATE, other], [other, renamed], 5)
    assert [(one.name, one.direction) for one in diff.kernels] == [("other", "same"), ("renamed", "same")]
    two = structs.replace(STATE, kernel="second")
    diff = compared([STATE], [renamed, two], 5)
    assert sorted(one.direction for one in diff.kernels) == ["added", "added", "removed"]
    assert not diff.failed


def test_an_answer_that_is_lost_fails_the_gate() -> None:
    broken = KernelState(kernel="k", gpu="h200", file="k.cu", launch="k.toml", error="k.cu does not compile.")
    diff = compared([STATE], [broken], 5)
    assert (diff.failed, diff.kernels[0].direction) == (True, "broken")
    assert compared([broken], [STATE], 5).kernels[0].direction == "repaired"
    assert not compared([broken], [broken], 5).failed


def test_other_formats() -> None:
    slower = structs.replace(STATE, time_s=2e-3, time_interval_s=[1.8e-3, 2.2e-3])
    diff = compared([STATE], [slower], 5)
    (result,) = sarif(diff)["runs"][0]["results"]
    assert (result["level"], result["ruleId"]) == ("error", "slower")
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 7
    assert sarif(compared([STATE], [STATE], 5))["runs"][0]["results"] == []
    (metrics,) = bencher(diff).values()
    assert metrics["latency"] == pytest.approx({"value": 2e6, "lower_value": 1.8e6, "upper_value": 2.2e6})
    (entry,) = github_action_benchmark(diff)
    assert (entry["unit"], entry["value"], entry["range"]) == ("us", pytest.approx(2000), "± 200")
    text = markdown(diff)
    assert "| `k` | h200 | 1 ms | 2 ms | +100.0 % **(gate)** |" in text
    assert markdown(compared([STATE], [STATE], 5)).count("|") == 0


def test_durations() -> None:
    assert [duration(value) for value in (2.0, 2e-3, 2.5e-6, 5e-9)] == ["2 s", "2 ms", "2.5 us", "5 ns"]
