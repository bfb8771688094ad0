"""Least squares between bounds, for a handful of unknowns: Levenberg and Marquardt's damped steps.

Source   J. J. More, The Levenberg-Marquardt algorithm, 1978, in its simplest form; an unknown at a
         bound that the step would push outwards stays there.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
STEPS, STEP = 200, 1e-6  # most steps; difference that gives a slope
ENOUGH = 1e-12           # fall of the sum of squares that ends the search
LONGEST = 0.3            # longest step in one unknown


def least_squares(residuals: Callable[[Array], Array], start: Array, low: Array, high: Array) -> Array:
    """Unknowns, shape (p,), that minimise the sum of squares of `residuals` between `low` and `high`."""
    x = np.clip(start, low, high)
    errors = residuals(x)
    damping = 1e-2
    for _ in range(STEPS):
        slopes = np.stack([(residuals(x + STEP * direction) - errors) / STEP for direction in np.eye(len(x))], axis=1)
        trial, trial_errors, damping = _better(residuals, x, errors, slopes, (low, high), damping)
        gain = errors @ errors - trial_errors @ trial_errors
        x, errors = trial, trial_errors
        if gain < ENOUGH:
            break
    return x


def _better(  # noqa: PLR0913  (the state of one step)
    residuals: Callable[[Array], Array], x: Array, errors: Array, slopes: Array, bounds: tuple[Array, Array],
    damping: float,
) -> tuple[Array, Array, float]:  # fmt: skip
    """The next unknowns, their residuals and damping; the same unknowns where no step helps."""
    low, high = bounds
    downhill, curvature = -slopes.T @ errors, slopes.T @ slopes
    free = ~((x >= high) & (downhill > 0) | (x <= low) & (downhill < 0))
    inner = curvature[np.ix_(free, free)]
    while damping < 1e8 and free.any():
        step = np.zeros_like(x)
        step[free] = np.linalg.solve(inner + damping * np.diag(np.diag(inner) + 1e-12), downhill[free])
        trial = np.clip(x + np.clip(step, -LONGEST, LONGEST), low, high)
        trial_errors = residuals(trial)
        if trial_errors @ trial_errors < errors @ errors:
            return trial, trial_errors, max(damping / 4, 1e-9)
        damping *= 4
    return x, errors, damping
