"""Loads that must come one after the other, counted on code by hand; and the advice that rests on it."""


import pytest

import warpbound
from support.paths import TESTS
from support.sass_listing import code
from warpbound.kernel_launch import parse_argument
from warpbound.workload.load_chains import MOST, longest_chain

TEACHING = TESTS / "whatif" / "teaching_kernels.cu"
AHEAD = "the loads in flight"

WAY = "B------:R-:W-:-:S02  "
STREAMING = ("LDG.E R4, [R2.64]", "IADD3 R2, R2, R8, RZ", "FADD R6, R6, R4")
CHASING = ("LDG.E R2, [R2.64]", "IADD3 R2, R2, R8, RZ", "FADD R6, R6, R2")
GATHERING = ("LDG.E R4, [R2.64]", "IADD3 R2, R2, R8, RZ", "LDG.E R10, [R4.64]", "FADD R6, R6, R10")
THROUGH_SHARED = ("LDG.E R4, [R2.64]", "STS [R9], R4", "LDS R2, [R9]")
ELSEWHERE_TOO = ("LDG.E R4, [R2.64]", "STS [R9], R4", "STS [R10], R11", "LDS R2, [R9]")  # another word, not loaded


def chain(lines: tuple[str, ...], times: int) -> float:
    instructions = code("\n".join(WAY + line for line in lines))
    return longest_chain(instructions, tuple(range(len(instructions))) * times)


@pytest.mark.parametrize("times", [1, 7, 400])
@pytest.mark.parametrize(
    "lines, each, fixed",
    [(STREAMING, 0, 1), (CHASING, 1, 0), (GATHERING, 0, 2), (THROUGH_SHARED, 1, 0),
     (ELSEWHERE_TOO, 1, 0)],
    ids=["streaming", "chasing", "gathering", "through shared memory", "beside other words of it"],
)
def test_chains_by_hand(lines, each, fixed, times):
    assert chain(lines, times) == each * times + fixed


def test_what_is_not_followed_goes_on_alike():
    times = 3 * MOST
    assert chain(CHASING, times) == pytest.approx(times, rel=0.01)
    assert chain(STREAMING, times) == 1
    assert chain(GATHERING, times) == 2
    assert longest_chain((), ()) == 0.0


def changes(kernel: str, grid: int, args: tuple[str, ...]) -> dict[str, float]:
    launch = warpbound.launch(grid=grid, block=64, args=[parse_argument(word) for word in args])
    entry = warpbound.analyze(warpbound.compile(TEACHING, "b200", kernel), "b200", launch)
    assert entry["bottleneck"] == "latency"
    return {advice["change"]: advice["speedup"] for advice in entry["whatifs"]}


def test_a_loop_of_loads_may_be_unrolled_where_addresses_are_its_own():
    own = changes("rolled", 4736, ("to=f32[303104]", "x=f32[19398656]", "rounds=64"))
    assert max(own, key=lambda change: own[change]).startswith(f"8 times {AHEAD}")
    chased = changes("latency", 148, ("to=i32[9472]", "next=i32[8388608]:zeros", "rounds=1024"))
    assert not any(AHEAD in change for change in chased)


def test_a_chain_is_not_cut_in_two():
    chased = changes("latency", 74, ("to=i32[4736]", "next=i32[8388608]:zeros", "rounds=256"))
    assert not any("of the work each" in change for change in chased)
    assert next(gain for change, gain in chased.items() if "side by side" in change) == pytest.approx(2, abs=0.1)
    own = changes("rolled", 74, ("to=f32[4736]", "x=f32[1212416]", "rounds=256"))
    assert any("of the work each (fill the GPU)" in change for change in own)
    assert not any("side by side" in change for change in own)
