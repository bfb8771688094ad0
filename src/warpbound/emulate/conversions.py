"""Conversions between integers and floats of every width, in every rounding direction."""

from collections.abc import Callable
from typing import Any

import numpy as np

from warpbound.emulate import float8
from warpbound.emulate.correct_rounding import directed, odd_sum, sum64_directed, two_sum
from warpbound.emulate.float16 import half_bits, round_to_bfloat
from warpbound.emulate.float32 import direction, flush
from warpbound.emulate.operand_access import (
    Read,
    Site,
    constant,
    double,
    raw,
    raw_pair,
    single,
    unsupported,
    write_pair,
    write_single,
    write_words,
)
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import State, Value
from warpbound.program.instruction import Operand
from warpbound.quick_dataclasses import dataclass

_INTEGERS: dict[str, Any] = {
    "S8": np.int8, "U8": np.uint8, "S16": np.int16, "U16": np.uint16, "S32": np.int32, "U32": np.uint32,
    "S64": np.int64, "U64": np.uint64,
}  # fmt: skip
_FLOATS = ("F16", "BF16", "F32", "F64")
_WHOLE: dict[str, Callable[[Value], Value]] = {
    "TRUNC": np.trunc, "FLOOR": np.floor, "CEIL": np.ceil, "RZ": np.trunc, "RM": np.floor, "RP": np.ceil,
}  # fmt: skip


@dataclass(frozen=True)
class Selected:
    """A part of a register: bits from `shift` on."""

    shift: int


def _part(operand: Operand) -> Selected:
    for suffix in operand.suffixes:
        if suffix in ("B1", "B2", "B3"):
            return Selected(8 * int(suffix[1]))
        if suffix in ("H1", "H1_H1"):
            return Selected(16)
    return Selected(0)


def _named(here: Site, names: Any) -> list[str]:
    return [m for m in here.instruction.modifiers if m in names]


def float_source(operand: Operand, here: Site, kind: str) -> Read:
    """A float of a named width as float64."""
    if kind == "F64":
        return double(operand, here)
    if kind == "F32":
        reader = single(operand, here)
        if here.has("FTZ"):
            return lambda x: np.asarray(flush(reader(x))).astype(np.float64)
        return lambda x: np.asarray(reader(x)).astype(np.float64)
    if operand.kind in ("float", "immediate"):  # a whole number is printed without a point
        return constant(np.float64(operand.value))
    word, shift = raw(operand, here), np.uint32(_part(operand).shift)
    absolute, negate = operand.absolute, operand.negate

    def halves(x: State) -> Value:
        bits = np.asarray(word(x) >> shift & np.uint32(0xFFFF))
        if kind == "F16":
            value = bits.astype(np.uint16).view(np.float16).astype(np.float64)
        else:
            value = (bits << np.uint32(16)).view(np.float32).astype(np.float64)
        value = np.abs(value) if absolute else value
        return np.negative(value) if negate else value

    return halves


@executes("F2I UF2I")
def float_to_integer(here: Site) -> Handler:
    """F2I: rounds, then saturates; NaN becomes 0 with .NTZ, else the least (or for U64 half the) value."""
    kinds = _named(here, _INTEGERS)
    target = np.dtype(_INTEGERS[kinds[0]] if kinds else np.int32)
    reader = _whole_source(here.sources[0], here, target)
    if target.itemsize == 8:
        write = write_pair(here.output)
        return lambda x: write(x, reader(x))
    store = write_words(here.output)
    return lambda x: store(x, _word(reader(x)))


