"""How well a fit knows what it found."""

from collections.abc import Callable
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
STEP = 1e-5   # of an unknown, for a slope
TRACE = 1e-6  # of the steepest slope: an unknown that moves the data less has left none in them


def standard_errors(residuals: Callable[[Array], Array], found: Array, noise: float = 0.0) -> Array:
    """Of least squares at its solution, one for each unknown; relative where the unknowns are logarithms.

    From the slopes and the scatter that is left, which is at least `noise`; infinite where the data leave an unknown
    open, or where there are no more points than unknowns.
    """
    there = residuals(found)
    spare = len(there) - len(found)
    if spare < 1:
        return np.full(len(found), np.inf)
    slopes = np.stack([(residuals(found + STEP * one) - there) / STEP for one in np.eye(len(found))], axis=1)
    variance = max(float(there @ there) / spare, noise**2)
    errors, seen = np.full(len(found), np.inf), np.abs(slopes).max(axis=0) > TRACE * np.abs(slopes).max()
    with suppress(np.linalg.LinAlgError):
        spread = np.diag(np.linalg.inv(slopes[:, seen].T @ slopes[:, seen]))
        errors[seen] = np.sqrt(variance * np.where(spread > 0, spread, np.inf))
    return errors
