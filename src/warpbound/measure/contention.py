"""Latency against throughput: Volkov's a + b X / (c - X), and the warps that a rate needs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpbound.headline.least_squares import least_squares

Array = NDArray[np.float64]
FURTHEST = 3.0  # the rate at which latency would grow without end, in units of the largest seen
BEND = (0.02, 0.2, 1.0)  # b in units of a from which the search starts


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
    """The curve whose rates come closest to the measured ones, each at as many loads in flight as were seen.

    Loads in flight are latency x rate; the curve gives them another rate, and its relative error is what is least: near
    saturation a latency says little of the curve, the rate says all.
    """
    flying, most = latency * rate, float(rate.max())

    def residuals(unknowns: Array) -> Array:
        a, b, c = np.exp(unknowns)
        return np.asarray(np.log(rate_of(flying, a, b, c) / rate))

    least = float(latency.min())
    low = np.log([0.5 * least, 1e-4 * least, 0.9 * most])
    high = np.log([2.0 * least, 20.0 * least, FURTHEST * most])
    starts = [np.log([least, bend * least, 1.1 * most]) for bend in BEND]
    fits = [least_squares(residuals, start, low, high) for start in starts]
    best = min(fits, key=lambda fit: float(residuals(fit) @ residuals(fit)))
    a, b, c = (float(one) for one in np.exp(best))
    return Contention(a, b, c, float(np.sqrt(np.mean(residuals(best) ** 2))))


def rate_of(flying: Array, a: float, b: float, c: float) -> Array:
    """The rate X < c at which a + b X / (c - X) is flying / X."""
    p, q = a - b, a * c + flying
    return np.asarray(2.0 * flying * c / (q + np.sqrt(q * q - 4.0 * p * flying * c)))


def as_figure(found: Contention) -> dict[str, float]:
    """Rounded, for rates in GB/s."""
    return {"a": round(found.a, 2), "b": round(found.b, 2), "c GB/s": round(found.c, 1), "error": round(found.error, 4)}


def needed(warps: Array, rate: Array, share: float) -> int | None:
    """Fewest warps whose rate is at least `share` of the largest; None where nothing was measured."""
    reach = warps[rate >= share * rate.max()] if len(rate) else warps
    return int(reach.min()) if len(reach) else None


def needed_of(warps: Array, rate: Array, peak: float, share: float) -> int | None:
    """The same against a peak from elsewhere; None where it is not reached."""
    reach = warps[rate >= share * peak]
    return int(reach.min()) if len(reach) else None
