"""Controls of the page: a number's key, label, default value and slider range."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.board_parameters import PARAMETERS
from warpbound.isa.limits import KIB, MEANINGS, settable
from warpbound.machine import Gpu, Quantity
from warpbound.page.subject import GPU
from warpbound.quick_dataclasses import dataclass
from warpbound.report.formatting import capital
from warpbound.time_model.parameter_fallbacks import Fallback, parameter_fallbacks

REACH = 4.0  # a slider goes from a fourth of a value to four times it
WHOLE = 1.0  # the step of what takes no fractions
SCALES = {"GB/s": 1e9, "MHz": 1e6}  # units of sliders for symbols that models take in B/s and Hz
MOST_POINTS = 512  # limit of points of a curve over whole numbers of warps: an address may ask for any number
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


def real_slider(key: str, label: str, unit: str, value: float) -> Control:
    """A slider from a quarter of the value to four times the value; from 0 to 1 for the value 0."""
    low, high = sorted((value / REACH, REACH * value)) if value else (0.0, 1.0)
    return Control(key, label, unit, float(value), low, high)


def whole_slider(key: str, label: str, unit: str, value: float, ends: tuple[float, float]) -> Control:
    """Whole numbers in a known range, which grows to hold the value."""
    return Control(key, label, unit, float(value), min(ends[0], value), max(ends[1], value), WHOLE)


def input_controls(prefix: str, inputs: Any, words: Mapping[str, tuple[str, str]]) -> list[Control]:
    """One for each symbol of a model that `words` names: symbol -> label and unit."""
    symbols = {field.name for field in fields(inputs)}
    return [
        real_slider(f"{prefix}.{name}", label, unit, float(getattr(inputs, name)) / SCALES.get(unit, 1.0))
        for name, (label, unit) in words.items()
        if name in symbols
    ]


def gpu_controls(board: Gpu) -> list[Control]:
    """Every number of a board that an answer uses: the catalogue's value, or the fallback without one.

    Those that most kernels feel come first, then the others that its file gives, then what is taken instead.
    """
    numbers: dict[str, Quantity | Fallback] = {**board.parameters, **parameter_fallbacks(board)}
    order = [name for name in FIRST if name in numbers]
    order += [name for name in numbers if name not in FIRST]
    controls = []
    for name in order:
        unit = "" if numbers[name].unit == "1" else numbers[name].unit
        words = FIRST.get(name, capital(PARAMETERS[name].meaning))
        control = real_slider(f"{GPU}{name}", words, unit, numbers[name].value)
        control = replace(control, low=max(control.low, PARAMETERS[name].least if PARAMETERS[name].whole else 0.0))
        controls.append(replace(control, origin=_origin(numbers[name])))
    return controls


def _origin(number: Quantity | Fallback) -> str:
    if isinstance(number, Fallback):
        return f"from {number.origin}"
    return "assumed" if number.how == "assumed" else ""


def limit_controls(board: Gpu) -> list[Control]:
    """Every limit of an SM, as its architecture has it."""
    controls = []
    for name, value in settable(board.limits).items():
        meaning = MEANINGS[name]
        step = KIB if name == "shared_per_sm" else 1
        unit = "" if meaning.unit == "1" else meaning.unit
        reach = (max(meaning.least, value // int(REACH)) // step * step, max(REACH * value, 4.0))
        controls.append(
            replace(whole_slider(f"{GPU}{name}", capital(meaning.words), unit, value, reach), step=float(step))
        )
    return controls


def set_gpu_controls(board: Gpu, own: Gpu, values: Mapping[str, float]) -> list[Control]:
    """Those of the board's `own` numbers; what follows from another number that is set stands where `board` has it."""
    stands: dict[str, Quantity | Fallback] = {**parameter_fallbacks(board), **board.parameters}
    of_gpu = {f"{GPU}{name}": number.value for name, number in stands.items()}
    controls = gpu_controls(own)
    return [control if control.key in values else replace(control, value=of_gpu[control.key]) for control in controls]


def renamed(controls: Sequence[Control], prefix: str) -> list[Control]:
    """A board's controls under another prefix in the address."""
    return [replace(control, key=prefix + control.key.removeprefix(GPU)) for control in controls]
