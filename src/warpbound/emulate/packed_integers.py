"""Integer operations on the 8- or 16-bit parts of words, and on register pairs."""

from typing import Any

import numpy as np

from warpbound.emulate.operand_access import (
    Read,
    Site,
    predicate,
    raw,
    raw_pair,
    unsupported,
    write_pair,
    write_predicate,
    write_words,
)
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import State, Value
from warpbound.program.instruction import Operand

PARTS: dict[str, Any] = {
    "S16x2": np.int16, "U16x2": np.uint16, "16x2": np.uint16, "S8x4": np.int8, "U8x4": np.uint8, "8x4": np.uint8,
}  # fmt: skip


def is_packed(here: Site) -> bool:
    return here.has(*PARTS)


def _kind(here: Site) -> Any:
    kind = next((PARTS[m] for m in here.instruction.modifiers if m in PARTS), None)
    if kind is None:
        raise unsupported(here.instruction)
    return kind


def _split(x: State, value: Value, kind: Any) -> Value:
    """Words of every selected lane (or warp, or one word) as parts."""
    return np.ascontiguousarray(np.atleast_1d(value)).view(kind).reshape(np.size(value), -1)


def _joined(parts: Value) -> Value:
    """Parts as words; one word where all lanes have the same."""
    words = np.ascontiguousarray(parts).view(np.uint32).reshape(-1)
    return words[0] if len(words) == 1 else words


def minimum(here: Site) -> Handler:
    """VIMNMX, VIMNMX3 and VIADDMNMX of parts; .RELU makes negative results 0. Predicates, the lower half's first, are
    true where the result is the first source's."""
    kind = _kind(here)
    reads = [raw(source, here) for source in here.sources[:3]]
    choose, write = predicate(here.predicates_in[-1], here), write_words(here.output)
    outs = [write_predicate(operand) for operand in here.predicates_out]
    relu, sums = here.has("RELU"), here.instruction.opcode == "VIADDMNMX"

    def handler(x: State) -> None:
        first, *others = (_split(x, reader(x), kind) for reader in reads)
        if sums:
            first, others = first + others[0], others[1:]
        least, value = np.asarray(choose(x)).reshape(-1, 1), first
        for other in others:
            value = np.where(least, np.minimum(value, other), np.maximum(value, other))
        for own, out in zip((value == first).T, outs, strict=False):
            out(x, own if len(own) > 1 else own[0])
        value = np.maximum(value, kind(0)) if relu else value
        write(x, _joined(value))

    return handler


def add(here: Site) -> Handler:
    """VIADD of parts, each wrapping on its own."""
    kind = _kind(here)
    a, b = (_signed_parts(source, here, kind) for source in here.sources[:2])
    write = write_words(here.output)
    return lambda x: write(x, _joined(a(x) + b(x)))


def _signed_parts(operand: Operand, here: Site, kind: Any) -> Read:
    """A source as parts, each negated or inverted on its own."""
    word, negate, invert = raw(operand, here), operand.negate, operand.invert

    def read(x: State) -> Value:
        parts = _split(x, word(x), kind)
        parts = np.invert(parts) if invert else parts
        return np.negative(parts) if negate else parts

    return read


@executes("VABSDIFF4")
def absolute_differences(here: Site) -> Handler:
    """VABSDIFF4: |a - b| of bytes; .ACC adds them up with c, otherwise each byte has its own result."""
    if here.modifiers - {"U8", "S8", "ACC"}:
        raise unsupported(here.instruction)
    kind = np.int8 if here.has("S8") else np.uint8
    a, b, c = (raw(source, here) for source in here.sources[:3])
    write, sums = write_words(here.output), here.has("ACC")

    def handler(x: State) -> None:
        parts = np.abs(_split(x, a(x), kind).astype(np.int64) - _split(x, b(x), kind))
        if sums:
            write(x, _joined(parts.sum(axis=1).astype(np.uint32)) + c(x))
        else:
            write(x, _joined(parts.astype(np.uint8)) + c(x))

    return handler


def minimum_of_pairs(here: Site) -> Handler:
    """IMNMX.S64 and .U64: the smaller where the first of two predicates holds."""
    kind: Any = np.uint64 if here.has("U64") else np.int64
    a, b = (raw_pair(source, here) for source in here.sources[:2])
    choose, write = predicate(here.predicates_in[0], here), write_pair(here.output)

    def handler(x: State) -> None:
        first, second = (np.asarray(reader(x)).view(kind) for reader in (a, b))
        write(x, np.where(choose(x), np.minimum(first, second), np.maximum(first, second)))

    return handler
