"""A view of the page and its output."""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

from warpbound.errors import WarpboundError
from warpbound.model_inputs.answers import inputs_of
from warpbound.page.sliders import SCALES, Control
from warpbound.page.subject import Subject
from warpbound.quick_dataclasses import dataclass
from warpbound.report.figures.picture import Drawable

Values = Mapping[str, float]
RUN, KERNEL, BOARD, LIMITS, PARTITIONS = "launch", "kernel", "board", "limits", "partitions"  # whose numbers
_NO_WORDS: Mapping[str, tuple[str, str]] = {}


REFUSED = (WarpboundError, ArithmeticError)  # errors that a reader's own numbers cause, such as a machine without SMs


def sentence(error: BaseException) -> str:
    """An error's message for the reader."""
    return str(error) if isinstance(error, WarpboundError) else "These numbers have no valid answer."


@dataclass(frozen=True)
class ViewOutput:
    """A picture, None without one, and the sentences above it."""

    picture: Drawable | None = None
    words: tuple[str, ...] = ()


def _no_controls(subject: Subject) -> list[Control]:
    return []


def _no_picture(subject: Subject, values: Values) -> Drawable | None:
    return None


@dataclass(frozen=True)
class View:
    """draw : again at every movement of a slider. second : a further picture, drawn when the sliders rest.
    exact : parts of the report that stand below, from the whole analysis. sets : whose numbers act besides the view's
    own. about : what it is about where that is not the subject."""

    title: str
    draw: Callable[[Subject, Values], ViewOutput]
    controls: Callable[[Subject], list[Control]] = _no_controls
    second_picture: Callable[[Subject, Values], Drawable | None] = _no_picture
    exact: tuple[str, ...] = ()
    sets: tuple[str, ...] = (RUN, BOARD, LIMITS, KERNEL)
    about: str = ""


def inputs(prefix: str, defaults: Any, values: Values, words: Mapping[str, tuple[str, str]] = _NO_WORDS) -> Any:
    """A model's Inputs with the numbers set by hand in their places. words : symbol -> label and unit of its slider."""
    names = {f.name for f in fields(defaults)}
    own = {key.removeprefix(prefix + "."): value for key, value in values.items() if key.startswith(prefix + ".")}
    scales = {name: SCALES.get(unit, 1.0) for name, (_, unit) in words.items()}
    return replace(defaults, **{name: value * scales.get(name, 1.0) for name, value in own.items() if name in names})


def model(name: str, subject: Subject, bare: Any) -> Any:
    """A model's Inputs of the subject; `bare` for sliders alone; a sentence where the model does not apply."""
    if subject.facts is None:
        return bare if subject.entry is None else f"{name} needs a launch with arguments: fill in the fields."
    symbols = inputs_of(name, subject.facts)
    return f"{name} {symbols}." if isinstance(symbols, str) else symbols
