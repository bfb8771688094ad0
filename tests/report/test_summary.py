"""The first screen: short on every example, and with what an engineer needs first."""

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from support.results import kernel_result
from warpbound.cli import main
from warpbound.emulate.guard_shares import NOTE
from warpbound.report.confidence import ROUTINE, threats
from warpbound.report.summary import MOST_THREATS, summary
from warpbound.report.text import DETAILS, pages
from warpbound.result.kernel import KernelResult
from warpbound.result.refusal import Error, Refusal

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
SCREEN, WITHOUT_LAUNCH = 40, 45  # lines
QUICK = ("saxpy", "matmul_tiled", "histogram", "transpose_naive", "mandelbrot", "applications/bfs")
ALL = [f"{path.relative_to(EXAMPLES).with_suffix('')}" for path in sorted(EXAMPLES.rglob("*.cu"))
       if path.with_suffix(".toml").exists()]  # fmt: skip


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are short wherever the checkout lies; a long one takes one line more."""
    monkeypatch.chdir(ROOT)


def printed(*words: str, columns: int = 80) -> str:
    done = CliRunner(env={"COLUMNS": str(columns)}).invoke(main, ["analyze", *words])
    assert done.exit_code == 0, done.stderr
    return done.stdout


def example(name: str) -> tuple[str, ...]:
    gpu = "b200" if name.startswith("blackwell") else "h200"
    return f"examples/{name}.cu", "--launch", f"examples/{name}.toml", "--gpu", gpu


def assert_first_screen(text: str, columns: int = 80) -> None:
    lines = text.splitlines()
    assert len(lines) <= SCREEN
    assert max(map(len, lines)) <= columns
    time = r"Time [\d.]+ (s|ms|us|ns), probably between [\d.]+ (s|ms|us|ns) and [\d.]+ (s|ms|us|ns)\."
    assert re.search(time, text)
    assert re.search(r"^  [A-Z][\w/ ()-]+ binds", text, re.M)
    assert re.search(r"Best changes\n +\d+\.\d\dx ", text) or "None of these what-ifs" in text
    assert "What binds" in text
    assert "Hot source lines" in text
    assert "--views NAME" in text


@pytest.mark.cuda
@pytest.mark.parametrize("name", QUICK)
def test_one_screen_has_what_is_needed_first(name: str) -> None:
    assert_first_screen(printed(*example(name)))


@pytest.mark.cuda
def test_the_way_to_a_goal_fits_one_screen() -> None:
    """It takes the place of what its own tables show."""
    text = printed(*example("saxpy"), "--target", "1.5x")
    assert len(text.splitlines()) <= SCREEN
    assert "Certificate: " in text
    assert "Slack: " in text
    assert "Best changes" not in text
    assert "whatifs" in text  # where to read them


@pytest.mark.full
@pytest.mark.cuda
@pytest.mark.parametrize("name", ALL)
def test_every_example_fits_one_screen(name: str) -> None:
    assert_first_screen(printed(*example(name)))


@pytest.mark.cuda
@pytest.mark.parametrize("gpu", ["h200", "v100-pcie", "sm_87"])
def test_a_kernel_without_a_launch_fits_one_screen(gpu: str) -> None:
    text = printed("examples/matmul_tiled.cu", "--gpu", gpu)
    assert len(text.splitlines()) <= WITHOUT_LAUNCH
    assert "Occupancy" in text
    if gpu != "sm_87":
        assert "--arg A=f32[COUNT]" in text.replace("\n  ", " ")
        assert "--arg n=NUMBER" in text.replace("\n  ", " ")
        assert "Loops with the most latency" in text


@pytest.mark.cuda
def test_summary_is_the_default_and_all_stands_for_every_other_view() -> None:
    words = example("saxpy")
    assert printed(*words) == printed(*words, "--views", "summary")
    whole, named = printed(*words, "--views", "all"), printed(*words, "--views", ",".join(DETAILS))
    assert whole == named
    assert whole != printed(*words)
    assert "More:" not in whole
    assert "SASS along the path" in whole


@pytest.mark.cuda
def test_what_threatens_this_answer_follows_the_time_and_no_routine_note_does() -> None:
    lines = printed(*example("applications/bfs"), columns=200).splitlines()
    (at,) = (number for number, line in enumerate(lines) if line.startswith("  Time "))
    assert lines[at + 1] == (
        "  Branches and addresses depend on the contents of 'frontier', 'neighbour' and 'visited': with other "
        "contents the time changes."
    )
    assert not any("taken from relatives" in line for line in lines)


@pytest.mark.cuda
@pytest.mark.parametrize("words", [example("saxpy"), (example("matmul_tiled")[0], "--gpu", "h200")])
def test_the_notes_of_an_answer_without_risks_are_all_routine(words: tuple[str, ...]) -> None:
    """A note that is reworded would stand next to the time of every kernel."""
    text = printed(*words, "--views", "confidence", columns=2000)
    notes = [line.removeprefix("  - ") for line in text.splitlines() if line.startswith("  - ")]
    assert notes
    assert [note for note in notes if not note.startswith(ROUTINE)] == []


def test_unknown_contents_that_decide_nothing_are_no_risk_and_the_others_are() -> None:
    idle, deciding = "unknown contents of 'x' read in line 9 and taken as 0", "; branches in line 9 depend on it"
    assert [note.plain for note in threats(bare(assumed=[idle, idle + deciding]))] == []
    assert [note.plain for note in threats(bare(assumed=["shared memory that was never written " + idle[-37:]]))]


@pytest.mark.parametrize("most, shown", [(0.27, 0), (0.0, 0), (1.2, 1), (20, 1)])
def test_lanes_of_guarded_arithmetic_are_on_the_first_screen_where_they_are_many(most: float, shown: int) -> None:
    assert len(threats(bare(assumed=[NOTE.format(lines=" in line 31", first=3782, most=most)]))) == shown


def bare(**confidence: Any) -> KernelResult:
    bound = {"resource": "dram", "cycles_per_warp": 50.0, "utilization": 0.96}
    return kernel_result(
        time_s=1e-3, time_interval_s=[9e-4, 1.2e-3], bottleneck="dram", runner_up="dram", bounds=[bound],
        warps_needed=20.6, latency={"cycles": 10.0, "parts": {}, "by_level": {}, "load_phases": []},
        confidence=confidence,
    )  # fmt: skip


def shown(entry: KernelResult) -> list[str]:
    console = Console(width=200, highlight=False)
    with console.capture() as captured:
        console.print(summary(entry))
    return [line.rstrip() for line in captured.get().splitlines()]


def test_unknown_opcodes_stand_next_to_the_time() -> None:
    lines = shown(bare(unknown_opcodes=["FROB", "WIBBLE"]))
    assert lines[1] == "  Unknown opcodes, counted for issue only: FROB, WIBBLE."


def test_no_more_than_a_few_notes_stand_next_to_the_time() -> None:
    entry = bare(assumed=[f"strange thing {number}" for number in range(MOST_THREATS + 2)])
    assert len(threats(entry)) == MOST_THREATS + 2
    lines = shown(entry)
    assert lines[MOST_THREATS] == f"  Strange thing {MOST_THREATS - 1}."
    assert lines[MOST_THREATS + 1] == "  2 more: --views confidence"


def test_a_refusal_is_a_sentence() -> None:
    console = Console(width=200, highlight=False)
    with console.capture() as captured:
        console.print(*pages([Refusal(kernel="k", gpu="t4", error=Error("It cannot run.", "Choose another."))]))
    assert captured.get() == "k on t4: It cannot run. Choose another.\n"
