"""The pages that say how to add something, followed to the letter: their blocks of code become files."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import ModuleType

import numpy as np
import pytest
from click.testing import CliRunner

import warpbound
from support.papers import limits
from support.paths import ROOT
from warpbound import model_inputs, models, program
from warpbound.cli import main
from warpbound.errors import InputError
from warpbound.program import cuda, languages

FAKE_CLANG = """
import sys
from pathlib import Path
from warpbound.program.cuda import Options, compile_cuda

text = Path(sys.argv[-1]).read_text()
if "refuse" in text:
    sys.exit("no such word")
(arch,) = (word.removeprefix("--cuda-gpu-arch=sm_") for word in sys.argv if "gpu-arch" in word)
cubin = compile_cuda(text, "kernel.cu", int(arch), Options()).cubin
Path(sys.argv[sys.argv.index("-o") + 1]).write_bytes(cubin)
"""


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
    equations, line, adapter, golden, _, _ = blocks("add-a-model.md")
    for package, text in ((models, equations), (model_inputs, adapter)):
        folder = tmp_path / package.__name__
        folder.mkdir()
        (folder / "little_1961.py").write_text(text)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    ((name, sentence),) = re.findall(r'"(\w+)": "(.*)",', line)
    monkeypatch.setitem(models.MODELS, name, sentence)
    importlib.invalidate_caches()
    yield tomllib.loads(golden)
    for package in (models, model_inputs):
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


def test_the_added_model_equals_its_second_writing(little: dict[str, object]) -> None:
    again, line = blocks("add-a-model.md")[4:]
    names = vars(limits) | {"little_1961": importlib.import_module(str(little["module"]))}
    exec(again, names)  # noqa: S102  (a block of our own documentation)
    ((name, second),) = eval("{" + line + "}", names).items()  # noqa: S307
    assert name == "little_1961"
    symbols = [second.drawn(Random(seed)) for seed in range(100)]
    assert [second.computed(s) for s in symbols] == [pytest.approx(second.again(s), rel=1e-9) for s in symbols]


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


def installed(page: str, index: int, name: str, package: ModuleType, folder: Path) -> ModuleType:
    """A block of a page as a module of a package."""
    file = folder / f"{name}.py"
    file.write_text(blocks(page)[index])
    found = importlib.util.spec_from_file_location(f"{package.__name__}.{name}", file)
    assert found
    assert found.loader
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture
def maps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file in the language of docs/add-a-compiler-or-language.md, which is installed."""
    page = "add-a-compiler-or-language.md"
    module = installed(page, 0, "maps", program, tmp_path)
    language = eval(blocks(page)[1].strip().rstrip(","), {"Language": languages.Language, **vars(module)})  # noqa: S307
    monkeypatch.setattr(languages, "LANGUAGES", [*languages.LANGUAGES, language])
    (line,) = re.findall(r"^    (map saxpy.*)$", (ROOT / "docs" / page).read_text(), re.M)
    file = tmp_path / "saxpy.map"
    file.write_text(f"\n{line}\n")
    return file


@pytest.mark.cuda
def test_a_language_of_one_reader_and_one_line_is_executed(maps: Path) -> None:
    code = warpbound.compile(maps, "h200")
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    launch = warpbound.launch(grid=4, block=256, args={"n": 1000, "a": 2.0, "x": x, "y": y})
    np.testing.assert_array_equal(warpbound.run(code, launch)["y"], 2 * x + y)


