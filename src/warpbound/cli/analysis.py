"""`analyze`, `curve` and `predict`: what bounds a kernel or a written workload."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any

import click

from warpbound.cli import EXAMPLES
from warpbound.cli.output import command_line, form_option, show_results, with_progress, write
from warpbound.cli.profiles import analyze_reports, of_reports
from warpbound.cli.python_kernels import analyze_python, of_python
from warpbound.errors import CommandError

CLOCKS = "sustained|base|boost|MHZ"
COMPILERS = "auto (nvcc if installed, else NVRTC), nvcc, nvcc=PATH, nvrtc, nvrtc-12.6; several are compared."
CACHES = ("warm", "cold", "dirty", "flushed")
CACHES_HELP = "Caches at launch: as in a loop, empty, overwritten as by NVBench, or flushed as by Nsight Compute."
VIEWS_HELP = "Views to show; text shows `summary` (one screen) by default, html `all`."
PATIENCE_HELP = "Processor time for the sampled blocks; 20 s by default."
CURVE_EXAMPLES = """
\b
Examples:
  warpbound curve examples/matmul_tiled.cu --launch examples/matmul_tiled.toml
  warpbound curve kernel.cu --gpu h200 --warps 8:32 --format json
  warpbound curve kernel.cu --launch kernel.toml --range
  warpbound curve kernel.cu --launch kernel.toml --models volkov_2016,hong_kim_2009
"""
PREDICT_EXAMPLES = """
\b
Examples:
  warpbound predict volkov-vector-add --gpu h200
  warpbound predict guess.toml --gpu h200,a100-sxm-80gb --models volkov_2016,roofline_2009
"""


def _gpu_option(required: str) -> Callable[[Any], Any]:
    return click.option("--gpu", "gpus", metavar="NAME[,NAME...|all]", help=f"Board, TOML file or sm_NN{required}.")


def request_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that `analyze` and `curve` share."""
    shared = (
        click.argument("files", metavar="FILE [FILE ...]", nargs=-1, required=True),
        _gpu_option("; default: the launch file's"),
        click.option("--kernel", metavar="NAME", help="Kernel: plain or mangled name, or 'scale<float>'."),
        click.option("--grid", metavar="X[,Y[,Z]]", help="Blocks of the launch."),
        click.option("--block", metavar="X[,Y[,Z]]", help="Threads of a block."),
        click.option("--cluster", metavar="X[,Y[,Z]]", help="Blocks of a cluster."),
        click.option("--smem", metavar="BYTES", type=click.IntRange(0), help="Dynamic shared memory per block."),
        click.option("--carveout", metavar="KIB", type=click.IntRange(0), help="Shared memory per SM."),
        click.option("--persist", metavar="NAME", help="Array of an access-policy window: its lines persist in L2."),
        click.option("--arg", "args", metavar="NAME=VALUE", multiple=True, help="n=4096, x=f32[1000]:iota, w=@w.npy."),
        click.option("--const", "consts", metavar="NAME=VALUE", multiple=True, help="Value of a device symbol."),
        click.option("--launch", "launch_file", metavar="FILE.toml", help="File with grid, block and arguments."),
        click.option("--define", "defines", metavar="K=V", multiple=True, help="Define a preprocessor macro."),
        click.option("-I", "include", metavar="DIR", multiple=True, help="Folder to search for headers."),
        click.option("--nvrtc", metavar="OPTION", multiple=True, help="Option for the compiler."),
        click.option("--compiler", default="auto", metavar="NAME[,NAME...]", help=COMPILERS),
        click.option("-p", "build", metavar="DIR", help="Folder with the build's compile_commands.json."),
        click.option("--set", "settings", metavar="[GPU:]PARAMETER=NUMBER", multiple=True, help="Change a parameter."),
        click.option("--cache", type=click.Choice(CACHES), default="warm", help=CACHES_HELP),
        click.option("--clock", default="sustained", metavar=CLOCKS, show_default=True, help="SM clock."),
        click.option("--power-limit", metavar="W", type=click.FloatRange(1.0), help="Power limit of the board."),
        click.option("--patience", metavar="SECONDS", type=click.FloatRange(0, min_open=True), help=PATIENCE_HELP),
        click.option("--lenient", is_flag=True, help="Let accesses outside arrays pass: they read 0, write nothing."),
        click.option("-o", "out", metavar="OUT", help="Write to this file, not to the terminal."),
    )
    for option in reversed(shared):
        command = option(command)
    return command


