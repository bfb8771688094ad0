"""`simulate`: warps on one SM, event by event."""

from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warpbound.cli.output import answer, command_line, form_option, show, warn_without_numba, with_progress, write
from warpbound.errors import CommandError
from warpbound.quick_dataclasses import dataclass

if TYPE_CHECKING:
    from warpbound.result.simulation import FamilyPoint

EXAMPLES = """
\b
WHAT is one of
  PAPER:ITEM   a paper's picture or example; without WHAT, a list of them
  family       Volkov's synthetic family: one load, ALPHA dependent additions
  evaluation   every model against that family (five machines of the thesis,
               H100, H200, or those of --gpu; two minutes of computing)
  FILE.cu      a kernel (also .cubin .ptx .sass), with a launch that gives its arguments

\b
Examples:
  warpbound simulate
  warpbound simulate hong_kim_2009:fig-5
  warpbound simulate volkov_2016:fig-4.7 --format json
  warpbound simulate family --gpu gtx680 --alpha 32
  warpbound simulate family --gpu h200 --alpha 0,8,64 --warps 8:64 --memory exponential
  warpbound simulate evaluation --gpu Kepler,h200 --format html -o models.html
  warpbound simulate examples/saxpy.cu --launch examples/saxpy.toml
"""

SHOWN = 1500.0  # cycles of a timeline
OF_A_KERNEL = ("gpus", "launch_file", "kernel", "grid", "block", "args", "smem", "defines", "include", "clock")


@dataclass(frozen=True, kw_only=True)
class Words:
    """The options of `simulate` as typed."""

    gpus: str | None
    alphas: str
    ilp: int
    warps: str | None
    memory: str | None
    policy: str | None
    seed: int
    launch_file: str | None
    kernel: str | None
    grid: str | None
    block: str | None
    args: tuple[str, ...]
    smem: int | None
    defines: tuple[str, ...]
    include: tuple[str, ...]
    clock: str
    log: bool
    trace: str | None


@click.command(epilog=EXAMPLES)
@click.argument("what", required=False, metavar="[WHAT]")
@click.option("--gpu", "gpus", metavar="NAME", help="Board, for family or a kernel; default: the launch file's.")
@click.option("--alpha", "alphas", default="32", show_default=True, metavar="A[,A...]", help="Additions per load.")
@click.option("--ilp", type=click.IntRange(1, 8), default=1, show_default=True, help="Independent chains of a warp.")
@click.option("--warps", metavar="FIRST:LAST", help="Warps per SM; default: multiples of the number of schedulers.")
@click.option("--memory", metavar="KIND", help="Latency: constant, spread, exponential (default) or fitted.")
@click.option("--policy", metavar="NAME", help="round_robin, greedy_then_oldest, greedy_then_youngest, oldest.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the random numbers.")
@click.option("--launch", "launch_file", metavar="FILE.toml", help="File with grid, block and arguments.")
@click.option("--kernel", metavar="NAME", help="Kernel of FILE to run.")
@click.option("--grid", metavar="X[,Y[,Z]]", help="Blocks of the launch.")
@click.option("--block", metavar="X[,Y[,Z]]", help="Threads of a block.")
@click.option("--arg", "args", metavar="NAME=VALUE", multiple=True, help="An argument of the kernel.")
@click.option("--smem", metavar="BYTES", type=click.IntRange(0), help="Dynamic shared memory per block.")
@click.option("--define", "defines", metavar="K=V", multiple=True, help="Define a preprocessor macro.")
@click.option("-I", "include", metavar="DIR", multiple=True, help="Folder to search for headers.")
@click.option("--clock", default="boost", metavar="base|boost|MHZ", show_default=True, help="SM clock of a kernel.")
@click.option("--events", "log", is_flag=True, help="With --format json: include the event log.")
@click.option("--trace", metavar="OUT.json", help="Write a kernel's first warps over time, for Perfetto.")
@form_option("text", "json", "html")
@click.option("-o", "out", metavar="OUT", help="Write to this file, not to the terminal.")
def simulate(what: str | None, form: str, out: str | None, **options: Any) -> None:
    """Simulate the warps of one SM."""
    words = Words(**options)
    if words.trace and not (what and Path(what).suffix):
        raise CommandError("--trace writes the warps of a kernel; none is named.", "Give its file and a launch.")
    if what is None:
        _list(form)
    elif what == "family":
        _family(form, out, words)
    elif what == "evaluation":
        _evaluation(form, out, words.gpus)
    elif ":" in what and not Path(what).exists():
        _scenarios(what, form, out, words.log)
    elif Path(what).suffix or what == "-" or Path(what).exists():
        _kernel(what, form, out, words)
    else:
        raise CommandError(f"{what!r} is neither a file nor a scenario.", "`warpbound simulate` lists the scenarios.")


def _list(form: str) -> None:
    from warpbound.report.simulation import catalogue
    from warpbound.simulate.scenarios import SCENARIOS

    titles = {name: make().title for name, make in SCENARIOS.items()}
    answer(form, [{"name": name, "title": title} for name, title in titles.items()], catalogue(titles))


