"""A model evaluated a piece at a time, for inputs too many for the processor's caches."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real


def in_pieces(evaluate: Callable[[Any], Real], x: Any, points: int = 15000) -> NDArray[np.float64]:
    """`evaluate(x)`, a piece of x at a time: the same numbers sooner.

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
