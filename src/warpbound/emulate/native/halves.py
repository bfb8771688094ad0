"""Steps of FP16 and BF16, two to a register."""

import numpy as np

from warpbound.emulate.float16 import BFLOAT, HALF, format_of
from warpbound.emulate.float32 import direction
from warpbound.emulate.native.floats import FLUSHES, comparison
from warpbound.emulate.native.integers import combination
from warpbound.emulate.native.step import (
    ABSOLUTE,
    NEGATED,
    NotTranslated,
    Source,
    Step,
    constant,
    flag,
    flags_out,
    raw,
    register_out,
    single,
)
from warpbound.emulate.native.translations import translates
from warpbound.emulate.operand_access import Site
from warpbound.program.instruction import RZ, Operand

LOW_FROM_HIGH, HIGH_FROM_LOW = 8, 16
_LIMITS = {"FTZ": 1, "SAT": 2, "RELU": 4}


def _sources(here: Site) -> list[Source]:
    """Pairs of halves; an immediate takes two printed numbers, the high half first."""
    sources, at = [], 0
    while at < len(here.sources):
        operand = here.sources[at]
        is_number = operand.kind in ("float", "immediate")
        sources.append(_number(operand, here.sources[at + 1], here) if is_number else _register(operand))
        at += 2 if is_number else 1
    return sources


def _number(high: Operand, low: Operand, here: Site) -> Source:
    if here.instruction.encoding is not None:
        return constant(here.instruction.encoding[0] >> 32)
    if format_of(here) is HALF:
        upper, lower = (int(np.float16(half.value).view(np.uint16)) for half in (high, low))
    else:
        upper, lower = (int(np.float32(half.value).view(np.uint32)) >> 16 for half in (high, low))
    return constant(upper << 16 | lower)


def _register(operand: Operand) -> Source:
    if "F32" in operand.suffixes or operand.invert:
        raise NotTranslated
    plain = raw(operand)
    change = ABSOLUTE * operand.absolute + NEGATED * operand.negate
    change += LOW_FROM_HIGH * ("H1_H1" in operand.suffixes) + HIGH_FROM_LOW * ("H0_H0" in operand.suffixes)
    return Source(plain.kind, plain.index, change, plain.value, plain.upper)


def _arithmetic(operation: str, here: Site, count: int) -> Step:
    sources = _sources(here)
    if len(sources) < count or direction(here) != "RN":
        raise NotTranslated
    limits = sum(bit for name, bit in _LIMITS.items() if here.has(name))
    mode = (format_of(here) is BFLOAT, limits, here.has("F32"))
    return Step(operation, register_out(here.output), sources[:count], mode=mode)


@translates("HADD2")
def add(here: Site) -> Step:
    """a + b of both halves."""
    return _arithmetic("add_halves", here, 2)


@translates("HMUL2")
def multiply(here: Site) -> Step:
    """a b of both halves."""
    return _arithmetic("multiply_halves", here, 2)


@translates("HFMA2")
def multiply_add(here: Site) -> Step:
    """a b + c of both halves; a move where the factors are zeros and c is a number."""
    zeros = all(x.kind == "register" and x.index == RZ for x in here.sources[:2])
    if zeros and len(here.sources) == 4:
        raise NotTranslated  # it is a result of constants
    return _arithmetic("multiply_add_halves", here, 3)


@translates("HSETP2")
def compare(here: Site) -> Step:
    """A predicate of each half."""
    mode = (format_of(here) is BFLOAT, comparison(here), combination(here))
    return Step("compare_halves", Source(), _sources(here)[:2], flags_out(here), [flag(here.predicates_in[0])], mode)


@translates("HMNMX2")
def minimum(here: Site) -> Step:
    """The smaller or the larger of both halves."""
    sources = _sources(here)
    if here.has("NAN", "XORSIGN") or len(sources) != 2:
        raise NotTranslated
    limits = sum(bit for name, bit in _LIMITS.items() if here.has(name))
    mode = (format_of(here) is BFLOAT, limits, 0)
    return Step("minimum_of_halves", register_out(here.output), sources, (), [flag(here.predicates_in[0])], mode)


@translates("F2FP UF2FP")
def pack(here: Site) -> Step:
    """Two float32 as halves, the first above."""
    if here.modifiers - {"F16", "BF16", "BF", "F32", "PACK_AB", "RELU", "RN", "FTZ"} or len(here.sources) != 2:
        raise NotTranslated
    mode = (FLUSHES * here.has("FTZ"), here.has("BF16", "BF"), here.has("RELU"))
    sources = [single(source, here) for source in here.sources]
    return Step("pack_halves", register_out(here.output), sources, mode=mode)
