"""The page that compares every model of the papers with measurements, and with the error that its paper states."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from warpbound.models import MODELS
from warpbound.validate.judged_row import Result
from warpbound.validate.paper_rows import PaperRow, key_of
from warpbound.validate.row_prediction import HEADLINE
from warpbound.validate.score_tables import per_cent
from warpbound.validate.scores import NEAR, kendall_tau

CLAIMS: Mapping[str, str] = {  # what a paper states of its own error, and against what
    "campprof_2011": "geometric mean 12 %: memory-bound kernels of compute capability 1.x, whose time is to lie "
    "between two bounds; the upper one is scored",
    "hong_kim_2009": "geometric mean 5.4 % on micro-benchmarks, 13.3 % on applications: GPUs without caches",
    "huang_2014": "13.2 % (round robin), 14.0 % (greedy): against a simulator, not a GPU",
    "zhang_owens_2011": "5 to 15 %: GeForce 200 series, three programs",
    "roofline_2009": "none: an upper bound on the rate, so a lower one on the time",
    "valley_2009": "none: a shape, of threads that all share one cache",
}
SILENT = "none known"


def table(rows: Sequence[PaperRow], results: Sequence[Result]) -> Iterator[str]:
    """A line per model, the most accurate first: coverage, errors, order of pairs, the paper's own words."""
    times = _times(rows, results)
    yield "| model | launches | boards | mean error, % | median, % | P90, % | within 20 %, % | tau | its paper states |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for model in sorted(times, key=lambda name: _median(times[name])):
        of_model = times[model]
        if not of_model:
            yield f"| {model} | 0 | 0 | - | - | - | - | - | {CLAIMS.get(model, SILENT)} |"
            continue
        errors = np.abs([time_s / r.measured - 1.0 for r, time_s in of_model])
        shares = (errors.mean(), np.median(errors), np.percentile(errors, 90), np.mean(errors <= NEAR))
        name = f"**{model}**" if model == HEADLINE else model
        counts = f"{len(of_model)} | {len({r.gpu for r, _ in of_model})}"
        claim = "-" if model == HEADLINE else CLAIMS.get(model, SILENT)
        yield f"| {name} | {counts} | {' | '.join(map(_whole, map(float, shares)))} | {_tau(of_model)} | {claim} |"


def by_mechanism(rows: Sequence[PaperRow], results: Sequence[Result]) -> Iterator[str]:
    """Median error of each model by what binds the launch: the range in which it can be used."""
    times = _times(rows, results)
    classes = sorted({r.binds for r, _ in times[HEADLINE] if r.binds})
    counts = [sum(r.binds == name for r, _ in times[HEADLINE]) for name in classes]
    heads = (f"{name} ({count})" for name, count in zip(classes, counts, strict=True))
    yield f"| model | {' | '.join(heads)} |"
    yield "|---|" + "---|" * len(classes)
    for model in sorted(times, key=lambda name: _median(times[name])):
        if not times[model]:
            continue
        cells = (_median([(r, s) for r, s in times[model] if r.binds == name]) for name in classes)
        words = " | ".join("-" if np.isinf(cell) else _whole(cell) for cell in cells)
        yield f"| {model} | {words} |"


def _times(
    rows: Sequence[PaperRow], results: Sequence[Result]
) -> dict[str, list[tuple[Result, float]]]:
    """Model -> measured rows and the time it gives them; rows that are no longer judged are left out."""
    by_key = {key_of(r): r for r in results if r.kind == "judged" and r.seconds.get(HEADLINE) is not None}
    by_model: dict[str, list[tuple[Result, float]]] = {HEADLINE: [], **{name: [] for name in MODELS}}
    for row in rows:
        if (result := by_key.get(row.key)) is None:
            continue
        by_model[HEADLINE].append((result, result.seconds[HEADLINE] or 0.0))
        for model, time_s in row.seconds.items():
            by_model[model].append((result, time_s))
    return by_model


def _median(errors: Sequence[tuple[Result, float]]) -> float:
    """Of the absolute error; infinite without rows."""
    return float(np.median([abs(s / r.measured - 1.0) for r, s in errors])) if errors else float("inf")


def _tau(errors: Sequence[tuple[Result, float]]) -> str:
    """Mean over corpora and boards of the order of pairs that differ by a tenth."""
    taus = []
    for group in dict.fromkeys((r.corpus, r.gpu) for r, _ in errors):
        pairs = [(s, r.measured) for r, s in errors if (r.corpus, r.gpu) == group and s > 0]
        predicted_s, measured_s = np.array(pairs, dtype=float).reshape(-1, 2).T
        taus.append(kendall_tau(predicted_s, measured_s))
    own = [value for value in taus if value is not None]
    return f"{np.mean(own):.2f}" if own else "-"


def _whole(share: float) -> str:
    """Per cent, whole from a hundred on."""
    return per_cent(share) if share < 1.0 else f"{100 * share:.0f}"
