"""One row of a corpus through the whole chain: compile, execute, follow the addresses, predict; the papers beside."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from warpbound.adapt.answers import answers
from warpbound.analysis import interval, launched, work_of
from warpbound.analysis.case import Case, Settings, case_of
from warpbound.analysis.sweeps.tunings import number, parts
from warpbound.analysis.timing import by_parameters, kind_of
from warpbound.analysis.workload_prediction import by_parameters as by_parameters_of
from warpbound.analysis.workload_prediction import launched as launched_work
from warpbound.analysis.workload_prediction import predicted
from warpbound.errors import InputError, MissingTool, WarpboundError
from warpbound.kernel_launch import Launch, launch, parse_argument, parse_dim
from warpbound.machine import gpu
from warpbound.program import Program, programs
from warpbound.program.cuda import Options
from warpbound.validate.corpus import Corpus, Row
from warpbound.workload.files import read_text

HEADLINE = "warpbound"
BESIDE = ("roofline_2009", "hong_kim_2009", "volkov_2016")


@dataclass(frozen=True)
class Answer:
    """Seconds by model (None: it cannot speak), the headline's interval, class and bottleneck; or why there is none.

    bare : the interval of parameters and clock, before measured launches widen it.
    """

    seconds: Mapping[str, float | None] = field(default_factory=dict)
    bare: tuple[float, float] | None = None
    binds: str = ""
    bottleneck: str | None = None
    proxy: bool = False
    refused: str = ""


def answer(found: Corpus, row: Row) -> Answer:
    """The models' answers for one row; a refusal is kept, not raised. Raises MissingTool without the compiler."""
    try:
        if found.shared.workload:
            return _written(found, row)
        measured = found.shared.measured
        if measured.between is not None:
            return _difference(*(_single(found, row, (one,)) for one in measured.between))
        tried = [replace(row, words={**row.words, **words}) for words in measured.fastest_of] or [row]
        return _fastest([_single(found, one, ()) for one in tried])
    except MissingTool:
        raise
    except WarpboundError as error:
        return Answer(refused=str(error))


def _written(found: Corpus, row: Row) -> Answer:
    """The answer for a hand-written workload, with the row's columns in the file's text."""
    place = found.folder / found.shared.workload
    text = place.read_text(encoding="utf-8")
    for column, value in row.words.items():
        text = text.replace(f"{{{column}}}", value)
    (case,) = read_text(text, str(place))
    said = predicted(case, gpu(row.gpu), row.clock_MHz or "boost", BESIDE)
    x = launched_work(case, gpu(row.gpu), row.clock_MHz or "boost")
    ours = by_parameters_of(x, row.clock_MHz or "boost")
    if ours is None:
        raise InputError(f"{place}: the time is not the headline's.", "Give blocks, threads and phases.")
    seconds = {HEADLINE: said["time_s"]} | {name: said["models"][name]["time_s"] for name in BESIDE}
    return Answer(seconds, ours.interval, interval.binds(ours.bottleneck, x.work.memory), said["bottleneck"])


def _fastest(tried: Sequence[Answer]) -> Answer:
    """The launch that the headline says is the fastest; of every other model, and of each edge, the fastest."""
    best = min(tried, key=lambda one: one.seconds[HEADLINE] or math.inf)
    times = {name: [one.seconds[name] for one in tried] for name in best.seconds}
    edges = [one.bare for one in tried if one.bare is not None]
    bare = (min(low for low, _ in edges), min(high for _, high in edges)) if edges else None
    return replace(best, seconds={name: _least(of) for name, of in times.items()}, bare=bare)


def _least(times: Sequence[float | None]) -> float | None:
    known = [time for time in times if time is not None]
    return min(known) if known else None


def _difference(less: Answer, more: Answer) -> Answer:
    """What the second launch takes longer; the interval in the same proportion as its own."""
    seconds = {name: _minus(more.seconds[name], less.seconds[name]) for name in more.seconds}
    if more.bare is None or less.bare is None:
        return Answer(seconds, None, more.binds, more.bottleneck, more.proxy)
    grown, whole = seconds[HEADLINE] or 0.0, more.seconds[HEADLINE] or 1.0
    low, high = (edge / whole * grown for edge in more.bare)
    return Answer(seconds, (low, high), more.binds, more.bottleneck, more.proxy)


def _minus(more: float | None, less: float | None) -> float | None:
    return None if more is None or less is None else more - less


def _single(found: Corpus, row: Row, extra: tuple[str, ...]) -> Answer:
    shared, board = found.shared, gpu(row.gpu)
    program = _program(found.folder / shared.source, row.kernel, row.gpu, tuple(_words(found, row, shared.defines)))
    asked = _launch(found, row, program, extra)
    clock = "boost" if row.clock_MHz is None else row.clock_MHz
    case = case_of(program, board, asked, Settings(clock=clock, cache=shared.cache))
    return _answered(case)


def _answered(case: Case) -> Answer:
    work = work_of(case)
    timed = by_parameters(case, work)
    if timed is None:
        raise InputError(f"{case.program.title} was not executed.", work.not_executed or "Give every argument.")
    beside = answers(BESIDE, launched(case, work))
    seconds = {HEADLINE: timed.time_s} | {name: beside[name]["time_s"] for name in BESIDE}
    proxy = case.program.proxy_isa is not None
    return Answer(seconds, timed.interval, kind_of(timed, work, case), timed.bottleneck, proxy)


def _launch(found: Corpus, row: Row, program: Program, extra: tuple[str, ...]) -> Launch:
    shared = found.shared
    words = {word.partition("=")[0]: word for word in (*_words(found, row, shared.args), *extra)}
    wanted = {parameter.name for parameter in program.parameters}
    return launch(
        grid=_dimensions(found.filled(shared.grid, row)),
        block=_dimensions(found.filled(shared.block, row)),
        smem=shared.smem,
        carveout=shared.carveout,
        args=[parse_argument(word) for name, word in words.items() if name in wanted],
    )


def _dimensions(text: str) -> tuple[int, int, int]:
    """One to three expressions of integers, such as a grid of "{words} / {block}"."""
    return parse_dim(",".join(str(number(part, {})) for part in parts(text)))


def _words(found: Corpus, row: Row, templates: list[str]) -> list[str]:
    return [found.filled(template, row) for template in templates]


@cache
def _program(source: Path, kernel: str, board: str, defines: tuple[str, ...]) -> Program:
    macros = tuple((name, value or "1") for name, _, value in (word.partition("=") for word in defines))
    return programs(source, gpu(board), kernel or None, Options(defines=macros))[0]
