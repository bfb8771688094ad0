"""A function that remembers its last results by the identity of its arguments, which need not be hashable."""

from collections import deque
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def remembered(size: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator: the last `size` results are kept, each with its arguments, which stay alive as long.

    For pure functions of frozen values that one answer asks for several times.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        kept: deque[tuple[tuple[object, ...], R]] = deque(maxlen=size)

        @wraps(function)
        def call(*args: P.args, **named: P.kwargs) -> R:
            asked = (*args, *sorted(named), *(named[name] for name in sorted(named)))
            for other, result in tuple(kept):
                if len(other) == len(asked) and all(a is b for a, b in zip(other, asked, strict=True)):
                    return result
            result = function(*args, **named)
            kept.append((asked, result))
            return result

        return call

    return decorate
