"""Tables of the terminal: dim titles, words to the left, numbers to the right."""

from collections.abc import Collection, Iterable
from typing import Protocol

from rich import box
from rich.console import JustifyMethod
from rich.table import Table


class TableStyle(Protocol):
    """Makes a table without rows: `ruled_table` or `open_table`."""

    def __call__(self, columns: Iterable[str], words: Collection[str] = (), folded: Collection[str] = ()) -> Table: ...


def ruled_table(columns: Iterable[str], words: Collection[str] = (), folded: Collection[str] = ()) -> Table:
    """A table without rows and with a line below its titles.

    words : the columns of words. folded : the columns whose cells may take several lines.
    """
    return _with_columns(Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim"), columns, words, folded)


def open_table(columns: Iterable[str], words: Collection[str] = (), folded: Collection[str] = ()) -> Table:
    """The same without the line."""
    return _with_columns(Table(box=None, pad_edge=False, header_style="dim"), columns, words, folded)


def _with_columns(table: Table, columns: Iterable[str], words: Collection[str], folded: Collection[str]) -> Table:
    for name in columns:
        side: JustifyMethod = "left" if name in words else "right"
        table.add_column(name, justify=side, no_wrap=name not in folded, overflow="fold")
    return table
