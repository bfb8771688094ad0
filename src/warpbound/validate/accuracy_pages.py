"""The scores as a table to read and as docs/accuracy.md, both from the validation data alone."""

from collections.abc import Iterator, Sequence
from itertools import chain
from statistics import median

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from warpbound.analysis.accuracy import ANY, FEWEST
from warpbound.validate.explained import EXPLAINED, UNEXPLAINED
from warpbound.validate.interval_calibration import counts
from warpbound.validate.judged_row import Result
from warpbound.validate.knees import AWAY, EXCUSED, compared
from warpbound.validate.results import ALL, Line, Validation, worst
from warpbound.validate.row_prediction import HEADLINE

KINDS = {"judged": "judged", "set aside": "judged, counted apart", "calibration": "something was fitted to it"}


def text(found: Validation) -> Iterator[RenderableType]:
    """One table per corpus, board and kind of rows, judged rows first; then what was refused."""
    for about in found.corpora:
        yield Text(f"{about.name}: {about.about}", "bold cyan")
        for kind, said in KINDS.items():
            mine = [x for x in found.lines if (x.corpus, x.kind, x.kernel) == (about.name, kind, ALL)]
            for gpu in dict.fromkeys(line.gpu for line in mine):
                yield _board(gpu, said, [line for line in mine if line.gpu == gpu])
    for result in (r for r in found.results if r.refused):
        yield Text(f"{result.corpus} {result.kernel} on {result.gpu} ({result.label}): {result.refused}", "red")
    yield Text(NOTE, "dim")


def _board(gpu: str, said: str, lines: Sequence[Line]) -> RenderableType:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1), collapse_padding=True)
    table.add_column("  model", no_wrap=True)
    for name in HEADS:
        table.add_column(name, justify="right", no_wrap=True)
    for line in lines:
        table.add_row(f"  {line.model}", *_cells(line), style="bold" if line.model == HEADLINE else "")
    proxy = ", proxy code" if any(line.proxy for line in lines) else ""
    return Group(Text(f"  {gpu}, {said}, {lines[0].score.n} launches{proxy}"), table, Text())


NOTE = (
    "Errors of times in per cent of what was measured. in 20 %: share of launches with no larger error; tau: pairs in "
    "the right order less those in the wrong one; regret: of the predicted best; covered: by the 80 % interval; width: "
    "its median, of the predicted time."
)
HEADS = ("MAPE", "median", "P90", "P95", "worst", "in 20 %", "tau", "regret", "covered", "width")


def _cells(line: Line) -> tuple[str, ...]:
    s = line.score
    shares = (s.mape, s.median, s.p90, s.p95, s.worst, s.within)
    return (*map(_cent, shares), "-" if s.ranked is None else f"{s.ranked:.2f}", _cent(s.regret_1), _cent(s.coverage),
            _cent(s.width))


def _cent(share: float | None) -> str:
    if share is None:
        return "-"
    return f"{100 * share:.1f}" if share < 0.995 else f"{100 * share:.0f}"


def _mark(line: Line) -> str:
    return " p" if line.proxy else ""


# ---------------------------------------------------------------- docs/accuracy.md

INTRODUCTION = """# How accurate are the predictions?

This page is written by `warpbound validate --write`; a test compares it with the data it is made from. Every row of a
corpus is a launch that somebody measured: the kernel is compiled, executed in part, its addresses followed through the
caches, and its time predicted, with parameters of the GPU alone. The models of the papers stand beside, from the same
counts. They are what they are: the roofline and Volkov's bounds leave the launch itself out, so they are far off for
short launches; Hong & Kim's model wants departure delays that nobody measured on these boards.

Errors are per cent of the measured time. `tau` is the share of pairs, measured more than 10 % apart, that a model
puts in the right order, less the share in the wrong one. `regret` is how much slower the predicted best way is than the
best one.
`covered` is the share of measured times inside the 80 % interval, as it would have been stated had this corpus not been
measured on this board, and `width` the median width of that interval in per cent of the prediction. `p` marks proxy
code: there is no compiler for sm_70, so the V100 is answered from sm_75 code.
"""


INTERVALS = """## How wide intervals are

An interval begins with what the parameters' spreads make, the clock where nobody gave it, and what L2 keeps; at least
1.5 % to each side. Its edges are then moved to as many times that distance as measured launches of the same class need:
nine in ten of them must lie below the upper edge, nine in ten above the lower one. Each corpus counts once on each
board; all launches of the other classes together count once, too, for what was not seen. The last two columns are of
intervals made without the launches that they are compared with, nor any other of that corpus on that board.

| class | launches | corpora and boards | lower edge, times | upper edge, times | inside, % | median width, % |
|---|---|---|---|---|---|---|"""


def page(found: Validation) -> str:
    """docs/accuracy.md."""
    parts = (_corpora(found), _kinds(found), _intervals(found), _knees(found), _misses(found), _silence())
    return "\n".join([INTRODUCTION, *chain.from_iterable(parts)]) + "\n"


