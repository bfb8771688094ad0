"""`campprof`: partition camping, from a profiler's counters or from a kernel's source."""

from itertools import chain
from typing import Any

import click
import msgspec

from warpbound.cli.output import answer, command_line, form_option, warn_without_numba, with_progress, write
from warpbound.errors import CommandError
from warpbound.quick_dataclasses import dataclass

EXAMPLES = """
\b
Examples:
  warpbound campprof predict --gld64 65536 --gst64 65536 --grid 4096 --block 256 --warps 32 --time 450e-6
  warpbound campprof predict examples/transpose_tiled.cu --launch examples/transpose_tiled.toml --gpu gtx280
  warpbound campprof simulate --gpu gtx280 -o runs.csv
  warpbound campprof fit runs.csv
"""
COUNTERS = ("gld32", "gld64", "gld128", "gst32", "gst64", "gst128")
COMPILED_FOR = "t4"  # the oldest architecture that today's compiler writes code for
_gpu_option = click.option("--gpu", "board", metavar="NAME", default="gtx280", show_default=True, help="Board.")
_equation_option = click.option(
    "--equation", type=click.Choice(["by-size", "published"]), default="by-size", show_default=True,
    help="One slope for each size of transaction, or one for all as in the paper.",
)  # fmt: skip


@click.group(epilog=EXAMPLES)
def campprof() -> None:
    """Bound the cost of memory partition camping (CampProf)."""


@campprof.command()
@click.argument("file", metavar="RUNS", required=False)
@_gpu_option
@click.option(
    "--equation", type=click.Choice(["published", "by-size"]), default="published", show_default=True,
    help="One slope for all sizes as in the paper, or one for each.",
)  # fmt: skip
@form_option("text", "json")
def fit(file: str | None, board: str, equation: str, form: str) -> None:
    """Fit the four regressions to simulated or measured runs.

    RUNS is a table as `campprof simulate` writes it, or the camping.json of `warpbound measure`. Without it, the
    command fits the shipped simulated runs of the board.
    """
    from warpbound.camping.prediction import benchmarks_of
    from warpbound.machine import gpu
    from warpbound.model_inputs.partition_benchmarks import fits, selected
    from warpbound.model_inputs.partition_runs import read
    from warpbound.report.camping import fit_entry, fit_text

    table = read(file) if file else benchmarks_of(gpu(board))
    regressions, predictors = fits(table, equation), selected(table, equation)
    answer(form, fit_entry(regressions, predictors, equation), fit_text(regressions, predictors))


def _counter_options(command: Any) -> Any:
    for name in reversed(COUNTERS):
        kind = "loads" if name.startswith("gld") else "stores"
        words = f"{kind.capitalize()} of {name[3:]} B, whole launch."
        command = click.option(f"--{name}", type=click.FloatRange(0), metavar="N", help=words)(command)
    return command


@dataclass(frozen=True, kw_only=True)
class Words:
    """What is typed about a run. counters : by name in COUNTERS."""

    counters: dict[str, float | None]
    grid: str | None
    block: str | None
    warps: int | None
    seconds: float | None
    kernel: str | None
    launch_file: str | None
    args: tuple[str, ...]
    defines: tuple[str, ...]
    include: tuple[str, ...]


@campprof.command(epilog=EXAMPLES)
@click.argument("file", metavar="[KERNEL.cu]", required=False)
@_counter_options
@click.option("--grid", metavar="X[,Y[,Z]]", help="Blocks.")
@click.option("--block", metavar="X[,Y[,Z]]", help="Threads of a block.")
@click.option("--warps", type=click.IntRange(1), metavar="W", help="Active warps per SM in that run.")
@click.option("--time", "seconds", type=float, metavar="SECONDS", help="The kernel's time in that run.")
@_gpu_option
@click.option("--data", metavar="RUNS", help="Benchmark runs; default: the shipped simulated ones of the board.")
@_equation_option
@click.option("--kernel", metavar="NAME", help="Kernel of the file.")
@click.option("--launch", "launch_file", metavar="FILE.toml", help="Grid, block and arguments of the kernel.")
@click.option("--arg", "args", metavar="NAME=VALUE", multiple=True, help="An argument of the kernel.")
@click.option("--define", "defines", metavar="K=V", multiple=True, help="Define a preprocessor macro.")
@click.option("-I", "include", metavar="DIR", multiple=True, help="Folder to search for headers.")
@form_option("text", "json", "html")
@click.option("-o", "out", metavar="OUT", help="Write to this file, not to the terminal.")
def predict(
    file: str | None, board: str, data: str | None, equation: str, form: str, out: str | None, **options: Any
) -> None:
    """Predict best and worst times at every number of active warps.

    Give the counters of one run: transactions of the whole launch (the CUDA profiler of that time counted one group
    of SMs, a tenth of a GTX 280). Or give a kernel's file: it is executed on simulated partitions, which gives
    counters and time.
    """
    from warpbound.camping.prediction import benchmarks_of, predicted
    from warpbound.machine import gpu
    from warpbound.model_inputs.partition_runs import read
    from warpbound.report.camping import band_text

    on_gpu = gpu(board)
    words = Words(counters={name: options.pop(name) for name in COUNTERS}, **options)
    table = read(data) if data else benchmarks_of(on_gpu)
    title, ran = _run(file, on_gpu, words) if file else ("a kernel of these counters", None)
    counts = _from_run(ran, words) if ran else _from_counters(words)
    entry = predicted(counts, on_gpu, table, equation, ran.proof if ran else None)
    if ran:
        entry = msgspec.structs.replace(entry, notes=[*entry.notes, *ran.notes])
    if form == "html":
        from warpbound.report.html import camping_page

        write(camping_page(entry, f"{title} on {on_gpu.name}", ran, command_line()), out)
        return
    answer(form, entry, band_text(entry), out)


