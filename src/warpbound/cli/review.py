"""`snapshot` and `diff`: answers before and after a change of the source, and a gate."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from warpbound.cli.analysis import request_options
from warpbound.cli.output import answer, with_progress, write
from warpbound.errors import CommandError, InputError

if TYPE_CHECKING:
    from warpbound.result.review import KernelState, Question, Snapshot

SNAPSHOT_EXAMPLES = """
\b
Examples:
  warpbound snapshot kernels/*.cu --gpu h200,l4 -o perf.json
  warpbound snapshot examples/saxpy.cu examples/reduction.cu -o perf.json
"""
DIFF_EXAMPLES = """
\b
Examples:
  warpbound diff perf.json
  warpbound diff perf.json --fail-above 5 --format markdown
  warpbound diff before.json after.json --format sarif -o warpbound.sarif
  warpbound diff perf.json --update
"""
FORMATS = ("text", "json", "markdown", "sarif", "bencher", "github-action-benchmark")


@click.command(epilog=SNAPSHOT_EXAMPLES)
@request_options
@click.pass_context
def snapshot(context: click.Context, /, out: str | None, files: tuple[str, ...], **_: Any) -> None:
    """Store the answers for FILEs, for `diff` to compare with.

    If no option gives a launch, the launch file of the same stem beside FILE is used. Run `snapshot` and `diff` in
    the same folder: the snapshot stores relative paths.
    """
    from warpbound.report.document import as_json

    options = {
        name: value
        for name, value in context.params.items()
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE and name not in ("files", "out")
    }
    write(as_json(_snapshot(_questions(files, options))), out)


@click.command(epilog=DIFF_EXAMPLES)
@click.argument("old", metavar="OLD.json")
@click.argument("new", metavar="[NEW.json]", required=False)
@click.option("--fail-above", type=click.FloatRange(0), metavar="PERCENT", help="Exit 1 if a kernel is slower by more.")
@click.option("--update", is_flag=True, help="Write the new answers to OLD.json.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="What to print.")
@click.option("-o", "out", metavar="OUT", help="Write to this file, not to the terminal.")
def diff(
    old: str, new: str | None, fail_above: float | None, update: bool, form: str, out: str | None
) -> int:  # fmt: skip
    """Show what changed since the snapshot OLD.json.

    OLD.json is compared with NEW.json or, without it, with answers for the present sources.
    """
    from warpbound.analysis.review import compared
    from warpbound.report.document import as_json
    from warpbound.report.review import markdown, text
    from warpbound.report.review_formats import FORMATS as OTHERS

    if update and new:
        raise CommandError("--update asks the questions of OLD.json again.", "Leave NEW.json out.")
    before = _read(old)
    after = _read(new) if new else _snapshot(before.questions)
    result = compared(before.kernels, after.kernels, fail_above)
    if form == "markdown":
        write(markdown(result), out)
    elif form in OTHERS:
        write(as_json(OTHERS[form](result)), out)
    else:
        answer(form, result, text(result), out)
    if update:
        write(as_json(after), old)
    return int(result.failed)


def _questions(files: Sequence[str], options: Mapping[str, Any]) -> "list[Question]":
    from warpbound.result.review import Question

    has_launch = any(options.get(name) for name in ("grid", "block", "launch_file"))
    questions = []
    for file in files:
        if file == "-":
            raise CommandError("A snapshot cannot read standard input again.", "Give a file.")
        beside = Path(file).with_suffix(".toml")
        launch = beside.as_posix() if not has_launch and beside.is_file() else None
        questions.append(Question(file=Path(file).as_posix(), launch=launch, options=dict(options)))
    return questions


def _snapshot(questions: "Sequence[Question]") -> "Snapshot":
    """The answers to the questions as the sources are now."""
    from importlib.metadata import version

    from warpbound.result.review import Snapshot

    kernels = [state for question in questions for state in _states(question)]
    return Snapshot(schema_version="1", warpbound=version("warpbound"), questions=list(questions), kernels=kernels)


def _states(question: "Question") -> "Iterator[KernelState]":
    from warpbound.analysis import answer_cache
    from warpbound.analysis.review import digest, refused, state
    from warpbound.cli.request import answer_each, parse_request
    from warpbound.result.kernel import KernelResult
    from warpbound.result.refusal import refusal

    codes: list[str] = []

    def analysis(program: Any, *others: Any) -> KernelResult:
        entry = answer_cache.answer(program, *others)
        codes.append(digest(program))
        return entry

    with snapshot.make_context("snapshot", [question.file]) as context:
        options = {name: value for name, value in context.params.items() if name != "out"}
    options |= {name: tuple(value) if isinstance(value, list) else value for name, value in question.options.items()}
    options |= {"files": (question.file,)} | ({"launch_file": question.launch} if question.launch else {})
    try:
        results = answer_each(parse_request(**options), analysis, with_progress)
    except InputError as error:
        yield refused(refusal(options["kernel"], options["gpus"] or "", error), question)
        return
    for entry in results:
        yield state(entry, question, codes.pop(0)) if isinstance(entry, KernelResult) else refused(entry, question)


def _read(path: str) -> "Snapshot":
    import msgspec

    from warpbound.result.review import Snapshot

    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=Snapshot)
    except OSError as failed:
        reason = f"{path} cannot be read ({failed.strerror})."
        raise InputError(reason, "Write it with `warpbound snapshot -o`.") from failed
    except msgspec.MsgspecError as failed:
        raise InputError(f"{path} is not a snapshot: {failed}.", "Write it with `warpbound snapshot -o`.") from failed
