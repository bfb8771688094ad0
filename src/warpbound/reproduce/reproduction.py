"""An item computed and compared with the paper, number by number.

A printed value is kept as it is printed, so that its digits say how exact it is: 2.28 represents anything that
rounds to it, "about 54" for anything within a tenth.  A value that is no number is compared as a word.
"""

import math
import re
from enum import StrEnum

import numpy as np

from warpbound.quick_dataclasses import dataclass
from warpbound.report.figure_series import Figure
from warpbound.reproduce.item import Item, Printed, flat

_NUMBER = re.compile(r"(?P<about>about )?(?P<mantissa>-?\d+(?:\.(?P<places>\d+))?)(?:e(?P<exponent>-?\d+))?")
_ROUGH = 0.1    # share by which "about" may be off
_EXACT = 1e-9   # share below which two numbers are one


class Verdict(StrEnum):
    """The result of comparing one number."""

    AGREES = "agrees"
    DIGITS = "agrees to the printed digits"
    ROUGHLY = "agrees as roughly as printed"
    READ = "agrees with what is read from the paper"
    DIFFERS = "differs"
    CONTRADICTS = "the paper contradicts itself"
    STANDS_IN = "experiment not available: a model replaces it"
    UNPRINTED = "not printed"


@dataclass(frozen=True)
class Row:
    """One number; `difference` is (ours - paper's) / paper's, None where this is no useful number."""

    what: str
    unit: str
    printed: str | None
    ours: float | str
    difference: float | None
    verdict: Verdict
    reading: str = ""
    read: bool = False  # the paper's value follows from its words or a figure, and is not printed


@dataclass(frozen=True)
class Reproduction:
    """One item with our numbers beside the paper's, and the series of its figures."""

    item: Item
    rows: tuple[Row, ...]
    figures: tuple[Figure, ...]


def reproduced(item: Item) -> Reproduction:
    """The item computed, in the order of our numbers.

    Raises ValueError where the paper prints a number that the item's function does not return.
    """
    ours = flat(item.numbers())
    if lost := [what for what in item.printed if what not in ours]:
        raise ValueError(f"{item.key}: nothing answers {', '.join(lost)}")
    rows = [compared(what, item.unit_of(what), item.printed.get(what, Printed()), _plain(ours[what])) for what in ours]
    return Reproduction(item, tuple(rows), tuple(item.series(item.inputs)) if item.series else ())


def compared(what: str, unit: str, paper: Printed, ours: float | str) -> Row:
    """The row of one number.

    Raises ValueError where the paper's number and ours are not of one kind.
    """
    agreement = _agreement(paper.value, ours)
    if agreement is Verdict.DIFFERS and paper.contradiction:
        agreement = Verdict.CONTRADICTS
    if paper.from_measurement:
        agreement = Verdict.STANDS_IN
    elif paper.from_reading and agreement is not Verdict.DIFFERS and agreement is not Verdict.CONTRADICTS:
        agreement = Verdict.READ
    reading = "; ".join(part for part in (paper.contradiction, paper.reading) if part)
    unit = "1" if isinstance(ours, str) else unit
    return Row(what, unit, paper.value, ours, _difference(paper.value, ours), agreement, reading, paper.from_reading)


def number(text: str) -> float | None:
    """The value of a printed number; None for a word."""
    match = _NUMBER.fullmatch(text)
    return float(f"{match['mantissa']}e{match['exponent'] or 0}") if match else None


def half_unit(text: str) -> float:
    """Half a unit of the last printed digit. Raises ValueError for a word."""
    match = _NUMBER.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is no number")
    return float(0.5 * 10.0 ** (int(match["exponent"] or 0) - len(match["places"] or "")))


def _agreement(paper: str | None, ours: float | str) -> Verdict:
    if paper is None:
        return Verdict.UNPRINTED
    value = number(paper)
    if isinstance(ours, str) or value is None:
        if isinstance(ours, str) == (value is None):
            return Verdict.AGREES if ours == paper else Verdict.DIFFERS
        raise ValueError(f"{paper!r} of the paper and {ours!r} of ours are not of one kind")
    if math.isclose(value, ours, rel_tol=_EXACT):
        return Verdict.AGREES
    if paper.startswith("about "):
        return Verdict.ROUGHLY if abs(ours - value) <= _ROUGH * abs(value) else Verdict.DIFFERS
    within = half_unit(paper) + _EXACT * abs(value)
    return Verdict.DIGITS if abs(ours - value) <= within else Verdict.DIFFERS


def _difference(paper: str | None, ours: float | str) -> float | None:
    value = None if paper is None else number(paper)
    if value is None or isinstance(ours, str) or not math.isfinite(ours):
        return None
    return 0.0 if value == ours else (ours - value) / abs(value) if value else None


def _plain(value: object) -> float | str:
    if isinstance(value, str | np.str_):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return float(np.asarray(value, dtype=np.float64))
