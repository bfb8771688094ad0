"""Logic, shifts, permutations, selections, moves and bit counts."""

from collections.abc import Callable

import numpy as np

from warpbound.emulate.operand_access import (
    FALSE,
    Read,
    Site,
    Write,
    constant,
    integer,
    is_predicate,
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
from warpbound.program.instruction import PT, Operand

_FAMILIAR: dict[int, Callable[[Value, Value, Value], Value]] = {
    0xC0: lambda a, b, c: a & b,
    0xFC: lambda a, b, c: a | b,
    0x3C: lambda a, b, c: a ^ b,
    0x96: lambda a, b, c: a ^ b ^ c,
    0x80: lambda a, b, c: a & b & c,
    0xFE: lambda a, b, c: a | b | c,
    0xF8: lambda a, b, c: a | b & c,
    0xEA: lambda a, b, c: a & b | c,
    0x33: lambda a, b, c: ~b,
    0x0F: lambda a, b, c: ~a,
    0x30: lambda a, b, c: a & ~b,
}


def truth_table(table: int, a: Value, b: Value, c: Value) -> Value:
    """Bitwise function of three words: bit 4a + 2b + c of `table` is the result."""
    familiar = _FAMILIAR.get(table)
    if familiar:
        return familiar(a, b, c)
    result = None
    for row in range(8):
        if table >> row & 1:
            term = (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
            result = term if result is None else result | term
    if result is None:
        return a & ~a
    return result


@executes("LOP3 ULOP3")
def logic(here: Site) -> Handler:
    """LOP3.LUT; the predicate output states whether any bit is set, joined to the predicate input."""
    a, b, c = (integer(source, here) for source in here.sources[:3])
    table = int(here.sources[3].value)
    write = write_words(here.output)
    if not here.predicates_out or here.predicates_out[0].index == PT:
        return lambda x: write(x, truth_table(table, a(x), b(x), c(x)))
    out = write_predicate(here.predicates_out[0])
    condition = predicate(here.predicates_in[0], here) if here.predicates_in else constant(FALSE)
    join = np.logical_and if here.has("PAND") else np.logical_or

    def handler(x: State) -> None:
        value = truth_table(table, a(x), b(x), c(x))
        write(x, value)
        out(x, join(value != 0, condition(x)))

    return handler


_PREDICATES = 5  # of PLOP3: two results, three sources


def _flag(operand: Operand, here: Site) -> Read:
    """A predicate, or with .SIGN the sign of a register."""
    if is_predicate(operand):
        return predicate(operand, here)
    if "SIGN" not in operand.suffixes:
        raise unsupported(here.instruction)
    word, inverted = raw(operand, here), operand.invert
    return lambda x: (word(x) >> np.uint32(31) != 0) ^ inverted


@executes("PLOP3 UPLOP3")
def predicate_logic(here: Site) -> Handler:
    """PLOP3.LUT: two functions of three predicates."""
    tables = [int(operand.value) for operand in here.sources if operand.kind == "immediate"]
    if len(here.predicates_out) + len(here.predicates_in) + len(here.sources) - len(tables) != _PREDICATES:
        raise unsupported(here.instruction)
    if len(tables) == 1:
        tables.append(0)
    inputs = here.instruction.operands[len(here.predicates_out) :]
    a, b, c = (_flag(operand, here) for operand in inputs[:3])
    outs = [write_predicate(operand) for operand in here.predicates_out]

    def handler(x: State) -> None:
        values = a(x), b(x), c(x)
        for table, out in zip(tables, outs, strict=False):
            out(x, truth_table(table, *values))

    return handler


@executes("SHF USHF")
def funnel_shift(here: Site) -> Handler:
    """SHF: {c, a} shifted by b; .HI keeps the upper word, .W takes the amount modulo the width."""
    a, b, c = (raw(source, here) for source in here.sources[:3])
    is_64 = here.has("U64", "S64")
    limit = 63 if is_64 else 31
    is_signed, wraps = here.has("S32", "S64"), here.has("W")
    to_left, high = here.has("L"), here.has("HI")
    write = write_words(here.output)

    def amount(x: State) -> Value:
        shift = b(x)
        return shift & np.uint32(limit) if wraps else np.minimum(shift, np.uint32(limit + 1))

    def narrow(x: State) -> None:
        value = a(x) if to_left else c(x)
        if to_left:
            write(x, value << amount(x))
        elif is_signed:
            write(x, (value.view(np.int32) >> np.minimum(amount(x), np.uint32(31)).view(np.int32)).view(np.uint32))
        else:
            write(x, value >> amount(x))

    def full(x: State) -> None:
        low, shift = a(x), amount(x).astype(np.uint64)
        pair = c(x).astype(np.uint64) << np.uint64(32) | low
        if to_left:
            shifted = pair << shift
        elif is_signed:
            shifted = (pair.view(np.int64) >> np.minimum(shift, np.uint64(63)).view(np.int64)).view(np.uint64)
        else:
            shifted = pair >> shift
        write(x, (shifted >> np.uint64(32) if high else shifted).astype(np.uint32))

    if to_left and not high or not to_left and high and not is_64:
        return narrow
    return full


_SELECTORS: dict[str, tuple[int, ...]] = {  # PTX ISA, prmt: what the two low bits of c choose in each mode
    "F4E": (0x3210, 0x4321, 0x5432, 0x6543), "B4E": (0x5670, 0x6701, 0x7012, 0x0123),
    "RC8": (0x0000, 0x1111, 0x2222, 0x3333), "RC16": (0x1010, 0x3232, 0x1010, 0x3232),
    "ECL": (0x3210, 0x3211, 0x3222, 0x3333), "ECR": (0x0000, 0x1110, 0x2210, 0x3210),
}  # fmt: skip


@executes("PRMT UPRMT")
def permute(here: Site) -> Handler:
    """PRMT: every nibble of the selector picks a byte of {b, a}, or its sign."""
    a, selector, b = (raw(source, here) for source in here.sources[:3])
    write = write_words(here.output)
    mode = next((np.array(_SELECTORS[m], np.uint32) for m in here.modifiers if m in _SELECTORS), None)
    if mode is not None:
        number = selector
        selector = lambda x: mode.take(number(x) & np.uint32(3))  # noqa: E731

    def handler(x: State) -> None:
        pair = b(x).astype(np.uint64) << np.uint64(32) | a(x)
        select = selector(x)
        result: Value = np.uint32(0)
        for place in range(4):
            nibble = select >> np.uint32(4 * place) & np.uint32(15)
            shift = ((nibble & np.uint32(7)) << np.uint32(3)).astype(np.uint64)
            byte = (pair >> shift).astype(np.uint32) & np.uint32(255)
            signs = (byte >> np.uint32(7)) * np.uint32(255)
            byte = np.where(nibble & np.uint32(8), signs, byte)
            result = result | byte.astype(np.uint32) << np.uint32(8 * place)
        write(x, result)

    def fixed(x: State) -> None:
        pair = b(x).astype(np.uint64) << np.uint64(32) | a(x)
        result: Value = np.uint32(0)
        for place, nibble in enumerate(nibbles):
            byte = (pair >> np.uint64(8 * (nibble & 7))).astype(np.uint32) & np.uint32(255)
            if nibble & 8:
                byte = (byte >> np.uint32(7)) * np.uint32(255)
            result = result | byte << np.uint32(8 * place)
        write(x, result)

    if here.sources[1].kind == "immediate" and mode is None:
        nibbles = [int(here.sources[1].value) >> 4 * place & 15 for place in range(4)]
        return fixed if any(nibble & 8 for nibble in nibbles) else _gather(nibbles, a, b, write)
    return handler


def _gather(nibbles: list[int], a: Read, b: Read, write: Write) -> Handler:
    """PRMT with a constant selector without signs: bytes that move alike are moved together."""
    masks: dict[tuple[Read, int], int] = {}
    for place, nibble in enumerate(nibbles):
        key = (a if nibble < 4 else b, 8 * (place - nibble % 4))
        masks[key] = masks.get(key, 0) | 0xFF << 8 * place

    def shifted(x: State, source: Read, distance: int, mask: int) -> Value:
        word = source(x)
        if distance:
            word = word << np.uint32(distance) if distance > 0 else word >> np.uint32(-distance)
        return word & np.uint32(mask) if mask != 0xFFFFFFFF else word

    def handler(x: State) -> None:
        result: Value = None
        for (source, distance), mask in masks.items():
            part = shifted(x, source, distance, mask)
            result = part if result is None else result | part
        write(x, result)

    return handler


@executes("SEL USEL")
def select(here: Site) -> Handler:
    """SEL: a where the predicate holds, else b."""
    if here.has("64"):
        first, second = (raw_pair(source, here) for source in here.sources[:2])
        write = write_pair(here.output)
    else:
        first, second = (integer(source, here) for source in here.sources[:2])
        write = write_words(here.output)
    choose = predicate(here.predicates_in[0], here)
    return lambda x: write(x, np.where(choose(x), first(x), second(x)))


@executes("MOV UMOV")
def move(here: Site) -> Handler:
    """MOV, UMOV and their relatives."""
    if here.has("64"):
        pair, write = raw_pair(here.sources[0], here), write_pair(here.output)
        return lambda x: write(x, pair(x))
    reader, write_low = integer(here.sources[0], here), write_words(here.output)
    return lambda x: write_low(x, reader(x))


def _counting(count: Callable[[Value], Value]) -> Callable[[Site], Handler]:
    def build(here: Site) -> Handler:
        reader, write = integer(here.sources[0], here), write_words(here.output)
        return lambda x: write(x, count(reader(x)))

    return build


def _reversed(v: Value) -> Value:
    for step, pattern in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF), (16, 0x0000FFFF)):
        v = (v >> np.uint32(step) & np.uint32(pattern)) | (v & np.uint32(pattern)) << np.uint32(step)
    return v


