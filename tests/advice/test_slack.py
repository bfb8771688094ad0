"""Slack of lines and instructions: of made-up times with known answers, and of a kernel."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

import warpbound
from support.paths import EXAMPLES
from support.unit_of_work import work
from warpbound.advice import slack
from warpbound.advice.goal import parse_target, with_goal
from warpbound.advice.sensitivity import FELT, Timed
from warpbound.analysis.settings import Settings
from warpbound.predict import Place
from warpbound.workload import Workload

GPU = warpbound.gpu("h200")
PLACE = Place(GPU, 1.98e9, 64.0, 132.0)
HOT, COLD, UNKNOWN = ("k.cu", 3), ("k.cu", 5), ("", 0)
LINES = {HOT: {"dram": 300.0, "issue": 100.0}, COLD: {"fixed": 100.0}, UNKNOWN: {"fixed": 500.0}}
PARTS = {"dram": 300.0, "issue": 100.0, "fixed": 600.0}
START = replace(work(latency=1000.0, parts=PARTS), lines_by_cause=LINES, warps=1e4)
STEP = slack.MOST * START.latency / 2**slack.ROUNDS  # of the bisection


def timed(time: Callable[[Workload], float]) -> Timed:
    def seconds(many: Sequence[tuple[Workload, Place]]) -> Sequence[float]:
        return [time(each) for each, _ in many]

    return Timed(START, PLACE, seconds, time(START), {"latency": 1000.0})


def test_latency_that_binds_leaves_each_line_a_hundredth_of_the_path() -> None:
    lines = slack.of_lines(timed(lambda x: x.latency))
    assert list(lines) == [HOT, COLD]
    for each in lines.values():
        assert each.more == pytest.approx((FELT - 1) * 1000.0, abs=STEP)
    assert lines[HOT].times == pytest.approx(1.025, abs=STEP / 400)
    assert lines[COLD].times == pytest.approx(1.1, abs=STEP / 100)


def test_another_bound_leaves_the_distance_to_it() -> None:
    lines = slack.of_lines(timed(lambda x: max(x.latency, 3000.0)))
    assert lines[COLD].more == pytest.approx(FELT * 3000.0 - 1000.0, abs=STEP)


def test_a_line_grows_by_the_causes_that_it_has() -> None:
    lines = slack.of_lines(timed(lambda x: 1000.0 + x.parts["dram"]))
    assert lines[COLD].more is None
    assert lines[COLD].times is None
    assert lines[HOT].more == pytest.approx(13.0 / 0.75, abs=STEP)  # three quarters of it wait for DRAM


def test_a_longer_path_adds_up() -> None:
    longer = slack.longer(START, LINES[HOT], 80.0)
    assert longer.latency == 1080.0
    assert sum(longer.parts.values()) == pytest.approx(1080.0)


@pytest.mark.cuda
def test_lines_and_instructions_of_a_kernel_have_their_slack() -> None:
    program = warpbound.compile(EXAMPLES / "saxpy.cu", "h200")
    launch = warpbound.launch(EXAMPLES / "saxpy.toml")
    entry, goal = with_goal(program, GPU, launch, Settings(), parse_target("1.5x"))
    cycles = {row.line: row.cycles for row in entry.lines}
    assert [row.line for row in goal.lines] == [row.line for row in entry.lines if row.line][: slack.SHOWN]
    for row in goal.lines:
        assert row.cycles == pytest.approx(cycles[row.line])
        assert row.slack is None or row.slack >= 1.0
        inside = [each for each in goal.instructions if each.line == row.line]
        assert sum(each.cycles for each in inside) <= row.cycles * 1.001
        assert all(each.slack is None or row.slack is None or each.slack >= row.slack for each in inside)
    slacks = [row.slack for row in goal.lines if row.slack is not None]
    assert slacks == sorted(slacks)
