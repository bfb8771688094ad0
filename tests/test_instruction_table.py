"""docs/instructions.md has the rows that its tool writes."""

from importlib.metadata import version

import pytest

import instruction_table
from support.paths import ROOT

pytestmark = pytest.mark.cuda
PAGE = (ROOT / "docs" / "instructions.md").read_text("utf-8").splitlines()


@pytest.mark.parametrize(
    "compiler, architecture",
    [
        pytest.param("NVRTC", 120, marks=pytest.mark.broad),
        pytest.param("Triton", 100, marks=pytest.mark.full),
    ],
)
def test_a_row_of_the_page_is_what_the_compiler_gives(compiler, architecture):
    distribution = instruction_table.COMPILERS[compiler][1]
    pytest.importorskip(distribution.replace("nvidia-cuda-nvrtc", "cuda.bindings"))
    rows = [line for line in PAGE if line.startswith(f"| {compiler} ") and f"| sm_{architecture} |" in line]
    if f"| {compiler} {version(distribution)} |" not in rows[0]:
        pytest.skip(f"the page is of another release than {version(distribution)}")
    own = instruction_table.tally(instruction_table.corpus(compiler), architecture)
    assert own.reasons == {}
    assert instruction_table.row(compiler, architecture, own) == rows[0]


def test_no_result_differs_and_each_compiler_has_a_row():
    rows = [line.strip("| ").split(" | ") for line in PAGE if line.startswith("|") and "| sm_" in line]
    counted = [cells for cells in rows if cells[2:3] and cells[2].isdigit()]
    assert {cells[0].rpartition(" ")[0] for cells in counted} == set(instruction_table.COMPILERS)
    different = 2 + 5 + 1 + instruction_table.OUTCOMES.index("different") - 1
    assert {cells[different] for cells in counted} == {"0"}
