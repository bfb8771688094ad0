"""Integer additions with carries, and the terms that other instructions add.

A subtraction with a carry out adds ~x + 1 in 33 bits: the carry means "no borrow".
"""


import numpy as np

from warpbound.emulate import packed_integers
from warpbound.emulate.operand_access import (
    Read,
    Site,
    constant,
    integer,
    predicate,
    raw,
    raw_pair,
    wide,
    write_pair,
    write_predicate,
    write_words,
)
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import State
from warpbound.program.instruction import PT, RZ, Operand

_U32, _U64 = np.uint64(32), np.uint64


@executes("IADD3 IADD VIADD UVIADD UIADD3 UIADD")
def add(here: Site) -> Handler:
    """IADD3, IADD, VIADD and their uniform forms: a + b [+ c], with carries in and out."""
    if here.has("64"):
        return add_wide(here)
    if packed_integers.is_packed(here):
        return packed_integers.add(here)
    if here.has("ISAT"):
        return _add_saturating(here)
    carries = any(operand.index != PT for operand in here.predicates_out)
    if carries or here.has("X"):
        return _add_carrying(here)
    reads = [
        integer(operand, here) for operand in here.sources if operand.index != 255 or operand.kind in ("immediate",)
    ]
    write = write_words(here.output)
    if not reads:
        reads = [constant(np.uint32(0))]
    if len(reads) == 1:
        (only,) = reads
        return lambda x: write(x, only(x))
    if len(reads) == 2:
        first, second = reads
        return lambda x: write(x, first(x) + second(x))
    first, second, third = reads
    return lambda x: write(x, first(x) + second(x) + third(x))


def _add_saturating(here: Site) -> Handler:
    """VIADD.S32.ISAT: the exact sum, or the nearest number that a signed word holds."""
    terms = [(raw(operand, here), operand.negate and operand.kind != "immediate") for operand in here.sources[:2]]
    write, limits = write_words(here.output), np.iinfo(np.int32)

    def handler(x: State) -> None:
        values = [(reader(x).view(np.int32).astype(np.int64), minus) for reader, minus in terms]
        total = sum(-value if minus else value for value, minus in values)
        write(x, np.clip(total, limits.min, limits.max).astype(np.int32).view(np.uint32))

    return handler


def _add_carrying(here: Site) -> Handler:
    """IADD3 with a carry in or out; the usual forms in 32 bits, the others in 64."""
    live = [source for source in here.sources if not _is_zero(source)]
    sets_carry = [operand.index != PT for operand in here.predicates_out]
    if not any(sets_carry):
        reads = [integer(operand, here) for operand in live]
        reads += [carry_word(operand, here) for operand in here.predicates_in]
        write = write_words(here.output)
        return lambda x: write(x, sum((reader(x) for reader in reads), np.uint32(0)))
    one_carry = sets_carry[0] and not any(sets_carry[1:]) and not here.has("X")
    if one_carry and len(live) == 2 and not (live[0].negate or live[0].invert or live[1].invert):
        return _add_two(here, live)
    return _add_in_64_bits(here)


def _is_zero(operand: Operand) -> bool:
    return operand.kind in ("register", "uniform") and operand.index == RZ and not operand.negate and not operand.invert


def _add_two(here: Site, live: list[Operand]) -> Handler:
    """a + b or a - b with the carry out."""
    first, second, minus = raw(live[0], here), raw(live[1], here), live[1].negate and live[1].kind != "immediate"
    write, out = write_words(here.output), write_predicate(here.predicates_out[0])

    def handler(x: State) -> None:
        a, b = first(x), second(x)
        total = a - b if minus else a + b
        carry = a >= b if minus else total < a
        write(x, total)
        out(x, carry)

    return handler


def _add_in_64_bits(here: Site) -> Handler:
    terms = [extended(source, here) for source in here.sources]
    terms += [carry_words(operand, here) for operand in here.predicates_in] if here.has("X") else []
    write = write_words(here.output)
    outs = [write_predicate(operand) for operand in here.predicates_out]

    def handler(x: State) -> None:
        total = terms[0](x)
        for term in terms[1:]:
            total = total + term(x)
        carries = total >> _U32
        write(x, total.astype(np.uint32))
        for least, out in enumerate(outs, start=1):
            out(x, carries >= least)

    return handler


def extended(operand: Operand, here: Site) -> Read:
    """A term as a 64-bit number; -x as ~x + 1 in 33 bits."""
    plain = raw(operand, here)
    if operand.kind == "immediate":
        return lambda x: plain(x).astype(_U64)
    if operand.negate:
        return lambda x: np.invert(plain(x)).astype(_U64) + _U64(1)
    if operand.invert:
        return lambda x: np.invert(plain(x)).astype(_U64)
    return lambda x: plain(x).astype(_U64)


def carry_words(operand: Operand, here: Site) -> Read:
    """A predicate as a 64-bit addend."""
    carry = predicate(operand, here)
    return lambda x: carry(x).astype(_U64)


def add_wide(here: Site) -> Handler:
    """IADD.64 and UIADD3.64: the sum of register pairs."""
    if any(operand.index != PT for operand in here.predicates_out) or here.has("X"):
        return _add_wide_carrying(here)
    reads = [wide(source, here) for source in here.sources]
    write = write_pair(here.output)

    def handler(x: State) -> None:
        total = reads[0](x)
        for reader in reads[1:]:
            total = total + reader(x)
        write(x, total)

    return handler


def _add_wide_carrying(here: Site) -> Handler:
    """The same with carries in or out; -x as ~x + 1 in 65 bits."""
    turned = [operand.kind != "immediate" and (operand.negate or operand.invert) for operand in here.sources]
    reads = [raw_pair(source, here) for source in here.sources]
    more = [constant(_U64(1)) for operand in here.sources if operand.negate and operand.kind != "immediate"]
    more += [carry_words(operand, here) for operand in here.predicates_in] if here.has("X") else []
    write = write_pair(here.output)
    outs = [write_predicate(operand) for operand in here.predicates_out]

    def handler(x: State) -> None:
        terms = [np.invert(term(x)) if inverted else term(x) for term, inverted in zip(reads, turned, strict=True)]
        total, carries = terms[0], np.uint8(0)
        for term in (*terms[1:], *(term(x) for term in more)):
            total = total + term
            carries = carries + (total < term)
        write(x, total)
        for least, out in enumerate(outs, start=1):
            out(x, carries >= least)

    return handler


def carry_word(operand: Operand, here: Site) -> Read:
    """A predicate as a 32-bit addend."""
    carry = predicate(operand, here)
    return lambda x: carry(x).astype(np.uint32)
