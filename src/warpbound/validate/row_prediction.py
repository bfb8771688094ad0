"""One row of a corpus predicted as `analyze` does (compile, execute, trace addresses), and by the papers' models."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from pathlib import Path

from warpbound.analysis import interval
from warpbound.analysis.answer import launch_facts, reworked, work_of
from warpbound.analysis.case import Case, case_of
from warpbound.analysis.interval import HeldSeconds
from warpbound.analysis.settings import Settings
from warpbound.analysis.sustained_clock import settled
from warpbound.analysis.timing import before_form, class_of, held_clock_seconds, launch_of
from warpbound.analysis.workload_prediction import before_form as before_form_of_work
from warpbound.analysis.workload_prediction import launched as launched_work
from warpbound.analysis.workload_prediction import predicted
from warpbound.errors import InputError, MissingTool, WarpboundError
from warpbound.kernel_launch import Launch, launch, parse_argument, parse_dim
from warpbound.machine import gpu
from warpbound.model_inputs.answers import answers
from warpbound.program import Program, programs
from warpbound.program.cuda import Options
from warpbound.quick_dataclasses import dataclass
from warpbound.size_expressions import number, parts
from warpbound.validate.corpus import Corpus, Row
from warpbound.workload.files import read_text

HEADLINE = "warpbound"
PAPER_MODELS = ("roofline_2009", "hong_kim_2009", "volkov_2016")


@dataclass(frozen=True)
class Answer:
    """Seconds by model (None: it gives no time), the predicted interval, class and bottleneck; or why there is none.

    bare : the interval of parameters and of an assumed clock, before measured launches widen it. clocks_s : times at
    the highest and the lowest clock that the board may hold by its power; None where the clock is known or assumed.
    """

    seconds: Mapping[str, float | None] = field(default_factory=dict)
    bare: tuple[float, float] | None = None
    binds: str = ""
    bottleneck: str | None = None
    proxy: bool = False
    refused: str = ""
    clocks_s: HeldSeconds | None = None


def answer(corpus: Corpus, row: Row, papers: tuple[str, ...] = PAPER_MODELS) -> Answer:
    """The models' answers for one row; a refusal is kept, not raised. Raises MissingTool without the compiler."""
    try:
        if corpus.shared.workload:
            return _hand_written(corpus, row, papers)
        source = corpus.shared.measured
        if source.between is not None:
            ends = [corpus.filled(argument, row) for argument in source.between]
            return _difference(*(_single(corpus, row, (argument,), papers) for argument in ends))
        variants = [replace(row, words={**row.words, **words}) for words in source.fastest_of] or [row]
        return _fastest([_single(corpus, variant, (), papers) for variant in variants])
    except MissingTool as missing:
        if not corpus.shared.compiler:
            raise
        return Answer(refused=str(missing))
    except WarpboundError as error:
        return Answer(refused=str(error))


def _hand_written(corpus: Corpus, row: Row, papers: tuple[str, ...]) -> Answer:
    """The answer for a hand-written workload, with the row's columns in the file's text."""
    place = corpus.folder / corpus.shared.workload
    text = place.read_text(encoding="utf-8")
    for column, value in row.words.items():
        text = text.replace(f"{{{column}}}", value)
    (case,) = read_text(text, str(place))
    prediction = predicted(case, gpu(row.gpu), row.clock_MHz or "boost", papers)
    x = launched_work(case, gpu(row.gpu), row.clock_MHz or "boost")
    timing = before_form_of_work(x, row.clock_MHz or "boost")
    if timing is None:
        raise InputError(f"{place}: the time model needs a whole launch.", "Give blocks, threads and phases.")
    seconds = {HEADLINE: prediction.time_s} | {name: prediction.models[name].time_s for name in papers}
    kind = interval.binds(timing.bottleneck, x.work.memory, apart=timing.apart_s / timing.time_s)
    return Answer(seconds, timing.interval, kind, prediction.bottleneck)