def _corpora(found: Validation) -> Iterator[str]:
    for about in found.corpora:
        yield f"## {about.name}\n\n{about.about}. Source: {about.origin}. {about.note}".rstrip() + "\n"
        for kind, said in KINDS.items():
            lines = [line for line in found.lines if (line.corpus, line.kind) == (about.name, kind)]
            if lines:
                yield f"Rows: {said}.\n"
                yield "\n".join(_table(lines)) + "\n"


def _table(lines: Sequence[Line]) -> Iterator[str]:
    heads = ("GPU", "kernel", "n", "model", *HEADS)
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for line in lines:
        if line.model == HEADLINE or line.kernel == ALL:
            model = f"**{line.model}**" if line.model == HEADLINE else line.model
            yield f"| {line.gpu}{_mark(line)} | {line.kernel} | {line.score.n} | {model} | {' | '.join(_cells(line))} |"


def _kinds(found: Validation) -> Iterator[str]:
    yield "## What reports claim\n"
    yield f"""A report states an expected error where at least {FEWEST} launches were judged on the same board with the
same predicted bottleneck, and nothing elsewhere.

| GPU | bottleneck | launches | mean error, % | inside the 80 % interval, % |
|---|---|---|---|---|"""
    for kind in found.kinds:
        claimed = "" if kind.n >= FEWEST else " (too few)"
        yield f"| {kind.gpu} | {kind.bottleneck} | {kind.n}{claimed} | {_cent(kind.mape)} | {_cent(kind.coverage)} |"
    yield ""


def _intervals(found: Validation) -> Iterator[str]:
    yield INTERVALS
    for form in found.forms:
        mine = [r for r in found.results if counts(r) and form.binds in (ANY, r.binds)]
        yield (
            f"| {form.binds or 'all'} | {form.launches} | {len(form.groups)} | {form.faster:.2f} | {form.slower:.2f} | "
            f"{_cent(_covered(mine))} | {_cent(_width(mine))} |"
        )
    yield "\n| corpus | launches | boards and kernels | inside, % | median width, % |\n|---|---|---|---|---|"
    for about in found.corpora:
        mine = [r for r in found.results if counts(r) and r.corpus == about.name]
        kinds = len({(r.gpu, r.kernel) for r in mine})
        if mine:
            yield f"| {about.name} | {len(mine)} | {kinds} | {_cent(_covered(mine))} | {_cent(_width(mine))} |"
    yield ""


def _covered(results: Sequence[Result]) -> float:
    return sum(r.inside for r in results) / len(results)


def _width(results: Sequence[Result]) -> float:
    return median((r.interval[1] - r.interval[0]) / (r.seconds[HEADLINE] or 1.0) for r in results if r.interval)


def _knees(found: Validation) -> Iterator[str]:
    rows = list(compared(found.results))
    if not rows:
        return
    yield f"""## Where caches end

Rates against the amount of data, from all rows of the corpora that sweep it. A knee is the size where half of the
fall from one level to the next is done, in logarithms of size and rate; plateaus are the median rates of the rows that
are {AWAY} times smaller or larger. Measured and predicted numbers come from the same sizes in the same way. Rates of
plateaus rest on other rows of the same benchmarks, which gave the boards' parameters. The knees of L1 are no test of
their own: how far older warps run ahead was read off the same fall. Those of L2 follow from its size and one
number for all boards, how far blocks drift apart, read off DRAM's counters in another run on an A100.

| corpus | GPU | | measured | predicted | error, % |
|---|---|---|---|---|---|"""
    for x in rows:
        numbers = f"{x.measured:.0f} {x.unit} | {x.predicted:.0f} {x.unit} | {100 * x.error:+.1f}"
        yield f"| {x.corpus} | {x.gpu} | {x.of} | {numbers} |"
    yield "\nOutside of 10 %:\n"
    for (corpus, gpu, of), why in EXCUSED.items():
        yield f"* **{corpus}, {gpu}, {of}**: {why}"
    yield ""


def _misses(found: Validation) -> Iterator[str]:
    yield "## The worst misses\n\nThe worst judged launch of each kernel and board, the largest first.\n"
    for result in worst(found.results):
        yield f"* **{result.corpus}, {result.kernel} on {result.gpu}** ({result.label}): {_said(result)}"
    yield ""


def _said(result: Result) -> str:
    error = 100 * (result.error(HEADLINE) or 0.0)
    why = EXPLAINED.get((result.corpus, result.kernel), UNEXPLAINED)
    measured, predicted = 1e6 * result.measured, 1e6 * (result.seconds[HEADLINE] or 0.0)
    return f"{measured:.3g} us measured, {predicted:.3g} us predicted ({error:+.0f} %). {why}"


def _silence() -> Iterator[str]:
    yield """## What is not judged

Tensor cores and special functions have no measured rows here, divergent code a few. What binds on the chip has products
of matrices, histograms and reductions, at clocks that nobody printed, and multiply-adds at clocks that were read.
Atomics have boards of 8.6 and one launch on an H100. Blackwell has none.
For these the report claims no expected error. On boards without measurements of their own the parameters are taken from
relatives, and the interval is wider."""
