"""Fits: memory latency against throughput, a + b X / (c - X), the warps that a rate needs, errors of least squares."""

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from warpbound.measure.case import Array
from warpbound.quick_dataclasses import dataclass
from warpbound.time_model.least_squares import least_squares

FURTHEST = 3.0           # upper bound of c, in units of the largest measured rate
BEND = (0.02, 0.2, 1.0)  # b in units of a from which the search starts
KNEE = 0.8               # share of the ceiling below which loads queue like independent arrivals
FEWEST = 4               # points that a fit needs
MANY_LOADS = 30          # in flight on an SM at the ceiling, from which warps queue nearly like independent arrivals
HIDDEN = {True: 1.4, False: 3.5}  # upper bound of b over the fitted one: with MANY_LOADS in flight, with fewer
SCATTER = 0.75           # lower bound of b over the fitted one: difference between repeated runs
FEWER, FLAT = 0.8, 0.98  # a plateau: with this share of the loads in flight, this share of the best rate is reached
STEP = 1e-5              # relative step of an unknown, for a slope
TRACE = 1e-6             # of the steepest slope: the data do not determine an unknown whose slope is flatter


@dataclass(frozen=True)
class Contention:
    """latency = a + b X / (c - X): a, b in cycles, c in the unit of the rate X.

    error : root mean square of the relative errors of the fitted points. a_error, b_error, c_error : relative standard
    errors; that of c is 0 where it was given. points : points used.
    """

    a: float
    b: float
    c: float
    error: float
    a_error: float
    b_error: float
    c_error: float
    points: int

    def latency(self, rate: Array) -> Array:
        """Cycles at a rate below c."""
        return np.asarray(self.a + self.b * rate / (self.c - rate))


def contention(latency: Array, rate: Array, ceiling: float | None = None) -> Contention:
    """The curve with the least relative errors of the rates at the measured numbers of loads in flight.

    Loads in flight are latency x rate. ceiling : c, where it is known: the rate that more loads in flight do not raise.
    Only points below KNEE of it are fitted then, if there are FEWEST. Without it b and c are fitted together; their
    errors compensate each other, so that only their product is determined well.
    """
    below = rate <= KNEE * ceiling if ceiling is not None else np.ones(len(rate), bool)
    latency, rate = (latency[below], rate[below]) if below.sum() >= FEWEST else (latency, rate)
    flying, least, most = latency * rate, float(latency.min()), float(rate.max())

    def coefficients(logarithms: Array) -> tuple[float, float, float]:
        a, b, *c = np.exp(logarithms)
        return float(a), float(b), float(c[0]) if c else float(ceiling or 0.0)

    def residuals(logarithms: Array) -> Array:
        return np.asarray(np.log(rate_of(flying, *coefficients(logarithms)) / rate))

    free = 2 if ceiling is not None else 3
    low = np.log([0.5 * least, 1e-4 * least, 0.9 * most])[:free]
    high = np.log([2.0 * least, 20.0 * least, FURTHEST * most])[:free]
    starts = [np.log([least, bend * least, 1.1 * most])[:free] for bend in BEND]
    fits = [least_squares(residuals, start, low, high) for start in starts]
    best = min(fits, key=lambda fit: float(residuals(fit) @ residuals(fit)))
    a_error, b_error, *c_error = standard_errors(residuals, best).tolist()
    scatter = float(np.sqrt(np.mean(residuals(best) ** 2)))
    return Contention(*coefficients(best), scatter, a_error, b_error, c_error[0] if c_error else 0.0, len(rate))


def rate_of(flying: Array, a: float, b: float, c: float) -> Array:
    """The rate X < c at which a + b X / (c - X) is flying / X."""
    p, q = a - b, a * c + flying
    return np.asarray(2.0 * flying * c / (q + np.sqrt(q * q - 4.0 * p * flying * c)))


def plateau(flying: Array, rate: Array) -> float | None:
    """The rate that more loads in flight do not raise; None where the last ones still did."""
    best = int(rate.argmax())
    fewer = flying <= FEWER * flying[best]
    return float(rate[best]) if (rate[fewer] >= FLAT * rate[best]).any() else None


def range_of_b(fit: Contention, flying: float) -> dict[str, float]:
    """Bounds of b, cycles. The fit is too low: a fixed number of loads in flight queues less than independent arrivals
    of the same rate.

    flying : loads of an SM in flight at the ceiling, by Little's law. HIDDEN and SCATTER come from the simulated SM
    with many seeds, where b is known. The lower bound is SCATTER of the fit, or the fit less two of its
    standard errors where that is lower.
    """
    error = fit.b_error if np.isfinite(fit.b_error) else 0.0
    return {"b from": round(fit.b * max(0.0, min(SCATTER, 1.0 - 2.0 * error)), 2),
            "b to": round(fit.b * HIDDEN[flying >= MANY_LOADS], 2)}  # fmt: skip


def as_figure(fit: Contention) -> dict[str, float | None]:
    """Rounded, for rates in GB/s; standard errors are relative, None where the data do not determine them."""
    errors = [getattr(fit, f"{name}_error") for name in "abc"]
    return {"a": round(fit.a, 2), "b": round(fit.b, 2), "c GB/s": round(fit.c, 1), "error": round(fit.error, 4),
            **{f"standard error of {name}": round(error, 4) if np.isfinite(error) else None
               for name, error in zip("abc", errors, strict=True)}, "points": fit.points}  # fmt: skip


def needed_of(warps: Array, rate: Array, peak: float, share: float) -> int | None:
    """Fewest warps whose rate is at least `share` of a peak; None where none reaches it."""
    reach = warps[rate >= share * peak]
    return int(reach.min()) if len(reach) else None


def fewest_warps(*counts: int | None) -> int | None:
    """The least of several needed numbers of warps; None where no rate is reached."""
    return min((count for count in counts if count is not None), default=None)


def standard_errors(residuals: Callable[[Array], Array], solution: Array, noise: float = 0.0) -> Array:
    """Standard errors of least squares, one for each unknown; relative where the unknowns are logarithms.

    From the slopes and the remaining scatter, which is at least `noise`; infinite where the data do not determine an
    unknown, or where there are no more points than unknowns.
    """
    residual = residuals(solution)
    freedom = len(residual) - len(solution)
    if freedom < 1:
        return np.full(len(solution), np.inf)
    slopes = np.stack([(residuals(solution + STEP * unit) - residual) / STEP for unit in np.eye(len(solution))], axis=1)
    variance = max(float(residual @ residual) / freedom, noise**2)
    errors = np.full(len(solution), np.inf)
    determined = np.abs(slopes).max(axis=0) > TRACE * np.abs(slopes).max()
    with suppress(np.linalg.LinAlgError):
        spread = np.diag(np.linalg.inv(slopes[:, determined].T @ slopes[:, determined]))
        errors[determined] = np.sqrt(variance * np.where(spread > 0, spread, np.inf))
    return errors
