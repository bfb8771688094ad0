"""The command line: the one place that prints and exits."""

import io
import os
import sys
import traceback
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import click

from warpbound.errors import CommandError, WarpboundError

EXAMPLES = """
\b
Examples:
  warpbound analyze examples/saxpy.cu --gpu h200 --grid 65536 --block 256
  warpbound analyze examples/matmul_tiled.cu --launch examples/matmul_tiled.toml
  warpbound analyze old.cu new.cu --gpu a100-sxm-80gb --block 128 --grid 4096
  warpbound analyze kernel.cubin --gpu rtx-4090 --format json
  warpbound occupancy --gpu h200 --block 256 --registers 40 --smem 8192
"""


class _Commands(click.Group):
    """Turns our errors into one sentence on stderr and the exit code of the contract."""

    def main(self, *args: Any, **settings: Any) -> NoReturn:
        settings["standalone_mode"] = False
        try:
            code = super().main(*args, **settings)
        except WarpboundError as error:
            code = _complain(str(error), 2 if isinstance(error, CommandError) else 1)
        except click.ClickException as error:
            code = _complain(f"{error.format_message()} See `warpbound --help`.", 2)
        except (click.Abort, KeyboardInterrupt):
            code = _complain("stopped.", 1)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 0
        except Exception as fault:  # noqa: BLE001  (a user is never shown a traceback)
            where = traceback.extract_tb(fault.__traceback__)[-1]
            place = f"{Path(where.filename).name}:{where.lineno}"
            code = _complain(f"a fault of ours: {type(fault).__name__}: {fault} ({place}). Please report it.", 1)
        sys.exit(code or 0)


def _complain(sentence: str, code: int) -> int:
    click.echo(f"warpbound: {sentence}", err=True)
    return code


@click.group(cls=_Commands, epilog=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="warpbound")
def main() -> None:
    """Tell what bounds a GPU kernel and what to do about it, from its source alone."""


def _format(*choices: str) -> Callable[[Any], Any]:
    return click.option(
        "--format", "form", type=click.Choice(choices), default="text", help="What to print.", show_default=True
    )


def _gpu_option(required: str) -> Callable[[Any], Any]:
    return click.option("--gpu", "gpus", metavar="NAME[,NAME...|all]", help=f"Board, TOML file or sm_NN{required}.")


def _asks(command: Callable[..., None]) -> Callable[..., None]:
    """The options that `analyze` and `curve` share."""
    shared = (
        click.argument("files", metavar="FILE [FILE ...]", nargs=-1, required=True),
        _gpu_option("; default: the launch file's"),
        click.option("--kernel", metavar="NAME", help="Kernel: plain, mangled or a name expression ('scale<float>')."),
        click.option("--grid", metavar="X[,Y[,Z]]", help="Blocks of the launch."),
        click.option("--block", metavar="X[,Y[,Z]]", help="Threads of a block."),
        click.option("--cluster", metavar="X[,Y[,Z]]", help="Blocks of a cluster."),
        click.option("--smem", metavar="BYTES", type=click.IntRange(0), help="Dynamic shared memory per block."),
        click.option("--carveout", metavar="KIB", type=click.IntRange(0), help="Shared memory per SM."),
        click.option("--arg", "args", metavar="NAME=VALUE", multiple=True, help="n=4096, x=f32[1000]:iota, w=@w.npy."),
        click.option("--launch", "launch_file", metavar="FILE.toml", help="Grid, block and arguments from a file."),
        click.option("--define", "defines", metavar="K=V", multiple=True, help="Preprocessor definition."),
        click.option("-I", "include", metavar="DIR", multiple=True, help="Folder of headers."),
        click.option("--nvrtc", metavar="OPTION", multiple=True, help="Further option of the compiler."),
        click.option("--set", "settings", metavar="[GPU:]PARAMETER=NUMBER", multiple=True, help="Another value."),
        click.option("--cache", type=click.Choice(["warm", "cold"]), default="warm", help="Caches at the start."),
        click.option("--clock", default="boost", metavar="base|boost|MHZ", show_default=True, help="SM clock."),
        _format("text", "json"),
        click.option("-o", "out", metavar="OUT", help="Write there instead of to the terminal."),
    )
    for option in reversed(shared):
        command = option(command)
    return command


