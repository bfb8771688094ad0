"""The first lines: how long, what binds and by how much, what to try first, and what the answer does not know."""

from typing import Any

import pytest
from rich.console import Console

from support.results import kernel_result
from warpbound.report.bottleneck_tables import stalls
from warpbound.report.verdict import verdict
from warpbound.result.kernel import KernelResult

DRAM = {"resource": "dram", "cycles_per_warp": 50.0, "utilization": 0.96}
L2 = {"resource": "l2", "cycles_per_warp": 38.9, "utilization": 0.74}
LATENCY = {"resource": "latency", "cycles_per_warp": 61.0, "utilization": 0.99}
FASTER_CLOCK = {"change": "a memory clock 10 % higher", "speedup": 1.9, "why": "it is"}
FEWER_BYTES = {"change": "half the DRAM traffic", "speedup": 1.72, "why": "it is"}


def entry(**fields: Any) -> KernelResult:
    usual: dict[str, Any] = {
        "time_s": 1e-3, "time_interval_s": [9e-4, 1.2e-3], "bottleneck": "dram", "runner_up": "l2",
        "bounds": [DRAM, L2], "warps_needed": 20.6, "whatifs": [FASTER_CLOCK, FEWER_BYTES],
    }  # fmt: skip
    return kernel_result(**usual | fields)


def lines(one: KernelResult) -> list[str]:
    console = Console(width=200, highlight=False)
    with console.capture() as captured:
        console.print(verdict(one))
    return captured.get().splitlines()


def test_what_binds_by_how_much_and_what_to_do_stand_in_four_lines() -> None:
    assert lines(entry()) == [
        "Time 1 ms, probably between 900 us and 1.2 ms.",
        "DRAM bandwidth binds: 50 SM cycles per warp, 96 % in use; next L2 bandwidth (38.9; 74 % in use).",
        "64 of 64 warps are resident; 21 would hide the latency: more occupancy buys nothing.",
        "First to try: half the DRAM traffic, 1.72x as fast.",
    ]


def test_more_occupancy_buys_what_its_what_if_says() -> None:
    """Warps enough on the average do not silence a what-if: the end of a launch waits longer than its middle."""
    more = {"change": "25 registers", "speedup": 1.2, "why": "64 instead of 32 resident warps hide more of the latency"}
    assert lines(entry(whatifs=[more]))[2] == (
        "64 of 64 warps are resident; 21 would hide the latency if they waited evenly: more occupancy buys 1.20x."
    )
    assert lines(entry(whatifs=[more | {"speedup": 1.01}]))[2].endswith("more occupancy buys nothing.")


def test_latency_is_no_resource_that_could_be_in_use() -> None:
    said = lines(entry(bottleneck="latency", runner_up="dram", bounds=[LATENCY, DRAM]))[1]
    assert said == "Latency binds: 61 SM cycles per warp; next DRAM bandwidth (50; 96 % in use)."


@pytest.mark.parametrize("whatifs", [[], [FASTER_CLOCK]])
def test_a_faster_clock_is_nothing_to_try(whatifs: list[dict[str, Any]]) -> None:
    assert lines(entry(whatifs=whatifs))[-1] == "No what-if for the kernel would gain half a per cent."


@pytest.mark.parametrize(
    "note, warned",
    [
        ("unknown contents of 'row' read in line 14 and taken as 0; branches in line 14 depend on it", True),
        ("unknown contents of 'row' read in line 9 and taken as 0; addresses in line 9 depend on it", True),
        ("unknown contents of 'x' read in line 9 and taken as 0", False),
    ],
)
def test_contents_that_decide_branches_and_were_not_given_come_first(note: str, *, warned: bool) -> None:
    said = lines(entry(confidence={"assumed": [note]}))
    assert said[0].startswith("This is the time for zeros: contents of 'row' decide ") == warned
    assert said[warned].startswith("Time ")


