"""Latency against throughput: Volkov's a + b X / (c - X), and the warps that a rate needs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FURTHEST = 3.0  # the rate at which latency would grow without end, in units of the largest seen
STEPS = 400


@dataclass(frozen=True)
class Contention:
    """latency = a + b X / (c - X): a, b in cycles, c in the unit of the rate X."""

    a: float
    b: float
    c: float
    error: float  # root mean square, relative

    def latency(self, rate: Array) -> Array:
        """Cycles at a rate below c."""
        return np.asarray(self.a + self.b * rate / (self.c - rate))


def contention(latency: Array, rate: Array) -> Contention:
    """The curve with the least relative error: for each c the best a and b, then the best c, refined twice."""
    low, high = 1.0 + 1e-4, FURTHEST
    best = Contention(float(latency.min()), 0.0, FURTHEST * float(rate.max()), np.inf)
    for _ in range(3):
        factors = np.linspace(low, high, STEPS)
        found = [_with(latency, rate, factor * float(rate.max())) for factor in factors]
        at = int(np.argmin([one.error for one in found]))
        best = found[at]
        low, high = factors[max(0, at - 1)], factors[min(STEPS - 1, at + 1)]
    return best


def _with(latency: Array, rate: Array, c: float) -> Contention:
    columns = np.stack([1.0 / latency, rate / (c - rate) / latency], axis=1)
    (a, b), *_ = np.linalg.lstsq(columns, np.ones(len(latency)), rcond=None)
    error = float(np.sqrt(np.mean((columns @ [a, b] - 1.0) ** 2)))
    return Contention(float(a), float(b), c, error if b >= 0 else np.inf)


def needed(warps: Array, rate: Array, share: float) -> int | None:
    """Fewest warps whose rate is at least `share` of the largest; None where nothing was measured."""
    reach = warps[rate >= share * rate.max()] if len(rate) else warps
    return int(reach.min()) if len(reach) else None


def needed_of(warps: Array, rate: Array, peak: float, share: float) -> int | None:
    """The same against a peak from elsewhere; None where it is not reached."""
    reach = warps[rate >= share * peak]
    return int(reach.min()) if len(reach) else None
