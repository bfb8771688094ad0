"""What `predict` prints is what the published schema says, for the papers' workloads on old and new boards."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from support.published_schema import Published
from warpbound.cli import main
from warpbound.workload.files.reading import shipped

PREDICT = Published("predict")


@pytest.mark.parametrize("gpus", ["", "h200,gtx980,8800gtx", "sm_90,v100-pcie"])
@pytest.mark.parametrize("name", shipped())
def test_answers_validate(name: str, gpus: str) -> None:
    document = PREDICT.answered(name, *(["--gpu", gpus] if gpus else []))
    said = [entry for entry in document["results"] if "error" not in entry]
    assert said
    for entry in said:
        assert entry["mode"] == "written"
        assert "roofline_2009" in entry["models"]
        tightest = [bound["cycles_per_warp"] for bound in entry["bounds"]]
        assert tightest == sorted(tightest, reverse=True)


def test_a_guess_without_a_launch_validates(tmp_path: Path) -> None:
    path = tmp_path / "guess.toml"
    path.write_text('title = "nothing known"\n')
    (entry,) = PREDICT.answered(str(path), "--gpu", "h200")["results"]
    assert (entry["time_s"], entry["bottleneck"], entry["launch"]["blocks"]) == (None, None, None)


def test_its_example_shows_an_answer_and_a_refusal() -> None:
    PREDICT.validate(PREDICT.example())
    assert [("error" in entry) for entry in PREDICT.example()["results"]] == [False, True]


@pytest.mark.parametrize("key", PREDICT.schema["$defs"]["WorkloadResult"]["required"])
def test_every_key_must_be_there(key: str) -> None:
    PREDICT.assert_needed(key, "results", 0)


@pytest.mark.parametrize(
    "path, value",
    [
        ("mode", "static"),
        ("time_s", -1.0),
        ("bottleneck", "memory"),
        ("occupancy.limiters", ["threads"]),
        ("launch.blocks", 1.5),
        ("bounds.0.utilization", 1.2),
        ("models.volkov_2016.time_s", "1 s"),
        ("assumed", None),
        ("clock_MHz", 0.0),
    ],
)
def test_values_that_break_it_are_refused(path: str, value: Any) -> None:
    PREDICT.assert_refuses(path, value)


# ---------------------------------------------------------------- --set


def dram_time(*words: str) -> float:
    (entry,) = PREDICT.answered("volkov-vector-add", "--models", "volkov_2016", *words)["results"]
    return next(bound["cycles_per_warp"] for bound in entry["bounds"] if bound["resource"] == "dram")


@pytest.mark.parametrize("word", ["dram_achievable_bandwidth=308", "gtx680:dram_achievable_bandwidth=308"])
def test_another_value_changes_the_answer(word: str) -> None:
    assert dram_time() == pytest.approx(2 * dram_time("--set", word), rel=1e-3)


def test_it_is_listed_as_assumed_by_the_board_alone() -> None:
    words = ("volkov-vector-add", "--gpu", "gtx680,h200")
    two = PREDICT.answered(*words, "--set", "h200:dram_achievable_bandwidth=1")["results"]
    plain = PREDICT.answered(*words)["results"]
    assert two[0]["bounds"] == plain[0]["bounds"]
    assert two[1]["bounds"] != plain[1]["bounds"]


@pytest.mark.parametrize(
    "word, said",
    [
        ("bandwidth", "is not of the form PARAMETER=NUMBER"),
        ("dram_bandwidth=fast", "is not a number"),
        ("speed=3", "is not known"),
        ("h200:dram_bandwidth=3", "not one of the GPUs of --gpu"),
    ],
)
def test_words_that_mean_nothing_are_refused(word: str, said: str) -> None:
    done = CliRunner().invoke(main, ["predict", "volkov-vector-add", "--set", word])
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
