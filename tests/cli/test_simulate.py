"""`warpbound simulate`: what it prints, what it refuses."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from warpbound.cli import main
from warpbound.machine import gpu
from warpbound.reproduce.synthetic import simulated
from warpbound.simulate.scenarios import SCENARIOS
from warpbound.simulate.synthetic_family import Setting
from warpbound.simulate.timelines import WORDS


def simulate(*words: str) -> Result:
    return CliRunner().invoke(main, ["simulate", *words], catch_exceptions=False)


def test_without_anything_scenarios_are_listed() -> None:
    done = simulate()
    assert done.exit_code == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(SCENARIOS)
    assert [row["name"] for row in json.loads(simulate("--format", "json").stdout)] == list(SCENARIOS)


def test_a_figure_shows_its_timeline() -> None:
    done = simulate("hong_kim_2009:fig-5b")
    assert done.exit_code == 0
    assert "cycles 0 to 14\n" in done.stdout
    assert "warp 0 |#---#..---\nwarp 1 |.#---#..---\nwarp 2 |..#.---#..---\nwarp 3 |...#.---#..---\n" in done.stdout
    assert "long scoreboard" in done.stdout


def test_occupancy_over_time_is_printed_and_counted() -> None:
    shown = simulate("hong_kim_2009:fig-5b").stdout
    assert "Resident warps over time, at most 4; a column is the mean of 1 cycles\n" in shown
    outcome = json.loads(simulate("hong_kim_2009:fig-5b", "--format", "json").stdout)["results"][0]["outcome"]
    over_time = outcome["occupancy_over_time"]
    assert over_time["interval"] == 1.0
    assert over_time["warps"] == pytest.approx([4.0] * 10 + [3.0, 2.0, 2.0, 1.0])  # the warps end at 10, 11, 13 and 14
    assert sum(over_time["warps"]) == pytest.approx(outcome["occupancy"] * outcome["cycles"])


def test_the_start_of_a_name_means_all_parts_of_a_figure() -> None:
    found = json.loads(simulate("hong_kim_2009:fig-5", "--format", "json").stdout)["results"]
    assert [entry["scenario"] for entry in found] == ["hong_kim_2009:fig-5a", "hong_kim_2009:fig-5b"]
    assert [entry["outcome"]["cycles"] for entry in found] == [14.0, 14.0]
    assert sum(found[0]["outcome"]["stalls"].values()) == pytest.approx(1.0)
    assert "events" not in found[0]


def test_events_are_rows() -> None:
    found = json.loads(simulate("hong_kim_2009:fig-8a", "--format", "json", "--events").stdout)["results"][0]
    assert [event["kind"] for event in found["events"]] == ["start", "issue", "request", "end"]
    assert found["events"][2]["until"] == 4.0


def test_the_family_stands_beside_the_model() -> None:
    done = simulate("family", "--gpu", "gtx680", "--alpha", "8", "--warps", "4:6", "--format", "json")
    rows = json.loads(done.stdout)["results"]
    assert [row["warps_per_sm"] for row in rows] == [4, 5, 6]
    for row in rows:
        assert row["model_loads_per_cycle"] == pytest.approx(row["warps_per_sm"] / (301 + 8 * 9), rel=1e-6)
        assert row["loads_per_cycle"] == pytest.approx(row["model_loads_per_cycle"], rel=0.03)
        assert row["adds_per_cycle"] == pytest.approx(32 * 8 * row["loads_per_cycle"])


@pytest.mark.parametrize(
    "words, said",
    [
        (("hong_kim_2009:fig-9",), "There is no scenario"),
        (("family",), "No GPU given"),
        (("family", "--gpu", "h200", "--alpha", "x"), "not a list of numbers"),
        (("family", "--gpu", "h200", "--alpha", "-1"), "an intensity lies between"),
        (("family", "--gpu", "h200", "--warps", "9:3"), "not a range"),
        (("family", "--gpu", "h200", "--memory", "slow"), "is not known"),
        (("family", "--gpu", "h200", "--memory", "fitted"), "was not fitted"),
        (("family", "--gpu", "h200", "--policy", "fair"), "No scheduler is called"),
        (("evaluation", "--gpu", "h300"), "not all of these are evaluated"),
        (("examples/saxpy.cu", "--gpu", "h200"), "without a launch"),
        (("nowhere.cu", "--gpu", "h200"), "nowhere.cu"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(words: tuple[str, ...], said: str) -> None:
    done = simulate(*words)
    assert done.exit_code in (1, 2)
    assert said in done.stderr
    assert done.stderr.startswith("warpbound: ")
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.cuda
def test_a_kernel_is_run_beside_its_prediction() -> None:
    words = ("examples/saxpy.cu", "--launch", "examples/saxpy.toml")
    assert "the analysis predicts" in simulate(*words).stdout
    found = json.loads(simulate(*words, "--format", "json").stdout)["results"][0]
    assert found["simulated_over_headline"] == pytest.approx(1.0, abs=0.1)
    assert found["outcome"]["stalls"]["long_scoreboard"] > 0.5


@pytest.mark.cuda
def test_a_trace_has_the_first_warps_in_time(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    done = simulate("examples/saxpy.cu", "--launch", "examples/saxpy.toml", "--trace", str(file))
    assert done.exit_code == 0
    events = json.loads(file.read_text())["traceEvents"]
    assert events[0]["args"] == {"name": "saxpy on h200"}
    spans = [event for event in events if event["ph"] == "X"]
    assert {span["name"] for span in spans} == set(WORDS.values())
    by_warp: dict[int, list[tuple[float, float]]] = {}
    for span in spans:
        by_warp.setdefault(span["tid"], []).append((span["ts"], span["ts"] + span["dur"]))
    assert len(by_warp) > 1
    for own in by_warp.values():  # no two at a time
        assert all(first[1] <= second[0] + 1e-9 for first, second in pairwise(sorted(own)))


def test_a_trace_is_of_a_kernel() -> None:
    done = simulate("hong_kim_2009:fig-5b", "--trace", "trace.json")
    assert done.exit_code != 0
    assert "--trace writes the warps of a kernel" in done.stderr


def test_a_step_of_the_family_has_its_name_before_it_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    run: list[int] = []
    monkeypatch.setattr(simulated, "loads_per_cycle", lambda machine, n, alpha, setting: run.append(n) or 1.0)
    titled = simulated.rows(gpu("gtx680"), (4.0, 8.0), (1, 3), Setting())
    assert next(titled)[0] == "alpha 4"
    title, rows = next(titled)
    assert (title, run) == ("alpha 8", [])
    assert [(row.alpha, row.warps_per_sm) for row in rows] == [(8.0, 1), (8.0, 2), (8.0, 3)]
