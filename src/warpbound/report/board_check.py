"""Whether the values of a board agree with one another and with its architecture, for `gpus --check`.

If a value is right although it disagrees, its note gives the reason after the word "exception:".
"""

import math
import re
from collections.abc import Iterator
from functools import cache

from warpbound.machine import PARAMETERS, Gpu, catalogue

CLOSE = 0.01  # relative difference that rounding explains

FP32_LANES = {  # sm number -> lanes per SM; NVIDIA, CUDA C Programming Guide, arithmetic throughput
    10: 8, 11: 8, 12: 8, 13: 8, 20: 32, 21: 48, 30: 192, 32: 192, 35: 192, 37: 192, 50: 128, 52: 128, 53: 128,
    60: 64, 61: 128, 62: 128, 70: 64, 72: 64, 75: 64, 80: 64, 86: 128, 87: 128, 89: 128, 90: 128, 100: 128,
    101: 128, 103: 128, 110: 128, 120: 128, 121: 128,
}  # fmt: skip
TENSOR_RATES = tuple(name for name in PARAMETERS if name.startswith("tensor_") and name != "tensor_latency")
OTHER_RELATIVES = {"2070", "p6000", "gh100", "k40m", "titan"}  # measured, not in the catalogue


def findings(board: Gpu) -> list[str]:
    """Inconsistencies, one sentence each; empty for a consistent board."""
    parts = (_bandwidth, _peak, _tensor, _order, _plausible, _architecture, _relatives)
    return [f"{board.key}: {sentence}" for part in parts for sentence in part(board)]


def _bandwidth(board: Gpu) -> Iterator[str]:
    bus, rate = board.get("dram_bus"), board.get("dram_data_rate")
    if bus and rate and not _excepted(board, "dram_bandwidth"):
        product, nominal = bus * rate / 8, board.value("dram_bandwidth")
        if abs(product / nominal - 1) > CLOSE:
            yield f"bus x data rate is {product / 1e9:.4g} GB/s, dram_bandwidth {nominal / 1e9:.4g}."


def _peak(board: Gpu) -> Iterator[str]:
    """Check a peak rate at the base clock, the boost clock and the clocks that other sources give."""
    nominal, lanes = board.get("fp32_peak"), FP32_LANES.get(board.arch)
    if nominal is None or lanes is None or _excepted(board, "fp32_peak"):
        return
    clocks = [clock for name in ("base_clock", "boost_clock") for clock in _claims(board, name)]
    peaks = [2 * lanes * board.value("sm_count") * clock for clock in clocks]
    if not any(abs(peak / nominal - 1) <= CLOSE for peak in peaks):
        near = min(peaks, key=lambda peak: abs(peak - nominal))
        yield f"lanes x clock x SMs gives {near / 1e12:.4g} TFLOP/s at best, fp32_peak is {nominal / 1e12:.4g}."


def _tensor(board: Gpu) -> Iterator[str]:
    for name in TENSOR_RATES:
        rate, first = board.get(name), PARAMETERS[name].first_arch
        if rate is not None and board.arch < first:
            yield f"{name} does not exist before sm_{first}."
        elif rate is not None and (rate % 1 or int(rate) & (int(rate) - 1)):
            yield f"{name} = {rate:g} is not a power of two."
    for name in TENSOR_RATES:
        other, ratio = PARAMETERS[name].ratio_to, PARAMETERS[name].ratio
        a, b = board.get(name), board.get(other) if other else None
        if a and b and a != ratio * b:
            yield f"{name} is {a / b:g} x {other}, not {ratio:g}."


def _order(board: Gpu) -> Iterator[str]:
    for name in board.parameters:
        most = PARAMETERS[name].at_most
        while most and most not in board.parameters:
            most = PARAMETERS[most].at_most
        if most and board.value(name) > board.value(most):
            yield f"{name} exceeds {most}."
    l1 = board.get("l1_bandwidth")
    if l1 and l1 * board.value("sm_count") * board.value("boost_clock") < (board.get("l2_bandwidth") or 0):
        yield "l2_bandwidth exceeds the L1 rate of all SMs."
    reached = board.get("dram_achievable_bandwidth")
    if reached and reached < 0.5 * board.value("dram_bandwidth"):
        yield "dram_achievable_bandwidth is less than half of dram_bandwidth."


def _plausible(board: Gpu) -> Iterator[str]:
    for name in board.parameters:
        low, high = PARAMETERS[name].plausible or (0.0, math.inf)
        if not low <= board.value(name) <= high:
            yield f"{name} is outside {low:g} to {high:g}."
    if board.get("sm_count") and board.value("sm_count") % 1:
        yield "sm_count is not a whole number."
    seconds = (board.get("dram_latency") or 0) / (board.get("latency_clock") or 1)
    if seconds and not 100e-9 < seconds < 1000e-9:
        yield f"dram_latency is {seconds * 1e9:.0f} ns."


def _architecture(board: Gpu) -> Iterator[str]:
    """A parameter that is required from an architecture on means nothing before it."""
    for name in board.parameters:
        first = PARAMETERS[name].required_from
        if first is not None and board.arch < first:
            yield f"{name} does not exist before sm_{first}."


def _relatives(board: Gpu) -> Iterator[str]:
    for name in board.assumed:
        note = board.parameters[name].note.lower()
        if "given by the user" not in note and not re.search(r"\bown\b", note):
            words = set(re.findall(r"[a-z]*\d+[a-z]*", note))
            if not words & _relative_names():
                yield f"{name} is assumed, but its note names no relative."


@cache
def _relative_names() -> frozenset[str]:
    """Model names as notes spell them: v100, a100, 4090, 480, ..."""
    parts = {part for key in catalogue() for part in key.split("-") if re.search(r"\d", part)}
    return frozenset(parts | {number for key in catalogue() for number in re.findall(r"\d{3,}", key)} | OTHER_RELATIVES)


def _excepted(board: Gpu, name: str) -> bool:
    return "exception:" in board.parameters[name].note


def _claims(board: Gpu, name: str) -> list[float]:
    """A parameter and the values that other sources give, in base units."""
    if name not in board.parameters:
        return []
    quantity = board.parameters[name]
    factor = quantity.in_base_unit / quantity.value
    return [quantity.in_base_unit, *(claim.value * factor for claim in quantity.others)]
