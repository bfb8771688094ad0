"""FP32: add, multiply, fused multiply-add, comparisons, minima, and the range check of division."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from warpbound.emulate.correct_rounding import directed, fma32, fused, rounded
from warpbound.emulate.integer import COMBINE, COMPARE
from warpbound.emulate.operand_access import (
    FALSE,
    TRUE,
    Read,
    Site,
    predicate,
    single,
    write_predicate,
    write_single,
    write_words,
)
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import NORMAL, State, Value
from warpbound.program.instruction import PT, RZ, Operand

Write = Callable[[State, Value], None]

_ONE, _LARGEST_SUBNORMAL = np.uint32(1), np.uint32(2 * 0x007FFFFF)  # doubled, as it is compared
_EXPONENT, _SIGN = np.uint32(0x7F800000), np.uint32(0x80000000)


def flush(v: Value) -> Value:
    """Subnormal float32 values become zeros of their sign; `v` itself where there is none."""
    bits = np.asarray(v).view(np.uint32)
    magnitude = np.left_shift(bits, _ONE)
    magnitude = np.subtract(magnitude, _ONE)  # a zero becomes the largest of all
    if magnitude.flat[magnitude.argmin()] >= _LARGEST_SUBNORMAL:
        return v
    return np.where((bits & _EXPONENT) == 0, bits & _SIGN, bits).view(np.float32)


def source(operand: Operand, here: Site) -> Read:
    """A float32 source, flushed to zero where the instruction has .FTZ."""
    reader = single(operand, here)
    if not here.has("FTZ"):
        return reader
    if operand.kind != "register" or operand.index == RZ:
        return lambda x: flush(reader(x))
    index = operand.index

    def flushed(x: State) -> Value:
        value = reader(x)
        if x.normal[index]:
            return value
        result = flush(value)
        if result is value and x.index is None:
            x.normal[index] = NORMAL
        return result

    return flushed


def finish(here: Site) -> Write:
    """The writer of a float32 result: flush, saturate, store."""
    write, steps = write_single(here.output), _steps(here)
    if not steps:
        return write
    index = here.output.index if here.output is not None and here.output.kind == "register" else RZ

    def finished(x: State, value: Value) -> None:
        for step in steps:
            value = step(value)
        write(x, value)
        if flushes and x.index is None and x.mask is None:
            x.normal[index] = NORMAL

    flushes = here.has("FTZ")
    return finished


def _steps(here: Site) -> list[Callable[[Value], Value]]:
    """The steps between a result and its store: flush, saturate."""
    return [step for name, step in (("FTZ", flush), ("SAT", saturated)) if here.has(name)]


def saturated(v: Value) -> Value:
    """Clamped to [0, 1]; NaN becomes 0."""
    return np.where(v > 0, np.minimum(v, np.float32(1)), np.float32(0)).astype(np.float32)


def direction(here: Site) -> str:
    """Rounding mode: RM, RP, RZ, or RN by default."""
    return next((m for m in here.instruction.modifiers if m in ("RM", "RP", "RZ")), "RN")


@executes("FADD UFADD")
def add(here: Site) -> Handler:
    """FADD."""
    a, b = (source(operand, here) for operand in here.sources[:2])
    write, way = finish(here), direction(here)
    if way == "RN":
        return lambda x: write(x, a(x) + b(x))
    return lambda x: write(x, rounded(a(x).astype(np.float64), b(x).astype(np.float64), way))


@executes("FMUL UFMUL")
def multiply(here: Site) -> Handler:
    """FMUL, with .D2 .. .D8 and .M2 .. .M8 scaling the product."""
    a, b = (source(operand, here) for operand in here.sources[:2])
    write, way = finish(here), direction(here)
    scale = next((m for m in here.instruction.modifiers if m in ("D2", "D4", "D8", "M2", "M4", "M8")), None)
    if scale is not None:
        factor = np.float64(scale[1]) if scale[0] == "M" else np.float64(1) / np.float64(scale[1])
        return lambda x: write(x, directed(np.multiply(a(x), b(x), dtype=np.float64) * factor, way))
    if way == "RN":
        return lambda x: write(x, a(x) * b(x))
    return lambda x: write(x, directed(np.multiply(a(x), b(x), dtype=np.float64), way))


@executes("FFMA UFFMA")
def multiply_add(here: Site) -> Handler:
    """FFMA."""
    a, b, c = (source(operand, here) for operand in here.sources[:3])
    write, way = finish(here), direction(here)
    if way == "RN":
        return _fused(here, (a, b, c))

    def handler(x: State) -> None:
        product = np.multiply(a(x), b(x), dtype=np.float64)
        write(x, rounded(product, c(x).astype(np.float64), way))

    return handler


def _fused(here: Site, sources: tuple[Read, Read, Read]) -> Handler:
    """FFMA to nearest: the result is built in scratch, which changes places with the register's row."""
    a, b, c = sources
    output, steps, flushes = here.output, _steps(here), here.has("FTZ")
    if output is None or output.kind == "uniform" or output.index == RZ:
        write = finish(here)
        return lambda x: write(x, fma32(a(x), b(x), c(x)))
    index, write = output.index, finish(here)

    def handler(x: State) -> None:
        if x.fma_scratch is None:  # values that broadcast, not rows
            write(x, fma32(a(x), b(x), c(x)))
            return
        built = value = fused(a(x), b(x), c(x), x.fma_scratch)
        for step in steps:
            value = step(value)
        if value is built and len(value) == x.lane_count and x.mask is None:
            x.swap_scratch_row(index)
        else:
            x.put_float(index, value if len(value) == x.selected_lanes else value[0])
        if flushes and x.index is None and x.mask is None:
            x.normal[index] = NORMAL

    return handler