def _scenarios(name: str, form: str, out: str | None, log: bool) -> None:
    from msgspec import UNSET

    from warpbound.report.figures import warps_in_time
    from warpbound.report.simulation import pages
    from warpbound.result.simulation import SimulatedScenario
    from warpbound.simulate import timelines
    from warpbound.simulate.scenarios import scenarios
    from warpbound.simulate.warp_simulation import run

    results, pictures = [], []
    for key, scenario in with_progress((key, (key, scenario)) for key, scenario in scenarios(name).items()):
        x = timelines.logged(scenario.experiment)
        outcome = run(x)
        results.append(
            SimulatedScenario(
                scenario=key,
                title=scenario.title,
                source=scenario.source,
                assumed=scenario.assumed,
                outcome=timelines.summary(x, outcome),
                timeline=[] if form == "html" else list(timelines.timeline(x, outcome, 66)),  # the page has a figure
                events=timelines.events(outcome) if log else UNSET,
            )
        )
        if form == "html":
            spans = timelines.spans(x, outcome, min(outcome.cycles, SHOWN))
            pictures.append([warps_in_time(spans, scenario.title, scenario.source)])
    _write(form, out, results, [pages([entry]) for entry in results], pictures)


def _family(form: str, out: str | None, words: Words) -> None:
    from warpbound.cli.request import first_last
    from warpbound.machine import gpu
    from warpbound.report.figures import family
    from warpbound.report.simulation import family_page
    from warpbound.reproduce.synthetic import simulated
    from warpbound.simulate.synthetic_family import Setting

    if not words.gpus:
        raise CommandError("No GPU given.", "Add --gpu NAME; `warpbound gpus` lists them.")
    policy = words.policy or "greedy_then_oldest"
    setting = Setting(words.memory or "exponential", policy, seed=words.seed, ilp=words.ilp)
    warps = first_last(words.warps) if words.warps else None
    board = gpu(words.gpus)
    rows: list[FamilyPoint] = []
    warn_without_numba()
    for part in with_progress(simulated.rows(board, _alphas(words.alphas), warps, setting)):
        rows += part
    title = f"Synthetic family on {board.name}, memory {setting.memory}, {setting.policy.replace('_', ' ')}"
    title += f", ILP {setting.ilp}" if setting.ilp > 1 else ""
    _write(form, out, rows, [family_page(rows, title)], [[family(rows, title)]])


def _evaluation(form: str, out: str | None, names: str | None) -> None:
    from warpbound.report.figures import models_over_simulation, needed_warps
    from warpbound.report.simulation import evaluation_pages
    from warpbound.reproduce.synthetic import evaluation

    every = evaluation.subjects(names)
    results = []
    warn_without_numba()
    for name, machine in every.items():
        click.echo(f"warpbound: the family on {name} ...", err=True)
        results.append(evaluation.answer(evaluation.evaluate(machine, evaluation.intensities())))
    pictures = [[models_over_simulation(entry), needed_warps(entry)] for entry in results]
    _write(form, out, results, [evaluation_pages([entry]) for entry in results], pictures)


def _alphas(words: str) -> list[float]:
    try:
        alphas = [float(word) for word in words.split(",")]
    except ValueError:
        raise CommandError(f"--alpha {words!r} is not a list of numbers.", "Write it like 0,8,64.") from None
    if any(not 0 <= alpha <= 1e6 for alpha in alphas):
        raise CommandError(f"--alpha {words!r}: an intensity lies between 0 and a million.", "Write it like 0,8,64.")
    return alphas


def _kernel(file: str, form: str, out: str | None, words: Words) -> None:
    from functools import partial

    from warpbound.analysis.sm_simulation import simulated
    from warpbound.cli.request import answer_each, parse_request
    from warpbound.report.simulation import kernel_pages

    of_kernel = {key: getattr(words, key) for key in OF_A_KERNEL}
    request = parse_request(
        files=(file,), cluster=None, carveout=None, nvrtc=(), settings=(), cache="warm", models="", views="",
        **of_kernel,
    )
    drawing = form == "html"
    if drawing or words.trace:
        request = replace(request, settings=replace(request.settings, views=("figures",)))
    ask = partial(simulated, policy=words.policy or "greedy_then_oldest", seed=words.seed)
    results = answer_each(request, ask, with_progress)
    if words.trace:
        from warpbound.report.document import as_json
        from warpbound.report.simulation import chrome_trace

        write(as_json(chrome_trace(results)), words.trace)
    pictures = []
    if drawing:
        from warpbound.report.html.illustrations import simulated_kernel

        pictures = [simulated_kernel(entry) for entry in results]
    _write(form, out, results, [kernel_pages([entry]) for entry in results], pictures)


def _write(form: str, out: str | None, results: list[Any], parts: list[Any], pictures: list[Any]) -> None:
    """parts : what to print of each result; drawn : its figures, for the page."""
    if form == "json":
        from warpbound.report.document import as_json, document

        write(as_json(document(command_line(), results)), out)
    elif form == "html":
        from warpbound.report import html
        from warpbound.report.html.contents import Part

        figures = pictures or [[] for _ in parts]
        titled = []
        for result, body, own in zip(results, parts, figures, strict=False):
            title = _title(result) or (own[0].title if own else result.gpu)
            titled.append(Part(title, (line for line in body if str(line) != title), own))
        write(html.plain_page("Simulation of one SM", HOW_TO_READ, titled, command_line()), out)
    else:
        show(chain.from_iterable(parts), out)


def _title(result: Any) -> str:
    return str(getattr(result, "title", ""))


HOW_TO_READ = (
    "Warps on one SM, event by event. It is not a GPU: its parameters come from papers and the catalogue."
)