@main.command(epilog=EXAMPLES)
@_asks
@click.option("--models", default="", metavar="all|NAME,...", help="Papers' models to show beside the answer.")
@click.option("--views", default="", metavar="all|NAME,...", help="Parts of the report to show, such as verdict,sass.")
def analyze(form: str, out: str | None, **asked: Any) -> None:
    """What bounds the kernels of FILE (.cu .cuh .cubin .sass .txt or -), and what to do about it."""
    from warpbound.analysis import analyze as ask
    from warpbound.asking import answer, question
    from warpbound.report.text import pages

    asking = question(**asked)
    results = answer(asking, ask, _progress)
    _results(form, out, results, partial(pages, views=asking.settings.views))


@main.command()
@_asks
@click.option("--warps", default="1:64", metavar="FIRST:LAST", show_default=True, help="Resident warps per SM.")
def curve(form: str, out: str | None, warps: str, **asked: Any) -> None:
    """Throughput of the kernels of FILE against occupancy."""
    from warpbound.analysis.curve import curve as ask
    from warpbound.asking import answer, first_last, question
    from warpbound.report.curve import pages

    bound = partial(ask, warps=first_last(warps))
    results = answer(question(**asked, models="", views=""), bound, _progress)
    _results(form, out, results, pages)


@main.command()
@click.argument("file", metavar="WORKLOAD.toml")
@_gpu_option("; default: the file's")
@click.option("--case", "cases", metavar="NAME", multiple=True, help="One of the file's cases; default: all.")
@click.option("--clock", metavar="base|boost|MHZ", help="SM clock; default: the file's, else boost.")
@click.option("--models", default="all", metavar="all|NAME,...", show_default=True, help="Papers' models to show.")
@_format("text", "json")
@click.option("-o", "out", metavar="OUT", help="Write there instead of to the terminal.")
def predict(
    file: str, gpus: str | None, cases: tuple[str, ...], clock: str | None, models: str, form: str, out: str | None
) -> None:
    """Every model's answer for a hand-written workload, or for a paper's own."""
    from warpbound.analysis.written import model_names, predictions
    from warpbound.report.models import pages

    results = predictions(file, gpus, cases, clock, model_names(models))
    _results(form, out, results, pages)


def _results(form: str, out: str | None, results: list[Any], pages: Callable[[list[Any]], Iterable[Any]]) -> None:
    from warpbound.report.document import as_json, document

    if form == "json":
        _write(as_json(document(" ".join(["warpbound", *sys.argv[1:]]), results)), out)
    else:
        _show(pages(results), out)


@main.command()
@click.option("--gpu", "gpus", metavar="NAME", help="Board, TOML file or sm_NN.")
@click.option("--block", type=click.IntRange(1), required=True, metavar="T", help="Threads per block.")
@click.option("--registers", type=click.IntRange(0), required=True, metavar="R", help="Registers per thread.")
@click.option("--smem", type=click.IntRange(0), default=0, metavar="BYTES", help="Shared memory per block.")
@click.option("--carveout", type=click.IntRange(0), metavar="KIB", help="Shared memory per SM.")
@_format("text", "json")
def occupancy(gpus: str | None, block: int, registers: int, smem: int, carveout: int | None, form: str) -> None:
    """How many blocks and warps fit on an SM, what limits them, and the next step up."""
    from warpbound.machine import gpu
    from warpbound.report.machines import residency_entry, residency_text
    from warpbound.residency import occupancy as resident

    if gpus is None:
        raise CommandError("No GPU given.", "Add --gpu NAME; `warpbound gpus` lists them.")
    board = gpu(gpus)
    entry = residency_entry(board, resident(board, block, registers, smem, carveout))
    _answer(form, entry, residency_text(board, entry))


@main.command()
@click.argument("name", required=False)
@click.option("--check", is_flag=True, help="Compare the values of a board, or of all, with one another.")
@_format("text", "json")
def gpus(name: str | None, check: bool, form: str) -> None:
    """The catalogue, or every value of one board (a name or a TOML file) with its source."""
    from warpbound.machine import catalogue, gpu
    from warpbound.report import machines

    if check:
        _check([gpu(name)] if name else [gpu(key) for key in catalogue()], form)
    elif name is None:
        boards = machines.oldest_first(gpu(key) for key in catalogue())
        _answer(form, [machines.gpu_entry(board) for board in boards], machines.catalogue(boards))
    else:
        board = gpu(name)
        _answer(form, machines.gpu_entry(board), machines.board(board))


def _check(boards: list[Any], form: str) -> None:
    from warpbound.report import machines
    from warpbound.report.board_check import findings

    found = {board.key: findings(board) for board in boards}
    _answer(form, machines.check_entry(found), machines.check_text(found))
    if wrong := sum(map(len, found.values())):
        hint = 'Correct them, or say "exception: " and why in the note.'
        raise WarpboundError(f"{wrong} value{'s do' if wrong > 1 else ' does'} not agree.", hint)


