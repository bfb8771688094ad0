"""Pictures of the items, drawn by the functions that draw report and page.

Most are drawn from the item's series; functions of a paper's module here, named like the item's, draw the others.
"""

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import chain

from warpbound.quick_dataclasses import dataclass
from warpbound.report.figures import recorded
from warpbound.report.figures.picture import Drawable
from warpbound.reproduce.item import Item, ItemInputs, figures_in
from warpbound.reproduce.reproduction import Reproduction

Draw = Callable[[ItemInputs], Sequence[Drawable]]
_KINDS = r"(?:Figures?|Tables?|Listings?|sections?|chapter)"
_NUMBER = re.compile(_KINDS + r" [\dIVX][\w.]*(?:(?:, | and | to )[\dIVX][\w.]*)*")


@dataclass(frozen=True)
class PaperPicture:
    """A picture, and the figure of the paper that it shows."""

    figure: str
    picture: Drawable


def drawn_by(item: Item) -> Draw | None:
    """The function that draws an item, where its series alone do not."""
    return getattr(import_module(f"warpbound.reproduce.pictures.{item.paper}"), item.function, None)


def has_pictures(item: Item) -> bool:
    """Whether there is anything to draw; computes nothing."""
    return drawn_by(item) is not None or item.series is not None


def pictures(reproduction: Reproduction) -> tuple[PaperPicture, ...]:
    """Those of an item, in the order of the paper; none where it is a table."""
    draw = drawn_by(reproduction.item)
    every = draw(reproduction.item.inputs) if draw else [recorded(figure) for figure in reproduction.figures]
    return tuple(PaperPicture(_figure(picture.source, reproduction.item), picture) for picture in every)


def of_figure(pictures_of_item: Sequence[PaperPicture], name: str) -> Sequence[PaperPicture]:
    """Those that are the figure called `fig-N`; all where none is."""
    wanted = name.removeprefix("fig-")
    return [x for x in pictures_of_item if wanted in figures_in(x.figure)] or pictures_of_item


def _figure(source: str, item: Item) -> str:
    """`Figure 4.5`, from the picture's source or else from the item's place in the paper."""
    numbers = chain(_NUMBER.finditer(source), _NUMBER.finditer(item.where))
    names = [match[0].rstrip(".") for match in numbers]
    return next((name for name in names if name.startswith("Figure")), names[0] if names else item.where)