executes("POPC UPOPC")(_counting(lambda v: np.bitwise_count(v).astype(np.uint32)))
executes("BREV UBREV")(_counting(_reversed))


@executes("FLO UFLO")
def leading_one(here: Site) -> Handler:
    """FLO: place of the highest bit that differs from the sign (unsigned: that is set); .SH counts from the top."""
    reader, write = integer(here.sources[0], here), write_words(here.output)
    is_unsigned, from_top = here.has("U32"), here.has("SH")
    outs = [write_predicate(operand) for operand in here.predicates_out]

    def handler(x: State) -> None:
        v = reader(x)
        if not is_unsigned:
            v = np.where(v >> np.uint32(31), ~v, v).astype(np.uint32)
        place = np.frexp(v.astype(np.float64))[1] - 1
        result = v != 0
        position = 31 - place if from_top else place
        write(x, np.where(result, position, -1).astype(np.int32).view(np.uint32))
        for out in outs:
            out(x, result)

    return handler


@executes("SGXT USGXT")
def extend_sign(here: Site) -> Handler:
    """SGXT: a field of b bits, sign-extended (.U32: zero-extended); .W takes b modulo 32."""
    a, b = (raw(source, here) for source in here.sources[:2])
    write = write_words(here.output)
    is_unsigned, wraps = here.has("U32"), here.has("W")

    def handler(x: State) -> None:
        width = b(x) & np.uint32(31) if wraps else np.minimum(b(x), np.uint32(32))
        unused = (np.uint32(32) - width).astype(np.uint64)
        shifted = (a(x).astype(np.uint64) << unused).astype(np.uint32)
        if is_unsigned:
            write(x, (shifted.astype(np.uint64) >> unused).astype(np.uint32))
        else:
            write(x, (shifted.view(np.int32).astype(np.int64) >> unused.astype(np.int64)).astype(np.uint32))

    return handler