def _whole_source(operand: Operand, here: Site, target: np.dtype[Any]) -> Read:
    """A float rounded to a whole number, the nearest that the type has."""
    source = next(iter(_named(here, _FLOATS)), "F32")
    reader = float_source(operand, here, source)
    whole = next((_WHOLE[m] for m in here.instruction.modifiers if m in _WHOLE), np.rint)
    nan_to_zero = here.has("NTZ") or (source != "F64" and target.itemsize < 8)
    limits = np.iinfo(target)
    nan = 0 if nan_to_zero else (limits.min if limits.min else 1 << (target.itemsize * 8 - 1))

    def rounded(x: State) -> Value:
        value = np.asarray(whole(reader(x)))
        inside = np.where((value >= limits.min) & (value < float(limits.max) + (target.itemsize < 8)), value, 0)
        result = inside.astype(target)
        result = np.where(value >= float(limits.max) + (target.itemsize < 8), target.type(limits.max), result)
        result = np.where(value < limits.min, target.type(limits.min), result)
        return np.where(np.isnan(value), np.array(nan).astype(target), result).astype(target)

    return rounded


def _word(value: Value) -> Value:
    """A small integer as the word that holds it, sign-extended."""
    if value.dtype.kind == "i":
        return value.astype(np.int32).view(np.uint32)
    return value.astype(np.uint32)


@executes("I2F I2FP UI2F UI2FP")
def integer_to_float(here: Site) -> Handler:
    """I2F and I2FP."""
    kinds = _named(here, _INTEGERS)
    kind = np.dtype(_INTEGERS[kinds[0]] if kinds else np.int32)
    target = next(iter(_named(here, _FLOATS)), "F32")
    reader, way = _integer_source(here.sources[0], here, kind), direction(here)
    if target == "F64":
        write = write_pair(here.output)
        return lambda x: write(x, np.asarray(sum64_directed(*_parts(reader(x)), way)))
    if target != "F32":
        store, bits = write_words(here.output), _half_bits if target == "F16" else _bfloat_bits
        return lambda x: store(x, bits(odd_sum(*two_sum(*_parts(reader(x)))), way))
    put_single = write_single(here.output)
    return lambda x: put_single(x, directed(odd_sum(*two_sum(*_parts(reader(x)))), way))


def _half_bits(value: Value, way: str = "RN") -> Value:
    return half_bits(value, way).astype(np.uint32)


def _bfloat_bits(value: Value, way: str = "RN") -> Value:
    return round_to_bfloat(value, way).astype(np.uint32)


def _parts(value: Value) -> tuple[Value, Value]:
    """An integer as the exact sum of two float64."""
    if value.dtype.itemsize < 8:
        return value.astype(np.float64), np.float64(0)
    low = (value & value.dtype.type(0xFFFFFFFF)).astype(np.float64)
    high = (value >> value.dtype.type(32)).astype(np.float64) * 2.0**32
    return high, low


def _integer_source(operand: Operand, here: Site, kind: np.dtype[Any]) -> Read:
    if kind.itemsize == 8:
        if operand.kind == "immediate":  # it is the upper word
            return constant(np.asarray(np.uint64((int(operand.value) & 0xFFFFFFFF) << 32)).view(kind))
        pair = raw_pair(operand, here)
        if operand.negate:
            return lambda x: np.negative(np.asarray(pair(x))).view(kind)
        return lambda x: np.asarray(pair(x)).view(kind)
    word, shift = raw(operand, here), np.uint32(_part(operand).shift)
    narrow = np.dtype(f"u{kind.itemsize}")
    absolute, negate = operand.absolute, operand.negate

    def read(x: State) -> Value:
        value = np.asarray(word(x) >> shift).astype(narrow).view(kind)
        value = np.abs(value) if absolute else value
        return np.negative(value) if negate else value

    return read


@executes("F2F UF2F")
def float_to_float(here: Site) -> Handler:
    """F2F: the first width is the target's; also the rounding to a whole number where one is named."""
    kinds = _named(here, _FLOATS)
    target, source = (kinds[0], kinds[1]) if len(kinds) > 1 else ("F32", "F32")
    reader = float_source(here.sources[0], here, source)
    whole = next((_WHOLE[m] for m in here.instruction.modifiers if m in ("TRUNC", "FLOOR", "CEIL")), None)
    shaped: Read = reader if whole is None else _after(reader, whole)
    return _store_float(here, target, shaped)


