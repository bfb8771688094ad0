"""Integer arithmetic: multiply-add, comparisons, minima, shifted additions, dot products."""


import numpy as np

from warpbound.emulate import packed_integers
from warpbound.emulate.integer_addition import carry_word, carry_words, extended
from warpbound.emulate.operand_access import (
    TRUE,
    Read,
    Site,
    constant,
    integer,
    predicate,
    raw,
    signed,
    wide,
    write_pair,
    write_predicate,
    write_words,
)
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import State, Value
from warpbound.program.instruction import PT, Operand

_U32, _U64 = np.uint64(32), np.uint64
COMPARE = {
    "LT": np.less, "EQ": np.equal, "LE": np.less_equal, "GT": np.greater, "NE": np.not_equal,
    "GE": np.greater_equal,
}  # fmt: skip
COMBINE = {"AND": np.logical_and, "OR": np.logical_or, "XOR": np.logical_xor}


@executes("IMAD UIMAD")
def multiply_add(here: Site) -> Handler:
    """IMAD: a b + c in its narrow, wide, high and carrying forms, and the moves spelt with it."""
    if here.has("WIDE", "HI"):
        return _multiply_wide(here)
    if here.has("MOV", "U32") and here.sources[0].index == 255 and here.sources[0].kind in ("register", "uniform"):
        return _copy(here, here.sources[2])
    a, b, c = (integer(source, here) for source in here.sources)
    write = write_words(here.output)
    if here.has("X"):
        (carry,) = [carry_word(operand, here) for operand in here.predicates_in]
        return lambda x: write(x, a(x) * b(x) + c(x) + carry(x))
    if here.sources[2].index == 255:
        return lambda x: write(x, a(x) * b(x))
    if here.sources[1].kind == "immediate" and here.sources[1].value == 1:
        return lambda x: write(x, a(x) + c(x))
    return lambda x: write(x, a(x) * b(x) + c(x))


def _copy(here: Site, source: Operand) -> Handler:
    reader, write = integer(source, here), write_words(here.output)
    return lambda x: write(x, reader(x))


def _multiply_wide(here: Site) -> Handler:
    kind = np.uint64 if here.has("U32") else np.int64
    first, second = (_factor(source, here, kind) for source in here.sources[:2])
    third = wide(here.sources[2], here) if len(here.sources) > 2 else constant(np.uint64(0))
    high = here.has("HI")
    write = write_words(here.output) if high else write_pair(here.output)
    outs = [write_predicate(operand) for operand in here.predicates_out if operand.index != PT]
    carries = [carry_words(operand, here) for operand in here.predicates_in] if here.has("X") else []

    def handler(x: State) -> None:
        product = (first(x) * second(x)).view(np.uint64)
        total = product + third(x)
        carry = total < product
        for reader in carries:
            more = total + reader(x)
            carry = carry | (more < total)
            total = more
        write(x, (total >> _U32).astype(np.uint32) if high else total)
        for out in outs:
            out(x, carry)

    return handler


def _factor(operand: Operand, here: Site, kind: type[np.uint64] | type[np.int64]) -> Read:
    if kind is np.uint64:
        reader = integer(operand, here)
        return lambda x: reader(x).astype(np.uint64)
    reader = signed(operand, here)
    return lambda x: reader(x).astype(np.int64)


@executes("ISETP UISETP")
def compare(here: Site) -> Handler:
    """ISETP and UISETP; .EX goes on from the comparison of the lower words, in the last predicate."""
    operation = next(m for m in here.instruction.modifiers if m in COMPARE or m in ("T", "F"))
    combine = COMBINE[next(m for m in here.instruction.modifiers if m in COMBINE)]
    if here.has("64", "S64", "U64"):
        view: type[np.uint64] | type[np.int64] = np.uint64 if here.has("U64") else np.int64
        first, second = (_viewed(wide(source, here), view) for source in here.sources)
    else:
        reader = integer if here.has("U32") else signed
        first, second = (reader(source, here) for source in here.sources)
    condition = predicate(here.predicates_in[0], here) if here.predicates_in else constant(TRUE)
    lower = predicate(here.predicates_in[1], here) if here.has("EX") else None
    outs = [write_predicate(operand) for operand in here.predicates_out]
    plain = (
        all(operand.index == PT and not operand.invert for operand in here.predicates_in) and combine is np.logical_and
    )
    both = len(outs) > 1 and here.predicates_out[1].index != PT

    def handler(x: State) -> None:
        a, b = first(x), second(x)
        result = _compared(operation, a, b)
        if lower is not None:
            result = _extend(operation, a, b, result, lower(x))
        other = None if plain else condition(x)
        outs[0](x, result if other is None else combine(result, other))
        if both:
            opposite = np.logical_not(result)
            outs[1](x, opposite if other is None else combine(opposite, other))

    return handler


