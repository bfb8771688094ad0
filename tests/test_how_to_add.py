"""The pages that say how to add something, followed to the letter: their blocks of code become files."""

import importlib
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from support.paths import ROOT
from warpbound import adapt, models
from warpbound.cli import main


def blocks(page: str) -> list[str]:
    """The fenced blocks of code of a page, in order."""
    return re.findall(r"```(?:python|toml|cuda|c\+\+)\n(.*?)```", (ROOT / "docs" / page).read_text(), re.S)


def answered(*arguments: str) -> str:
    """Standard output of a command that succeeds."""
    outcome = CliRunner().invoke(main, arguments)
    assert outcome.exit_code == 0, outcome.output
    return outcome.stdout


@pytest.fixture
def little(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, object]]:
    """The model of docs/add-a-model.md, installed; its golden cases."""
    equations, line, adapter, golden = blocks("add-a-model.md")
    for package, text in ((models, equations), (adapt, adapter)):
        folder = tmp_path / package.__name__
        folder.mkdir()
        (folder / "little_1961.py").write_text(text)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    ((name, sentence),) = re.findall(r'"(\w+)": "(.*)",', line)
    monkeypatch.setitem(models.MODELS, name, sentence)
    importlib.invalidate_caches()
    yield tomllib.loads(golden)
    for package in (models, adapt):
        sys.modules.pop(f"{package.__name__}.little_1961", None)
        package.__dict__.pop("little_1961", None)


def test_a_model_of_two_files_and_one_line_is_listed_and_described(little: dict[str, object]) -> None:
    rows = json.loads(answered("models", "--format", "json"))
    assert {"name": "little_1961", "about": models.MODELS["little_1961"]} in rows
    text = " ".join(answered("models", "little_1961").split())
    assert "Omits arithmetic, and the growth of latency under load." in text


def test_the_added_model_gives_its_golden_numbers(little: dict[str, object]) -> None:
    module = importlib.import_module(str(little["module"]))
    for case in little["case"]:  # type: ignore[attr-defined]
        found = module.predict(module.Inputs(**case["inputs"]))
        assert float(found.rate) == pytest.approx(case["expected"], rel=case["rtol"])
        assert str(found.bottleneck) == case["bottleneck"]


def test_predict_shows_the_added_model(little: dict[str, object]) -> None:
    out = answered("predict", "hong-kim-micro", "--case", "Mb3_C", "--gpu", "gtx280", "--models", "little_1961",
                   "--format", "json")  # fmt: skip
    (result,) = json.loads(out)["results"]
    said = result["models"]["little_1961"]
    assert said["bottleneck"] == "bandwidth"
    assert said["time_s"] > 0


def test_the_added_model_names_what_it_lacks(little: dict[str, object], tmp_path: Path) -> None:
    file = tmp_path / "guess.toml"
    file.write_text('title = "no launch"\n[[access]]\nkind = "load"\nper = "warp"\ncount = 1\n')
    out = answered("predict", str(file), "--gpu", "gtx280", "--models", "little_1961", "--format", "json")
    assert json.loads(out)["results"][0]["models"]["little_1961"]["reason"] == "needs the resident warps"
