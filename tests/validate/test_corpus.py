"""Corpora are data: what they say becomes seconds, launches and kinds of rows; what is wrong in them is said."""

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from warpbound.analysis.accuracy import form
from warpbound.analysis.answer import reworked, work_of
from warpbound.analysis.interval import CLASSES
from warpbound.analysis.sustained_clock import settled
from warpbound.analysis.timing import launch_prediction
from warpbound.cli import main
from warpbound.errors import CommandError, InputError, MissingTool
from warpbound.validate import row_prediction
from warpbound.validate.corpus import corpus, seconds_of, shipped
from warpbound.validate.interval_calibration import stated
from warpbound.validate.judged_row import Result
from warpbound.validate.row_prediction import answer, row_case

SOURCE = """
extern "C" __global__ void add(float* to, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = x[i] + 1.0f;
}
"""
TABLE = """
about = "additions"
origin = "invented for this test"
source = "add.cu"
kernel = "add"
grid = "{blocks}"
block = "256"
args = ["to=f32[{n}]", "x=f32[{n}]", "n={n}"]
choices = ["blocks"]

[measured]
column = "us"
unit = "us"

[calibration]
n = [1024]
"""
ROWS = "gpu,n,blocks,us\n# a remark\na100-sxm-80gb,1024,4,3.0\na100-sxm-80gb,1048576,4096,7.5\n"

MULTIPLY_ADDS = """
extern "C" __global__ void add(float* to, const float* x, int n) {
    float a = threadIdx.x, b = blockIdx.x, c = n, d = 1.0f;
    for (int i = 0; i < 200; ++i) { a = a * 0.5f + b; b = b * 0.2f + a; c = c * 0.1f + d; d = d * 0.3f + c; }
    to[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d + x[0];
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {"corpus.toml": TABLE, "rows.csv": ROWS, "add.cu": SOURCE}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_folder_is_a_corpus(folder):
    found = corpus(folder)
    first, second = found.rows
    assert (first.gpu, first.kernel, first.kind, second.kind) == ("a100-sxm-80gb", "add", "calibration", "judged")
    assert second.seconds == pytest.approx(7.5e-6)
    assert first.choice_of != second.choice_of  # other work
    assert found.filled("n={n}", second) == "n=1048576"


def test_a_row_goes_through_the_whole_chain(folder):
    found = corpus(folder)
    said = answer(found, found.rows[1])
    assert said.refused == ""
    assert not said.proxy
    assert set(said.seconds) == {"warpbound", "roofline_2009", "hong_kim_2009", "volkov_2016"}
    assert said.bare[0] < said.seconds["warpbound"] < said.bare[1]
    assert said.binds in CLASSES.values()
    assert 2e-6 < said.seconds["warpbound"] < 2e-5


def test_a_row_at_a_predicted_clock_is_judged_by_the_interval_that_a_report_states(folder):
    """An L40 at its power limit: both edges of the clock that it may hold, after the model's own error."""
    (folder / "add.cu").write_text(MULTIPLY_ADDS)
    (folder / "corpus.toml").write_text(TABLE.replace("choices", 'clock = "sustained"\nchoices'))
    (folder / "rows.csv").write_text("gpu,n,blocks,us\nl40,250000,976,10\n")
    (row,) = corpus(folder).rows
    predicted = answer(corpus(folder), row, ())
    case = row_case(corpus(folder), row)
    report = launch_prediction(*settled(case, work_of(case), reworked))
    result = Result(
        "here", "add", "l40", "", "judged", row.seconds, dict(predicted.seconds), bare=predicted.bare,
        clocks_s=predicted.clocks_s, binds=predicted.binds,
    )  # fmt: skip
    fast_s, slow_s = predicted.clocks_s
    assert 0.9 * fast_s < predicted.seconds["warpbound"] < slow_s / 1.05
    assert stated(result, form(result.binds)) == pytest.approx(report.interval, rel=1e-9)
    assert answer(corpus(folder), replace(row, clock_MHz=1500.0), ()).clocks_s is None


def test_a_difference_of_launches_has_no_launch_in_it(folder):
    table = TABLE.replace('"n={n}"]', "]").replace('column = "us"', 'column = "us"\nbetween = ["n=1", "n=1048576"]')
    (folder / "corpus.toml").write_text(table)
    both = answer(corpus(folder), corpus(folder).rows[1])
    (folder / "corpus.toml").write_text(TABLE)
    whole = answer(corpus(folder), corpus(folder).rows[1])
    assert 0 < both.seconds["warpbound"] < whole.seconds["warpbound"] - 1e-6


