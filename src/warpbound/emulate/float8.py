"""FP8: E4M3 (no infinity, largest 448) and E5M2 (largest 57344), rounded to nearest even from wider types.

Source   P. Micikevicius et al., "FP8 Formats for Deep Learning", 2022, table 1; the PTX ISA's cvt with
         .satfinite: what is too large becomes the largest number, NaN becomes 0x7F. The place of the merged
         half-word was read off compiled code that packs four values.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.operand_access import Read, Site, raw, single, unsupported, write_words
from warpbound.emulate.semantics import Handler
from warpbound.emulate.state import State, Value
from warpbound.program.instruction import Operand
from warpbound.quick_dataclasses import dataclass

_SIGN, _NAN = np.uint32(0x80), np.uint32(0x7F)
_UPPER = frozenset({"H1", "H1_H1"})


@dataclass(frozen=True)
class Format:
    """An 8-bit format: the value of every code, and the halves between the finite magnitudes."""

    values: NDArray[np.float64]
    halves: NDArray[np.float64]

    def encode(self, value: Value) -> NDArray[np.uint32]:
        """The nearest code, ties to the even one; saturating."""
        value = np.asarray(value, np.float64)
        size = np.abs(value)
        code = np.searchsorted(self.halves, size, side="left")
        tie = self.halves[np.minimum(code, len(self.halves) - 1)] == size
        code = np.minimum(code + (tie & (code % 2 == 1)), len(self.halves)).astype(np.uint32)
        signed = np.where(np.signbit(value), code | _SIGN, code)
        return np.asarray(np.where(np.isnan(value), _NAN, signed)).astype(np.uint32)

    def decode(self, codes: Value) -> NDArray[np.float64]:
        """Values of the lowest bytes."""
        return np.asarray(self.values[np.asarray(codes) & np.uint32(0xFF)])


def _format(exponent: int, bias: int, finite: int) -> Format:
    """finite : the number of codes of one sign that are finite numbers."""
    mantissa = 7 - exponent
    codes = np.arange(128)
    field, fraction = codes >> mantissa, (codes & (1 << mantissa) - 1) / (1 << mantissa)
    sizes = np.where(field == 0, fraction * 2.0 ** (1 - bias), (1 + fraction) * np.exp2(field - bias))
    numbers = sizes[:finite]
    sizes[finite:] = np.nan
    if exponent == 5:
        sizes[finite] = np.inf
    return Format(np.concatenate([sizes, -sizes]), (numbers[1:] + numbers[:-1]) / 2)


FORMATS = {"E4M3": _format(4, 7, 127), "E5M2": _format(5, 15, 124)}


def convert(here: Site) -> Handler:
    """F2FP between a pair of FP8 and pairs of FP32 or FP16."""
    kind = next(FORMATS[m] for m in here.instruction.modifiers if m in FORMATS)
    if here.modifiers == {"F16", next(m for m in here.modifiers if m in FORMATS), "UNPACK_B"}:
        return _unpack(here, kind)
    if "SATFINITE" not in here.modifiers or here.has("BF16"):
        raise unsupported(here.instruction)
    if here.has("PACK_AB_MERGE_C"):
        high, low = (single(source, here) for source in here.sources[:2])
    elif here.has("UNPACK_B_MERGE_C"):
        high, low = (_half(here.sources[0], here, upper) for upper in (16, 0))
    else:
        raise unsupported(here.instruction)
    merged, write = raw(here.sources[-1], here), write_words(here.output)
    least = 0.0 if here.has("RELU") else -np.inf

    def handler(x: State) -> None:
        first, second = (kind.encode(np.where(v < least, 0.0, v)) for v in (high(x), low(x)))
        pair = first << np.uint32(8) | second
        write(x, (merged(x) << np.uint32(16) | pair)[()])

    return handler


def _half(operand: Operand, here: Site, shift: int) -> Read:
    word = raw(operand, here)
    return lambda x: (np.asarray(word(x)) >> np.uint32(shift)).astype(np.uint16).view(np.float16)


def _unpack(here: Site, kind: Format) -> Handler:
    source, write = here.sources[0], write_words(here.output)
    word, start = raw(source, here), 16 if _UPPER & set(source.suffixes) else 0

    def handler(x: State) -> None:
        bits = np.asarray(word(x)) >> np.uint32(start)
        low, high = (
            kind.decode(bits >> np.uint32(shift)).astype(np.float16).view(np.uint16).astype(np.uint32)
            for shift in (0, 8)
        )
        write(x, (low | high << np.uint32(16))[()])

    return handler
