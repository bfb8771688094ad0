"""Small charts for terminals: bars that shrink with the window, columns in eighths of a line."""

import math
from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

from warpbound.quick_dataclasses import dataclass

BLOCK = "█"
EIGHTHS = " ▁▂▃▄▅▆▇█"
PLAIN_BLOCK, PLAIN_EIGHTHS = "#", " ..:::||#"  # used if the terminal's encoding has no others
STYLE = "yellow"
WIDEST = 1000  # columns that no table needs
SLACK = 6  # columns: if space is short, Rich shrinks narrow cells as much as wide ones
SHORT, LONG = 12, 48  # letters: up to SHORT, words do not break; from LONG on, texts are sentences
LEAST = 4  # columns of a full bar in the narrowest window


@dataclass(frozen=True)
class Bar:
    """A share between 0 and 1 as a bar of at most `full` columns, fewer in a narrow window."""

    share: float
    full: int = 24

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(min(LEAST, options.max_width), min(self.full, options.max_width))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = min(self.full, options.max_width)
        block = PLAIN_BLOCK if options.ascii_only else BLOCK
        yield Text(block * max(1, round(room * min(1.0, self.share))), style=STYLE, no_wrap=True, overflow="crop")


def columns(values: Sequence[float], height: int, letters: str = EIGHTHS) -> list[str]:
    """`values` as columns over `height` lines, scaled to the largest value; top line first.

    letters : nine, from an empty place to a full one.
    """
    most = max(values, default=0.0)
    eighths = [round(8 * height * value / most) if most > 0 else 0 for value in values]
    return [
        "".join(letters[min(8, max(0, eighth - 8 * line))] for eighth in eighths) for line in reversed(range(height))
    ]


@dataclass(frozen=True)
class Columns:
    """Values over the numbers from 1 on, as columns, with a mark under one of them.

    values : one per number. mark : the number that is marked. title : of the values; unit : of the numbers.
    """

    values: tuple[float, ...]
    mark: float
    title: str
    unit: str
    height: int = 4

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(min(20, options.max_width), min(64, options.max_width))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        step = math.ceil(len(self.values) / min(64, options.max_width))
        values = self.values[step - 1 :: step]
        yield Text(self.title, "dim")
        for line in columns(values, self.height, PLAIN_EIGHTHS if options.ascii_only else EIGHTHS):
            yield Text(line.rstrip() or " ", style=STYLE, no_wrap=True, overflow="crop")
        yield Text(self._axis(len(values), step), "dim", no_wrap=True, overflow="crop")

    def _axis(self, width: int, step: int) -> str:
        """The marked number at a caret; the first and the last number where they have room."""
        at = min(width - 1, max(0, math.ceil(self.mark / step) - 1))
        mark = f"{self.mark:g} {self.unit}"
        line = f"{'':{at}}^ {mark}" if at + 2 + len(mark) <= width else f"{mark + ' ^':>{at + 1}}"
        first, last = str(step), str(len(self.values))
        if line.startswith(" " * (len(first) + 1)):
            line = first + line[len(first) :]
        return f"{line}{last:>{width - len(line)}}" if len(line) + len(last) < width else line


@dataclass(frozen=True)
class OverTime:
    """Means over equal parts of a time as columns that start at 0; `end` is what stands under the last one."""

    values: tuple[float, ...]
    title: str
    end: str
    height: int = 3

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        step = math.ceil(len(self.values) / min(64, options.max_width))
        parts = [self.values[at : at + step] for at in range(0, len(self.values), step)]
        means = [sum(part) / len(part) for part in parts]
        yield Text(self.title, "dim")
        for line in columns(means, self.height, PLAIN_EIGHTHS if options.ascii_only else EIGHTHS):
            yield Text(line.rstrip() or " ", style=STYLE, no_wrap=True, overflow="crop")
        yield Text(f"0{self.end:>{max(len(self.end) + 1, len(means) - 1)}}", "dim", no_wrap=True, overflow="crop")


@dataclass(frozen=True)
class Fitting:
    """A table if the window is wide enough, else one sentence per row: each cell after its heading."""

    table: Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        whole = Measurement.get(console, options.update(max_width=WIDEST), self.table).maximum
        slack = [_slack(column) for column in self.table.columns if not column.no_wrap]
        if whole - max(0, sum(slack) - SLACK) <= options.max_width:
            yield self.table
            return
        headings = [str(column.header) for column in self.table.columns]
        for cells in zip(*(column.cells for column in self.table.columns), strict=True):
            phrases = [f"{heading} {plain(cell)}".strip() for heading, cell in zip(headings, cells, strict=True)]
            yield Text("- " + ", ".join(filter(None, phrases)))


def _slack(column: Column) -> int:
    """Window columns by which a table column can shrink: bars shorten, lines break between words."""
    cells = [column.header, *column.cells]
    if any(isinstance(cell, Bar) for cell in cells):
        return max(cell.full - LEAST for cell in cells if isinstance(cell, Bar))
    words = [plain(cell) for cell in cells]
    return max(map(len, words)) - max(len(word) for phrase in words for word in phrase.split() or [""])


def plain(cell: object) -> str:
    """A cell's words without style; a bar has none."""
    if isinstance(cell, Bar) or (isinstance(cell, Text) and not cell.plain.strip(BLOCK)):
        return ""
    return cell.plain.strip() if isinstance(cell, Text) else str(cell).strip()


def kinds(table: Table) -> list[str]:
    """What each column holds, for places that have no room: numbers, words that do not break, or long sentences."""
    return ["number" if column.justify == "right" else _of_words(column) for column in table.columns]


def _of_words(column: Column) -> str:
    longest = max((len(plain(cell)) for cell in column.cells), default=0)
    return "words short" if longest <= SHORT else "words long" if longest >= LONG else "words"