@pytest.mark.cuda
def test_the_command_of_the_page_answers_with_lines_of_the_map(maps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(maps.parent)
    page = (ROOT / "docs" / "add-a-compiler-or-language.md").read_text()
    (command,) = re.findall(r"^    warpbound (analyze saxpy.map .*)$", page, re.M)
    (result,) = json.loads(answered(*command.split(), "--format", "json"))["results"]
    assert result["bottleneck"] == "dram"
    assert {access["line"] for access in result["accesses"]} == {2}


@pytest.mark.cuda
def test_a_line_that_is_no_map_is_named(maps: Path) -> None:
    maps.write_text("map good(x[]): x = x + x\nmapp bad(x[]): x = x\n")
    with pytest.raises(InputError, match=r"saxpy.map, line 2: this is no map"):
        warpbound.compile(maps, "h200")


@pytest.mark.cuda
def test_another_compiler_is_one_file_and_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `clang++` on the path that is NVRTC behind clang's command line."""
    module = installed("add-a-compiler-or-language.md", 2, "clang", program, tmp_path)
    clang = tmp_path / "clang++"
    clang.write_text(f"#!{sys.executable}\n" + FAKE_CLANG)
    clang.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    by_nvrtc = warpbound.compile(ROOT / "examples" / "saxpy.cu", "h200")
    ((name, function),) = re.findall(r'"(\w+)": (\w+),', blocks("add-a-compiler-or-language.md")[3])
    monkeypatch.setitem(cuda.COMPILERS, name, getattr(module, function))
    by_clang = warpbound.compile(ROOT / "examples" / "saxpy.cu", "h200", compiler="clang")
    assert [one.opcode for one in by_clang.instructions] == [one.opcode for one in by_nvrtc.instructions]
    assert by_clang.registers == by_nvrtc.registers
    assert by_clang.compiler == ("clang", "18")
    with pytest.raises(InputError, match="does not compile: no such word"):
        warpbound.compile("__global__ void broken() { refuse }", "h200", compiler="clang")


@pytest.fixture(scope="module")
def package_with_a_view(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package in which docs/add-a-view.md was followed."""
    table, import_table, line, drawing, import_drawing, page_line = blocks("add-a-view.md")
    copy = tmp_path_factory.mktemp("package") / "warpbound"
    shutil.copytree(ROOT / "src" / "warpbound", copy, ignore=shutil.ignore_patterns("__pycache__", "corpora"))
    for folder, module, text, registry, imported, entry in (
        (copy / "report", "pipe_mix.py", table, "text.py", import_table, line),
        (copy / "page" / "views", "instruction_pipes.py", drawing, "__init__.py", import_drawing, page_line),
    ):
        (folder / module).write_text(text)
        source = (folder / registry).read_text()
        head, views = source.split("VIEWS: dict[str, View] = {\n")
        first, rest = views.split("\n}", 1)
        head = head.replace("\nfrom warpbound", f"\n{imported}from warpbound", 1)
        (folder / registry).write_text(f"{head}VIEWS: dict[str, View] = {{\n{first}\n{entry}}}{rest}")
    return copy.parent


def printed(package: Path, *command: str) -> str:
    """Standard output of Python with that package."""
    environment = os.environ | {"PYTHONPATH": str(package), "NO_COLOR": "1", "COLUMNS": "80"}
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.cuda
@pytest.mark.parametrize("views", ["pipes", "all"])
def test_an_added_view_is_printed(views: str, package_with_a_view: Path) -> None:
    page = (ROOT / "docs" / "add-a-view.md").read_text()
    (command,) = re.findall(r"^    warpbound (analyze .*\.toml) --views pipes$", page, re.M)
    out = printed(package_with_a_view, "-m", "warpbound", *command.split(), "--views", views)
    assert "Executed instructions, by pipe" in out
    assert re.search(r"^ +lsu +[\d.]+ M ", out, re.M)


@pytest.mark.cuda
def test_the_first_screen_and_the_html_report_know_the_added_view(package_with_a_view: Path, tmp_path: Path) -> None:
    analysis = ("-m", "warpbound", "analyze", "examples/saxpy.cu", "--launch", "examples/saxpy.toml")
    more = " ".join(printed(package_with_a_view, *analysis).split("More: ")[1].split())
    assert "pipes" in more.split("(")[0].replace(",", " ").split()
    out = tmp_path / "report.html"
    printed(package_with_a_view, *analysis, "--format", "html", "--views", "pipes", "-o", str(out))
    assert "Executed instructions, by pipe" in out.read_text("utf-8")


def test_an_added_view_of_the_page_speaks(package_with_a_view: Path) -> None:
    code = """
from warpbound.machine import gpu
from warpbound.page.subject import BARE_BLOCK, Subject
from warpbound.page.views import VIEWS, draw_view
print(VIEWS["pipes"].title, *draw_view("pipes", Subject("sliders", gpu("h200"), BARE_BLOCK), {}).words)
"""
    assert printed(package_with_a_view, "-c", code).startswith("Instructions Choose a kernel")