@main.command()
@click.argument("name", required=False)
@_format("text", "json")
def models(name: str | None, form: str) -> None:
    """The papers' models, or what one of them keeps and omits."""
    from warpbound import models as papers

    if name is None:
        rows = [{"name": key, "about": papers.ABOUT[key]} for key in papers.MODELS]
        _answer(form, rows, "\n".join(f"{row['name']:22} {row['about']}" for row in rows))
        return
    if name not in papers.MODELS:
        raise CommandError(f"No model is called {name!r}.", f"There are {', '.join(papers.MODELS)}.")
    text = (getattr(papers, name).__doc__ or "").strip()
    _answer(form, {"name": name, "about": papers.ABOUT[name], "text": text}, text)


@main.command()
@_format("text", "json")
def doctor(form: str) -> None:
    """What is installed here, and what each missing piece would enable."""
    from warpbound.report.health import health, health_text

    entries = health()
    _answer(form, entries, health_text(entries))


@main.command()
@click.option("--only", metavar="NAME,...", help="Mechanisms to measure; all of them otherwise.")
@click.option("--quick", "effort", flag_value="quick", help="Fewer points, under eight minutes of GPU time.")
@click.option("--full", "effort", flag_value="full", default="full", help="All points (the default).")
@click.option("--plan", "task", flag_value="plan", help="Only say what would be measured and how long it takes.")
@click.option("--extract", "task", flag_value="extract", help="Only draw conclusions from the files in DIR.")
@click.option("--build", type=click.Path(path_type=Path), metavar="DIR", help="Only write machine code, for --cubins.")
@click.option("--arch", metavar="NN,...", help="Architectures to build for; seven usual ones otherwise.")
@click.option("--cubins", type=click.Path(path_type=Path), metavar="DIR", help="Machine code from --build.")
@click.option("--device", default=0, show_default=True, help="Which GPU of this machine.")
@click.option("--gpu", metavar="NAME", help="The board to compare with; found by its name otherwise.")
@click.option("-o", "--out", type=click.Path(path_type=Path), metavar="DIR", help="Where raw files and profile go.")
def measure(
    only: str | None, effort: str, task: str | None, build: Path | None, arch: str | None, cubins: Path | None,
    device: int, gpu: str | None, out: Path | None,
) -> None:  # fmt: skip
    """Measure the GPU of this machine: raw files, a profile for the catalogue, a verdict on the one it has."""
    from warpbound.measure import command, runner, suite

    names = suite.select(only)
    if build is not None:
        click.echo(command.build(build, names, command.architectures(arch)))
    elif task == "plan":
        click.echo("\n".join(command.plan_text(names, effort, device)))
    elif out is None:
        raise CommandError("measuring needs a folder for its files.", "Give -o DIR.")
    else:
        if task == "extract":
            raws = runner.read_folder(out, names)
        else:
            order = runner.Order(names, effort, out)
            raws = command.measure(command.here(device), cubins, order, partial(click.echo, err=True))
        click.echo("\n".join(command.conclude(raws, out, gpu)))


def _answer(form: str, entry: Any, text: Any) -> None:
    if form == "json":
        from warpbound.report.document import as_json

        _write(as_json(entry), None)
    else:
        _show([text], None)


def _show(parts: Iterable[Any], out: str | None) -> None:
    """Rich text to the terminal (at its width, 80 where it has none) or plain text to a file."""
    from rich.console import Console

    if out is not None:
        console = Console(width=100, record=True, file=io.StringIO())
        for part in parts:
            console.print(part)
        _write(console.export_text(), out)
        return
    console = Console(width=None if sys.stdout.isatty() else 80, highlight=False, soft_wrap=False)
    for part in parts:
        console.print(part)


def _write(text: str, out: str | None) -> None:
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        Path(out).write_text(text, encoding="utf-8")
    except OSError as failed:
        raise WarpboundError(f"{out} cannot be written ({failed.strerror}).", "Choose another -o.") from failed


def _progress(steps: Iterable[Any]) -> Iterable[Any]:
    """The same steps, announced on stderr once they have taken a second in all."""
    import time

    begun = time.monotonic()
    for title, step in steps:
        if time.monotonic() - begun > 1.0:
            click.echo(f"warpbound: {title} ...", err=True)
        yield step
