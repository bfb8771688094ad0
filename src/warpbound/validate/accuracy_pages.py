"""The accuracy pages of docs/, from the validation data alone: an overview, one page per corpus, three on intervals."""

from collections.abc import Iterator, Sequence
from statistics import mean, median

import numpy as np

from warpbound.analysis.accuracy import ANY, FEWEST
from warpbound.report.figures.svg import svg
from warpbound.validate.accuracy_picture import picture
from warpbound.validate.interval_calibration import is_judged
from warpbound.validate.judged_row import Result
from warpbound.validate.knees import AWAY, KneeComparison, knee_comparisons
from warpbound.validate.misses import reasons
from warpbound.validate.results import ALL, CorpusSummary, ScoreLine, Validation, worst
from warpbound.validate.row_prediction import HEADLINE
from warpbound.validate.score_tables import HEADS, KINDS, cells, per_cent

OVERVIEW, FOLDER = "accuracy.md", "accuracy"
PICTURE = f"{FOLDER}/predicted-against-measured.svg"
UNEXPLAINED = "Not explained yet."
WRITTEN = "This page is written by `warpbound validate --write`; a test compares it with the validation data."

INTRODUCTION = """# How accurate are the predictions?

Every row of a corpus is a launch that somebody measured. warpbound compiles the kernel, executes a sample of it,
follows its addresses through the caches and predicts the time from parameters of the GPU. Rows that a parameter was
fitted to are not in this table.

| corpus | launches | boards | mean error, % | P95 of the error, % | inside the 80 % interval, % |
|---|---|---|---|---|---|"""

READING = f"""
![Predicted against measured time of all judged launches]({PICTURE})

Errors are per cent of the measured time. An interval is the one that a report would have stated had this corpus not
been measured on this board; of 80 % intervals, 80 % should hold the measured time.
{WRITTEN}

More:

* [Expected errors](accuracy/expected-errors.md): which error a report states, by board and bottleneck.
* [Intervals](accuracy/intervals.md): how wide they are, and how many launches lie inside, by class and corpus.
* [Cache knees](accuracy/cache-knees.md): where L1 and L2 end, measured and predicted.
* [Add measured launches](add-a-corpus.md) of your own.
"""

NOT_JUDGED = """## What is not judged

Tensor cores and special functions have no measured rows here, divergent code a few. For kernels that on-chip
resources bound there are matrix products, histograms and reductions, at clocks that nobody printed, and multiply-adds
at clocks that were read. Atomics were measured on boards of compute capability 8.6 and in one launch on an H100.
Blackwell has no rows. In these cases a report claims no expected error. On boards without measurements of their own,
parameters come from related boards, and the interval is wider."""

COLUMNS = """`tau` is the share of pairs, measured more than 10 % apart, that a model puts in the right order, less the
share in the wrong order. `regret` is how much slower the predicted best variant is than the best one. `covered` is
the share of measured times inside the 80 % interval, made without this corpus on this board, and `width` the median
width of that interval in per cent of the prediction. `p` marks proxy code: there is no compiler for sm_70 and older,
so that code for sm_75 stands in. The other models get the same counts. The roofline and Volkov's bounds leave out the
launch itself, so they are far off for short launches; Hong & Kim's model needs departure delays that nobody measured
on these boards.
"""

EXPECTED = f"""# Expected errors

A report states an expected error where at least {FEWEST} launches were judged on the same board with the same
predicted bottleneck, and nothing elsewhere.
{WRITTEN}

| GPU | bottleneck | launches | mean error, % | inside the 80 % interval, % |
|---|---|---|---|---|"""

INTERVALS = f"""# How wide intervals are

An interval begins with the spreads of the parameters, of the clock where nobody gave it, and of what L2 keeps; at
least 1.5 % to each side. Its edges are then moved to as many times that distance as measured launches of the same
class need: nine in ten of them must lie below the upper edge, nine in ten above the lower one. Each corpus counts
once on each board; all launches of the other classes together count once, too, for unknown cases. The last two
columns are of intervals made without the launches that they are compared with, and without the rest of that corpus on
that board.
{WRITTEN}

| class | launches | corpora and boards | lower edge, times | upper edge, times | inside, % | median width, % |
|---|---|---|---|---|---|---|"""

KNEES = f"""# Where caches end

Rates against the amount of data, from all rows of the corpora that sweep it. A knee is the size where half of the
fall from one level to the next is done, in logarithms of size and rate; plateaus are the median rates of the rows
that are {AWAY} times smaller or larger. Measured and predicted numbers come from the same sizes in the same way. The
rates of plateaus follow from parameters that other rows of the same benchmarks gave. The knees of L1 are no test of
their own: how far older warps run ahead was fitted to the same fall. The knees of L2 follow from its size and one
number for all boards, how far blocks drift apart, which comes from DRAM's counters in another run on an A100.

{WRITTEN}

| corpus | GPU | | measured | predicted | error, % |
|---|---|---|---|---|---|"""


def pages(validation: Validation) -> dict[str, str]:
    """Every page and the picture: path below docs/ -> text."""
    parts = {OVERVIEW: _overview(validation), f"{FOLDER}/expected-errors.md": _expected(validation)}
    parts |= {f"{FOLDER}/intervals.md": _intervals(validation), f"{FOLDER}/cache-knees.md": _knees(validation)}
    parts |= {f"{FOLDER}/{about.name}.md": _corpus(validation, about) for about in validation.corpora}
    return {path: "\n".join(lines) + "\n" for path, lines in parts.items()} | {PICTURE: svg(picture(validation))}


