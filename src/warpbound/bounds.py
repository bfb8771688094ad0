"""What a model returns: named upper bounds on one rate, or named parts of one time."""

from collections.abc import Callable
from dataclasses import fields, replace
from functools import reduce
from typing import Any

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


def in_pieces(evaluate: Callable[[Any], Real], x: Any, points: int = 15000) -> NDArray[np.float64]:
    """`evaluate(x)` for inputs too many for the processor's caches, a piece at a time: the same numbers sooner.

    x      : a frozen dataclass whose fields are scalars or arrays that broadcast to one shape (...,).
    points : of a piece; a dozen arrays of 15000 doubles fit a second-level cache. Fewer where the model is a few
             lines: an allocator may give the memory of each array back to the operating system, three times slower.
    Returns an array of shape (...,).
    """
    values = {field.name: getattr(x, field.name) for field in fields(x)}
    arrays = {name: value for name, value in values.items() if np.ndim(value)}
    shape = np.broadcast_shapes(*(np.shape(value) for value in arrays.values()))
    flat = {name: np.broadcast_to(value, shape).reshape(-1) for name, value in arrays.items()}
    answer = np.empty(int(np.prod(shape)))
    for first in range(0, answer.size, points):
        piece = slice(first, first + points)
        answer[piece] = evaluate(replace(x, **{name: value[piece] for name, value in flat.items()}))
    return answer.reshape(shape)
