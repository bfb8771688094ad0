"""What `predict` prints is what the published schema says, for the papers' workloads on old and new boards."""

import copy
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator, ValidationError

from warpbound.cli import main
from warpbound.report.document import schema
from warpbound.workload.files.reading import shipped

SCHEMA = schema("predict")
VALIDATOR = Draft202012Validator(SCHEMA)


def answered(*words: str) -> dict[str, Any]:
    """The document that the command line prints, checked against the schema."""
    done = CliRunner().invoke(main, ["predict", *words, "--format", "json"])
    assert done.stdout, done.output
    document: dict[str, Any] = msgspec.json.decode(done.stdout)
    VALIDATOR.validate(document)
    return document


@pytest.mark.parametrize("gpus", ["", "h200,gtx980,8800gtx", "sm_90,v100-pcie"])
@pytest.mark.parametrize("name", shipped())
def test_answers_validate(name: str, gpus: str) -> None:
    document = answered(name, *(["--gpu", gpus] if gpus else []))
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
    (entry,) = answered(str(path), "--gpu", "h200")["results"]
    assert (entry["time_s"], entry["bottleneck"], entry["launch"]["blocks"]) == (None, None, None)


def valid() -> dict[str, Any]:
    return copy.deepcopy(SCHEMA["examples"][0])  # type: ignore[no-any-return]


def test_its_example_shows_an_answer_and_a_refusal() -> None:
    VALIDATOR.validate(valid())
    assert [("error" in entry) for entry in valid()["results"]] == [False, True]


@pytest.mark.parametrize("key", SCHEMA["$defs"]["answer"]["required"])
def test_every_key_must_be_there(key: str) -> None:
    document = valid()
    del document["results"][0][key]
    with pytest.raises(ValidationError):
        VALIDATOR.validate(document)


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
    document = valid()
    *way, last = path.split(".")
    node = document["results"][0]
    for step in way:
        node = node[int(step)] if step.isdigit() else node[step]
    assert last in node
    node[last] = value
    with pytest.raises(ValidationError):
        VALIDATOR.validate(document)


# ---------------------------------------------------------------- --set


def dram_time(*words: str) -> float:
    (entry,) = answered("volkov-vector-add", "--models", "volkov_2016", *words)["results"]
    return next(bound["cycles_per_warp"] for bound in entry["bounds"] if bound["resource"] == "dram")


@pytest.mark.parametrize("word", ["dram_achievable_bandwidth=308", "gtx680:dram_achievable_bandwidth=308"])
def test_another_value_changes_the_answer(word: str) -> None:
    assert dram_time() == pytest.approx(2 * dram_time("--set", word), rel=1e-3)


def test_it_is_listed_as_assumed_by_the_board_alone() -> None:
    two = answered("volkov-vector-add", "--gpu", "gtx680,h200", "--set", "h200:dram_achievable_bandwidth=1")["results"]
    plain = answered("volkov-vector-add", "--gpu", "gtx680,h200")["results"]
    assert two[0]["bounds"] == plain[0]["bounds"]
    assert two[1]["bounds"] != plain[1]["bounds"]


@pytest.mark.parametrize(
    "word, said",
    [
        ("bandwidth", "is not of the form PARAMETER=NUMBER"),
        ("dram_bandwidth=fast", "is no number"),
        ("speed=3", "is not known"),
        ("h200:dram_bandwidth=3", "none of the GPUs asked for"),
    ],
)
def test_words_that_mean_nothing_are_refused(word: str, said: str) -> None:
    done = CliRunner().invoke(main, ["predict", "volkov-vector-add", "--set", word])
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