# ---------------------------------------------------------------- the overview


def _overview(validation: Validation) -> Iterator[str]:
    yield INTRODUCTION
    judged = [r for r in validation.results if r.kind == "judged" and r.error(HEADLINE) is not None]
    yield f"| **all** | {_summary(judged)} |"
    for about in validation.corpora:
        mine = [r for r in judged if r.corpus == about.name]
        yield f"| [{about.name}]({FOLDER}/{about.name}.md) | {_summary(mine)} |"
    yield READING
    yield "## The worst misses\n\nThe five kernels and boards with the largest error of a launch:\n"
    yield from (_miss(result, f"{result.corpus}, ") for result in worst(validation.results)[:5])
    yield "\n" + NOT_JUDGED


def _summary(judged: Sequence[Result]) -> str:
    if not judged:
        return "0 | 0 | - | - | -"
    errors = [abs(r.error(HEADLINE) or 0.0) for r in judged]
    shares = (mean(errors), float(np.percentile(errors, 95)), _covered([r for r in judged if is_judged(r)]))
    return f"{len(judged)} | {len({r.gpu for r in judged})} | {' | '.join(map(per_cent, shares))}"


def _miss(result: Result, corpus: str = "") -> str:
    error = 100 * (result.error(HEADLINE) or 0.0)
    reason = reasons().kernels.get((result.corpus, result.kernel), UNEXPLAINED)
    measured, predicted = 1e6 * result.measured, 1e6 * (result.seconds[HEADLINE] or 0.0)
    numbers = f"{measured:.3g} us measured, {predicted:.3g} us predicted ({error:+.0f} %)"
    return f"* **{corpus}{result.kernel} on {result.gpu}** ({result.label}): {numbers}. {reason}"


# ---------------------------------------------------------------- a corpus


def _corpus(validation: Validation, about: CorpusSummary) -> Iterator[str]:
    yield f"# {about.name}\n\n{about.about}. {about.note}".rstrip() + "\n"
    yield f"Source: {about.origin}.\n\n{WRITTEN}\n\n{COLUMNS}"
    for kind, words in KINDS.items():
        lines = [line for line in validation.lines if (line.corpus, line.kind) == (about.name, kind)]
        if lines:
            yield f"## Rows: {words}\n"
            yield from _scores(lines)
            yield ""
    explained = [(kernel, reason) for (name, kernel), reason in reasons().kernels.items() if name == about.name]
    if explained:
        yield "## Misses\n\nThe worst judged launch of the kernels whose misses have an explanation:\n"
    for reason in dict.fromkeys(reason for _, reason in explained):
        kernels = [kernel for kernel, why in explained if why == reason]
        rows = [r for r in validation.results if r.corpus == about.name and r.kernel in kernels]
        if judged := worst(rows):
            yield f"{_miss(judged[0])}" + (f" Also: {', '.join(kernels)}." if len(kernels) > 1 else "")


def _scores(lines: Sequence[ScoreLine]) -> Iterator[str]:
    heads = ("GPU", "kernel", "n", "model", *HEADS)
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for line in lines:
        if line.model == HEADLINE or line.kernel == ALL:
            model = f"**{line.model}**" if line.model == HEADLINE else line.model
            gpu = f"{line.gpu} p" if line.proxy else line.gpu
            yield f"| {gpu} | {line.kernel} | {line.score.n} | {model} | {' | '.join(cells(line))} |"


# ---------------------------------------------------------------- expected errors, intervals, knees


def _expected(validation: Validation) -> Iterator[str]:
    yield EXPECTED
    for kind in validation.kinds:
        few = "" if kind.n >= FEWEST else " (too few)"
        yield f"| {kind.gpu} | {kind.bottleneck} | {kind.n}{few} | {per_cent(kind.mape)} | {per_cent(kind.coverage)} |"


def _intervals(validation: Validation) -> Iterator[str]:
    yield INTERVALS
    for form in validation.forms:
        mine = [r for r in validation.results if is_judged(r) and form.binds in (ANY, r.binds)]
        yield (
            f"| {form.binds or 'all'} | {form.launches} | {len(form.groups)} | {form.faster:.2f} | {form.slower:.2f} | "
            f"{per_cent(_covered(mine))} | {per_cent(_width(mine))} |"
        )
    yield "\n| corpus | launches | boards and kernels | inside, % | median width, % |\n|---|---|---|---|---|"
    for about in validation.corpora:
        mine = [r for r in validation.results if is_judged(r) and r.corpus == about.name]
        kinds = len({(r.gpu, r.kernel) for r in mine})
        if mine:
            yield f"| {about.name} | {len(mine)} | {kinds} | {per_cent(_covered(mine))} | {per_cent(_width(mine))} |"


def _covered(results: Sequence[Result]) -> float:
    return sum(r.inside for r in results) / len(results)


def _width(results: Sequence[Result]) -> float:
    return median((r.interval[1] - r.interval[0]) / (r.seconds[HEADLINE] or 1.0) for r in results if r.interval)


def _knees(validation: Validation) -> Iterator[str]:
    yield KNEES
    yield from map(_knee, knee_comparisons(validation.results))
    yield "\nOutside of 10 %:\n"
    for (corpus, gpu, of), reason in reasons().knees.items():
        yield f"* **{corpus}, {gpu}, {of}**: {reason}"


def _knee(x: KneeComparison) -> str:
    numbers = f"{x.measured:.0f} {x.unit} | {x.predicted:.0f} {x.unit} | {100 * x.error:+.1f}"
    return f"| {x.corpus} | {x.gpu} | {x.of} | {numbers} |"
