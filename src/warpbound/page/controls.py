"""Numbers that a slider can set: what each is, its value by itself and how far the slider reaches."""

from dataclasses import dataclass, fields
from typing import Any

from warpbound.machine import PARAMETERS, Gpu
from warpbound.page.subject import GPU

REACH = 4.0  # a slider goes from a fourth of a value to four times it
STEPS = 200
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

    @property
    def step(self) -> float | str:
        """Of the slider and of its number."""
        return 1 if self.whole else "any"


def around(key: str, label: str, unit: str, value: float) -> Control:
    """From a fourth of the value to four times it."""
    high = REACH * value if value > 0 else 1.0
    return Control(key, label, unit, float(value), value / REACH if value > 0 else 0.0, high)


def between(key: str, label: str, unit: str, value: float, ends: tuple[float, float]) -> Control:
    """Whole numbers in a known range."""
    return Control(key, label, unit, float(value), *ends, whole="whole")


def of_inputs(prefix: str, inputs: Any, words: dict[str, tuple[str, str]]) -> list[Control]:
    """One for each symbol of a model that `words` names: symbol -> label and unit."""
    there = {field.name for field in fields(inputs)}
    return [
        around(f"{prefix}.{name}", label, unit, float(getattr(inputs, name)))
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
