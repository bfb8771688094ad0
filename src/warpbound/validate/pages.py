"""The scores as a table to read and as docs/accuracy.md, both from the validation data alone."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from warpbound.analysis.accuracy import FEWEST
from warpbound.validate.chain import HEADLINE
from warpbound.validate.results import ALL, Line, Result, Validation, worst

KINDS = {"judged": "judged", "set aside": "judged, counted apart", "calibration": "something was fitted to it"}
SHARED_128 = (
    "A load of four words that are the same for all lanes counts two cycles of shared memory. If it takes four, "
    "handing over 128 bytes a cycle, the times of the A100 fit. `shared_patterns` of `warpbound measure` would settle "
    "it, and the clock during the run."
)
POWER = (
    "The FMA pipe is busy most of the time; boards of 250 and 300 W do not hold the boost clock then (the vendor's "
    "library reaches 72 % of the A100's peak in the same table, 60 % of the A6000's). The clock during the run would "
    "settle it."
)
BIG_BLOCKS = (
    "Blocks of 512 and 1024 threads take longer to be replaced than said; latency and block start of this board are a "
    "relative's. `loaded_latency` and `launch` of `warpbound measure` would give both."
)
EXPLAINED = {  # corpus, kernel -> why the headline misses it, and what would settle it
    ("caches", "reread"): "Data that exceed L1 are read at a rate between that of L1 and of L2, as long as older warps "
    "keep what they hold. The share that misses is near the counted one; the time is too short, as the machine does "
    "not overlap these misses with the hits. On the H100 all SMs that read one line at a time are served better than "
    "L2's own rate allows: its counters show a third of the sectors that arrive. Counters of requests that L2 merges "
    "would give both.",
    ("launches", "scale"): "Two buffers of 22 to 29 MB together: nearly all is still found in the 40 MB of L2, yet "
    "launches take longer than L2 needs for it. Every line is dirty there; if L2 writes some back early, DRAM works "
    "although nothing misses. DRAM counters of a copy between 16 and 32 MB would show it.",
    ("strides", "stride_double"): "Tag look-ups are counted by a rule that was found on the counters of these strides; "
    "it misses a few of them by a tenth. The same counter over the starting offsets of one stride would show which "
    "lanes share a look-up.",
    ("strides", "stride_float"): "The rule for tag look-ups, in single words: a tenth too few of them at stride 3, too "
    "many at 54. The counter over the starting offsets of one stride would show which lanes share a look-up.",
    ("strides", "block_float"): "Lanes of one warp in up to 32 rows: the rule for tag look-ups is off by 0.2 or 0.3 of "
    "3 to 5 of them per load. The counter over the distance of the rows would show which rows share one.",
    ("strides", "block_double"): "In 16 rows of two double words: 5.0 tag look-ups per load by the rule, 5.4 by the "
    "counter. That counter over the distance of the rows would show which rows share one.",
    ("chains", "stream"): "Waiting at device memory was fitted on HBM2; this board's waits less at the same load, and "
    "its capacity is limited to what its pins carry. A loaded-latency curve would give both.",
    ("streams", "stencil5"): "The lines that a stencil's neighbouring loads wait for are spread evenly over its loads; "
    "its own lines are fewer but arrive in one burst. A sweep of loads per line would settle it.",
    ("streams", "stencil3"): "As for five points.",
    ("products", "by_column"): "Every lane's word is in a line of its own, so a load takes L1 32 cycles. The published "
    "rate is a little higher than the nominal boost clock allows. The clock during the run would tell.",
    ("products", "by_row"): "Two loads and some address arithmetic for one multiply-add: an instruction more in the "
    "code that was measured is a tenth of the time. Its machine code and clock would settle it.",
    ("products", "tiled"): SHARED_128,
    ("products", "strips"): SHARED_128,
    ("products", "squares"): POWER,
    ("products", "turned"): POWER,
    ("products", "fours"): POWER,
    ("transposes", "plain"): "Lanes write 4 bytes of a sector each, rows 128 KB apart. What L2 does with sectors that "
    "are written in eight parts, and whether such rows meet on few channels, is not modelled. L2's and DRAM's counters "
    "would tell.",
    ("transposes", "tiled"): "Two blocks of 1024 threads take turns on an SM: loading, and 32 conflicts a load in "
    "shared memory. They overlap less than said. The same kernel with smaller blocks would separate the two.",
    ("transposes", "padded"): BIG_BLOCKS,
    ("transposes", "coarse"): BIG_BLOCKS,
    ("transposes", "twos"): BIG_BLOCKS,
    ("transposes", "fours"): "DRAM's best rate with as many writes as reads is a relative's. A copy would give it.",
    ("streams", "triad"): "Small blocks: with two or three warps a block, the fixed cost of replacing a block counts "
    "most, and it was fitted to kernels with one load at most.",
}


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
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1))
    table.add_column("  model", no_wrap=True)
    for name in HEADS:
        table.add_column(name, justify="right", no_wrap=True)
    for line in lines:
        table.add_row(f"  {line.model}", *_cells(line), style="bold" if line.model == HEADLINE else "")
    proxy = ", proxy code" if any(line.proxy for line in lines) else ""
    return Group(Text(f"  {gpu}, {said}, {lines[0].score.n} launches{proxy}"), table, Text())


NOTE = (
    "Errors of times in per cent of what was measured. in 20 %: share of launches with no larger error; tau: pairs in "
    "the right order less those in the wrong one; regret: of the predicted best; covered: by the 80 % interval."
)
HEADS = ("MAPE", "median", "P90", "P95", "worst", "in 20 %", "tau", "regret", "covered")


def _cells(line: Line) -> tuple[str, ...]:
    s = line.score
    shares = (s.mape, s.median, s.p90, s.p95, s.worst, s.within)
    return (*map(_cent, shares), "-" if s.ranked is None else f"{s.ranked:.2f}", _cent(s.regret_1), _cent(s.coverage))


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
`covered` is the share of measured times inside the 80 % interval. `p` marks proxy code: there is no compiler for sm_70,
so the V100 is answered from sm_75 code.
"""


def page(found: Validation) -> str:
    """docs/accuracy.md."""
    return "\n".join([INTRODUCTION, *_corpora(found), *_kinds(found), *_misses(found), *_silence()]) + "\n"


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


def _misses(found: Validation) -> Iterator[str]:
    yield "## The worst misses\n\nThe worst judged launch of each kernel and board, the largest first.\n"
    for result in worst(found.results):
        yield f"* **{result.corpus}, {result.kernel} on {result.gpu}** ({result.label}): {_said(result)}"
    yield ""


def _said(result: Result) -> str:
    error = 100 * (result.error(HEADLINE) or 0.0)
    why = EXPLAINED.get((result.corpus, result.kernel), "Not explained yet.")
    measured, predicted = 1e6 * result.measured, 1e6 * (result.seconds[HEADLINE] or 0.0)
    return f"{measured:.3g} us measured, {predicted:.3g} us predicted ({error:+.0f} %). {why}"


def _silence() -> Iterator[str]:
    yield """## What is not judged

Tensor cores, special functions, atomics and divergent code have no measured rows here; what binds on the chip has the
products of matrices alone, at clocks that nobody printed. Most recent boards have few rows or none.
For these the report claims no expected error. On boards without measurements of their own the parameters are taken from
relatives, and the interval is wider."""
