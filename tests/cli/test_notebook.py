"""The cell magic in IPython, and the tool of Compiler Explorer."""

import re
import shlex
import subprocess
import sys

import pytest

from support.paths import EXAMPLES, ROOT

pytest.importorskip("IPython")

from IPython.core.interactiveshell import InteractiveShell

pytestmark = pytest.mark.cuda

SCALE = """__global__ void scale(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2.0f;
}
"""
LAUNCH = "--gpu h200 --grid 512 --block 256 --arg n=131072 --arg x=f32[131072]:rand"


@pytest.fixture(scope="module")
def shell():
    made = InteractiveShell.instance()
    made.run_line_magic("load_ext", "warpbound")
    yield made
    InteractiveShell.clear_instance()


def test_a_cell_is_answered_below_it(shell):
    card = shell.run_cell_magic("warpbound", LAUNCH, SCALE)
    (entry,) = card.results
    assert entry.kernel == "scale"
    assert "scale on NVIDIA H200" in repr(card)
    assert "if (i < n) x[i] *= 2.0f;" in repr(card)
    page = card._repr_html_()
    assert page.startswith("<pre")
    assert "<span style=" in page
    assert "if (i &lt; n)" in page
    assert "Best changes" in repr(card) or "Time" in repr(card)


def test_a_cell_without_a_launch_is_answered_in_static_mode(shell):
    assert shell.run_cell_magic("warpbound", "--gpu l4", SCALE).results[0].mode == "static"


@pytest.mark.parametrize(
    ("line", "cell", "words"),
    [
        ("--gpu h200", "__global__ void f() { x = 1; }", 'identifier "x" is undefined'),
        ("--gpus h200", SCALE, "No such option"),
        ("--gpu 'h200", SCALE, "Close the quotes"),
        ("", SCALE, "No GPU given"),
    ],
)
def test_mistakes_are_one_sentence(shell, line, cell, words):
    assert words in repr(shell.run_cell_magic("warpbound", line, cell))


def test_the_tool_of_compiler_explorer_runs_as_its_properties_say():
    """As its `base-tool` does: the options, then the reader's arguments, then the file."""
    text = (ROOT / "editors" / "compiler-explorer.cuda.local.properties").read_text()
    properties = dict(re.findall(r"^([\w.]+)=(.*)$", text, re.M))
    name = properties["tools"]
    assert properties[f"tools.{name}.type"] == "independent"
    options = shlex.split(properties[f"tools.{name}.options"])
    command = [sys.executable, "-m", "warpbound", *options, "--views", "kernel", str(EXAMPLES / "saxpy.cu")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "registers" in done.stdout
