"""FP8: E4M3 (no infinity, largest 448) and E5M2 (largest 57344); FP6: E3M2 and E2M3; FP4: E2M1; scales: UE8M0.

Wider types are rounded to nearest even. A number of 6 bits takes a byte in memory, two numbers of 4 bits share one.

Source   P. Micikevicius et al., "FP8 Formats for Deep Learning", 2022, table 1; OCP Microscaling Formats 1.0, section
         5.3 (FP6 and FP4 have neither infinities nor NaN) and 5.4 (scales 2 ** (code - 127), 255 is NaN); the PTX
         ISA's cvt with .satfinite: what is too large becomes the largest number, NaN becomes 0x7F of FP8 and the
         largest number of FP6 and FP4; with .scaled::n2::ue8m0 a pair has two scales. The place of the merged
         half-word was read off compiled code that packs four values.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.float16 import round_to_bfloat
from warpbound.emulate.operand_access import Read, Site, raw, single, unsupported, write_words
from warpbound.emulate.semantics import Handler
from warpbound.emulate.state import State, Value
from warpbound.program.instruction import Operand
from warpbound.quick_dataclasses import dataclass

_STARTS = {"H1": 16, "H1_H1": 16, "B1": 8, "B2": 16, "B3": 24}  # bits of a word below the part that a suffix names


@dataclass(frozen=True)
class Format:
    """A format: the value of every code, the halves between the finite magnitudes, and the code of what is none."""

    values: NDArray[np.float64]
    halves: NDArray[np.float64]
    nan: int

    @property
    def bits(self) -> int:
        """Of a number."""
        return (len(self.values) - 1).bit_length()

    def encode(self, value: Value) -> NDArray[np.uint32]:
        """The nearest code, ties to the even one; saturating."""
        value = np.asarray(value, np.float64)
        size = np.abs(value)
        code = np.searchsorted(self.halves, size, side="left")
        tie = self.halves[np.minimum(code, len(self.halves) - 1)] == size
        code = np.minimum(code + (tie & (code % 2 == 1)), len(self.halves)).astype(np.uint32)
        signed = np.where(np.signbit(value), code | np.uint32(len(self.values) // 2), code)
        return np.asarray(np.where(np.isnan(value), self.nan, signed)).astype(np.uint32)

    def decode(self, codes: Value) -> NDArray[np.float64]:
        """Values of the lowest bits."""
        return np.asarray(self.values[np.asarray(codes) & np.uint32(len(self.values) - 1)])


def _format(exponent: int, mantissa: int, bias: int, finite: int) -> Format:
    """finite : the number of codes of one sign that are finite numbers."""
    codes = np.arange(1 << exponent + mantissa)
    field, fraction = codes >> mantissa, (codes & (1 << mantissa) - 1) / (1 << mantissa)
    sizes = np.where(field == 0, fraction * 2.0 ** (1 - bias), (1 + fraction) * np.exp2(field - bias))
    numbers = sizes[:finite]
    sizes[finite:] = np.nan
    if finite < len(codes) - 1:
        sizes[finite] = np.inf
    return Format(np.concatenate([sizes, -sizes]), (numbers[1:] + numbers[:-1]) / 2, len(codes) - 1)


FORMATS = {
    "E4M3": _format(4, 3, 7, 127), "E5M2": _format(5, 2, 15, 124), "E3M2": _format(3, 2, 3, 32),
    "E2M3": _format(2, 3, 1, 32), "E2M1": _format(2, 1, 1, 8),
}  # fmt: skip
_LARGEST_BFLOAT = (2 - 2.0**-7) * 2.0**127
_POWERS, POWER_BIAS, POWER_NAN = "E8", 127, 255


def convert(here: Site) -> Handler:
    """F2FP between a pair of FP8, FP6 or FP4 and pairs of FP32 or FP16, and from it to BF16 with scales."""
    name = next(m for m in here.instruction.modifiers if m in FORMATS)
    kind = FORMATS[name]
    apart = 4 if name == "E2M1" else 8
    if here.modifiers == {"F16", name, "UNPACK_B"}:

        def half_of(code: NDArray[np.uint32]) -> NDArray[np.uint32]:
            return kind.decode(code).astype(np.float16).view(np.uint16).astype(np.uint32)

        return _unpack(here, half_of, apart)
    if here.has("BF16") and here.has("UNPACK_B") and len(here.sources) == 2:
        return _unpack_scaled(here, kind, apart)
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
        pair = first << np.uint32(apart) | second
        write(x, (merged(x) << np.uint32(2 * apart) | pair)[()])

    return handler


def _half(operand: Operand, here: Site, shift: int) -> Read:
    word = raw(operand, here)
    return lambda x: (np.asarray(word(x)) >> np.uint32(shift)).astype(np.uint16).view(np.float16)


def _unpack(here: Site, half_of: Callable[[NDArray[np.uint32]], NDArray[np.uint32]], apart: int) -> Handler:
    """half_of : the 16 bits of the number that a code, in the lowest bits of a word, represents."""
    codes, write = _halfword(here.sources[0], here), write_words(here.output)

    def handler(x: State) -> None:
        bits = codes(x)
        low, high = (half_of(bits >> np.uint32(shift)) for shift in (0, apart))
        write(x, (low | high << np.uint32(16))[()])

    return handler


def _unpack_scaled(here: Site, kind: Format, apart: int) -> Handler:
    """A pair of codes to BF16, each times the scale (UE8M0) in the byte of its place in the second source."""
    codes, scales = (_halfword(source, here) for source in here.sources)
    write = write_words(here.output)
    least = 0.0 if here.has("RELU") else -np.inf
    most = _LARGEST_BFLOAT if here.has("SATFINITE") else np.inf

    def handler(x: State) -> None:
        pair, powers = codes(x), scales(x)
        halves = []
        for place in (0, 1):
            power = powers_of_two(powers >> np.uint32(8 * place) & np.uint32(0xFF))
            value = kind.decode(pair >> np.uint32(apart * place)) * power
            value = np.where(value < least, 0.0, np.clip(value, -most, most))
            halves.append(np.asarray(round_to_bfloat(value)).astype(np.uint32))
        write(x, (halves[0] | halves[1] << np.uint32(16))[()])

    return handler


def _halfword(operand: Operand, here: Site) -> Read:
    """The part of a word that a suffix names, without what lies above its half-word."""
    word, start = raw(operand, here), np.uint32(sum(_STARTS.get(suffix, 0) for suffix in operand.suffixes))
    return lambda x: np.asarray(word(x)) >> start & np.uint32(0xFFFF)


def convert_powers(here: Site) -> Handler:
    """F2FP between a pair of scales UE8M0 and pairs of FP32 or BF16; signs are not looked at."""
    if here.modifiers == {"BF16", _POWERS, "UNPACK_B"}:
        return _unpack(here, _bfloat_of_power, 8)
    if "SATFINITE" not in here.modifiers or not here.has("PACK_AB_MERGE_C") or not here.has("RP", "RZ"):
        raise unsupported(here.instruction)
    high, low = (single(source, here) for source in here.sources[:2])
    merged, write, up = raw(here.sources[-1], here), write_words(here.output), here.has("RP")

    def code(value: Value) -> NDArray[np.uint32]:
        size = np.abs(np.asarray(value, np.float64))
        fraction, exponent = np.frexp(np.where(np.isfinite(size) & (size > 0), size, 1.0))
        power = np.where(up & (fraction > 0.5), exponent, exponent - 1) + POWER_BIAS
        power = np.where(size == 0, 0, np.where(np.isinf(size), POWER_NAN - 1, np.clip(power, 0, POWER_NAN - 1)))
        return np.asarray(np.where(np.isnan(size), POWER_NAN, power)).astype(np.uint32)

    def handler(x: State) -> None:
        pair = code(high(x)) << np.uint32(8) | code(low(x))
        write(x, (merged(x) << np.uint32(16) | pair)[()])

    return handler


def _bfloat_of_power(code: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return powers_of_two(code & np.uint32(0xFF)).astype(np.float32).view(np.uint32) >> np.uint32(16)


def powers_of_two(codes: NDArray[np.uint32]) -> NDArray[np.float64]:
    """The numbers that scales of UE8M0 represent."""
    return np.where(codes == POWER_NAN, np.nan, np.exp2(codes.astype(np.float64) - POWER_BIAS))
