"""Variants tried on kernels with a planted weakness: the mend is found, executed to equal results, and predicted."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import warpbound
from support.paths import EXAMPLES
from support.published_schema import Published
from warpbound.advice.candidates import candidates
from warpbound.advice.trial import Trials, tried
from warpbound.advice.variant import Question, Variant
from warpbound.analysis.settings import Settings
from warpbound.cli import main
from warpbound.kernel_argument import parse_argument
from warpbound.program.compile_options import Options
from warpbound.report.advice import gains
from warpbound.result.advice import TriedChange

pytestmark = pytest.mark.cuda
SOURCE = Path(__file__).with_name("teaching_pairs.cu")
LAUNCHES = {  # kernel -> grid, block, arguments
    "columns": ((8, 32), (32, 8), ("out=f32[65536]", "in=f32[65536]", "n=256")),
    "conflicts": ((64,), (32, 32), ("out=f32[65536]", "in=f32[65536]")),
    "in_memory": ((64,), (128,), ("c=f32[8192]", "a=f32[8192]", "b=f32[64]", "n=64")),
    "blocks_sum": ((64,), (256,), ("out=f32[64]", "in=f32[16384]")),
}


def each(steps: Iterable[tuple[str, Variant]]) -> Iterable[Variant]:
    return (variant for _, variant in steps)


@cache
def trials(kernel: str) -> Trials:
    grid, block, words = LAUNCHES[kernel]
    launch = warpbound.launch(grid=grid, block=block, args=[parse_argument(word) for word in words])
    question = Question(SOURCE, SOURCE.read_text(), kernel, Options(compiler="nvrtc"), launch)
    return tried(question, warpbound.gpu("h200"), Settings(clock="boost"), each)


def best(kernel: str) -> TriedChange:
    return gains(trials(kernel).entry)[0]


@pytest.mark.parametrize(
    ("kernel", "mechanism"),
    [("columns", "thread axes"), pytest.param("conflicts", "padding", marks=pytest.mark.broad),
     pytest.param("in_memory", "hoisting", marks=pytest.mark.broad)],
)
def test_the_first_gain_mends_what_was_planted(kernel: str, mechanism: str) -> None:
    row = best(kernel)
    assert (row.mechanism, row.outcome) == (mechanism, "equal")
    assert row.speedup is not None
    assert row.speedup > 1.1
    assert trials(kernel).texts[row.apply] != SOURCE.read_text()


@pytest.mark.broad
def test_a_block_size_that_changes_results_is_no_advice() -> None:
    entry = trials("blocks_sum").entry
    sizes = [row for row in entry.tried if row.mechanism == "block size" and row.outcome != "untested"]
    assert sizes
    assert {row.outcome for row in sizes} <= {"different", "refused"}


@pytest.mark.broad
def test_what_is_promised_stands_beside_what_was_obtained() -> None:
    by_change = {promise.change: promise for promise in trials("conflicts").entry.promises}
    promise = by_change["no shared-memory bank conflicts"]
    assert promise.obtained is not None
    assert promise.obtained == pytest.approx(promise.speedup, rel=0.15)


@pytest.mark.broad
def test_two_changes_together_keep_their_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    def few(*words: Any) -> list[Variant]:
        return [each for each in candidates(*words) if each.mechanism in ("thread axes", "hoisting")]

    monkeypatch.setattr("warpbound.advice.trial.candidates", few)
    monkeypatch.setattr("warpbound.advice.combinations.candidates", few)
    args = [parse_argument(word) for word in ("out=f32[65536]", "in=f32[524288]", "n=256", "rounds=8")]
    launch = warpbound.launch(grid=(8, 32), block=(32, 8), args=args)
    question = Question(SOURCE, SOURCE.read_text(), "column_sums", Options(compiler="nvrtc"), launch)
    entry = tried(question, warpbound.gpu("h200"), Settings(clock="boost"), each).entry
    best, *alone = gains(entry)
    assert (best.mechanism, best.outcome) == ("combinations", "equal")
    assert [f"{row.speedup:.2f}x" in best.change for row in alone] == [True, True]
    promise = next(row for row in entry.promises if "; and a sum" in row.change)
    assert promise.by == best.change
    assert best.speedup == pytest.approx(promise.speedup, rel=0.15)


@pytest.mark.broad
def test_every_gain_of_a_source_has_its_text() -> None:
    for kernel in LAUNCHES:
        found = trials(kernel)
        changes = [row for row in found.entry.tried if row.place == "source"]
        assert all(row.apply in found.texts for row in changes)


COLUMNS = [str(SOURCE), "--gpu", "h200", "--kernel", "columns", "--grid", "8,32", "--block", "32,8",
           *(word for argument in LAUNCHES["columns"][2] for word in ("--arg", argument))]  # fmt: skip


@pytest.mark.broad
def test_the_document_is_as_promised() -> None:
    document = Published("try").answered(*COLUMNS)
    assert document["results"][0]["tried"][0]["mechanism"] == "thread axes"


@pytest.mark.broad
def test_apply_writes_the_best_change(tmp_path: Path) -> None:
    copy = tmp_path / "kernel.cu"
    copy.write_text(SOURCE.read_text())
    done = CliRunner().invoke(main, ["try", str(copy), *COLUMNS[1:], "--apply"])
    assert done.exit_code == 0
    assert "changed: threadIdx.x and threadIdx.y" in done.stderr
    assert "blockIdx.x * blockDim.y + threadIdx.y" in copy.read_text()


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [(["saxpy.cu", "--gpu", "h200"], 2, "Trying changes needs a launch"),
     (["saxpy.cu", "vector_add.cu", "--gpu", "h200"], 2, "one file"),
     (["saxpy.cu", "--gpu", "sm_90", "--grid", "1", "--block", "32"], 1, "not a board"),
     (["listings/volkov_vector_add.sass", "--gpu", "h200", "--grid", "1", "--block", "32"], 1, "not CUDA C++")],
)  # fmt: skip
def test_what_cannot_be_tried_is_refused(words: list[str], code: int, sentence: str) -> None:
    files = [str(EXAMPLES / word) if word.endswith((".cu", ".sass")) else word for word in words]
    done = CliRunner().invoke(main, ["try", *files])
    assert done.exit_code == code
    assert sentence in done.stderr
