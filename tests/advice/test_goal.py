"""Goals backwards: what reaches them, what forbids them, and that the parts add up."""

from functools import cache

import pytest
from click.testing import CliRunner

import warpbound
from support.paths import EXAMPLES
from warpbound.advice.goal import Target, parse_target, with_goal
from warpbound.analysis.settings import DEFAULT
from warpbound.cli import main
from warpbound.errors import CommandError
from warpbound.result.goal import Goal
from warpbound.result.kernel import KernelResult

SAXPY = EXAMPLES / "saxpy.cu"


@pytest.mark.parametrize(
    ("words", "seconds"), [("1.5x", 2 / 3 * 90e-6), ("80us", 80e-6), ("0.08ms", 80e-6), ("90%", 50e-6), (".5 s", 0.5)]
)
def test_a_target_is_a_gain_a_time_or_a_share(words: str, seconds: float) -> None:
    assert parse_target(words).seconds(90e-6, 45e-6) == pytest.approx(seconds)


@pytest.mark.parametrize("words", ["", "fast", "0.5x", "0us", "-1x", "101%", "80", "1e3us", "x"])
def test_other_words_are_refused(words: str) -> None:
    with pytest.raises(CommandError, match="is not a goal"):
        parse_target(words)


@cache
def reached(words: str) -> tuple[KernelResult, Goal]:
    program = warpbound.compile(SAXPY, "h200", compiler="nvrtc")
    launch = warpbound.launch(SAXPY.with_suffix(".toml"))
    target: Target = parse_target(words)
    return with_goal(program, warpbound.gpu("h200"), launch, DEFAULT, target)


@pytest.mark.cuda
def test_the_certificate_is_the_bytes_that_l2_cannot_hold() -> None:
    _, goal = reached("1.2x")
    touched, kept = 2 * 4 * 16777216, 50 * 2**20
    assert goal.certificate.needed_bytes == pytest.approx(touched, rel=1e-3)
    assert goal.certificate.time_s == pytest.approx((touched - kept) / 4.8e12, rel=1e-3)
    assert not goal.forbidden


@pytest.mark.cuda
def test_parts_and_shares_add_up_to_the_time() -> None:
    entry, goal = reached("1.2x")
    assert entry.time_s is not None
    assert sum(part.time_s for part in goal.gap) + goal.certificate.time_s == pytest.approx(entry.time_s)
    assert sum(share.time_s for share in goal.shares) == pytest.approx(entry.time_s)


@pytest.mark.cuda
def test_the_least_change_reaches_the_goal() -> None:
    entry, goal = reached("1.2x")
    assert goal.changes
    assert all(change.time_s <= goal.target_s for change in goal.changes)
    assert goal.changes[0].resources == [entry.bottleneck] == ["dram"]


@pytest.mark.cuda
@pytest.mark.parametrize("words", ["4us", "20x"])
def test_the_certificate_forbids_what_is_too_fast(words: str) -> None:
    _, goal = reached(words)
    assert goal.forbidden
    assert not goal.changes


@pytest.mark.cuda
def test_a_goal_that_is_met_asks_for_nothing() -> None:
    _, goal = reached("1ms")
    assert goal.reached
    assert not goal.changes


@pytest.mark.cuda
def test_what_binds_has_no_slack() -> None:
    entry, goal = reached("1.2x")
    slack = {share.resource: share.slack for share in goal.shares}
    assert slack["dram"] is not None
    assert slack["dram"] <= 1.05
    assert any(value is None or value > 1.5 for value in slack.values())


@pytest.mark.cuda
def test_the_command_line_shows_the_way_and_refuses_bad_words() -> None:
    words = ["analyze", str(SAXPY), "--launch", str(SAXPY.with_suffix(".toml"))]
    done = CliRunner().invoke(main, [*words, "--target", "2x"])
    assert "Goal 2x" in done.stdout
    assert "Certificate: at least 17 us" in done.stdout
    bad = CliRunner().invoke(main, [*words, "--target", "fast"])
    assert bad.exit_code == 2
    assert "is not a goal" in bad.stderr


@pytest.mark.cuda
def test_no_goal_without_a_launch() -> None:
    done = CliRunner().invoke(main, ["analyze", str(SAXPY), "--gpu", "h200", "--target", "2x"])
    assert done.exit_code == 1
    assert "no goal can be judged" in done.stderr


@pytest.mark.cuda
def test_why_nothing_was_executed_ends_in_one_full_stop() -> None:
    words = ["--gpu", "h200", "--grid", "2", "--block", "64", "--arg", "n=128", "--arg", "a=2", "--arg", "x=f32[64]"]
    done = CliRunner().invoke(main, ["analyze", str(SAXPY), *words, "--arg", "y=f32[64]", "--target", "2x"])
    assert done.exit_code == 1
    assert "past the end of 'x'" in " ".join(done.stderr.split())
    assert ".." not in done.stderr
