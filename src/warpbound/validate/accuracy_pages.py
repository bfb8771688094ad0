"""The accuracy pages of docs/, from the validation data alone: an overview, one page per corpus, and others."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from statistics import mean, median

import numpy as np

from warpbound.analysis.accuracy import ANY, FEWEST
from warpbound.report.figures.svg import svg
from warpbound.validate.accuracy_picture import picture
from warpbound.validate.cache_knees import AWAY, KneeComparison, knee_comparisons
from warpbound.validate.interval_calibration import MOST, is_judged
from warpbound.validate.judged_row import Result
from warpbound.validate.misses import reasons
from warpbound.validate.paper_page import by_mechanism, table
from warpbound.validate.paper_rows import PaperRow, kept, key_of
from warpbound.validate.results import CorpusSummary, ScoreLine, Validation, worst
from warpbound.validate.row_prediction import HEADLINE
from warpbound.validate.score_tables import HEADS, KINDS, cells, choice, is_choice, per_cent, power_cells
from warpbound.validate.scores import ALL
from warpbound.validate.watts_and_clocks import PowerLine

OVERVIEW, FOLDER = "accuracy.md", "accuracy"
PICTURE = f"{FOLDER}/predicted-against-measured.svg"
UNEXPLAINED = "Not explained yet."
STATED = 0.8  # share of measured times that intervals should contain
WRITTEN = "This page is written by `warpbound validate --write`; a test compares it with the validation data."
Parts = Mapping[str, str | Iterable[str]]  # of a template, by name


def pages(validation: Validation) -> dict[str, str]:
    """Every page and the picture: path below docs/ -> text."""
    texts = {OVERVIEW: _filled("accuracy.md", _overview(validation))}
    for name, parts in (
        ("expected-errors.md", _expected(validation)),
        ("intervals.md", _intervals(validation)),
        ("cache-knees.md", _knees(validation)),
    ):
        texts[f"{FOLDER}/{name}"] = _filled(name, parts)
    texts[f"{FOLDER}/papers.md"] = papers_page(validation)
    for about in validation.corpora:
        texts[f"{FOLDER}/{about.name}.md"] = _filled("corpus.md", _corpus(validation, about))
    return texts | {PICTURE: svg(picture(validation))}


def _filled(template: str, parts: Parts) -> str:
    """A template of prose/ with its tables, each a string or an iterable of lines."""
    text = (files("warpbound.validate") / "prose" / template).read_text(encoding="utf-8")
    texts = {name: part if isinstance(part, str) else "\n".join(part) for name, part in parts.items()}
    return text.format(written=WRITTEN, picture=PICTURE, away=AWAY, few=FEWEST, most=MOST, **texts).rstrip() + "\n"


# ---------------------------------------------------------------- the overview


def _overview(validation: Validation) -> Parts:
    launches = [r for r in validation.results if r.kind == "judged" and r.error(HEADLINE) is not None]
    own = {about.name: [r for r in launches if r.corpus == about.name] for about in validation.corpora}
    rows = (f"| [{name}]({FOLDER}/{name}.md) | {_summary(of_corpus)} |" for name, of_corpus in own.items())
    misses = (_miss(result, f"{result.corpus}, ") for result in worst(validation.results))
    with_bound = list(filter(is_judged, launches))
    by_resource = {r.binds: [x for x in with_bound if x.binds == r.binds] for r in with_bound}
    classes = [f"| {name} | {_mechanism(by_resource[name])} |" for name in sorted(by_resource)]
    corpora = [f"| **all** | {_summary(launches)} |", *rows]
    power = [_power_sentence(line) for line in validation.power_lines if line.gpu == ALL]
    return {"corpora": corpora, "classes": classes, "misses": misses, "power": power}


def _summary(rows: Sequence[Result]) -> str:
    if not rows:
        return "0 | 0 | - | - | -"
    errors = [abs(r.error(HEADLINE) or 0.0) for r in rows]
    shares = (mean(errors), float(np.percentile(errors, 95)), _covered([r for r in rows if is_judged(r)]))
    return f"{len(rows)} | {len({r.gpu for r in rows})} | {' | '.join(map(per_cent, shares))}"


def _mechanism(rows: Sequence[Result]) -> str:
    """Launches that one mechanism binds, beside the coverage that as many draws of 80 % give."""
    within = 2.0 * (STATED * (1.0 - STATED) / len(rows)) ** 0.5
    few, many = 100 * max(0.0, STATED - within), 100 * min(1.0, STATED + within)
    error = mean(abs(r.error(HEADLINE) or 0.0) for r in rows)
    counts = f"{len(rows)} | {len({r.gpu for r in rows})}"
    shares = f"{per_cent(error)} | {per_cent(_covered(rows))} | {few:.0f} to {many:.0f} | {per_cent(_width(rows))}"
    return f"{counts} | {shares}"


def _miss(result: Result, corpus: str = "") -> str:
    error = 100 * (result.error(HEADLINE) or 0.0)
    reason = reasons().kernels.get((result.corpus, result.kernel), UNEXPLAINED)
    measured_us, predicted_us = 1e6 * result.measured, 1e6 * (result.seconds[HEADLINE] or 0.0)
    numbers = f"{measured_us:.3g} us measured, {predicted_us:.3g} us predicted ({error:+.0f} %)"
    label = f" ({result.label})" if result.label else ""
    return f"* **{corpus}{result.kernel} on {result.gpu}**{label}: {numbers}. {reason}"


def _power_sentence(line: PowerLine) -> str:
    clock = f", and MHz of the {line.slowed} below the highest clock by {per_cent(line.clock_held_back)} %"
    return (
        f"Watts of {line.n} launches of [{line.corpus}]({FOLDER}/{line.corpus}.md#watts-and-clocks) are off by "
        f"{per_cent(line.watts_held_back)} %{clock if line.slowed else ''}, with parameters fitted without the judged "
        f"board."
    )


# ---------------------------------------------------------------- a corpus


def _corpus(validation: Validation, about: CorpusSummary) -> Parts:
    scores: list[str] = []
    for kind, words in KINDS.items():
        lines = [line for line in validation.lines if (line.corpus, line.kind) == (about.name, kind)]
        scores += [f"## Rows: {words}\n", *_scores(lines), ""] if lines else []
    if power := [line for line in validation.power_lines if line.corpus == about.name]:
        scores += [_filled("watts-and-clocks.md", {"boards": map(_power, power)})]
    summary = {"name": about.name, "about": about.about, "note": about.note, "origin": about.origin}
    return {**summary, "scores": scores, "misses": _misses(validation, about.name)}


def _misses(validation: Validation, corpus: str) -> Iterator[str]:
    explained = [(kernel, reason) for (name, kernel), reason in reasons().kernels.items() if name == corpus]
    if explained:
        yield "## Misses\n\nThe worst judged launch of the kernels whose misses have an explanation:\n"
    for reason in dict.fromkeys(reason for _, reason in explained):
        kernels = [kernel for kernel, why in explained if why == reason]
        if rows := worst([r for r in validation.results if r.corpus == corpus and r.kernel in kernels]):
            alike = ", ".join(kernel for kernel in kernels if kernel != rows[0].kernel)
            yield _miss(rows[0]) + (f" The same holds for {alike}." if alike else "")


def _power(line: PowerLine) -> str:
    return f"| {line.gpu} | {' | '.join(power_cells(line))} |"


def _scores(lines: Sequence[ScoreLine]) -> Iterator[str]:
    heads = ("GPU", "kernel", "n", "model", *HEADS)
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for line in lines:
        if line.model == HEADLINE or line.kernel == ALL:
            model = f"**{line.model}**" if line.model == HEADLINE else line.model
            gpu = f"{line.gpu} p" if line.proxy else line.gpu
            yield f"| {gpu} | {line.kernel} | {line.score.n} | {model} | {' | '.join(cells(line))} |"
    if choices := [f"* {line.gpu}: {' '.join(choice(line.score))}" for line in lines if is_choice(line)]:
        yield "\n".join(["", *choices])


# ---------------------------------------------------------------- expected errors, intervals, knees


def _expected(validation: Validation) -> Parts:
    rows = []
    for kind in validation.kinds:
        few = "" if kind.n >= FEWEST else " (too few)"
        shares = f"{per_cent(kind.mape)} | {per_cent(kind.coverage)}"
        rows.append(f"| {kind.gpu} | {kind.bottleneck} | {kind.n}{few} | {shares} |")
    return {"kinds": rows}


def _intervals(validation: Validation) -> Parts:
    rows = [r for r in validation.results if is_judged(r)]
    classes, corpora = [], []
    for form in validation.forms:
        shares = _inside_and_width([r for r in rows if form.binds in (ANY, r.binds)])
        edges = f"{form.faster:.2f} | {form.slower:.2f}"
        classes.append(f"| {form.binds or 'all'} | {form.launches} | {len(form.groups)} | {edges} | {shares} |")
    for about in validation.corpora:
        if of_corpus := [r for r in rows if r.corpus == about.name]:
            kinds = len({(r.gpu, r.kernel) for r in of_corpus})
            corpora.append(f"| {about.name} | {len(of_corpus)} | {kinds} | {_inside_and_width(of_corpus)} |")
    return {"classes": classes, "corpora": corpora}


def papers_page(validation: Validation) -> str:
    """Every model of the papers on the rows that it was scored on."""
    rows, launches = kept(), [r for r in validation.results if r.kind == "judged"]
    keys = {key_of(r) for r in launches}
    own = [row for row in rows if row.key in keys]
    tables = {"papers": table(own, launches), "mechanisms": by_mechanism(own, launches)}
    return _filled("papers.md", {"scored": _scored(own, len(launches)), **tables})


def _scored(rows: Sequence[PaperRow], launches: int) -> str:
    """How many of the judged rows have the times of all models, and how to score others."""
    if len(rows) == launches:
        return f"All {launches} judged rows are scored."
    most = max(Counter((row.corpus, row.gpu) for row in rows).values(), default=0)
    return (
        f"So far {len(rows)} of {launches} judged rows are scored: up to {most} of each corpus and board, evenly "
        "spread. `warpbound validate --papers 20` scores more and keeps them; `validate --write` renews the page."
    )


def _inside_and_width(results: Sequence[Result]) -> str:
    return f"{per_cent(_covered(results))} | {per_cent(_width(results))}"


def _covered(results: Sequence[Result]) -> float:
    return sum(r.inside for r in results) / len(results)


def _width(results: Sequence[Result]) -> float:
    return median((r.interval[1] - r.interval[0]) / (r.seconds[HEADLINE] or 1.0) for r in results if r.interval)


def _knees(validation: Validation) -> Parts:
    excused = (f"* **{', '.join(key)}**: {reason}" for key, reason in reasons().knees.items())
    return {"knees": map(_knee, knee_comparisons(validation.results)), "reasons": excused}


def _knee(x: KneeComparison) -> str:
    numbers = f"{x.measurement:.0f} {x.unit} | {x.prediction:.0f} {x.unit} | {100 * x.error:+.1f}"
    return f"| {x.corpus} | {x.gpu} | {x.of} | {numbers} |"