def test_the_fastest_of_several_launches(folder):
    (folder / "rows.csv").write_text("gpu,n,blocks,us\na100-sxm-80gb,1048576,1,7.5\n")
    table = TABLE.replace('grid = "{blocks}"', 'grid = "{n} / {block}"').replace('block = "256"', 'block = "{block}"')

    def fastest(*blocks: int) -> row_prediction.Answer:
        tried = ", ".join(f'{{block = "{block}"}}' for block in blocks)
        (folder / "corpus.toml").write_text(table.replace('"us"\nunit', f'"us"\nfastest_of = [{tried}]\nunit'))
        return answer(corpus(folder), corpus(folder).rows[0])

    times, both = {block: fastest(block) for block in (32, 256)}, fastest(32, 256)
    assert times[256].seconds["warpbound"] < times[32].seconds["warpbound"]
    for name, seconds in both.seconds.items():
        assert seconds == min(one.seconds[name] for one in times.values())
    assert both.bare == tuple(min(one.bare[side] for one in times.values()) for side in (0, 1))


def test_a_missing_compiler_is_said_once(folder, monkeypatch):
    def without(*_asked):
        raise MissingTool("Compiling CUDA C++ needs NVRTC.", "Install it with: pip install 'warpbound[cuda]'")

    monkeypatch.setattr(row_prediction, "programs", without)
    with pytest.raises(MissingTool):
        answer(corpus(folder), corpus(folder).rows[1])


def test_a_refusal_is_kept(folder):
    (folder / "rows.csv").write_text("gpu,n,blocks,us\na100-sxm-80gb,1024,8000000000,3.0\n")
    said = answer(corpus(folder), corpus(folder).rows[0])
    assert said.refused
    assert said.seconds == {}


def test_units():
    assert seconds_of(2.0, "ms", 1, None) == pytest.approx(2e-3)
    assert seconds_of(500.0, "GB/s", 1e9, None) == pytest.approx(2e-3)
    assert seconds_of(3.0, "cycle", 100, 1500.0) == pytest.approx(200e-9)
    for unit, clock in (("furlong", None), ("cycle", None)):
        with pytest.raises(ValueError, match="unit"):
            seconds_of(1.0, unit, 1, clock)


@pytest.mark.parametrize(
    "name, text, said",
    [
        ("corpus.toml", "about = 3", "cannot be read"),
        ("corpus.toml", TABLE + "\n[launch]\nx = 1\n", "cannot be read"),
        ("rows.csv", "gpu,n\na100-sxm-80gb,3\n", "row 2"),
        ("rows.csv", "gpu,n,blocks,us\na100-sxm-80gb,3,1,fast\n", "row 2"),
        ("rows.csv", "gpu,n,blocks,us\na100-sxm-80gb,3,1,-3\n", "row 2: us = -3 is not a time"),
        ("rows.csv", "gpu,n,blocks,us\na100-sxm-80gb,3,1,nan\n", "row 2: us = nan is not a time"),
    ],
)
def test_what_is_wrong_in_a_corpus_is_said(folder, name, text, said):
    (folder / name).write_text(text)
    with pytest.raises(InputError, match=said):
        corpus(folder)


def test_an_unknown_corpus():
    with pytest.raises(CommandError, match="is not a corpus"):
        corpus("nonsense")


@pytest.mark.parametrize("name", shipped())
def test_shipped_corpora_say_where_they_are_from(name):
    found = corpus(name)
    assert "@" in found.shared.origin or "EECS-2016-143" in found.shared.origin  # a commit, or a thesis
    assert found.rows
    assert all(row.seconds > 0 for row in found.rows)
    assert (found.folder / (found.shared.source or found.shared.workload)).is_file()


def test_judged_streams_are_not_calibrated():
    kinds = {row.kernel: row.kind for row in corpus("streams").rows if row.words["threads"] != "32"}
    assert kinds == {"init": "calibration", "read": "calibration", "scale": "calibration", "triad": "judged",
                     "stencil3": "judged", "stencil5": "judged"}  # fmt: skip


def test_a_corpus_without_any_answer_fails(folder):
    (folder / "rows.csv").write_text("gpu,n,blocks,us\na100-sxm-80gb,1024,8000000000,3.0\n")
    said = CliRunner().invoke(main, ["validate", str(folder)])
    assert said.exit_code == 1
    assert said.stderr == "warpbound: no launch could be predicted. The table gives each reason.\n"
    assert "add on a100-sxm-80gb" in said.stdout


def test_a_table_of_scores_fits_a_pipe():
    lines = CliRunner().invoke(main, ["validate", "--shown"]).stdout.splitlines()
    assert any(line.split() and line.split()[0] == "roofline_2009" for line in lines)
    assert not any("…" in line for line in lines)