@executes("BMSK UBMSK")
def bit_mask(here: Site) -> Handler:
    """BMSK: b ones from bit a on; .W takes both modulo 32."""
    a, b = (raw(source, here) for source in here.sources[:2])
    write, wraps = write_words(here.output), here.has("W")

    def handler(x: State) -> None:
        start, width = a(x), b(x)
        if wraps:
            start, width = start & np.uint32(31), width & np.uint32(31)
        start, width = (np.minimum(v, np.uint32(32)).astype(np.uint64) for v in (start, width))
        ones = (np.uint64(1) << width) - np.uint64(1)
        write(x, (ones << start).astype(np.uint32))

    return handler


@executes("P2R UP2UR")
def pack_predicates(here: Site) -> Handler:
    """P2R, UP2UR: predicates 0 to 6 as bits, those of the mask only, over the rest of the second source."""
    base, keep = raw(here.sources[-2], here), int(here.sources[-1].value)
    shift = _byte_shift(here.output)
    write = write_words(here.output)
    get = State.get_uniform_predicate if here.uniform else State.get_predicate
    bits = [i for i in range(7) if keep >> i & 1]
    cleared = np.uint32(~(keep << shift) & 0xFFFFFFFF)

    def handler(x: State) -> None:
        value = base(x) & cleared
        for i in bits:
            value = value | get(x, i).astype(np.uint32) << np.uint32(i + shift)
        write(x, value)

    return handler


def _byte_shift(operand: Operand | None) -> int:
    """Where the byte begins that a suffix such as .B1 names."""
    names = [suffix for suffix in operand.suffixes if suffix in ("B1", "B2", "B3")] if operand else []
    return 8 * int(names[0][1]) if names else 0


@executes("R2P")
def unpack_predicates(here: Site) -> Handler:
    """R2P: the bits of a register (or of one of its bytes) into the predicates of the mask."""
    registers = [operand for operand in here.instruction.operands if operand.kind == "register"]
    source = registers[-1]
    keep = int(here.instruction.operands[-1].value)
    reader = raw(source, here)
    shift = _byte_shift(source)

    def handler(x: State) -> None:
        bits = np.array(np.broadcast_to(reader(x), x.selected_lanes)) >> np.uint32(shift)
        for i in range(7):
            if keep >> i & 1:
                x.put_predicate(i, (bits >> np.uint32(i) & np.uint32(1)).astype(bool))

    return handler
