"""What the papers' figures look like: the pictures of an item, drawn by the functions that draw report and page.

An item whose picture is no more than its series is drawn from them; the modules here have the others.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import chain

from warpbound.report.figures import recorded
from warpbound.report.figures.picture import Drawable
from warpbound.reproduce.item import Given, Item, figures_in
from warpbound.reproduce.reproduction import Reproduction

Draw = Callable[[Given], Sequence[Drawable]]
_KINDS = r"(?:Figures?|Tables?|Listings?|sections?|chapter)"
_NUMBER = re.compile(_KINDS + r" [\dIVX][\w.]*(?:(?:, | and | to )[\dIVX][\w.]*)*")


@dataclass(frozen=True)
class Shown:
    """A picture and the figure of the paper that it is."""

    figure: str
    drawn: Drawable


def drawn_by(item: Item) -> Draw | None:
    """The function that draws an item, where its series alone do not."""
    found: dict[str, Draw] = import_module(f"warpbound.reproduce.pictures.{item.paper}").PICTURES
    return found.get(item.name)


def has_pictures(item: Item) -> bool:
    """Whether there is anything to draw, which is told without computing it."""
    return drawn_by(item) is not None or item.series is not None


def pictures(one: Reproduction) -> tuple[Shown, ...]:
    """Those of an item, in the order of the paper; none where it is a table."""
    draw = drawn_by(one.item)
    found = draw(one.item.given) if draw else [recorded(figure) for figure in one.figures]
    return tuple(Shown(_figure(picture.source, one.item), picture) for picture in found)


def of_figure(shown: Sequence[Shown], name: str) -> Sequence[Shown]:
    """Those that are the figure called `fig-N`; all where none is."""
    own = [one for one in shown if name.removeprefix("fig-") in figures_in(one.figure)]
    return own or shown


def _figure(source: str, item: Item) -> str:
    """`Figure 4.5`, from the picture's source or else from the item's place in the paper."""
    numbers = chain(_NUMBER.finditer(source), _NUMBER.finditer(item.where))
    named = [found[0].rstrip(".") for found in numbers]
    return next((name for name in named if name.startswith("Figure")), named[0] if named else item.where)


