"""`run`: a whole CUDA program without a GPU."""

import re
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpbound.cli.output import command_line, form_option, show, write
from warpbound.errors import CommandError

if TYPE_CHECKING:
    from warpbound.machine import Gpu
    from warpbound.program_run.executable import Executable
    from warpbound.result.program_run import ProgramRun

ENDED = 143  # exit code of shells for SIGTERM
EXAMPLES = """
\b
Examples:
  warpbound run --gpu h200 -- matrixMul.cu
  warpbound run --gpu a100-sxm-40gb -- ./matrixMul -wA=320 -hA=320
  warpbound run --execute sampled --trace timeline.json -- ./program
  warpbound run --kernel-name 'reduce.*' --launch-count 5 --format json -- ./reduction
"""


@click.command(epilog=EXAMPLES, context_settings={"ignore_unknown_options": False})
@click.option("--gpu", "gpu", default="h200", show_default=True, metavar="NAME", help="Board to emulate.")
@click.option(
    "--execute", type=click.Choice(("all", "sampled")), default="all", show_default=True,
    help="all: every block, so results are true; sampled: times only, for large programs.",
)  # fmt: skip
@click.option(
    "--check", "checks", type=click.Choice(("races",)), multiple=True,
    help="races: find races of warps on shared memory.",
)
@click.option("--lenient", is_flag=True, help="Let accesses outside allocations pass: they read 0, write nothing.")
@click.option("--kernel-name", metavar="REGEX", help="Predict only kernels whose name matches.")
@click.option("--launch-skip", type=click.IntRange(0), default=0, metavar="N", help="Skip the first N launches.")
@click.option("--launch-count", type=click.IntRange(1), metavar="N", help="Predict at most N launches.")
@click.option("-I", "include", multiple=True, metavar="DIR", help="Folder to search for headers of FILE.cu.")
@click.option("--nvcc", "options", multiple=True, metavar="OPTION", help="An option of nvcc for FILE.cu.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Time for the program.")
@click.option("--trace", metavar="OUT.json", help="Write a timeline for Perfetto or chrome://tracing.")
@form_option("text", "json", "html")
@click.option("-o", "out", metavar="OUT", help="Write the report to this file, not to the terminal.")
@click.argument("words", nargs=-1, required=True, metavar="-- PROGRAM|FILE.cu [ARGS]")
def run(
    gpu: str, execute: str, checks: tuple[str, ...], lenient: bool, kernel_name: str | None, launch_skip: int,  # noqa: FBT001
    launch_count: int | None, include: tuple[str, ...], options: tuple[str, ...], timeout: float | None,
    trace: str | None, form: str, out: str | None, words: tuple[str, ...],
) -> int:  # fmt: skip
    """Run a CUDA program on an emulated GPU; time its kernels."""
    from warpbound import machine
    from warpbound.analysis import Settings
    from warpbound.emulate.limits import PASS, REFUSE
    from warpbound.errors import InputError
    from warpbound.program_run import report
    from warpbound.program_run.server import RunOptions, run_program
    from warpbound.program_run.session import LaunchChoice

    board = machine.gpu(gpu)
    if not board.board:
        reason = f"{board.name} is an architecture, not a board: a program needs one."
        raise InputError(reason, "`warpbound gpus` lists the boards.")
    choice = LaunchChoice(execute == "all", _chooser(kernel_name, launch_skip, launch_count), frozenset(checks))
    with tempfile.TemporaryDirectory(prefix="warpbound-") as folder:
        program = _program(words[0], board, include, options, Path(folder))
        output = sys.stderr.fileno() if form != "text" and out is None else None
        sys.stdout.flush()
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(ENDED))  # so that temporary files go
        settings = Settings(out_of_bounds=PASS if lenient else REFUSE, failed_assertions=PASS)  # executing reports them
        how = RunOptions(board, choice, settings, timeout, output)
        ended, log = run_program(program, words[1:], how)
    answer = report.report(command_line(), words[0], how, ended, log)
    if trace:
        from warpbound.report.document import as_json

        write(as_json(report.chrome_trace(answer, log)), trace)
    _show(form, answer, out)
    return int(ended.exit_code != 0)


def _chooser(pattern: str | None, skip: int, most: int | None) -> Callable[[str], bool]:
    """Whether to predict the next launch of a kernel with this name."""
    try:
        expression = re.compile(pattern or "")
    except re.error as wrong:
        raise CommandError(f"--kernel-name {pattern!r} is no regular expression ({wrong}).", "Correct it.") from wrong
    count = 0

    def timed(name: str) -> bool:
        nonlocal count
        if not expression.search(name):
            return False
        count += 1
        return skip < count and (most is None or count <= skip + most)

    return timed


def _program(
    word: str, board: "Gpu", include: tuple[str, ...], options: tuple[str, ...], folder: Path
) -> "Executable":
    """The program itself, or what nvcc makes of a .cu file, in the folder."""
    from warpbound.program_run.executable import executable
    from warpbound.program_run.source_build import built, is_source

    if not is_source(word):
        return executable(word)
    raw, beside = built([Path(word)], board, [Path(each).resolve() for each in include], options)
    if beside:
        names = ", ".join(each.name for each in beside)
        sys.stderr.write(f"warpbound: {word} is built with what it calls in its folder: {names}\n")
    place = folder / Path(word).stem
    place.write_bytes(raw)
    place.chmod(0o700)
    return executable(str(place))


def _show(form: str, answer: "ProgramRun", out: str | None) -> None:
    from warpbound.report.document import as_json
    from warpbound.report.program_run import pages

    if form == "json":
        write(as_json(answer), out)
    elif form == "html":
        from warpbound.report.program_run_html import page

        write(page(answer), out)
    else:
        show(pages(answer), out)