@click.command(epilog=EXAMPLES)
@request_options
@form_option("text", "json", "html")
@click.option("--models", default="", metavar="all|NAME,...", help="Also predict by these models of papers.")
@click.option("--views", default="", metavar="summary|all|NAME,...", help=VIEWS_HELP)
@click.option("--launch-index", metavar="I", type=click.IntRange(0), help="Which launch of a report, from 0.")
@click.option("--apply", "applies", is_flag=True, help="Try changes of the source, and write the best one to FILE.")
@click.option("--target", metavar="1.5x|80us|90%", help="Goal: show the least change that reaches it.")
def analyze(  # noqa: PLR0913  (each is an option)
    form: str, out: str | None, launch_index: int | None, applies: bool, target: str | None, **options: Any
) -> None:  # fmt: skip
    """Tell what bounds the kernels of FILE and what to do about it.

    FILE is .cu .cuh .ptx .cubin .fatbin .sass .txt or -, a report of Nsight Compute (.ncu-rep), or NAME.py:KERNEL
    (Triton, numba-cuda, Warp, cuTile).
    """
    from warpbound.cli.request import answer_each, parse_request
    from warpbound.report.text import pages

    if of_reports(options["files"]):
        analyze_reports(form, out, launch_index, options)
        return
    if of_python(options["files"]):
        analyze_python(form, out, options)
        return
    if launch_index is not None:
        raise CommandError(
            "--launch-index names a launch of an Nsight Compute report; no FILE is one.", "Leave it out."
        )
    request = parse_request(**options)
    if form == "html":
        _write_page(request, out)
    else:
        results = answer_each(request, _toward(target) if target else _analysis(request), with_progress)
        views = (*(request.settings.views or ("summary",)), *(["goal"] if target else []))
        show_results(form, out, results, partial(pages, views=views))
    if applies:
        from warpbound.cli.advice import apply_best, trials_of

        apply_best(request, trials_of(request))


def answers(words: Sequence[str]) -> tuple[list[Any], tuple[str, ...]]:
    """The answers of `analyze` to a command line, without output on stderr, and the views that it names.

    Raises CommandError for options that it does not have, InputError where nothing can be answered.
    """
    from warpbound.analysis import answer_cache
    from warpbound.cli.request import Words, answer_each, parse_request

    try:
        with analyze.make_context("analyze", list(words)) as context:
            word_fields = {field.name for field in fields(Words)}  # not how the answer is written, or of reports
            options = {name: value for name, value in context.params.items() if name in word_fields}
    except click.ClickException as problem:
        raise CommandError(problem.format_message(), "`warpbound analyze --help` lists the options.") from None
    request = parse_request(**options)
    return answer_each(request, answer_cache.answer, _silently), request.settings.views


def _silently(named_cases: Iterable[tuple[str, Any]]) -> Iterator[Any]:
    """What is asked, without its name."""
    return (each for _, each in named_cases)


def _analysis(request: Any) -> Callable[..., Any]:
    """`analyze_kernel`; without a launch, with what the host code says about one."""
    from warpbound.analysis import answer_cache

    if request.launch is not None:
        return answer_cache.answer
    from warpbound.analysis.host_launch_hint import with_hint

    def analysis(program: Any, *others: Any) -> Any:
        entry = answer_cache.answer(program, *others)
        return with_hint(entry, program, request.options.include, dict(request.options.defines))

    return analysis


def _toward(words: str) -> Callable[..., Any]:
    """`analyze_kernel` with the way to a goal."""
    from msgspec import structs

    from warpbound.advice.goal import parse_target, with_goal

    target = parse_target(words)

    def analysis(program: Any, board: Any, launch: Any, settings: Any) -> Any:
        entry, goal = with_goal(program, board, launch, settings, target)
        return structs.replace(entry, goal=goal)

    return analysis


