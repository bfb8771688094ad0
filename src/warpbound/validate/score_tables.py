"""Scores as tables: the columns that the terminal and the accuracy pages share, and `validate`'s text output."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from warpbound.validate.results import ScoreLine, Validation
from warpbound.validate.row_prediction import HEADLINE
from warpbound.validate.scores import ALL, APART, Score
from warpbound.validate.watts_and_clocks import PowerLine

KINDS = {"judged": "judged", "set aside": "judged, counted apart", "calibration": "something was fitted to it"}
HEADS = ("MAPE", "median", "P90", "P95", "worst", "in 20 %", "tau", "regret", "covered", "width")
POWER_HEADS = ("rows", "W", "W held back", "slowed", "MHz", "MHz held back")
POWER_NOTE = (
    "Errors of watts, and of MHz of slowed rows (below the board's highest clock): with the board's own power "
    "parameters, and with those fitted without this board (held back)."
)
NOTE = (
    "Errors of times in per cent of what was measured. in 20 %: share of launches with no larger error; tau: pairs in "
    "the right order less those in the wrong one; regret: of the predicted best; covered: by the 80 % interval; width: "
    "its median, of the predicted time."
)


def text(validation: Validation) -> Iterator[RenderableType]:
    """One table per corpus, board and kind of rows, judged rows first; then what was refused."""
    for about in validation.corpora:
        yield Text(f"{about.name}: {about.about}", "bold cyan")
        for kind, words in KINDS.items():
            lines = [x for x in validation.lines if (x.corpus, x.kind, x.kernel) == (about.name, kind, ALL)]
            for gpu in dict.fromkeys(line.gpu for line in lines):
                yield _board(gpu, words, [line for line in lines if line.gpu == gpu])
        if power := [line for line in validation.power_lines if line.corpus == about.name]:
            yield _power(power)
    for result in (r for r in validation.results if r.refused):
        yield Text(f"{result.corpus} {result.kernel} on {result.gpu} ({result.label}): {result.refused}", "red")
    yield Text(NOTE, "dim")


def _board(gpu: str, kind: str, lines: Sequence[ScoreLine]) -> RenderableType:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1), collapse_padding=True)
    table.add_column("  model", no_wrap=True)
    for name in HEADS:
        table.add_column(name, justify="right", no_wrap=True)
    for line in lines:
        table.add_row(f"  {line.model}", *cells(line), style="bold" if line.model == HEADLINE else "")
    proxy = ", proxy code" if any(line.proxy for line in lines) else ""
    title = Text(f"  {gpu}, {kind}, {lines[0].score.n} launches{proxy}")
    choices = (Text(f"  {words}") for line in lines if is_choice(line) for words in choice(line.score))
    return Group(title, table, *choices, Text())


def is_choice(line: ScoreLine) -> bool:
    """Whether it says how well warpbound chooses among ways to do the same work."""
    return (line.model, line.kernel) == (HEADLINE, ALL) and line.score.regret_5 is not None


def choice(s: Score) -> Iterator[str]:
    """Sentences on how well launches are chosen. Of the pairs, those with equal predictions count as half right."""
    if s.ranked is not None:
        right = per_cent((1.0 + s.ranked) / 2.0)
        yield f"{right} % of the pairs more than {100 * APART:.0f} % apart are in the right order."
    if s.regret_5 is not None:
        yield f"The best of the five predicted fastest reaches {per_cent(1.0 / (1.0 + s.regret_5))} % of the best."


def _power(lines: Sequence[PowerLine]) -> RenderableType:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1), collapse_padding=True)
    table.add_column("  board", no_wrap=True)
    for name in POWER_HEADS:
        table.add_column(name, justify="right")
    for line in lines:
        table.add_row(f"  {line.gpu}", *power_cells(line), style="bold" if line.gpu == ALL else "")
    return Group(Text("  watts and clocks"), table, Text(f"  {POWER_NOTE}", "dim"), Text())


def power_cells(line: PowerLine) -> tuple[str, ...]:
    """The values under POWER_HEADS."""
    watts, clocks = (line.watts, line.watts_held_back), (line.clock, line.clock_held_back)
    return (str(line.n), *map(per_cent, watts), str(line.slowed), *map(per_cent, clocks))


def cells(line: ScoreLine) -> tuple[str, ...]:
    """The values under HEADS."""
    s = line.score
    shares = (s.mape, s.median, s.p90, s.p95, s.worst, s.within)
    tau = "-" if s.ranked is None else f"{s.ranked:.2f}"
    return (*map(per_cent, shares), tau, per_cent(s.regret_1), per_cent(s.coverage), per_cent(s.width))


def per_cent(share: float | None) -> str:
    """A share in per cent, without the sign; "-" where there is none."""
    if share is None:
        return "-"
    return f"{100 * share:.1f}" if share < 0.995 else f"{100 * share:.0f}"