def comparison(here: Site) -> Callable[[Value, Value], Value]:
    """The test of a floating comparison; the forms ending in U also hold for unordered operands."""
    names = [m for m in here.instruction.modifiers if m not in ("FTZ", "BF", "BF16_V2", "BF16", "H0_H0")]
    name = next(m for m in names if m in _TESTS)
    return _TESTS[name]


def _unordered(a: Value, b: Value) -> Value:
    return np.isnan(a) | np.isnan(b)


def _negated(test: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    return lambda a, b: np.logical_not(test(a, b))


_OPPOSITE = {"LTU": np.greater_equal, "LEU": np.greater, "GTU": np.less_equal, "GEU": np.less}
_TESTS: dict[str, Callable[[Value, Value], Value]] = {
    **{name: test for name, test in COMPARE.items() if name != "NE"},
    "NE": lambda a, b: (a != b) & ~_unordered(a, b),
    "NEU": np.not_equal,
    "EQU": lambda a, b: (a == b) | _unordered(a, b),
    **{name: _negated(test) for name, test in _OPPOSITE.items()},
    "NUM": lambda a, b: ~_unordered(a, b),
    "NAN": _unordered,
    "T": lambda a, b: np.broadcast_to(TRUE, np.broadcast(a, b).shape),
    "F": lambda a, b: np.broadcast_to(FALSE, np.broadcast(a, b).shape),
}


def set_predicates(here: Site, a: Read, b: Read) -> Handler:
    """Predicate results of FSETP and DSETP: P = test op given, Q = not test op given."""
    test = comparison(here)
    combine = COMBINE[next((m for m in here.instruction.modifiers if m in COMBINE), "AND")]
    condition = predicate(here.predicates_in[0], here)
    outs = [write_predicate(operand) for operand in here.predicates_out]
    second = len(outs) > 1 and here.predicates_out[1].index != PT

    def handler(x: State) -> None:
        result, other = test(a(x), b(x)), condition(x)
        outs[0](x, combine(result, other))
        if second:
            outs[1](x, combine(np.logical_not(result), other))

    return handler


@executes("FSETP UFSETP")
def compare(here: Site) -> Handler:
    """FSETP."""
    return set_predicates(here, *(source(operand, here) for operand in here.sources[:2]))


@executes("FSET UFSET")
def compare_value(here: Site) -> Handler:
    """FSET: all ones, or with .BF 1.0, where the test and the given predicate hold."""
    a, b = (source(operand, here) for operand in here.sources[:2])
    test, condition = comparison(here), predicate(here.predicates_in[0], here)
    combine = COMBINE[next((m for m in here.instruction.modifiers if m in COMBINE), "AND")]
    true = np.uint32(0x3F800000 if here.has("BF") else 0xFFFFFFFF)
    write = write_words(here.output)
    return lambda x: write(x, np.where(combine(test(a(x), b(x)), condition(x)), true, np.uint32(0)))


@executes("FSEL UFSEL")
def select(here: Site) -> Handler:
    """FSEL: a where the predicate holds, else b."""
    first, second = (source(operand, here) for operand in here.sources[:2])
    choose, write = predicate(here.predicates_in[0], here), write_single(here.output)
    return lambda x: write(x, np.where(choose(x), first(x), second(x)))


@executes("FMNMX UFMNMX")
def minimum(here: Site) -> Handler:
    """FMNMX: a number wins over NaN, unless .NAN; -0 is less than +0."""
    a, b = (source(operand, here) for operand in here.sources[:2])
    choose, write = predicate(here.predicates_in[0], here), _with_both_signs(here, finish(here))
    keep_nan = here.has("NAN")

    def handler(x: State) -> None:
        first, second, least = a(x), b(x), choose(x)
        write(x, np.where(least, least_of(first, second, keep_nan), most_of(first, second, keep_nan)))

    return handler


def _with_both_signs(here: Site, write: Write) -> Write:
    """Under .XORSIGN a number is negative where one source is, before its ||, and the other is not."""
    if not here.has("XORSIGN"):
        return write
    a, b = (single(replace(operand, absolute=False), here) for operand in here.sources[:2])

    def signed(x: State, value: Value) -> None:
        negative = np.signbit(a(x)) ^ np.signbit(b(x))
        sign = np.where(negative, np.float32(-1), np.float32(1))
        write(x, np.where(np.isnan(value), value, np.copysign(value, sign)))

    return signed


@executes("FMNMX3")
def minimum_of_three(here: Site) -> Handler:
    """FMNMX3."""
    a, b, c = (source(operand, here) for operand in here.sources[:3])
    choose, write = predicate(here.predicates_in[0], here), finish(here)
    keep_nan = here.has("NAN")

    def handler(x: State) -> None:
        first, second, third, least = a(x), b(x), c(x), choose(x)
        low = least_of(least_of(first, second, keep_nan), third, keep_nan)
        high = most_of(most_of(first, second, keep_nan), third, keep_nan)
        write(x, np.where(least, low, high))

    return handler


def least_of(a: Value, b: Value, keep_nan: bool) -> Value:  # noqa: FBT001  (a value of the instruction)
    lower = np.where((a < b) | ((a == b) & np.signbit(a)), a, b)
    return _nan_rule(a, b, lower, keep_nan)


def most_of(a: Value, b: Value, keep_nan: bool) -> Value:  # noqa: FBT001
    upper = np.where((a > b) | ((a == b) & ~np.signbit(a)), a, b)
    return _nan_rule(a, b, upper, keep_nan)


def _nan_rule(a: Value, b: Value, result: Value, keep_nan: bool) -> Value:  # noqa: FBT001
    a_nan, b_nan = np.isnan(a), np.isnan(b)
    if not (np.any(a_nan) or np.any(b_nan)):
        return result
    if keep_nan:
        return np.where(a_nan | b_nan, np.array(np.nan, result.dtype), result)
    return np.where(a_nan, b, np.where(b_nan, a, result))


@executes("FCHK")
def check_division(here: Site) -> Handler:
    """FCHK: whether a / b needs the slow path: operands or quotient near the ends of the range."""
    a, b = (single(operand, here) for operand in here.sources[:2])
    (out,) = (write_predicate(operand) for operand in here.predicates_out)

    def handler(x: State) -> None:
        first, second = (_exponents(v) for v in (a(x), b(x)))
        special = (first >= 255) | (second >= 255 - 2) | (second <= 1) | (first <= 24)
        difference = first - second
        out(x, special | (difference >= 126) | (difference <= -125))

    return handler


def _exponents(v: Value) -> Value:
    return (v.view(np.uint32) >> np.uint32(23) & np.uint32(255)).astype(np.int32)
