"""Gates that a trustworthy run passes; what does not is said, nothing is thrown away."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from warpbound.measure.board_profile import Summary, facts_as_parameters
from warpbound.measure.device import Facts
from warpbound.measure.runner import Raw

PINS = (0.80, 0.97)     # of the pins' rate: what streams usually reach
LITTLE = (1.0, 2.0)     # loads in flight for 90 % over those of Little's law, streams from device memory
CONFLICT = 0.03         # how far a two-way conflict may be from half the rate
LINE = 128
STEADY, FEW = 0.01, 0.05  # how far clocks may differ, and in which share of the cases they may differ more
SLOW = 0.85             # of the highest clock: below, something holds the GPU back
THROTTLED = {0x4: "power limit", 0x8: "hardware slowdown", 0x20: "too hot", 0x40: "far too hot", 0x80: "power brake"}


def gates(summary: Summary) -> list[str]:
    """One line per gate that was not passed, or that the data do not allow to ask."""
    lines = []
    for gate in (_clock, _pins, _conflict, _little, _blocks):
        try:
            line = gate(summary)
        except (ArithmeticError, LookupError, TypeError, ValueError) as failed:  # data that nobody foresaw
            line = f"Gate: {gate.__name__.strip('_')} could not be asked ({type(failed).__name__}: {failed})."
        lines += [line] if line else []
    return lines


def clocks(raws: Iterable[Raw]) -> list[str]:
    """One line where many cases ran at another clock than half of them: something changed it while measuring."""
    seen = np.array([record.clock_Hz for raw in raws for record in raw.records])
    if not len(seen):
        return []
    usual = float(np.median(seen))
    other = np.abs(seen / usual - 1.0) > STEADY
    if other.mean() <= FEW:
        return []
    return [f"Gate: {int(other.sum())} of {len(seen)} cases ran at other clocks than {usual / 1e6:.0f} MHz "
            f"({seen.min() / 1e6:.0f} to {seen.max() / 1e6:.0f}); cycles of one and seconds of another do not belong "
            "together. Delete the files of the mechanisms that matter, and measure them again."]  # fmt: skip


def alone(sensors: Iterable[Mapping[str, float]], facts: Facts) -> list[str]:
    """What says that the GPU was not this run's alone, or held back; one line each. sensors : of the raw files."""
    readings = list(sensors)
    reasons = [int(reading.get("throttle_reasons", 0.0)) for reading in readings]
    held = [name for bit, name in THROTTLED.items() if any(reason & bit for reason in reasons)]
    lines = [f"Gate: clocks were held back ({', '.join(held)})."] if held else []
    most = max((reading.get("processes", 0.0) for reading in readings), default=0.0)
    if most > 1:
        lines.append(f"Gate: {most:.0f} processes had the GPU at once; rates are not those of the whole GPU.")
    if " MIG " in f"{facts.name} ":
        lines.append("Gate: this is a part of a GPU (MIG); what the driver says of memory may be of the whole.")
    return lines


def _clock(summary: Summary) -> str:
    rows = summary.found.get("latency_clock")
    if not rows or rows[0][1].value * 1e6 >= SLOW * summary.facts.clock:
        return ""
    return (f"Gate: the SMs ran at {rows[0][1].value:.0f} MHz, the driver names {summary.facts.clock / 1e6:.0f}; "
            "rates in B/s and seconds hold at that clock only.")  # fmt: skip


def _pins(summary: Summary) -> str:
    pins = facts_as_parameters(summary.facts).get("dram_bandwidth")
    rows = summary.found.get("dram_achievable_bandwidth")
    if pins is None or not rows:
        return ""
    share = rows[0][1].value / pins.value
    low, high = PINS
    if low <= share <= high:
        return ""
    usual = f"{100 * low:.0f} to {100 * high:.0f} % are usual"
    return f"Gate: the best stream has {100 * share:.0f} % of the pins' rate; {usual}."


def _conflict(summary: Summary) -> str:
    table: Any = summary.figures.get("shared_patterns: load of 4 B") or {}
    if not table.get("1") or not table.get("2"):
        return ""
    ratio = table["2"] / table["1"]
    near = abs(ratio / 2.0 - 1.0) <= CONFLICT
    return "" if near else f"Gate: a two-way conflict takes {ratio:.2f} times as long, not 2."


def _little(summary: Summary) -> str:
    curve: Any = summary.figures.get("loaded_latency: dram stream") or {}
    clock = summary.found.get("latency_clock")
    if not curve or not curve["needed loads in flight"]["90 %"] or clock is None:
        return ""
    rate = max(curve["peak GB/s by chains"].values()) * 1e9 / (LINE * 1e6 * clock[0][1].value * summary.facts.sm_count)
    ratio = curve["needed loads in flight"]["90 %"] / (curve["latency"] * rate)
    low, high = LITTLE
    if low <= ratio <= high:
        return ""
    return f"Gate: 90 % of the chased peak need {ratio:.2f} times the loads of Little's law; about 1.3 are usual."


def _blocks(summary: Summary) -> str:
    wrong: Any = summary.figures.get("occupancy: not as asked [asked: held]") or {}
    said = ", ".join(f"{held} where {asked} were asked for" for asked, held in wrong.items())
    return f"Gate: shared memory holds other numbers of blocks on an SM ({said})." if wrong else ""
