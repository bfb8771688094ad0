"""Tick values of a logarithmic axis: powers of ten, and 1, 2 and 5 of each decade where there are few decades."""

import math

FEW_DECADES = 2
THOUSANDS = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def decades(low: float, high: float, most: int) -> list[float]:
    """Values from low to high; at most about `most` of them where they are powers of ten alone."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    if last - first <= FEW_DECADES:
        return steps(low, high)
    every = max(1, math.ceil((last - first) / max(1, most)))
    return _within([10.0**n for n in range(first, last + 1, every)], low, high)


def steps(low: float, high: float) -> list[float]:
    """1, 2 and 5 of every decade from low to high."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return _within([digit * 10.0**n for n in range(first, last + 1) for digit in (1.0, 2.0, 5.0)], low, high)


def _within(values: list[float], low: float, high: float) -> list[float]:
    return [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]


def prefixed(value: float) -> str:
    """A tick label with an SI prefix: `20k`, `5M`; small numbers in full."""
    for size, letter in THOUSANDS:
        if abs(value) >= size * (1 - 1e-9):
            return f"{value / size:.4g}{letter}"
    return f"{value:.4g}"