def _from_counters(words: Words) -> Any:
    from warpbound.camping.prediction import Measured
    from warpbound.kernel_launch import parse_dim

    if not (words.grid and words.block and words.warps):
        name = "grid" if not words.grid else "warps" if words.block else "block"
        raise CommandError(f"--{name} is not given.", "Add --grid, --block and --warps, or a kernel's file.")
    x, y, z = parse_dim(words.grid, "--grid")
    blocks = x * y * z
    x, y, z = parse_dim(words.block, "--block")
    counts = {f"{name[:3]}_{name[3:]}": words.counters[name] or 0.0 for name in COUNTERS}
    return Measured(counts, blocks, x * y * z, words.warps, words.seconds)


def _run(file: str, on_gpu: Any, words: Words) -> tuple[str, Any]:
    """The kernel's name, and what its blocks did on the board."""
    from warpbound.camping.kernel_counters import executed
    from warpbound.cli.request import parse_request
    from warpbound.program import programs

    if given_counters := [name for name in COUNTERS if words.counters[name] is not None]:
        raise CommandError(f"--{given_counters[0]} and a kernel's file were given.", "Give one of them.")
    keys = ("kernel", "grid", "block", "launch_file", "args", "defines", "include")
    request = parse_request(
        files=(file,), gpus=COMPILED_FOR, **{key: getattr(words, key) for key in keys}, cluster=None, smem=None,
        carveout=None, nvrtc=(), settings=(), cache="warm", clock="boost", models="", views="",
    )  # fmt: skip
    if request.launch is None:
        raise CommandError("The kernel's launch is not given.", "Add --launch FILE, or --grid, --block and --arg.")
    kernels = programs(request.sources[0], request.gpus[0], request.kernel, request.options)
    if len(kernels) > 1:
        names = ", ".join(kernel.title for kernel in kernels)
        raise CommandError(f"{file} holds {len(kernels)} kernels ({names}).", "Name one with --kernel.")
    click.echo(f"warpbound: executing {kernels[0].title} ...", err=True)
    return kernels[0].title, executed(kernels[0], request.launch, on_gpu)


def _from_run(ran: Any, words: Words) -> Any:
    from warpbound.camping.prediction import Measured

    time = words.seconds if words.seconds is not None else ran.time
    return Measured(ran.counters, ran.grid, ran.block, words.warps or ran.warps, time)


@campprof.command()
@_gpu_option
@click.option("-o", "out", metavar="RUNS.csv", help="Write to this file, not to the terminal.")
def simulate(board: str, out: str | None) -> None:
    """Run the twelve micro-benchmarks on simulated partitions."""
    from warpbound.camping.benchmarks import axis, runs, table
    from warpbound.machine import gpu
    from warpbound.simulate.partitions import machine_of

    on_gpu = gpu(board)
    warn_without_numba()
    rows = chain.from_iterable(with_progress(runs(machine_of(on_gpu), axis(on_gpu))))
    write(table(on_gpu, rows), out)


@campprof.command()
@_gpu_option
@_equation_option
@form_option("text", "json")
def validate(board: str, equation: str, form: str) -> None:
    """Compare the bounds with simulated kernels, as the paper does."""
    from warpbound.camping.prediction import benchmarks_of
    from warpbound.camping.validation import judged, kernels, timed
    from warpbound.machine import gpu
    from warpbound.report.camping import validation_entry, validation_text
    from warpbound.simulate.partitions import machine_of

    on_gpu = gpu(board)
    table, machine = benchmarks_of(on_gpu), machine_of(on_gpu)
    titled = ((kernel.name, kernel) for kernel in kernels(machine))
    results = [judged(kernel, timed(kernel, machine), table, equation) for kernel in with_progress(titled)]
    answer(form, validation_entry(results, equation), validation_text(results))