@executes("FRND UFRND")
def round_to_whole(here: Site) -> Handler:
    """FRND."""
    kind = next(iter(_named(here, _FLOATS)), "F32")
    whole = next((_WHOLE[m] for m in here.instruction.modifiers if m in _WHOLE), np.rint)
    return _store_float(here, kind, _after(float_source(here.sources[0], here, kind), whole))


def _after(reader: Read, change: Callable[[Value], Value]) -> Read:
    return lambda x: change(reader(x))


def _store_float(here: Site, target: str, reader: Read) -> Handler:
    way = direction(here)
    if target == "F64":
        wide = write_pair(here.output)
        return lambda x: wide(x, np.asarray(reader(x)))
    if target == "F32":
        store, ftz = write_single(here.output), here.has("FTZ")

        def handler(x: State) -> None:
            value = directed(reader(x), way)
            store(x, flush(value) if ftz else value)

        return handler
    words, bits = write_words(here.output), _half_bits if target == "F16" else _bfloat_bits
    return lambda x: words(x, bits(np.asarray(reader(x)), way))


@executes("F2FP UF2FP")
def pack_floats(here: Site) -> Handler:
    """F2FP.PACK_AB: two float32 rounded to FP16 or BF16, the first in the upper half; FP8 as in float8."""
    if here.has(*float8.FORMATS):
        return float8.convert(here)
    if here.has("E8"):
        return float8.convert_powers(here)
    if here.modifiers - {"F16", "BF16", "BF", "F32", "PACK_AB", "RELU", "RZ", "RN"}:
        raise unsupported(here.instruction)
    high, low = (float_source(source, here, "F32") for source in here.sources[:2])
    write, relu, cut = write_words(here.output), here.has("RELU"), here.has("RZ")

    def bits(value: Value) -> Value:
        value = np.where(value < 0, 0.0, value) if relu else value
        if here.has("BF16", "BF"):
            return round_to_bfloat(value, "RZ" if cut else "RN").astype(np.uint32)
        if cut:
            return _half_bits(value, "RZ")
        return _half_bits(np.asarray(value))

    return lambda x: write(x, bits(high(x)) << np.uint32(16) | bits(low(x)))


@executes("I2I UI2I")
def integer_to_integer(here: Site) -> Handler:
    """I2I.SAT: the nearest number of the first width."""
    kinds = _named(here, _INTEGERS)
    if len(kinds) < 2 or not here.has("SAT"):
        raise unsupported(here.instruction)
    target, limits = _INTEGERS[kinds[0]], np.iinfo(_INTEGERS[kinds[0]])
    reader, write = _integer_source(here.sources[0], here, np.dtype(_INTEGERS[kinds[1]])), write_words(here.output)
    return lambda x: write(x, _word(np.clip(reader(x).astype(np.int64), limits.min, limits.max).astype(target)))


@executes("I2IP UI2IP")
def pack_integers(here: Site) -> Handler:
    """I2IP: two words as the nearest numbers of few bits, the first above the second; above both the third word."""
    kind = here.instruction.modifiers[0]
    limit = 1 << int(kind[1:]) - (kind[0] == "S")
    least = -limit if kind[0] == "S" else 0
    words = [_integer_source(source, here, np.dtype(np.int32)) for source in here.sources[:2]]
    return _packed(here, *(_after(word, lambda value: np.clip(value, least, limit - 1)) for word in words))


@executes("F2IP UF2IP")
def pack_whole(here: Site) -> Handler:
    """F2IP: floats converted to small integers and packed into a word."""
    target = np.dtype(_INTEGERS[here.instruction.modifiers[0]])
    return _packed(here, *(_whole_source(source, here, target) for source in here.sources[:2]))


def _packed(here: Site, first: Read, second: Read) -> Handler:
    size = int(here.instruction.modifiers[0][1:])
    above, write, mask = raw(here.sources[2], here), write_words(here.output), np.uint32((1 << size) - 1)

    def handler(x: State) -> None:
        high, low = (_word(np.asarray(reader(x))) & mask for reader in (first, second))
        both = high << np.uint32(size) | low
        write(x, both if size == 16 else both | above(x) << np.uint32(2 * size))

    return handler
