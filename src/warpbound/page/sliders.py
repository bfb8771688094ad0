"""Numbers that can be set: what each is, its value by itself and how far its slider reaches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.board_parameters import PARAMETERS
from warpbound.headline.parameter_fallbacks import Fallback, parameter_fallbacks
from warpbound.isa.limits import KIB, MEANINGS, settable
from warpbound.machine import Gpu, Quantity
from warpbound.page.subject import GPU

REACH = 4.0  # a slider goes from a fourth of a value to four times it
WHOLE = 1.0  # the step of what takes no fractions
SCALES = {"GB/s": 1e9, "MHz": 1e6}  # units of sliders for symbols that models take in B/s and Hz
MOST_POINTS = 512  # of a curve over whole numbers of warps: an address may ask for any number
FIRST = {  # of a board's parameters: those that most kernels feel -> label
    name: parameter.slider
    for name, parameter in sorted(PARAMETERS.items(), key=lambda item: item[1].slider_rank)
    if parameter.slider
}


@dataclass(frozen=True)
class Control:
    """key : its name in an address. value : where it stands unless set by hand. step : of the slider; 0 for any.
    origin : where the value comes from if no file gives it, or if it is assumed."""

    key: str
    label: str
    unit: str
    value: float
    low: float
    high: float
    step: float = 0.0
    origin: str = ""

    @property
    def title(self) -> str:
        """Label and unit."""
        return f"{self.label}, {self.unit}" if self.unit else self.label


def counting(most: float) -> NDArray[np.float64]:
    """1, 2, 3, ... up to `most`, or MOST_POINTS even steps where there are more."""
    last = max(1.0, float(np.ceil(most)))
    return np.linspace(1.0, last, int(min(last, MOST_POINTS)))


def around(key: str, label: str, unit: str, value: float) -> Control:
    """From a fourth of the value to four times it; 0 reaches to 1."""
    low, high = sorted((value / REACH, REACH * value)) if value else (0.0, 1.0)
    return Control(key, label, unit, float(value), low, high)


def between(key: str, label: str, unit: str, value: float, ends: tuple[float, float]) -> Control:
    """Whole numbers in a known range, which grows to hold the value."""
    return Control(key, label, unit, float(value), min(ends[0], value), max(ends[1], value), WHOLE)


def of_inputs(prefix: str, inputs: Any, words: Mapping[str, tuple[str, str]]) -> list[Control]:
    """One for each symbol of a model that `words` names: symbol -> label and unit."""
    there = {field.name for field in fields(inputs)}
    return [
        around(f"{prefix}.{name}", label, unit, float(getattr(inputs, name)) / SCALES.get(unit, 1.0))
        for name, (label, unit) in words.items()
        if name in there
    ]


def of_gpu(board: Gpu) -> list[Control]:
    """Every number of a board that answers take, as the catalogue has it or as they take it where it has none.

    Those that most kernels feel come first, then the others that its file gives, then what is taken instead.
    """
    known: dict[str, Quantity | Fallback] = {**board.parameters, **parameter_fallbacks(board)}
    order = [name for name in FIRST if name in known]
    order += [name for name in known if name not in FIRST]
    found = []
    for name in order:
        unit = "" if known[name].unit == "1" else known[name].unit
        words = FIRST.get(name, _capital(PARAMETERS[name].meaning))
        one = around(f"{GPU}{name}", words, unit, known[name].value)
        one = replace(one, low=max(one.low, PARAMETERS[name].least if PARAMETERS[name].whole else 0.0))
        found.append(replace(one, origin=_origin(known[name])))
    return found


def _origin(number: Quantity | Fallback) -> str:
    if isinstance(number, Fallback):
        return f"from {number.origin}"
    return "assumed" if number.how == "assumed" else ""


def of_limits(board: Gpu) -> list[Control]:
    """Every limit of an SM, as its architecture has it."""
    found = []
    for name, value in settable(board.limits).items():
        meaning = MEANINGS[name]
        step = KIB if name == "shared_per_sm" else 1
        unit = "" if meaning.unit == "1" else meaning.unit
        reach = (max(meaning.least, value // int(REACH)) // step * step, max(REACH * value, 4.0))
        found.append(replace(between(f"{GPU}{name}", _capital(meaning.words), unit, value, reach), step=float(step)))
    return found


def of_set_gpu(board: Gpu, own: Gpu, values: Mapping[str, float]) -> list[Control]:
    """Those of the board's `own` numbers; what follows from another number that is set stands where `board` has it."""
    stands: dict[str, Quantity | Fallback] = {**parameter_fallbacks(board), **board.parameters}
    carried = {f"{GPU}{name}": number.value for name, number in stands.items()}
    return [one if one.key in values else replace(one, value=carried[one.key]) for one in of_gpu(own)]


def renamed(controls: Sequence[Control], prefix: str) -> list[Control]:
    """A board's numbers under another name in the address."""
    return [replace(one, key=prefix + one.key.removeprefix(GPU)) for one in controls]


def _capital(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}"
