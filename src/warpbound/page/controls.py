"""Numbers that a slider can set: what each is, its value by itself and how far the slider reaches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.machine import PARAMETERS, Gpu
from warpbound.page.subject import GPU

REACH = 4.0  # a slider goes from a fourth of a value to four times it
IMAGINE = "Set any to build a machine that is not there."
OTHER = "What one warp does. Figures follow; tables stay those of the kernel as it is."
FIRST_SHOWN = 6  # of a board's numbers, before the reader asks for all
SCALES = {"GB/s": 1e9, "MHz": 1e6}  # units of sliders for symbols that models take in B/s and Hz
DIGITS = 6  # of a number that the models use in full until it is set by hand
MOST_POINTS = 512  # of a curve over whole numbers of warps: an address may ask for any number
FIRST = {  # of a board's numbers: those that most kernels feel
    "dram_achievable_bandwidth": "DRAM bandwidth, achievable",
    "dram_latency": "DRAM latency",
    "l2_bandwidth": "L2 bandwidth",
    "l2_latency": "L2 latency",
    "sm_count": "SMs",
    "boost_clock": "SM clock",
    "l1_latency": "L1 latency",
    "l1_bandwidth": "L1 bandwidth",
    "shared_latency": "Shared-memory latency",
    "l2_size": "L2 size",
    "dram_bandwidth": "DRAM bandwidth of the pins",
}


@dataclass(frozen=True)
class Control:
    """key : its name in an address. value : where it stands unless set by hand. whole : takes no fractions."""

    key: str
    label: str
    unit: str
    value: float
    low: float
    high: float
    whole: str = ""


def counting(most: float) -> NDArray[np.float64]:
    """1, 2, 3, ... up to `most`, or MOST_POINTS even steps where there are more."""
    last = max(1.0, float(np.ceil(most)))
    return np.linspace(1.0, last, int(min(last, MOST_POINTS)))


def around(key: str, label: str, unit: str, value: float) -> Control:
    """From a fourth of the value to four times it."""
    high = REACH * value if value > 0 else 1.0
    return Control(key, label, unit, float(value), value / REACH if value > 0 else 0.0, high)


def between(key: str, label: str, unit: str, value: float, ends: tuple[float, float]) -> Control:
    """Whole numbers in a known range."""
    return Control(key, label, unit, float(value), *ends, whole="whole")


def of_inputs(prefix: str, inputs: Any, words: Mapping[str, tuple[str, str]]) -> list[Control]:
    """One for each symbol of a model that `words` names: symbol -> label and unit."""
    there = {field.name for field in fields(inputs)}
    return [
        around(f"{prefix}.{name}", label, unit, float(getattr(inputs, name)) / SCALES.get(unit, 1.0))
        for name, (label, unit) in words.items()
        if name in there
    ]


def of_gpu(board: Gpu) -> list[Control]:
    """Every number of a board, as the catalogue has it; those that most kernels feel come first."""
    order = [name for name in FIRST if name in board.parameters]
    order += [name for name in board.parameters if name not in FIRST]
    found = []
    for name in order:
        quantity = board.parameters[name]
        unit = "" if quantity.unit == "1" else quantity.unit
        found.append(around(f"{GPU}{name}", FIRST.get(name, PARAMETERS[name].meaning), unit, quantity.value))
    return found


def of_set_gpu(board: Gpu, own: Gpu, values: Mapping[str, float]) -> list[Control]:
    """Those of the board's `own` numbers; what follows from another number that is set stands where `board` has it."""
    carried = {f"{GPU}{name}": quantity.value for name, quantity in board.parameters.items()}
    return [one if one.key in values else replace(one, value=carried[one.key]) for one in of_gpu(own)]


def sections(own: Sequence[Control], board: Sequence[Control], work: Sequence[Control] = ()) -> list[dict[str, Any]]:
    """As the browser is told of them: the view's own, those of the GPU and of the kernel, most of them folded away."""
    parts = (("This view", "", own, len(own)), ("The GPU", IMAGINE, board, FIRST_SHOWN), ("The kernel", OTHER, work, 1))
    return [
        {
            "title": title,
            "note": note,
            "controls": [told(one) for one in every[:first]],
            "more": [told(one) for one in every[first:]],
        }
        for title, note, every, first in parts
        if every
    ]


def told(one: Control) -> dict[str, Any]:
    """As the browser is told of it."""
    own = one.value if float(one.value).is_integer() else float(f"{one.value:.{DIGITS}g}")
    label = f"{one.label}, {one.unit}" if one.unit else one.label
    return {"key": one.key, "label": label, "own": own, "low": one.low, "high": one.high, "whole": bool(one.whole)}
