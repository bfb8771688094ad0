"""Latency against throughput: Volkov's a + b X / (c - X), and the warps that a rate needs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpbound.headline.least_squares import least_squares
from warpbound.measure.fit_errors import standard_errors

Array = NDArray[np.float64]
FURTHEST = 3.0           # the rate at which latency would grow without end, in units of the largest seen
BEND = (0.02, 0.2, 1.0)  # b in units of a from which the search starts
KNEE = 0.8               # of the ceiling: below, loads meet as those of strangers do; beyond, they wait for each other
FEWEST = 4               # points that a fit needs
MANY_LOADS = 30          # of an SM in flight at the ceiling: from here on warps meet nearly as strangers do
HIDDEN = {True: 1.4, False: 3.5}  # most that b may be in units of the fitted one: with so many in flight, with fewer
SCATTER = 0.75           # least that b may be in units of the fitted one: how far runs of the same thing differ
FEWER, FLAT = 0.8, 0.98  # a plateau: so much less in flight already gives so much of the best rate


@dataclass(frozen=True)
class Contention:
    """latency = a + b X / (c - X): a, b in cycles, c in the unit of the rate X.

    error : root mean square of the points fitted, relative. a_error, b_error, c_error : relative standard errors; that
    of c is 0 where it was given. fitted : points used.
    """

    a: float
    b: float
    c: float
    error: float
    a_error: float
    b_error: float
    c_error: float
    fitted: int

    def latency(self, rate: Array) -> Array:
        """Cycles at a rate below c."""
        return np.asarray(self.a + self.b * rate / (self.c - rate))


def contention(latency: Array, rate: Array, ceiling: float | None = None) -> Contention:
    """The curve whose rates come closest to the measured ones, each at as many loads in flight as were seen.

    Loads in flight are latency x rate; the curve gives them another rate, and its relative error is what is least.
    ceiling : c, where it is known: the rate that does not grow any more with more loads in flight. Only points below
    KNEE of it are fitted then, if there are FEWEST. Without it b and c are found together, and what the one has too
    much the other makes good: the product of their errors is what counts, not either alone.
    """
    below = rate <= KNEE * ceiling if ceiling is not None else np.ones(len(rate), bool)
    latency, rate = (latency[below], rate[below]) if below.sum() >= FEWEST else (latency, rate)
    flying, least, most = latency * rate, float(latency.min()), float(rate.max())

    def curve(unknowns: Array) -> tuple[float, float, float]:
        a, b, *c = np.exp(unknowns)
        return float(a), float(b), float(c[0]) if c else float(ceiling or 0.0)

    def residuals(unknowns: Array) -> Array:
        return np.asarray(np.log(rate_of(flying, *curve(unknowns)) / rate))

    free = 2 if ceiling is not None else 3
    low = np.log([0.5 * least, 1e-4 * least, 0.9 * most])[:free]
    high = np.log([2.0 * least, 20.0 * least, FURTHEST * most])[:free]
    starts = [np.log([least, bend * least, 1.1 * most])[:free] for bend in BEND]
    fits = [least_squares(residuals, start, low, high) for start in starts]
    best = min(fits, key=lambda fit: float(residuals(fit) @ residuals(fit)))
    a_error, b_error, *c_error = standard_errors(residuals, best).tolist()
    scatter = float(np.sqrt(np.mean(residuals(best) ** 2)))
    return Contention(*curve(best), scatter, a_error, b_error, c_error[0] if c_error else 0.0, len(rate))


def rate_of(flying: Array, a: float, b: float, c: float) -> Array:
    """The rate X < c at which a + b X / (c - X) is flying / X."""
    p, q = a - b, a * c + flying
    return np.asarray(2.0 * flying * c / (q + np.sqrt(q * q - 4.0 * p * flying * c)))


def plateau(flying: Array, rate: Array) -> float | None:
    """The rate that more loads in flight do not raise; None where the last ones still did."""
    best = int(rate.argmax())
    fewer = flying <= FEWER * flying[best]
    return float(rate[best]) if (rate[fewer] >= FLAT * rate[best]).any() else None


def range_of_b(found: Contention, flying: float) -> dict[str, float]:
    """Between what b lies, cycles: a fixed number of loads in flight never meet as many others as independent arrivals
    of the same rate would, so that the fit is too low.

    flying : loads of an SM in flight at the ceiling, by Little's law. HIDDEN and SCATTER hold what the simulated SM
    shows with many seeds, where b is known. The lower end is SCATTER of the fit, or the fit less two of
    its standard errors where that is lower.
    """
    error = found.b_error if np.isfinite(found.b_error) else 0.0
    return {"b from": round(found.b * max(0.0, min(SCATTER, 1.0 - 2.0 * error)), 2),
            "b to": round(found.b * HIDDEN[flying >= MANY_LOADS], 2)}  # fmt: skip


def as_figure(found: Contention) -> dict[str, float | None]:
    """Rounded, for rates in GB/s; standard errors relative, None where the data leave them open."""
    errors = {f"standard error of {name}": _finite(getattr(found, f"{name}_error")) for name in "abc"}
    return {"a": round(found.a, 2), "b": round(found.b, 2), "c GB/s": round(found.c, 1), "error": round(found.error, 4),
            **errors, "points": found.fitted}  # fmt: skip


def _finite(error: float) -> float | None:
    return round(error, 4) if np.isfinite(error) else None


def needed_of(warps: Array, rate: Array, peak: float, share: float) -> int | None:
    """Fewest warps whose rate is at least `share` of a peak; None where none reaches it."""
    reach = warps[rate >= share * peak]
    return int(reach.min()) if len(reach) else None
