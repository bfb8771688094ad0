"""FP64: add, multiply, fused multiply-add, comparisons, minima."""

from collections.abc import Callable

import numpy as np

from warpbound.emulate.exact import fma64_directed, sum64_directed
from warpbound.emulate.float32 import direction, least_of, most_of, set_predicates
from warpbound.emulate.operand_access import Site, double, predicate, write_pair
from warpbound.emulate.state import State

Handler = Callable[[State], None]


def add(here: Site) -> Handler:
    """DADD."""
    a, b = (double(one, here) for one in here.sources if one.index != 255 or one.negate or len(here.sources) == 2)
    write, way = write_pair(here.output), direction(here)
    if way == "RN":
        return lambda x: write(x, a(x) + b(x))
    return lambda x: write(x, sum64_directed(a(x), b(x), way))


def multiply(here: Site) -> Handler:
    """DMUL."""
    a, b = (double(one, here) for one in here.sources[:2])
    write, way = write_pair(here.output), direction(here)
    if way == "RN":
        return lambda x: write(x, a(x) * b(x))
    zero = np.float64(-0.0)  # the addend that changes no product
    return lambda x: write(x, fma64_directed(a(x), b(x), zero, way))


def multiply_add(here: Site) -> Handler:
    """DFMA."""
    a, b, c = (double(one, here) for one in here.sources[:3])
    write, way = write_pair(here.output), direction(here)
    return lambda x: write(x, fma64_directed(a(x), b(x), c(x), way))


def compare(here: Site) -> Handler:
    """DSETP."""
    return set_predicates(here, *(double(one, here) for one in here.sources[:2]))


def minimum(here: Site) -> Handler:
    """DMNMX."""
    a, b = (double(one, here) for one in here.sources[:2])
    choose, write = predicate(here.predicates_in[0], here), write_pair(here.output)

    def handler(x: State) -> None:
        first, second = a(x), b(x)
        low, high = least_of(first, second, False), most_of(first, second, False)  # noqa: FBT003
        write(x, np.where(choose(x), low, high))

    return handler