def _viewed(reader: Read, kind: type[np.uint64] | type[np.int64]) -> Read:
    return lambda x: reader(x).view(kind)


def _compared(operation: str, a: Value, b: Value) -> Value:
    if operation in COMPARE:
        return COMPARE[operation](a, b)
    return np.broadcast_to(np.bool_(operation == "T"), np.broadcast(a, b).shape)


def _extend(operation: str, a: Value, b: Value, high: Value, low: Value) -> Value:
    if operation == "EQ":
        return high & low
    if operation == "NE":
        return high | low
    strict = {"LT": np.less, "LE": np.less, "GT": np.greater, "GE": np.greater}[operation]
    return strict(a, b) | ((a == b) & low)


@executes("IMNMX VIMNMX UIMNMX UVIMNMX")
def minimum(here: Site) -> Handler:
    """IMNMX, VIMNMX: the smaller where the last predicate holds, else the larger; .RELU puts 0 under it."""
    if packed_integers.is_packed(here):
        return packed_integers.minimum(here)
    if here.has("S64", "U64"):
        return packed_integers.minimum_of_pairs(here)
    reader = integer if here.has("U32") else signed
    a, b = (reader(source, here) for source in here.sources[:2])
    choose, write = predicate(here.predicates_in[-1], here), write_words(here.output)
    outs, relu = [write_predicate(operand) for operand in here.predicates_out], here.has("RELU")

    def handler(x: State) -> None:
        first, second, least = a(x), b(x), choose(x)
        value: Value
        if np.ndim(least):
            value = np.where(least, np.minimum(first, second), np.maximum(first, second))
        else:
            value = np.minimum(first, second) if least else np.maximum(first, second)
        write(x, (np.maximum(value, 0) if relu else value).view(np.uint32))
        for out in outs[:1]:
            out(x, value == first)

    return handler


@executes("VIADDMNMX")
def add_minimum(here: Site) -> Handler:
    """VIADDMNMX: minimum or maximum of a + b and c; .RELU puts 0 under it."""
    if packed_integers.is_packed(here):
        return packed_integers.minimum(here)
    reader = integer if here.has("U32") else signed
    a, b, c = (reader(source, here) for source in here.sources[:3])
    choose, write = predicate(here.predicates_in[-1], here), write_words(here.output)
    relu = here.has("RELU")

    def handler(x: State) -> None:
        total, third = a(x) + b(x), c(x)
        value = _either(choose(x), np.minimum(total, third), np.maximum(total, third))
        value = np.maximum(value, 0) if relu else value
        write(x, value.view(np.uint32))

    return handler


def _either(choice: Value, first: Value, second: Value) -> Value:
    return np.where(choice, first, second)


@executes("VIMNMX3")
def minimum_of_three(here: Site) -> Handler:
    """VIMNMX3; .RELU puts 0 under the result."""
    if packed_integers.is_packed(here):
        return packed_integers.minimum(here)
    reader = integer if here.has("U32") else signed
    a, b, c = (reader(source, here) for source in here.sources[:3])
    choose, write, relu = predicate(here.predicates_in[-1], here), write_words(here.output), here.has("RELU")

    def handler(x: State) -> None:
        first, second, third = a(x), b(x), c(x)
        least = np.minimum(np.minimum(first, second), third)
        most = np.maximum(np.maximum(first, second), third)
        value = _either(choose(x), least, most)
        write(x, (np.maximum(value, 0) if relu else value).view(np.uint32))

    return handler


@executes("IABS UIABS")
def absolute(here: Site) -> Handler:
    """IABS."""
    reader, write = signed(here.sources[0], here), write_words(here.output)
    return lambda x: write(x, np.abs(reader(x)).view(np.uint32))


