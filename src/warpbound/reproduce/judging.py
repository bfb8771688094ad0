"""A number of a paper against ours: how far apart, and what that means.

A printed value is kept as it is printed, so that its digits say how exact it is: 2.28 stands for anything that
rounds to it, "about 54" for anything within a tenth.  A value that is no number is compared as a word.
"""

import math
import re
from dataclasses import dataclass
from enum import StrEnum

_NUMBER = re.compile(r"(?P<about>about )?(?P<mantissa>-?\d+(?:\.(?P<places>\d+))?)(?:e(?P<exponent>-?\d+))?")
_ROUGH = 0.1    # share by which "about" may be off
_EXACT = 1e-9   # share below which two numbers are one


class Verdict(StrEnum):
    """What the comparison of one number says."""

    AGREES = "agrees"
    DIGITS = "agrees to the printed digits"
    ROUGHLY = "agrees as roughly as printed"
    DIFFERS = "differs"
    CONTRADICTS = "the paper contradicts itself"
    STANDS_IN = "experiment not available: a model stands in"
    UNPRINTED = "not printed"


@dataclass(frozen=True)
class Row:
    """One number; `difference` is (ours - paper's) / paper's, None where that says nothing."""

    what: str
    unit: str
    printed: str | None
    ours: float | str
    difference: float | None
    verdict: Verdict
    reading: str = ""


@dataclass(frozen=True)
class Printed:
    """What the paper has: a value, whether it was measured, what is known where it differs from ours."""

    value: str | None = None
    measured: bool = False
    reading: str = ""        # the reading that was adopted
    contradiction: str = ""  # what in the paper speaks against the value


def judged(what: str, unit: str, paper: Printed, ours: float | str) -> Row:
    """The row of one number.

    Raises ValueError where the paper's number and ours are not of one kind.
    """
    agreement = _agreement(paper.value, ours)
    if agreement is Verdict.DIFFERS and paper.contradiction:
        agreement = Verdict.CONTRADICTS
    if paper.measured:
        agreement = Verdict.STANDS_IN
    said = "; ".join(part for part in (paper.contradiction, paper.reading) if part)
    of = "1" if isinstance(ours, str) else unit
    return Row(what, of, paper.value, ours, _difference(paper.value, ours), agreement, said)


def number(printed: str) -> float | None:
    """The value of a printed number; None for a word."""
    found = _NUMBER.fullmatch(printed)
    return float(f"{found['mantissa']}e{found['exponent'] or 0}") if found else None


def half_unit(printed: str) -> float:
    """Half a unit of the last printed digit. Raises ValueError for a word."""
    found = _NUMBER.fullmatch(printed)
    if not found:
        raise ValueError(f"{printed!r} is no number")
    return float(0.5 * 10.0 ** (int(found["exponent"] or 0) - len(found["places"] or "")))


def _agreement(printed: str | None, ours: float | str) -> Verdict:
    if printed is None:
        return Verdict.UNPRINTED
    value = number(printed)
    if isinstance(ours, str) or value is None:
        if isinstance(ours, str) == (value is None):
            return Verdict.AGREES if ours == printed else Verdict.DIFFERS
        raise ValueError(f"{printed!r} of the paper and {ours!r} of ours are not of one kind")
    if math.isclose(value, ours, rel_tol=_EXACT):
        return Verdict.AGREES
    if printed.startswith("about "):
        return Verdict.ROUGHLY if abs(ours - value) <= _ROUGH * abs(value) else Verdict.DIFFERS
    within = half_unit(printed) + _EXACT * abs(value)
    return Verdict.DIGITS if abs(ours - value) <= within else Verdict.DIFFERS


def _difference(printed: str | None, ours: float | str) -> float | None:
    value = None if printed is None else number(printed)
    if value is None or isinstance(ours, str) or not math.isfinite(ours):
        return None
    return 0.0 if value == ours else (ours - value) / abs(value) if value else None
