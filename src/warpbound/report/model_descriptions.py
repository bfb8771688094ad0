"""Descriptions of the papers' models: one line each, or the whole docstring of one."""

import re
from collections.abc import Mapping

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text


def overview(models: Mapping[str, str]) -> RenderableType:
    """Every model's name and its sentence."""
    return _beside(list(models.items()))


def about(text: str) -> RenderableType:
    """The docstring of a model: its first sentence, then Source, Models, Omits, each as wide as the window."""
    first, *rest = text.strip().split("\n\n", 1)
    fields = re.findall(r"^(\w+) {2,}(.*(?:\n(?!\w).*)*)", "".join(rest), re.MULTILINE)
    return Group(Text(" ".join(first.split()), "bold cyan"), Text(), _beside(fields))


def _beside(rows: list[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="fold")
    table.add_column()
    for name, words in rows:
        table.add_row(Text(name, "bold"), Text(" ".join(words.split())))
    return table
