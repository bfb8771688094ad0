"""FP64: add, multiply, fused multiply-add, comparisons, minima."""


import numpy as np

from warpbound.emulate.correct_rounding import fma64_directed, sum64_directed
from warpbound.emulate.float32 import direction, least_of, most_of, set_predicates
from warpbound.emulate.operand_access import Site, double, predicate, write_pair, write_predicate
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import State


@executes("DADD")
def add(here: Site) -> Handler:
    """DADD."""
    a, b = (
        double(operand, here)
        for operand in here.sources
        if operand.index != 255 or operand.negate or len(here.sources) == 2
    )
    write, way = write_pair(here.output), direction(here)
    if way == "RN":
        return lambda x: write(x, a(x) + b(x))
    return lambda x: write(x, sum64_directed(a(x), b(x), way))


@executes("DMUL")
def multiply(here: Site) -> Handler:
    """DMUL."""
    a, b = (double(source, here) for source in here.sources[:2])
    write, way = write_pair(here.output), direction(here)
    if way == "RN":
        return lambda x: write(x, a(x) * b(x))

    def handler(x: State) -> None:
        first, second = a(x), b(x)
        zero = np.copysign(0.0, first * second)  # the addend that changes no product
        write(x, fma64_directed(first, second, zero, way))

    return handler


@executes("DFMA")
def multiply_add(here: Site) -> Handler:
    """DFMA."""
    a, b, c = (double(source, here) for source in here.sources[:3])
    write, way = write_pair(here.output), direction(here)
    return lambda x: write(x, fma64_directed(a(x), b(x), c(x), way))


@executes("DSETP")
def compare(here: Site) -> Handler:
    """DSETP; .MIN and .MAX tell which operand is the result, and whether that is NaN."""
    if here.has("MIN", "MAX"):
        return _choose(here)
    return set_predicates(here, *(double(source, here) for source in here.sources[:2]))


def _choose(here: Site) -> Handler:
    """DSETP.MIN, .MAX: P = the first operand is the result, Q = both are NaN; a number wins over NaN, -0 is below +0.

    Source   how compiled fmin and fmax go on: P selects the operand, Q makes the second one's NaN a quiet one.
    """
    a, b = (double(source, here) for source in here.sources[:2])
    take_first, least = predicate(here.predicates_in[0], here), here.has("MIN")
    outs = [write_predicate(operand) for operand in here.predicates_out]

    def handler(x: State) -> None:
        first, second, other = a(x), b(x), take_first(x)
        lost, absent = np.isnan(first), np.isnan(second)
        before = first < second if least else first > second
        before |= (first == second) & (np.signbit(first) == least)
        for out, value in zip(outs, (~lost & (before | absent), lost & absent), strict=False):
            out(x, value & other)

    return handler


@executes("DMNMX")
def minimum(here: Site) -> Handler:
    """DMNMX."""
    a, b = (double(source, here) for source in here.sources[:2])
    choose, write = predicate(here.predicates_in[0], here), write_pair(here.output)

    def handler(x: State) -> None:
        first, second = a(x), b(x)
        low, high = least_of(first, second, False), most_of(first, second, False)  # noqa: FBT003
        write(x, np.where(choose(x), low, high))

    return handler
