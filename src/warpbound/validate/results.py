"""All rows of corpora predicted and scored by corpus, GPU, kernel and model: what the validation data hold."""

import hashlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec
import numpy as np

from warpbound.analysis.accuracy import Form, Kind
from warpbound.validate.corpus import FILE, ROWS, Corpus, Row
from warpbound.validate.interval_calibration import form_errors, with_held_back_intervals
from warpbound.validate.judged_row import Result
from warpbound.validate.row_prediction import HEADLINE, PAPER_MODELS, Answer, answer
from warpbound.validate.scores import ALL, Score, score
from warpbound.validate.watts_and_clocks import PowerLine, PowerRow, RowOfCorpus, power_lines, power_rows

MODELS = (HEADLINE, *PAPER_MODELS)
WORST = 5
Key = TypeVar("Key", bound=Hashable)


class ScoreLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """The score of one model on one kernel (or all) of one corpus on one GPU, for one kind of rows."""

    corpus: str
    gpu: str
    kernel: str
    kind: str
    model: str
    score: Score
    proxy: bool = False


class CorpusSummary(msgspec.Struct, frozen=True):
    """A corpus as it was when it was scored."""

    name: str
    about: str
    origin: str
    note: str
    digest: str
    rows: int


class Validation(msgspec.Struct, frozen=True):
    """The data file: what was run, scores, kinds and form errors for reports, every row; watts and clocks likewise."""

    corpora: tuple[CorpusSummary, ...]
    lines: tuple[ScoreLine, ...]
    kinds: tuple[Kind, ...]
    results: tuple[Result, ...]
    forms: tuple[Form, ...] = ()
    power_lines: tuple[PowerLine, ...] = ()
    power_rows: tuple[PowerRow, ...] = ()


def validate(
    corpora: Sequence[Corpus],
    gpus: Sequence[str],
    progress: Callable[[Iterable[RowOfCorpus]], Iterable[RowOfCorpus]] = iter,
    others: Sequence[Result] = (),
) -> Validation:
    """Predicts and scores every row of the corpora on these GPUs (all where none is named).

    others : results of other corpora, that the intervals rest on, too.
    """
    groups: dict[object, int] = {}
    rows = [(corpus, row) for corpus in corpora for row in corpus.rows if not gpus or row.gpu in gpus]
    run = [_result(corpus, row, answer(corpus, row), groups) for corpus, row in progress(rows)]
    rows_with_time = [pair for pair, result in zip(rows, run, strict=True) if not result.refused]
    return validation_of(tuple(map(_about, corpora)), run, others, tuple(power_rows(rows_with_time, progress)))


def validation_of(
    corpora: tuple[CorpusSummary, ...], run: Sequence[Result], others: Sequence[Result] = (),
    powered: tuple[PowerRow, ...] = (),
) -> Validation:  # fmt: skip
    """The validation data that follow from results."""
    fresh = {(r.corpus, r.gpu) for r in run}
    others = [r for r in others if (r.corpus, r.gpu) not in fresh]
    results = tuple(with_held_back_intervals(run, others))
    forms = form_errors((*results, *others))
    power = tuple(power_lines(powered))
    return Validation(corpora, tuple(lines(results)), tuple(kinds(results)), results, forms, power, powered)


def _result(corpus: Corpus, row: Row, prediction: Answer, groups: dict[object, int]) -> Result:
    same = (corpus.name, *row.choice_of)
    group = groups.setdefault(same, len(groups) + 1) if row.choice_of else 0
    return Result(
        corpus.name, row.kernel, row.gpu, row.label(corpus.shared), row.kind, row.seconds,
        dict(prediction.seconds), group, None, prediction.bare, prediction.clocks_s, prediction.binds,
        prediction.bottleneck, prediction.proxy, prediction.refused,
    )  # fmt: skip


def _about(corpus: Corpus) -> CorpusSummary:
    shared = corpus.shared
    return CorpusSummary(corpus.name, shared.about, shared.origin, shared.note, digest(corpus), len(corpus.rows))


def digest(corpus: Corpus) -> str:
    """Of the corpus' own files and its source, so that scores of another state are noticed."""
    own = [name for name in (corpus.shared.source, corpus.shared.workload) if name]
    places = [corpus.folder / name for name in (FILE, ROWS, *own)]
    return hashlib.sha256(b"".join(place.read_bytes() for place in places)).hexdigest()[:16]


def lines(results: Sequence[Result]) -> Iterator[ScoreLine]:
    """Scores by corpus, GPU, kind of rows, kernel and model; `all` kernels first."""
    for corpus, gpu, kind in _distinct((r.corpus, r.gpu, r.kind) for r in results):
        of_kind = [r for r in results if (r.corpus, r.gpu, r.kind) == (corpus, gpu, kind)]
        kernels = [kernel for (kernel,) in _distinct((r.kernel,) for r in of_kind)]
        for kernel in (ALL, *(kernels if len(kernels) > 1 else ())):
            rows = [r for r in of_kind if kernel in (ALL, r.kernel)]
            for model in MODELS:
                if result := _score(rows, model):
                    yield ScoreLine(corpus, gpu, kernel, kind, model, result, any(r.proxy for r in rows))


def _score(rows: Sequence[Result], model: str) -> Score | None:
    with_time = [(r, seconds) for r in rows if (seconds := r.seconds.get(model)) is not None and seconds > 0]
    if not with_time:
        return None
    edges = [r.interval for r, _ in with_time if r.interval is not None] if model == HEADLINE else []
    intervals = np.array(edges) if len(edges) == len(with_time) else None
    times, measured_s = np.array([seconds for _, seconds in with_time]), np.array([r.measured for r, _ in with_time])
    return score(times, measured_s, [r.group for r, _ in with_time], intervals)


def kinds(results: Sequence[Result]) -> Iterator[Kind]:
    """Mean error and coverage by board and the bottleneck that was predicted, over all judged rows."""
    rows = [r for r in results if r.kind == "judged" and r.bottleneck]
    for gpu, bottleneck in _distinct((r.gpu, r.bottleneck or "") for r in rows):
        result = _score([r for r in rows if (r.gpu, r.bottleneck) == (gpu, bottleneck)], HEADLINE)
        if result is not None:
            yield Kind(gpu, bottleneck, result.n, round(result.mape, 4), round(result.coverage or 0.0, 4))


def worst(results: Sequence[Result]) -> list[Result]:
    """The judged rows that the time model misses most, the worst of each kernel and GPU only."""
    rows = [r for r in results if r.kind == "judged" and r.error(HEADLINE) is not None]
    order = sorted(rows, key=lambda r: -abs(r.error(HEADLINE) or 0.0))
    first = {(r.corpus, r.gpu, r.kernel): r for r in reversed(order)}
    return sorted(first.values(), key=lambda r: -abs(r.error(HEADLINE) or 0.0))[:WORST]


def _distinct(values: Iterable[Key]) -> list[Key]:
    return list(dict.fromkeys(values))
