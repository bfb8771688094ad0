"""Plausibility checks of a run. A failed check is reported; no result is discarded."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from warpbound.measure.board_profile import Summary, facts_as_parameters
from warpbound.measure.device import Facts
from warpbound.measure.runner import RawFile

PINS = (0.80, 0.97)     # usual share of the pin bandwidth that streams reach
LITTLE = (1.0, 2.0)     # loads in flight for 90 % of the peak over those of Little's law, streams in device memory
CONFLICT = 0.03         # tolerance of the rate of a two-way bank conflict
LINE = 128
STEADY, FEW = 0.01, 0.05  # tolerated difference of clocks, and the share of cases in which they may differ more
SLOW = 0.85             # share of the maximum clock below which something throttles the GPU
THROTTLED = {0x4: "power limit", 0x8: "hardware slowdown", 0x20: "too hot", 0x40: "far too hot", 0x80: "power brake"}


def gates(summary: Summary) -> list[str]:
    """One line for each check that failed or that the data do not allow."""
    lines = []
    for gate in (_clock, _pins, _conflict, _little, _blocks):
        try:
            line = gate(summary)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:  # unexpected data
            line = f"Gate: {gate.__name__.strip('_')} could not be checked ({type(error).__name__}: {error})."
        lines += [line] if line else []
    return lines


def clocks(files: Iterable[RawFile]) -> list[str]:
    """One line where many cases ran at another clock than the median: it changed while measuring."""
    observed = np.array([record.clock_Hz for file in files for record in file.records])
    if not len(observed):
        return []
    usual = float(np.median(observed))
    other = np.abs(observed / usual - 1.0) > STEADY
    if other.mean() <= FEW:
        return []
    span = f"{observed.min() / 1e6:.0f} to {observed.max() / 1e6:.0f}"
    return [f"Gate: {int(other.sum())} of {len(observed)} cases ran at other clocks than {usual / 1e6:.0f} MHz "
            f"({span}); cycles of one and seconds of another do not belong together. Delete the files of mechanisms "
            "that matter, and measure them again."]  # fmt: skip


def alone(sensors: Iterable[Mapping[str, float]], facts: Facts) -> list[str]:
    """One line for each sign that the GPU was throttled or shared with others. sensors : of the raw files."""
    readings = list(sensors)
    reasons = [int(reading.get("throttle_reasons", 0.0)) for reading in readings]
    throttled = [name for bit, name in THROTTLED.items() if any(reason & bit for reason in reasons)]
    lines = [f"Gate: the GPU was throttled ({', '.join(throttled)})."] if throttled else []
    most = max((reading.get("processes", 0.0) for reading in readings), default=0.0)
    if most > 1:
        lines.append(f"Gate: {most:.0f} processes had the GPU at once; rates are not those of the whole GPU.")
    if " MIG " in f"{facts.name} ":
        lines.append("Gate: this is a part of a GPU (MIG); the driver may report the memory of the whole GPU.")
    return lines


def _clock(summary: Summary) -> str:
    rows = summary.estimates.get("latency_clock")
    if not rows or rows[0][1].value * 1e6 >= SLOW * summary.facts.clock:
        return ""
    return (f"Gate: the SMs ran at {rows[0][1].value:.0f} MHz, the driver names {summary.facts.clock / 1e6:.0f}; "
            "rates in B/s and seconds hold at that clock only.")  # fmt: skip


def _pins(summary: Summary) -> str:
    pins = facts_as_parameters(summary.facts).get("dram_bandwidth")
    rows = summary.estimates.get("dram_achievable_bandwidth")
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
    clock = summary.estimates.get("latency_clock")
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
    counts = ", ".join(f"{resident} instead of {intended}" for intended, resident in wrong.items())
    return f"Gate: shared memory allows other numbers of blocks on an SM ({counts})." if wrong else ""
