"""All rows of corpora answered, and what follows: scores by corpus, GPU, kernel and model, and their data file."""

import hashlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec
import numpy as np

from warpbound.analysis.accuracy import Form
from warpbound.validate.corpus import FILE, ROWS, Corpus, Row
from warpbound.validate.interval_calibration import form_errors, held_back
from warpbound.validate.judged_row import Result
from warpbound.validate.row_prediction import BESIDE, HEADLINE, Answer, answer
from warpbound.validate.scores import Score, score

MODELS = (HEADLINE, *BESIDE)
ALL = "all"
WORST = 5
Key = TypeVar("Key", bound=Hashable)


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """The score of one model on one kernel (or all) of one corpus on one GPU, for one kind of rows."""

    corpus: str
    gpu: str
    kernel: str
    kind: str
    model: str
    score: Score
    proxy: bool = False


class About(msgspec.Struct, frozen=True):
    """A corpus as it was when it was scored."""

    name: str
    about: str
    origin: str
    note: str
    digest: str
    rows: int


class Validation(msgspec.Struct, frozen=True):
    """The data file: what was run, scores, kinds and form errors for reports, every row."""

    corpora: tuple[About, ...]
    lines: tuple[Line, ...]
    kinds: tuple["KindFound", ...]
    results: tuple[Result, ...]
    forms: tuple[Form, ...] = ()


class KindFound(msgspec.Struct, frozen=True):
    """Judged rows of one board and predicted bottleneck."""

    gpu: str
    bottleneck: str
    n: int
    mape: float
    coverage: float


def validate(
    corpora: Sequence[Corpus],
    gpus: Sequence[str],
    progress: Callable[[Iterable[Row]], Iterable[Row]] = iter,
    others: Sequence[Result] = (),
) -> Validation:
    """Every row of the corpora on these GPUs (all where none is named), answered and scored.

    others : results of other corpora, which intervals rest on beside these.
    """
    groups: dict[object, int] = {}
    run = [
        _result(found, row, answer(found, row), groups)
        for found in corpora
        for row in progress([row for row in found.rows if not gpus or row.gpu in gpus])
    ]
    return scored(tuple(map(_about, corpora)), run, others)


def scored(corpora: tuple[About, ...], run: Sequence[Result], others: Sequence[Result] = ()) -> Validation:
    """What follows from results."""
    fresh = {(r.corpus, r.gpu) for r in run}
    others = [r for r in others if (r.corpus, r.gpu) not in fresh]
    results = tuple(held_back(run, others))
    found = form_errors((*results, *others))
    return Validation(corpora, tuple(lines(results)), tuple(kinds(results)), results, found)


def _result(found: Corpus, row: Row, said: Answer, groups: dict[object, int]) -> Result:
    same = (found.name, *row.choice_of)
    group = groups.setdefault(same, len(groups) + 1) if row.choice_of else 0
    return Result(
        found.name, row.kernel, row.gpu, row.label(found.shared), row.kind, row.seconds, dict(said.seconds), group,
        None, said.bare, said.binds, said.bottleneck, said.proxy, said.refused,
    )  # fmt: skip


def _about(found: Corpus) -> About:
    shared = found.shared
    return About(found.name, shared.about, shared.origin, shared.note, digest(found), len(found.rows))


def digest(found: Corpus) -> str:
    """Of the corpus' own files and its source, so that scores of another state are noticed."""
    own = [name for name in (found.shared.source, found.shared.workload) if name]
    places = [found.folder / name for name in (FILE, ROWS, *own)]
    return hashlib.sha256(b"".join(place.read_bytes() for place in places)).hexdigest()[:16]


def lines(results: Sequence[Result]) -> Iterator[Line]:
    """Scores by corpus, GPU, kind of rows, kernel and model; `all` kernels first."""
    for corpus, gpu, kind in _distinct((r.corpus, r.gpu, r.kind) for r in results):
        mine = [r for r in results if (r.corpus, r.gpu, r.kind) == (corpus, gpu, kind)]
        kernels = [kernel for (kernel,) in _distinct((r.kernel,) for r in mine)]
        for kernel in (ALL, *(kernels if len(kernels) > 1 else ())):
            rows = [r for r in mine if kernel in (ALL, r.kernel)]
            for model in MODELS:
                if found := _score(rows, model):
                    yield Line(corpus, gpu, kernel, kind, model, found, any(r.proxy for r in rows))


def _score(rows: Sequence[Result], model: str) -> Score | None:
    said = [(r, seconds) for r in rows if (seconds := r.seconds.get(model)) is not None and seconds > 0]
    if not said:
        return None
    edges = [r.interval for r, _ in said if r.interval is not None] if model == HEADLINE else []
    intervals = np.array(edges) if len(edges) == len(said) else None
    times, measured = np.array([seconds for _, seconds in said]), np.array([r.measured for r, _ in said])
    return score(times, measured, [r.group for r, _ in said], intervals)


def kinds(results: Sequence[Result]) -> Iterator[KindFound]:
    """Mean error and coverage by board and the bottleneck that was predicted, over all judged rows."""
    judged = [r for r in results if r.kind == "judged" and r.bottleneck]
    for gpu, bottleneck in _distinct((r.gpu, r.bottleneck or "") for r in judged):
        found = _score([r for r in judged if (r.gpu, r.bottleneck) == (gpu, bottleneck)], HEADLINE)
        if found is not None:
            yield KindFound(gpu, bottleneck, found.n, round(found.mape, 4), round(found.coverage or 0.0, 4))


def worst(results: Sequence[Result]) -> list[Result]:
    """The judged rows that the headline misses most, the worst of each kernel and GPU only."""
    judged = [r for r in results if r.kind == "judged" and r.error(HEADLINE) is not None]
    order = sorted(judged, key=lambda r: -abs(r.error(HEADLINE) or 0.0))
    first = {(r.corpus, r.gpu, r.kernel): r for r in reversed(order)}
    return sorted(first.values(), key=lambda r: -abs(r.error(HEADLINE) or 0.0))[:WORST]


def _distinct(values: Iterable[Key]) -> list[Key]:
    return list(dict.fromkeys(values))
