"""What a model returns: named upper bounds on one rate, or named parts of one time."""

from functools import reduce

import numpy as np
from numpy.typing import NDArray

from warpbound.quick_dataclasses import dataclass

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
        return np.asarray(reduce(np.minimum, self.limits.values()))

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
        return np.asarray(reduce(np.add, self.parts.values()))

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


def _one_shape(values: dict[str, Real]) -> dict[str, NDArray[np.float64]]:
    arrays = {name: np.asarray(value, dtype=np.float64) for name, value in values.items()}
    shape = np.broadcast(*arrays.values()).shape
    return {name: a if a.shape == shape else np.broadcast_to(a, shape) for name, a in arrays.items()}
