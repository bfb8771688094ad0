"""Pictures of the items, drawn by the functions that draw report and page.

Most are drawn from the item's series; functions of a paper's module here, named like the item's, draw the others.
"""

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from string import ascii_lowercase

from warpbound.quick_dataclasses import dataclass
from warpbound.report.figures import recorded
from warpbound.report.figures.picture import Drawable
from warpbound.reproduce.item import Item, ItemInputs, figures_in
from warpbound.reproduce.reproduction import Reproduction

Draw = Callable[[ItemInputs], Sequence[Drawable]]
MODULES = {
    "hong_kim_2009": ("hong_kim_2009",),
    "volkov_2016": ("volkov_2016", "volkov_2016_models"),
    "campprof_2011": ("campprof_2011",),
    "interval_analysis": ("interval_analysis",),
    "x_model_2016": ("x_model_2016",),
}
_KINDS = r"(?:Figures?|Tables?|Listings?|sections?|chapter)"
_NUMBER = re.compile(_KINDS + r" [\dIVX][\w.]*(?:(?:, | and | to )[\dIVX][\w.]*)*")


@dataclass(frozen=True)
class PaperPicture:
    """A picture, and the figure of the paper that it shows."""

    figure: str
    picture: Drawable


def drawn_by(item: Item) -> Draw | None:
    """The function that draws an item; None if its series are enough."""
    for module in MODULES[item.paper]:
        draw: Draw | None = getattr(import_module(f"warpbound.reproduce.pictures.{module}"), item.function, None)
        if draw:
            return draw
    return None


def has_pictures(item: Item) -> bool:
    """Whether an item has pictures; nothing is computed."""
    return drawn_by(item) is not None or item.series is not None


def pictures(reproduction: Reproduction) -> tuple[PaperPicture, ...]:
    """Those of an item, in the order of the paper; none where it is a table."""
    draw = drawn_by(reproduction.item)
    every = draw(reproduction.item.inputs) if draw else [recorded(figure) for figure in reproduction.figures]
    return tuple(PaperPicture(_figure(picture.source, reproduction.item), picture) for picture in every)


def of_figure(pictures_of_item: Sequence[PaperPicture], name: str, item: Item) -> Sequence[PaperPicture]:
    """The pictures of the figure called `fig-N` (9 includes 9a); all of them if the name is not a figure's."""
    number = name.removeprefix("fig-")
    same = [x for x in pictures_of_item if shows(x, number)]
    return same if same or name not in ("", item.name) else pictures_of_item


def shows(picture: PaperPicture, number: str) -> bool:
    """Whether a picture is the figure of that number, or a part of it."""
    own = figures_in(picture.figure)
    return number in own or number in {part.rstrip(ascii_lowercase) for part in own}


def _figure(source: str, item: Item) -> str:
    """`Figure 4.5`, from the picture's source or else from the item's place in the paper."""
    numbers = [match[0].rstrip(".") for match in _NUMBER.finditer(source)]
    names = numbers or [match[0].rstrip(".") for match in _NUMBER.finditer(item.where)]
    return next((name for name in names if name.startswith("Figure")), names[0] if names else item.where)