def _fastest(variants: Sequence[Answer]) -> Answer:
    """The launch that warpbound predicts as the fastest; of every other model, and of each edge, the least time."""
    best = min(variants, key=lambda answer: answer.seconds[HEADLINE] or math.inf)
    times = {name: [variant.seconds[name] for variant in variants] for name in best.seconds}
    edges = [variant.bare for variant in variants if variant.bare is not None]
    bare = (min(low for low, _ in edges), min(high for _, high in edges)) if edges else None
    return replace(best, seconds={name: _least(of) for name, of in times.items()}, bare=bare)


def _least(times: Sequence[float | None]) -> float | None:
    times_s = [time for time in times if time is not None]
    return min(times_s) if times_s else None


def _difference(less: Answer, more: Answer) -> Answer:
    """The time that the second launch takes longer; the interval in proportion to its own."""
    seconds = {name: _minus(more.seconds[name], less.seconds[name]) for name in more.seconds}
    if more.bare is None or less.bare is None:
        return Answer(seconds, None, more.binds, more.bottleneck, more.proxy)
    growth, whole = seconds[HEADLINE] or 0.0, more.seconds[HEADLINE] or 1.0
    low, high = (edge / whole * growth for edge in more.bare)
    return Answer(seconds, (low, high), more.binds, more.bottleneck, more.proxy)


def _minus(more: float | None, less: float | None) -> float | None:
    return None if more is None or less is None else more - less


def _single(corpus: Corpus, row: Row, extra: tuple[str, ...], papers: tuple[str, ...]) -> Answer:
    return _answered(row_case(corpus, row, extra), papers)


def row_case(corpus: Corpus, row: Row, extra: tuple[str, ...] = ()) -> Case:
    """The kernel and launch of a row, with further arguments; not for hand-written workloads."""
    shared, board = corpus.shared, gpu(row.gpu)
    options = Options(
        defines=tuple(map(_macro, _words(corpus, row, shared.defines))), compiler=shared.compiler or "nvrtc",
        extra=tuple(shared.options),
    )  # fmt: skip
    program = _program(corpus.folder / shared.source, row.kernel, row.gpu, options)
    start = _launch(corpus, row, program, extra)
    clock = shared.clock if row.clock_MHz is None else row.clock_MHz
    return case_of(program, board, start, Settings(clock=clock, cache=shared.cache))


def _answered(case: Case, papers: tuple[str, ...]) -> Answer:
    case, work = settled(case, work_of(case), reworked)
    timing = before_form(case, work)
    if timing is None:
        raise InputError(f"{case.program.title} was not executed.", work.not_executed or "Give every argument.")
    theirs = answers(papers, launch_facts(case, work))
    seconds = {HEADLINE: timing.time_s} | {name: theirs[name].time_s for name in papers}
    return Answer(
        seconds, timing.interval, class_of(timing, work, case), timing.bottleneck,
        proxy=case.program.proxy_isa is not None, clocks_s=held_clock_seconds(case, work, launch_of(case, work)),
    )  # fmt: skip


def _launch(corpus: Corpus, row: Row, program: Program, extra: tuple[str, ...]) -> Launch:
    shared = corpus.shared
    words = {word.partition("=")[0]: word for word in (*_words(corpus, row, shared.args), *extra)}
    names = {parameter.name for parameter in program.parameters}
    return launch(
        grid=_dimensions(corpus.filled(shared.grid, row)),
        block=_dimensions(corpus.filled(shared.block, row)),
        smem=int(number(corpus.filled(str(shared.smem), row), {})),
        carveout=shared.carveout,
        args=[parse_argument(word) for name, word in words.items() if name in names],
    )


def _dimensions(text: str) -> tuple[int, int, int]:
    """One to three expressions of integers, such as a grid of "{words} / {block}"."""
    return parse_dim(",".join(str(number(part, {})) for part in parts(text)))


def _words(corpus: Corpus, row: Row, templates: list[str]) -> list[str]:
    return [corpus.filled(template, row) for template in templates]


@cache
def _program(source: Path, kernel: str, board: str, options: Options) -> Program:
    return programs(source, gpu(board), kernel or None, options)[0]


def _macro(word: str) -> tuple[str, str]:
    """NAME=VALUE, or NAME alone."""
    name, _, value = word.partition("=")
    return name, value or "1"
