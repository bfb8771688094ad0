"""What the documentation shows is what the tool prints: every ```console block is run again and compared.

`pytest tests/test_docs.py -m '' --rewrite-docs` puts today's output in. The output depends on the compiler, so a page
is compared only under the NVRTC version that it names in its first comment.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.paths import ROOT
from warpbound.program import nvrtc

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"```console\n\$ (?P<command>.*?)\n(?P<output>.*?)```", re.S)
PROGRESS = re.compile(r"warpbound: .* \.\.\.(?: \d+ s)?")  # what a slow machine says meanwhile
VERSION = re.compile(r"<!-- output of NVRTC ([\d.]+) -->")


def printed(command: str) -> str:
    """Standard output of a shell command, with this environment's programs first on the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "NO_COLOR": "1", "COLUMNS": "80"}
    done = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    lines = [line.rstrip() for line in (done.stdout + done.stderr).splitlines() if not PROGRESS.fullmatch(line)]
    return "\n".join(lines).strip("\n") + "\n"


@pytest.mark.cuda
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name, marks=() if page.name == "README.md" else pytest.mark.broad)
        for page in PAGES
        if BLOCK.search(page.read_text())
    ],
)
def test_output_in_the_docs_is_current(page: Path, request: pytest.FixtureRequest) -> None:
    text = page.read_text()
    if request.config.getoption("--rewrite-docs"):
        text = BLOCK.sub(lambda m: f"```console\n$ {m['command']}\n{printed(m['command'])}```", text)
        page.write_text(VERSION.sub(f"<!-- output of NVRTC {nvrtc.version()} -->", text))
        return
    version = VERSION.search(text)
    assert version, f"{page.name} shows output but does not name the compiler it came from"
    if version[1] != nvrtc.version():
        pytest.skip(f"{page.name} shows the output of NVRTC {version[1]}; this is {nvrtc.version()}")
    for block in BLOCK.finditer(text):
        assert block["output"] == printed(block["command"]), block["command"]


@pytest.mark.cuda
def test_the_python_of_the_readme_prints_what_it_says() -> None:
    found = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert found
    done = subprocess.run([sys.executable, "-c", found[1]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "[1. 3. 5.]", done.stderr
    assert "GPU: [1. 3. 5.]" in found[1]


def test_links_lead_somewhere() -> None:
    links = [(page, to) for page in PAGES for to in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text())]
    local = [(page, to) for page, to in links if "://" not in to]
    dead = [f"{page.relative_to(ROOT)}: {to}" for page, to in local if not (page.parent / to).exists()]
    assert len(local) > 100
    assert not dead, "\n".join(dead)


FILE = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|toml|json|h|c|sh)|(?:[\w.-]+/)+)`")
PLACES = [ROOT, ROOT / "src", ROOT / "src" / "warpbound", ROOT / "src" / "warpbound" / "report" / "figures"]
MADE_BY_THE_READER = re.compile(r"little_1961|pipe_mix|l20|program/(maps|clang)\.py|measured/|NAME|MODEL")


def test_files_that_the_pages_name_exist() -> None:
    """Backticked paths with a folder, from the root or a package on."""
    named = {(page.name, name) for page in PAGES for name in FILE.findall(page.read_text())}
    missing = [pair for pair in sorted(named) if not any((place / pair[1]).exists() for place in PLACES)]
    assert [pair for pair in missing if not MADE_BY_THE_READER.search(pair[1])] == []


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs" / "limits.md"], ids=lambda p: p.name)
def test_accuracy_is_that_of_the_accuracy_page(page: Path) -> None:
    (row,) = re.findall(r"^\| \*\*all\*\* \| (.*) \|$", (ROOT / "docs" / "accuracy.md").read_text(), re.M)
    launches, boards, mean, _, inside = row.split(" | ")
    text = " ".join(page.read_text().split())
    assert re.search(rf"\b{launches} (measured )?launches on {boards} boards", text)
    assert f"The mean error is {mean} %" in text
    assert page.name != "README.md" or f"{inside} % of the launches lie inside" in text


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_says_what_is_missing() -> None:
    done = subprocess.run(["make", "demo", "BIN=nowhere"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "There is no nowhere/warpbound. Run `make venv` first" in done.stderr