def test_a_variable_that_was_not_given_comes_before_the_time() -> None:
    note = "__constant__ variable 'w' is read in line 3 and not given: it is taken as 0; give it by --const w=VALUE"
    said = lines(entry(confidence={"assumed": [note]}))
    assert said[:2] == [f"{note}.", "Time 1 ms, probably between 900 us and 1.2 ms."]


def test_contents_that_decide_and_were_not_given_leave_no_time() -> None:
    reason = "branches in line 2 depend on __constant__ variable 'n', which is not given: give it by --const n=VALUE"
    said = lines(entry(time_s=None, time_interval_s=None, not_executed=reason))
    assert said[0] == f"No time is predicted: {reason}. What follows comes from the code alone."


@pytest.mark.parametrize("reason, meaning", [("long scoreboard", "global or local"), ("lg throttle", "queue to L1")])
def test_stall_reasons_are_explained(reason: str, meaning: str) -> None:
    console = Console(width=80, highlight=False)
    with console.capture() as captured:
        console.print(stalls(entry(stalls=[{"reason": reason, "cycles": 10.0, "share": 1.0}])))
    row = captured.get().splitlines()[1]
    assert reason in row
    assert meaning in row


def test_every_reason_that_the_prediction_names_is_explained() -> None:
    from warpbound.report.formatting import STALL_WORDS
    from warpbound.time_model.stall_reasons import REASONS

    assert set(REASONS) == set(STALL_WORDS)


def test_a_static_verdict_says_that_reuse_is_not_known() -> None:
    fma = {"resource": "fma", "cycles_per_warp": 30.0, "utilization": 0.6}
    static = entry(mode="static", time_s=None, time_interval_s=None, scope="loop", bounds=[DRAM, LATENCY, fma])
    wanted = "In the loop, reuse is not known: DRAM bandwidth binds if no data are reused, and the FMA pipe if"
    assert any(line.startswith(wanted) for line in lines(static))
    assert not any("in use" in line for line in lines(static))


def test_a_time_at_an_end_of_its_interval_says_why() -> None:
    """1.69 ms of 1.69 to 2.49; a time in the middle, or a narrow interval, needs no word."""
    said = [lines(entry(time_s=s, time_interval_s=(low, high)))[0] for s, low, high in (
        (1.69e-3, 1.68e-3, 2.49e-3), (2.45e-3, 1.68e-3, 2.49e-3), (2e-3, 1.68e-3, 2.49e-3), (1e-3, 0.999e-3, 1.05e-3),
    )]  # fmt: skip
    assert "often slower than predicted and seldom faster" in said[0]
    assert "often faster than predicted and seldom slower" in said[1]
    assert all(line.endswith((" ms.", " us.")) for line in said[2:])


def test_without_a_launch_the_command_that_gives_a_time_is_named() -> None:
    hint = {"file": "k.cu", "line": 9, "needed": ["x (float)"], "command": "warpbound launches k.cu -o launch.toml"}
    static: dict[str, Any] = {"time_s": None, "time_interval_s": None, "launch": None}
    assert lines(entry(**static, host_launch=hint))[-1] == (
        "No time without a launch. The host code, line 9, gives all but x (float): "
        "warpbound launches k.cu -o launch.toml, then --launch launch.toml."
    )
    closure = entry(**static, gpu="h200", host_launch=hint | {"needed": ["f (any type)"]}, program={"source": "k.cu"})
    assert lines(closure)[-1].endswith("does not fix f (any type). Run the program: warpbound run --gpu h200 -- k.cu")
    unnamed = {"source": "k.cu", "parameters": [{"name": None, "type": None, "offset": 0, "bytes": 8}]}
    assert lines(entry(**static, gpu="h200", program=unnamed))[-1].endswith("warpbound run --gpu h200 -- k.cu")
    named = {"source": "k.cu", "parameters": [{"name": "x", "type": "float *", "offset": 0, "bytes": 8}]}
    last = lines(entry(**static, program=named))[-1]
    assert last.endswith("Add --grid X --block X --arg x=f32[COUNT] or --launch FILE.toml.")
