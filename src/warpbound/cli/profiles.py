"""`compare`, and `analyze` of reports of Nsight Compute."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from warpbound.cli.output import command_line, form_option, show, show_results, with_progress, write
from warpbound.errors import CommandError

COMPARE_EXAMPLES = """
\b
Examples:
  warpbound compare report.ncu-rep --kernel saxpy --arg 0=1048576 --arg 1=2.0 --arg 2=f32[1048576] --arg 3=f32[1048576]
  warpbound compare report.ncu-rep --launch-index 0 --format json
  warpbound compare *.ncu-rep --arguments arguments.toml --format html -o compared.html
  warpbound compare raw.csv --code saxpy.cu --arg 0=1048576 --arg 1=2.0 --arg 2=f32[1048576] --arg 3=f32[1048576]
"""
CALIBRATE_EXAMPLES = """
\b
Examples:
  warpbound calibrate copy.ncu-rep reduce.ncu-rep -o mine.toml
  warpbound calibrate *.ncu-rep --like a40 -o mine.toml
"""
LAUNCH_OPTIONS = (
    "grid", "block", "cluster", "smem", "carveout", "persist", "launch_file", "settings", "defines", "include",
)  # fmt: skip
KEPT = "A report states grid, block, shared memory and clocks; {option} cannot change them."


def analyze_reports(form: str, out: str | None, launch_index: int | None, options: dict[str, Any]) -> None:
    """`analyze` of files of which each is a report."""
    from warpbound.cli.request import view_names
    from warpbound.nsight.answers import analyses
    from warpbound.nsight.selection import Selection
    from warpbound.report.text import pages

    if launch_option := next((name for name in LAUNCH_OPTIONS if options.get(name)), None):
        raise CommandError(KEPT.format(option=f"--{launch_option.replace('_', '-')}"), "Leave it out.")
    views = view_names(options["views"])
    choice = Selection(options["kernel"], launch_index, _arguments(options["args"]), None, options["gpus"], views=views)
    results = analyses(options["files"], choice, with_progress)
    if form == "html":
        from warpbound.report import html

        html.refuse_many(len(results))
        write(html.page(results, command_line(), ()), out)
        return
    show_results(form, out, results, partial(pages, views=views or ("summary",)))


def of_reports(files: tuple[str, ...]) -> bool:
    """Whether the files are reports. Raises CommandError where only some are."""
    from warpbound.nsight.report_file import is_report

    kinds = {is_report(name) for name in files}
    if len(kinds) > 1:
        raise CommandError("Reports and other files are given together.", "Analyze them one after the other.")
    return kinds == {True}


@click.command(epilog=COMPARE_EXAMPLES)
@click.argument("files", metavar="REPORT [REPORT ...]", nargs=-1, required=True)
@click.option("--kernel", metavar="NAME", help="Only launches of this kernel.")
@click.option("--launch-index", metavar="I", type=click.IntRange(0), help="Only this launch of a report, from 0.")
@click.option("--arg", "args", metavar="POSITION=VALUE", multiple=True, help="Argument: 0=f32[4096], 1=4096.")
@click.option("--arguments", "argument_file", metavar="FILE.toml", help="Arguments of many launches.")
@click.option("--gpu", metavar="NAME", help="A board in place of the report's own.")
@click.option("--code", metavar="FILE", help="For tables: the kernel's source or cubin.")
@click.option("--grid", metavar="X[,Y[,Z]]", help="For tables without a grid.")
@click.option("--block", metavar="X[,Y[,Z]]", help="For tables without a block.")
@form_option("text", "json", "html", "markdown", "csv")
@click.option("-o", "out", metavar="OUT", help="Write to this file, not to the terminal.")
def compare(
    files: tuple[str, ...], kernel: str | None, launch_index: int | None, args: tuple[str, ...],
    argument_file: str | None, gpu: str | None, code: str | None, grid: str | None, block: str | None, form: str,
    out: str | None,
) -> None:  # fmt: skip
    """Compare Nsight Compute's counters with the prediction.

    REPORT is a report of Nsight Compute, or a table that `ncu --csv` or nsight-python wrote.
    """
    from warpbound.kernel_launch import parse_dim
    from warpbound.nsight.answers import comparisons
    from warpbound.nsight.argument_file import read_arguments
    from warpbound.nsight.error_table import errors
    from warpbound.nsight.selection import Selection
    from warpbound.report.comparison import markdown, pages
    from warpbound.result.comparison import ComparisonDocument
    from warpbound.result.quantities import SCHEMA_VERSION

    file = read_arguments(argument_file) if argument_file else None
    sizes = tuple(parse_dim(text, option) if text else None for text, option in ((grid, "--grid"), (block, "--block")))
    choice = Selection(
        kernel, launch_index, _arguments(args), file, gpu, Path(code) if code else None, grid=sizes[0], block=sizes[1]
    )
    launches = comparisons(files, choice, with_progress)
    rows = errors(launches)
    if form == "json":
        from warpbound.report.document import as_json

        whole = ComparisonDocument(
            schema_version=SCHEMA_VERSION, command=command_line(), launches=launches, errors=rows
        )
        write(as_json(whole), out)
    elif form == "markdown":
        write(markdown(launches, rows), out)
    elif form == "csv":
        from warpbound.report.comparison_csv import table

        write(table(launches), out)
    elif form == "html":
        from warpbound.report import html

        write(html.comparison_page(launches, rows, command_line()), out)
    else:
        show(pages(launches, rows), out)


def _arguments(words: tuple[str, ...]) -> tuple[Any, ...]:
    from warpbound.cli.request import arguments

    return tuple(arguments(words) or ())


@click.command(epilog=CALIBRATE_EXAMPLES)
@click.argument("files", metavar="REPORT [REPORT ...]", nargs=-1, required=True)
@click.option("--like", metavar="NAME", help="Board for values that reports lack; default: the one they name.")
@click.option("-o", "out", metavar="BOARD.toml", required=True, help="The board's file, for --gpu.")
def calibrate(files: tuple[str, ...], like: str | None, out: str) -> None:
    """Make a board file from your own Nsight Compute reports."""
    from warpbound import machine
    from warpbound.measure.profile_calibration import calibrated
    from warpbound.nsight.launch_case import board_of
    from warpbound.nsight.report_file import read_report

    reports = with_progress((f"{name}", read_report(name)) for name in files)
    launches = [launch for report in reports for launch in report.launches]
    board = machine.gpu(like) if like else board_of(launches[0])
    text, findings = calibrated(launches, board)
    write(text, out)
    for name, finding in findings.items():
        click.echo(f"{name:28s} {finding.value:10.5g} {finding.unit:8s} {finding.note}")