def _write_page(request: Any, out: str | None) -> None:
    """The HTML report: every model and view, unless some are named."""
    from warpbound.analysis import answer_cache
    from warpbound.cli.request import answer_each
    from warpbound.models import MODELS
    from warpbound.report import html

    html.refuse_many(len(request.sources) * len(request.gpus))
    views, models = request.settings.views, request.settings.models or tuple(MODELS)
    settings = replace(request.settings, models=models, views=(*views, *html.VIEWS))
    results = answer_each(replace(request, settings=settings), answer_cache.answer, with_progress)
    write(html.page(results, command_line(), views), out)


@click.command(epilog=CURVE_EXAMPLES)
@request_options
@form_option("text", "json", "html")
@click.option("--models", default="", metavar="all|NAME,...", help="Also predict by these models of papers.")
@click.option("--warps", default="1:64", metavar="FIRST:LAST", show_default=True, help="Resident warps per SM.")
@click.option("--range", "ranged", is_flag=True, help="Add times with all loads from L1, L2 or DRAM.")
def curve(form: str, out: str | None, warps: str, ranged: bool, **options: Any) -> None:
    """Predict the throughput of the kernels of FILE by occupancy."""
    if options["models"] and (ranged or form == "html"):
        raise CommandError("--models works with --format text or json, and without --range.", "Leave one out.")
    if ranged:
        _ranges(form, out, warps, options)
        return
    from warpbound.analysis.sweeps.curve import curve as sweep
    from warpbound.cli.request import answer_each, first_last, parse_request
    from warpbound.report.curve import pages

    request, answer_one = parse_request(**options, views=""), partial(sweep, warps=first_last(warps))
    if form == "html":
        from warpbound.report import html

        html.refuse_many(len(request.sources) * len(request.gpus))
        curves = answer_each(request, answer_one, with_progress)
        write(html.curve_page(curves, command_line()), out)
        return
    show_results(form, out, answer_each(request, answer_one, with_progress), pages)


def _ranges(form: str, out: str | None, warps: str, options: dict[str, Any]) -> None:
    from warpbound.analysis.sweeps.curve_range import ranges as sweep
    from warpbound.cli.request import answer_each, first_last, parse_request
    from warpbound.report.curve import range_pages

    if form == "html":
        raise CommandError("--range has no HTML page.", "Take --format text or json.")
    answer_one = partial(sweep, warps=first_last(warps))
    show_results(form, out, answer_each(parse_request(**options, views=""), answer_one, with_progress), range_pages)


@click.command(epilog=PREDICT_EXAMPLES)
@click.argument("file", metavar="WORKLOAD.toml")
@_gpu_option("; default: the file's")
@click.option("--case", "cases", metavar="NAME", multiple=True, help="One of the file's cases; default: all.")
@click.option("--set", "settings", metavar="[GPU:]PARAMETER=NUMBER", multiple=True, help="Change a GPU parameter.")
@click.option("--clock", metavar="base|boost|MHZ", help="SM clock; default: the file's, else boost.")
@click.option("--models", default="all", metavar="all|NAME,...", show_default=True, help="Models of papers to show.")
@form_option("text", "json", "html")
@click.option("-o", "out", metavar="OUT", help="Write to this file, not to the terminal.")
def predict(
    file: str, gpus: str | None, cases: tuple[str, ...], settings: tuple[str, ...], clock: str | None, models: str,
    form: str, out: str | None,
) -> None:  # fmt: skip
    """Predict a workload file or a paper's workload by every model."""
    from warpbound.analysis.overrides import parsed
    from warpbound.analysis.workload_prediction import How, model_names, predictions
    from warpbound.report.models import pages

    results = predictions(file, gpus, cases, How(clock, model_names(models), parsed(settings)))
    if form == "html":
        from warpbound.report import html

        write(html.workload_page(results, command_line()), out)
        return
    show_results(form, out, results, pages)
