"""FP16 and BF16, two to a register: add, multiply, fused multiply-add, comparisons, minima.

Both halves are computed in float64, where sums and products of two halves are exact but for bits
that cannot decide a rounding, and rounded once.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from warpbound.emulate.correct_rounding import directed, odd_sum, two_sum
from warpbound.emulate.float32 import comparison, least_of, most_of
from warpbound.emulate.integer import COMBINE
from warpbound.emulate.operand_access import (
    Read,
    Site,
    constant,
    predicate,
    raw,
    single,
    write_predicate,
    write_single,
    write_words,
)
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import State, Value
from warpbound.program.instruction import RZ, Operand
from warpbound.quick_dataclasses import dataclass

Pair = tuple[Value, Value]  # low and high half as float64
ReadPair = Callable[[State], Pair]


@dataclass(frozen=True)
class Format:
    """A 16-bit format: from its bits, and to its bits by one rounding of an exact sum of two float64."""

    name: str
    decode: Callable[[Value], Value]
    encode: Callable[[Value, Value], Value]


def _decode_half(bits: Value) -> Value:
    return bits.astype(np.uint16).view(np.float16).astype(np.float64)


def _encode_half(a: Value, b: Value) -> Value:
    return half_bits(a + b)


def half_bits(value: Value, way: str = "RN") -> Value:
    """Float64 values as the bits of FP16; NaN is 0x7FFF."""
    near = np.asarray(directed(value, way, np.float16))
    lost, bits = np.isnan(near), near.view(np.uint16)
    return np.where(lost, np.uint16(0x7FFF), bits) if lost.any() else bits


def _decode_bfloat(bits: Value) -> Value:
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)


def _encode_bfloat(a: Value, b: Value) -> Value:
    return round_to_bfloat(odd_sum(*two_sum(a, b)))


def round_to_bfloat(value: Value, way: str = "RN") -> Value:
    """Float64 values (exact, or rounded to odd) as the bits of bfloat16 in one of four ways; NaN is 0x7FFF."""
    if way in ("RM", "RP"):
        return _bfloat_towards(value, way)
    cut = np.asarray(directed(value, "RZ"))
    bits = cut.view(np.uint32).copy()
    if way == "RZ":
        return np.where(np.isnan(value), 0x7FFF, bits >> np.uint32(16)).astype(np.uint16)
    bits |= (cut.astype(np.float64) != value).astype(np.uint32)
    overflowed = np.isinf(value)
    bias = np.uint64(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))
    rounded = (bits + bias >> np.uint64(16)).astype(np.uint16)
    rounded = np.where(overflowed, np.where(np.asarray(value) < 0, 0xFF80, 0x7F80), rounded)
    return np.where(np.isnan(value), 0x7FFF, rounded).astype(np.uint16)


def _bfloat_towards(value: Value, way: str) -> Value:
    """Down (RM) or up (RP): FP32 in that direction is on the same side of every bfloat16."""
    bits = np.asarray(directed(value, way)).view(np.uint32)
    away = (bits >> np.uint32(31) == (way == "RM")) & (bits & np.uint32(0xFFFF) != 0)
    return np.where(np.isnan(value), 0x7FFF, (bits >> np.uint32(16)) + away).astype(np.uint16)


HALF = Format("f16", _decode_half, _encode_half)
BFLOAT = Format("bf16", _decode_bfloat, _encode_bfloat)


def format_of(here: Site) -> Format:
    return BFLOAT if here.has("BF16_V2", "BF16", "BF") and here.has("BF16_V2", "BF16") else HALF


def pairs(here: Site) -> list[ReadPair]:
    """The sources as pairs of float64; an immediate takes two printed numbers, the high half first."""
    kind, operand_pairs, at = format_of(here), list[ReadPair](), 0
    while at < len(here.sources):
        operand = here.sources[at]
        if operand.kind in ("float", "immediate"):
            operand_pairs.append(_immediate(operand, here.sources[at + 1], here, kind))
            at += 2
        else:
            operand_pairs.append(_register_pair(operand, here, kind))
            at += 1
    return operand_pairs


def _immediate(high: Operand, low: Operand, here: Site, kind: Format) -> ReadPair:
    encoding = here.instruction.encoding
    if encoding is not None:
        word = encoding[0] >> 32
    elif kind is HALF:
        word = int(np.float16(high.value).view(np.uint16)) << 16 | int(np.float16(low.value).view(np.uint16))
    else:
        upper, lower = (int(np.float32(half.value).view(np.uint32)) >> 16 for half in (high, low))
        word = upper << 16 | lower
    values = kind.decode(np.uint32(word & 0xFFFF)), kind.decode(np.uint32(word >> 16))
    return lambda x: values


def _register_pair(operand: Operand, here: Site, kind: Format) -> ReadPair:
    if "F32" in operand.suffixes:
        read32 = single(operand, here)  # what __float2half_rz compiles to on sm_75: it cuts

        def read_single(x: State) -> Pair:
            value = directed(read32(x), "RZ", np.float16).astype(np.float64)
            return value, value

        return read_single
    bits = raw(operand, here)
    low_from_high = "H1_H1" in operand.suffixes
    high_from_high = "H0_H0" not in operand.suffixes
    absolute, negate = operand.absolute, operand.negate

    def read(x: State) -> Pair:
        word = bits(x)
        halves = []
        for upper in (low_from_high, high_from_high):
            half = kind.decode(word >> np.uint32(16) if upper else word & np.uint32(0xFFFF))
            half = np.abs(half) if absolute else half
            halves.append(np.negative(half) if negate else half)
        return halves[0], halves[1]

    return read


def finish(here: Site) -> Callable[[State, list[Pair]], None]:
    """Round the exact sums of the low and the high half and store them."""
    kind = format_of(here)
    if here.has("F32"):
        write32 = write_single(here.output)
        return lambda x, sums: write32(x, np.asarray(odd_sum(*two_sum(*sums[0])).astype(np.float32)))
    write = write_words(here.output)

    def store(x: State, sums: list[Pair]) -> None:
        halves = [_limited(here, kind, np.asarray(kind.encode(*pair))) for pair in sums]
        low, high = (half.astype(np.uint32) for half in halves)
        write(x, low | high << np.uint32(16))

    return store


def _limited(here: Site, kind: Format, bits: Value) -> Value:
    """.FTZ, .SAT and .RELU on the bits of a result."""
    if here.has("FTZ"):
        mantissa = np.uint16(0x03FF if kind is HALF else 0x007F)
        small = (bits & ~(mantissa | np.uint16(0x8000))) == 0
        bits = np.where(small, bits & np.uint16(0x8000), bits)
    if here.has("SAT", "RELU"):
        value = kind.decode(bits)
        positive = ~(value < 0) if here.has("RELU") else value > 0
        bits = np.where(positive, bits, np.uint16(0))
        if here.has("SAT"):
            unity = np.uint16(0x3C00 if kind is HALF else 0x3F80)
            bits = np.where(value > 1, unity, bits)
    return bits


@executes("HADD2")
def add(here: Site) -> Handler:
    """HADD2."""
    a, b = pairs(here)[:2]
    store = finish(here)
    return lambda x: store(x, list(zip(a(x), b(x), strict=True)))


@executes("HMUL2")
def multiply(here: Site) -> Handler:
    """HMUL2."""
    a, b = pairs(here)[:2]
    store = finish(here)

    def handler(x: State) -> None:
        first, second = a(x), b(x)
        store(x, [(p * q, np.float64(-0.0)) for p, q in zip(first, second, strict=True)])

    return handler


@executes("HFMA2")
def multiply_add(here: Site) -> Handler:
    """HFMA2; with -RZ and RZ as factors it loads a constant."""
    a, b, c = pairs(here)[:3]
    store = finish(here)
    if _loads_constant(here):
        encoding = here.instruction.encoding
        if encoding is not None:
            word, write = constant(np.uint32(encoding[0] >> 32)), write_words(here.output)
            return lambda x: write(x, word(x))

    def handler(x: State) -> None:
        store(x, [(p * q, r) for p, q, r in zip(a(x), b(x), c(x), strict=True)])

    return handler


def _loads_constant(here: Site) -> bool:
    """Whether this is a move of bits: -RZ * RZ + immediate with no NaN to canonicalise."""
    first, second, *rest = here.sources
    zeros = all(operand.kind == "register" and operand.index == RZ for operand in (first, second))
    return zeros and len(rest) == 2 and all(operand.kind in ("float", "immediate") for operand in rest)


@executes("HSETP2")
def compare(here: Site) -> Handler:
    """HSETP2: one predicate per half; with .AND or .OR after .H0_H0-like selection each joined to the input."""
    a, b = pairs(here)[:2]
    test, condition = comparison(here), predicate(here.predicates_in[0], here)
    combine = COMBINE[next((m for m in here.instruction.modifiers if m in COMBINE), "AND")]
    outs = [write_predicate(operand) for operand in here.predicates_out]

    def handler(x: State) -> None:
        other = condition(x)
        results = [combine(test(p, q), other) for p, q in zip(a(x), b(x), strict=True)]
        for out, result in zip(outs, results, strict=False):
            out(x, result)

    return handler


@executes("HSET2")
def compare_value(here: Site) -> Handler:
    """HSET2: per half all ones, or with .BF 1.0."""
    a, b = pairs(here)[:2]
    test = comparison(here)
    condition = predicate(here.predicates_in[0], here)
    kind = format_of(here)
    true = np.uint32((0x3C00 if kind is HALF else 0x3F80) if here.has("BF") else 0xFFFF)
    combine = COMBINE[next((m for m in here.instruction.modifiers if m in COMBINE), "AND")]
    write = write_words(here.output)

    def handler(x: State) -> None:
        other = condition(x)
        low, high = (np.where(combine(test(p, q), other), true, np.uint32(0)) for p, q in zip(a(x), b(x), strict=True))
        write(x, low | high << np.uint32(16))

    return handler


@executes("HMNMX2 VHMNMX")
def minimum(here: Site) -> Handler:
    """HMNMX2 of two, VHMNMX of three."""
    a, *others = pairs(here)
    choose, keep_nan = predicate(here.predicates_in[0], here), here.has("NAN")
    store = finish(replace(here))

    def chosen(p: Value, q: Value, least: Value) -> Value:
        return np.where(least, least_of(p, q, keep_nan), most_of(p, q, keep_nan))

    def handler(x: State) -> None:
        least, operand_pairs = choose(x), a(x)
        for other in others:
            low, high = (chosen(p, q, least) for p, q in zip(operand_pairs, other(x), strict=True))
            operand_pairs = low, high
        store(x, [(half, np.float64(-0.0)) for half in operand_pairs])

    return handler


def unary_read(operand: Operand, here: Site) -> Read:
    """The chosen half of a register, or a printed number, as float64."""
    if operand.kind in ("float", "immediate"):
        return constant(np.float64(operand.value))
    bits, kind = raw(operand, here), format_of(here)
    upper = "H1" in operand.suffixes or "H1_H1" in operand.suffixes
    absolute, negate = operand.absolute, operand.negate

    def read(x: State) -> Value:
        half = kind.decode(bits(x) >> np.uint32(16) if upper else bits(x) & np.uint32(0xFFFF))
        half = np.abs(half) if absolute else half
        return np.negative(half) if negate else half

    return read
