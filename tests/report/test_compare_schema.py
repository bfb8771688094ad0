"""What `compare` prints is what the published schema says, and the schema says what it must."""

from pathlib import Path

import pytest
from jsonschema import ValidationError

from support.profiled_examples import ARGUMENTS, written
from support.published_schema import Published

COMPARE = Published("compare")
ARGS = [word for argument in ARGUMENTS for word in ("--arg", argument)]


@pytest.mark.cuda
@pytest.mark.parametrize("words", [[], ARGS, [*ARGS, "--launch-index", "0"]], ids=["static", "dynamic", "one"])
def test_comparisons_validate(tmp_path: Path, words: list[str]) -> None:
    document = COMPARE.answered(str(written(tmp_path / "saxpy.ncu-rep")), *words)
    assert len(document["launches"]) == (1 if "--launch-index" in words else 2)
    assert {row["name"] for row in document["errors"]} <= {row["name"] for row in document["launches"][0]["counters"]}


@pytest.mark.cuda
def test_a_launch_without_an_answer_is_an_entry(tmp_path: Path) -> None:
    known, unknown = written(tmp_path / "a.ncu-rep"), written(tmp_path / "b.ncu-rep", board="NVIDIA Nothing 1")
    document = COMPARE.answered(str(known), str(unknown))
    assert [set(entry) for entry in document["launches"][2:]] == [
        {"kernel", "gpu", "report", "launch_index", "error"}
    ] * 2


@pytest.mark.parametrize("key", ["kernel", "counters", "duration_s", "stalls", "launch_index"])
def test_a_document_without_a_key_is_refused(key: str) -> None:
    document = COMPARE.example()
    COMPARE.validate(document)
    del document["launches"][0][key]
    with pytest.raises(ValidationError):
        COMPARE.validate(document)


@pytest.mark.parametrize("key, value", [("measured", "fast"), ("unit", None), ("ratio", "1")])
def test_a_counter_of_another_type_is_refused(key: str, value: object) -> None:
    document = COMPARE.example()
    document["launches"][0]["counters"][0][key] = value
    with pytest.raises(ValidationError):
        COMPARE.validate(document)
