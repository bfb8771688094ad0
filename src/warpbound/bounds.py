"""What a model returns: named upper bounds on one rate, or named parts of one time."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Real = float | NDArray[np.float64]  # a scalar or an array of any shape (...,)


@dataclass(frozen=True)
class Bounds:
    """Upper bounds on a rate; the smallest one is the prediction.

    limits : name -> bound, all of one shape (...,), all in `unit`.
    """

    unit: str
    limits: dict[str, NDArray[np.float64]]

    @property
    def rate(self) -> NDArray[np.float64]:
        """The tightest bound, shape (...,), in `unit`."""
        return np.asarray(np.stack(list(self.limits.values())).min(axis=0))

    @property
    def bottleneck(self) -> NDArray[np.str_]:
        """Name of the tightest bound, shape (...,); the first one named wins a tie."""
        tightest = np.stack(list(self.limits.values())).argmin(axis=0)
        return np.asarray(np.array(list(self.limits))[tightest])


@dataclass(frozen=True)
class Stack:
    """Parts of a time that add up to the prediction.

    parts : name -> share, all of one shape (...,), all in `unit`.
    """

    unit: str
    parts: dict[str, NDArray[np.float64]]

    @property
    def total(self) -> NDArray[np.float64]:
        """Sum of the parts, shape (...,), in `unit`."""
        return np.asarray(np.stack(list(self.parts.values())).sum(axis=0))

    @property
    def bottleneck(self) -> NDArray[np.str_]:
        """Name of the largest part, shape (...,)."""
        largest = np.stack(list(self.parts.values())).argmax(axis=0)
        return np.asarray(np.array(list(self.parts))[largest])


def bounds(unit: str, **limits: Real) -> Bounds:
    """Bring the named limits to one shape."""
    return Bounds(unit, _one_shape(limits))


def stack(unit: str, **parts: Real) -> Stack:
    """Bring the named parts to one shape."""
    return Stack(unit, _one_shape(parts))


def _one_shape(named: dict[str, Real]) -> dict[str, NDArray[np.float64]]:
    shaped = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in named.values()))
    return dict(zip(named, shaped, strict=True))
