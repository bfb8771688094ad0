"""An item computed and compared, number by number."""

from dataclasses import dataclass
from importlib import import_module

import numpy as np

from warpbound.report.figure_series import Figure
from warpbound.reproduce.item import Item, flat
from warpbound.reproduce.judging import Printed, Row, judged


@dataclass(frozen=True)
class Reproduction:
    """What came of one item."""

    item: Item
    rows: tuple[Row, ...]
    figures: tuple[Figure, ...]


def reproduced(item: Item) -> Reproduction:
    """Our numbers beside the paper's, in the order of ours.

    Raises ValueError where the paper prints a number that the module does not answer.
    """
    module = import_module(item.module)
    ours = flat(module.numbers(item.given))
    if lost := [what for what in item.printed if what not in ours]:
        raise ValueError(f"{item.key}: nothing answers {', '.join(lost)}")
    rows = [judged(what, item.unit_of(what), item.printed.get(what, Printed()), _plain(ours[what])) for what in ours]
    return Reproduction(item, tuple(rows), module.figures(item.given) if hasattr(module, "figures") else ())


def _plain(value: object) -> float | str:
    if isinstance(value, str | np.str_):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return float(np.asarray(value, dtype=np.float64))