@executes("LEA ULEA")
def shifted_add(here: Site) -> Handler:
    """LEA: (a << s) + b; .HI takes the upper word of {c, a} << s, .X adds a carry, .SX32 makes c the sign of a."""
    high = here.has("HI")
    sources = list(here.sources)
    amount = int(sources.pop().value) & 31 if sources[-1].kind == "immediate" and len(sources) > 2 else 0
    low = raw(sources[0], here)
    addend = extended(sources[1], here)
    upper = raw(sources[2], here) if high and len(sources) > 2 else None
    negate = sources[0].negate
    carry = carry_words(here.predicates_in[0], here) if here.has("X") else None
    write, outs = write_words(here.output), [write_predicate(operand) for operand in here.predicates_out]
    inverted = sources[0].invert
    if not negate and not inverted and all(operand.index == PT for operand in here.predicates_out):
        plain, more = integer(sources[1], here), carry_word(here.predicates_in[0], here) if here.has("X") else None

        def narrow(x: State) -> None:
            a = low(x)
            if high:
                total = _shift_pair(a, upper(x) if upper else _sign_or_zero(a, here), amount) + plain(x)
            else:
                total = (a << np.uint32(amount)) + plain(x)
            write(x, total if more is None else total + more(x))

        return narrow

    def handler(x: State) -> None:
        a = low(x)
        shifted = a << np.uint32(amount)
        if high:
            shifted = _shift_pair(a, upper(x) if upper else _sign_or_zero(a, here), amount)
        if inverted:
            shifted = np.invert(shifted)
        extended = shifted.astype(np.uint64)
        if negate:
            extended = np.invert(shifted).astype(np.uint64) + np.uint64(1)
        total = extended + addend(x)
        if carry is not None:
            total = total + carry(x)
        write(x, total.astype(np.uint32))
        for least, out in enumerate(outs, start=1):
            out(x, total >> _U32 >= least)

    return handler


def _sign_or_zero(a: Value, here: Site) -> Value:
    if here.has("SX32"):
        return (a.view(np.int32) >> np.int32(31)).view(np.uint32)
    return np.uint32(0)


def _shift_pair(low: Value, high: Value, amount: int) -> Value:
    """The upper word of {high, low} << amount."""
    return high << np.uint32(amount) | (low >> np.uint32(32 - amount) if amount else np.uint32(0))


@executes("IDP")
def dot_product(here: Site) -> Handler:
    """IDP.4A and .2A: products of bytes (or half-words and bytes) added to c."""
    signs = [m for m in here.instruction.modifiers if set(m) <= set("SU8.16")]
    kinds = "".join(signs)
    first_signed, second_signed = _dot_signs(kinds)
    a, b, c = (raw(source, here) for source in here.sources[:3])
    write = write_words(here.output)
    half = here.has("2A")
    offset = 2 if here.has("HI") else 0

    def handler(x: State) -> None:
        if half:
            first, second = _parts(a(x), 16, first_signed)[:2], _parts(b(x), 8, second_signed)[offset : offset + 2]
        else:
            first, second = _parts(a(x), 8, first_signed), _parts(b(x), 8, second_signed)
        total = c(x).astype(np.int64)
        for i, j in zip(first, second, strict=True):
            total = total + i * j
        write(x, total.astype(np.uint32))

    return handler


def _dot_signs(kinds: str) -> tuple[bool, bool]:
    letters = [letter for letter in kinds if letter in "SU"]
    return letters[0] == "S", letters[-1] == "S"


def _parts(words: Value, bits: int, is_signed: bool) -> list[Value]:  # noqa: FBT001  (a value, not a choice of behaviour)
    parts = [(words >> np.uint32(at)) & np.uint32((1 << bits) - 1) for at in range(0, 32, bits)]
    wides = [part.astype(np.int64) for part in parts]
    if is_signed:
        return [part - (part >> (bits - 1) << bits) for part in wides]
    return wides


@executes("VABSDIFF")
def absolute_difference(here: Site) -> Handler:
    """VABSDIFF: |a - b| + c."""
    reader = integer if here.has("U32") else signed
    a, b = (reader(source, here) for source in here.sources[:2])
    c, write = raw(here.sources[2], here), write_words(here.output)

    def handler(x: State) -> None:
        difference = np.abs(a(x).astype(np.int64) - b(x).astype(np.int64))
        write(x, difference.astype(np.uint32) + c(x))

    return handler
