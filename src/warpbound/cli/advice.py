"""`try`: changes of a kernel, compiled, executed beside the original and predicted."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warpbound.cli.analysis import request_options
from warpbound.cli.output import form_option, show_results, with_progress
from warpbound.errors import CommandError, InputError

if TYPE_CHECKING:
    from warpbound.advice.trial import Trials
    from warpbound.cli.request import Request

EXAMPLES = """
\b
Examples:
  warpbound try examples/transpose_naive.cu --launch examples/transpose_naive.toml
  warpbound try kernel.cu --launch kernel.toml --apply
"""


@click.command("try", epilog=EXAMPLES)
@request_options
@click.option("--apply", "applies", is_flag=True, help="Write the best change of the source to FILE.")
@form_option("text", "json")
def try_changes(form: str, out: str | None, applies: bool, **options: Any) -> None:
    """Try changes of a kernel: which are faster with equal results?

    FILE is CUDA C++; a launch with its arguments is needed. Launch bounds, register limits, unrolled loops, padded
    shared arrays, restrict, loads out of loops or past L1, arrays kept in L2, tiles in shared memory, exchanged axes
    and loops, block sizes, carve-outs, fast mathematics and other compilers are compiled and predicted; the faster ones
    and the original are executed in some blocks, and their results compared. The best change is then tried together
    with each of the next.
    """
    from warpbound.cli.request import parse_request
    from warpbound.report.advice import pages

    request = parse_request(**options, views="")
    trials = trials_of(request)
    show_results(form, out, [each.entry for each in trials], pages)
    if applies:
        apply_best(request, trials)


def trials_of(request: "Request") -> "list[Trials]":
    """The changes tried for each board. Raises CommandError without a launch, InputError for what is not CUDA C++."""
    from warpbound.advice.trial import tried
    from warpbound.advice.variant import Question
    from warpbound.program.source_files import read_text

    path = _file(request)
    if request.launch is None:
        raise CommandError("Trying changes needs a launch.", "Add --grid and --block, or --launch FILE.")
    own = replace(request.options, compiler=request.compilers[0])
    question = Question(path, read_text(path), request.kernel, own, request.launch)
    return [tried(question, board, request.settings, with_progress) for board in request.gpus]


def apply_best(request: "Request", every: "list[Trials]") -> None:
    """Write the best change of the source to its file, and tell so on stderr. Raises CommandError for several GPUs."""
    from warpbound.report.advice import gains

    if len(every) > 1:
        raise CommandError(
            f"--apply changes the source for one GPU; {len(every)} are given.", "Name one with --gpu."
        )
    path, trials = _file(request), every[0]
    best = next((row for row in gains(trials.entry) if row.place == "source"), None)
    if best is None:
        click.echo(f"warpbound: no change of the source is faster: {path} stays as it is.", err=True)
        return
    try:
        path.write_bytes(trials.texts[best.apply].encode())
    except OSError as failed:
        raise InputError(f"{path} cannot be written ({failed.strerror}).", "Check its permissions.") from failed
    option, _, _ = best.apply.partition("\n")
    launch = f" Launch it with {option}." if option.startswith("--block") else ""
    click.echo(f"warpbound: {path} changed: {best.change}.{launch}", err=True)


def _file(request: "Request") -> Path:
    if len(request.sources) != 1 or not isinstance(request.sources[0], Path):
        raise CommandError("Changes are tried on one file.", "Give one .cu file.")
    path = request.sources[0]
    if path.suffix not in (".cu", ".cuh"):
        raise InputError(f"{path} is not CUDA C++, so it cannot be changed.", "Give a .cu file.")
    return path
