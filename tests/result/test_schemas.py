"""The generated schemas accept and refuse what the hand-written ones did, which are kept here for that."""

import copy
import json
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from support.paths import EXAMPLES, ROOT
from warpbound.cli import main
from warpbound.report.document import schema

NAMES = ("analyze", "predict", "campprof", "launch", "workload")
LATER = ("launches", "run")  # without a hand-written twin
LAUNCHES = ("matmul_tiled", "spmv_csr")
WORKLOADS = ("volkov-vector-add", "hong-kim-micro", "x-model-gesummv")
OTHERS = (None, "other", -1, 0, 40.5, [], {}, {"other": -1})
PREDICTED = ("predict", "volkov-vector-add", "--gpu", "gtx280,sm_90")
CAMPED = ("campprof", "predict", "--gld64", "65536", "--grid", "4096", "--block", "256", "--warps", "32")
LISTED = ("analyze", str(EXAMPLES / "listings" / "volkov_adds.sass"), "--gpu", "gtx980")
SAXPY = ("analyze", str(EXAMPLES / "saxpy.cu"))
LAUNCHED = (*SAXPY, "--launch", str(EXAMPLES / "saxpy.toml"), "--gpu", "h200,sm_90")
REFUSED = (*SAXPY, "--launch", str(EXAMPLES / "saxpy.toml"), "--gpu", "v100-pcie,gtx980")


@cache
def handwritten(name: str) -> Draft202012Validator:
    place = Path(__file__).parent / "handwritten_schemas" / f"{name}.json"
    return Draft202012Validator(json.loads(place.read_text(encoding="utf-8")))


@cache
def generated(name: str) -> Draft202012Validator:
    return Draft202012Validator(schema(name))


def answer(*words: str) -> Any:
    result = CliRunner().invoke(main, [*words, "--format", "json"])
    assert result.stdout, result.output
    return json.loads(result.stdout)


def short(node: Any) -> Any:
    """The same with no more than two elements in a list: a longer one has no other kinds of keys."""
    if isinstance(node, dict):
        return {key: short(value) for key, value in node.items()}
    return [short(value) for value in node[:2]] if isinstance(node, list) else node


def mutants(document: Any) -> Iterator[tuple[str, Any]]:
    """Each key removed, each value replaced by one of OTHERS, each object with one key more."""
    for path in list(places(document)):
        holder = document
        for step in path[:-1]:
            holder = holder[step]
        key = path[-1]
        own = holder[key]
        for other in OTHERS:
            holder[key] = other
            yield f"{path} = {other!r}", document
        holder[key] = own
        if isinstance(holder, dict):
            order = list(holder.items())
            del holder[key]
            yield f"{path} removed", document
            holder.clear()
            holder.update(order)
        if isinstance(own, dict):
            for other in OTHERS:
                own["one key more"] = other
                yield f"{path} with one key more: {other!r}", document
            del own["one key more"]


def places(node: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in entries:
        yield (*above, key)
        yield from places(value, (*above, key))


def compare(name: str, document: Any) -> None:
    before, now = handwritten(name), generated(name)
    assert before.is_valid(document)
    assert now.is_valid(document)
    for part in parts(short(document)):
        verdicts = set()
        for change, mutant in mutants(part):
            verdict = before.is_valid(mutant)
            assert now.is_valid(mutant) is verdict, change
            verdicts.add(verdict)
        assert verdicts == {True, False}, "mutations that are all accepted, or all refused, compare nothing"


def parts(document: Any) -> Iterator[Any]:
    """Documents with one result each, so that an unchanged one is not checked again and again."""
    if "results" not in document:
        yield copy.deepcopy(document)
    for result in document.get("results", ()):
        yield copy.deepcopy(document | {"results": [result]})


@pytest.mark.parametrize("name", [*NAMES, *LATER])
def test_a_generated_schema_is_valid_and_accepts_its_examples(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))
    for example in schema(name)["examples"]:
        generated(name).validate(example)


@pytest.mark.parametrize("name", NAMES)
def test_verdicts_on_the_examples_and_their_mutations(name: str) -> None:
    for example in schema(name)["examples"]:
        compare(name, example)


@pytest.mark.parametrize("name", LATER)
def test_every_promised_key_is_required_and_has_a_type(name: str) -> None:
    (example,) = schema(name)["examples"]
    for key in example:
        assert not generated(name).is_valid({other: value for other, value in example.items() if other != key}), key
        assert not generated(name).is_valid(example | {key: {"other": -1}}), key
    (first, *_) = example["launches"]
    for key in first:
        lacking = {other: value for other, value in first.items() if other != key}
        assert not generated(name).is_valid(example | {"launches": [lacking]}), key


def test_the_launches_of_a_program_fit_their_schema() -> None:
    program = ROOT / "tests" / "support" / "host_programs" / "vector_add.cu"
    generated("launches").validate(answer("launches", str(program)))


@pytest.mark.parametrize("name", LAUNCHES)
def test_verdicts_on_launch_files_and_their_mutations(name: str) -> None:
    compare("launch", tomllib.loads((EXAMPLES / f"{name}.toml").read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", WORKLOADS)
def test_verdicts_on_workload_files_and_their_mutations(name: str) -> None:
    text = (files("warpbound") / "workloads" / f"{name}.toml").read_text(encoding="utf-8")
    compare("workload", tomllib.loads(text))


@pytest.mark.parametrize("words", [PREDICTED, CAMPED, LISTED], ids=["predicted", "camped", "listed"])
def test_verdicts_on_answers_and_their_mutations(words: tuple[str, ...]) -> None:
    compare(words[0], answer(*words))


@pytest.mark.full
@pytest.mark.cuda
@pytest.mark.parametrize("words", [LAUNCHED, REFUSED], ids=["launched", "refused"])
def test_verdicts_on_answers_from_source_and_their_mutations(words: tuple[str, ...]) -> None:
    compare(words[0], answer(*words))
