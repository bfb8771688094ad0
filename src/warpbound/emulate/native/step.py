"""A step of the interpreter: an instruction with its operands, in the layout of c/chunk.h."""

import ctypes
from collections.abc import Sequence
from dataclasses import field

import numpy as np

from warpbound.emulate.operand_access import MASK32, MASK64, Site, is_predicate
from warpbound.program.instruction import PT, RZ, Operand
from warpbound.quick_dataclasses import dataclass

NOTHING, REGISTER, UNIFORM, CONSTANT, PREDICATE, UNIFORM_PREDICATE, BANK = range(7)
BANKS = 32
ABSOLUTE, INVERTED, NEGATED = 1, 2, 4
NOT_TRANSLATED = -1


class NotTranslated(Exception):
    """The interpreter does not know this form of the instruction."""


class CSource(ctypes.Structure):
    """`Operand` of c/chunk.h."""

    _fields_ = (
        ("kind", ctypes.c_int32), ("index", ctypes.c_int32), ("change", ctypes.c_int32),
        ("value", ctypes.c_uint32), ("upper", ctypes.c_uint32),
    )  # fmt: skip


class CStep(ctypes.Structure):
    """`Step` of c/chunk.h."""

    _fields_ = (
        ("operation", ctypes.c_int32), ("target", ctypes.c_int32), ("polls", ctypes.c_int32),
        ("writes", ctypes.c_int32), ("mode", ctypes.c_int32 * 6), ("guard", CSource), ("out", CSource),
        ("sources", CSource * 4), ("flags_out", CSource * 2), ("flags", CSource * 3),
    )  # fmt: skip


@dataclass(frozen=True)
class Source:
    """Where a value comes from or goes. index : of a register or a bank.

    value, upper : words of a constant. value : place of a word in its bank; factor of a term of an address.
    """

    kind: int = NOTHING
    index: int = 0
    change: int = 0
    value: int = 0
    upper: int = 0

    def filled(self) -> CSource:
        return CSource(self.kind, self.index, self.change, self.value & MASK32, self.upper & MASK32)


@dataclass(frozen=True)
class Step:
    """One instruction for the interpreter. target : of a branch, an index; -1: none.

    flags_out : predicates that it writes; the values of an atomic.
    """

    operation: str
    out: Source = Source()
    sources: Sequence[Source] = ()
    flags_out: Sequence[Source] = ()
    flags: Sequence[Source] = ()
    mode: Sequence[int] = field(default=())
    target: int = -1


# --- operands ---


def changes(operand: Operand) -> int:
    return ABSOLUTE * operand.absolute + INVERTED * operand.invert + NEGATED * operand.negate


def constant(value: int) -> Source:
    return Source(CONSTANT, value=value & MASK32, upper=value >> 32 & MASK32)


def raw(operand: Operand) -> Source:
    """The 32 bits of a source, as `operand_access.raw`; a register pair has its upper word in the next register."""
    kind, value = operand.kind, operand.value
    if kind in ("register", "uniform"):
        if operand.index == RZ:
            return Source(CONSTANT)
        return Source(REGISTER if kind == "register" else UNIFORM, operand.index)
    if kind == "immediate":
        return constant(int(value) & MASK64)
    if kind == "float":
        return constant(int(np.float32(value).view(np.uint32)))
    if kind == "constant" and isinstance(operand.bank, int) and all(term.index == RZ for term in operand.terms):
        if value % 4 or not 0 <= operand.bank < BANKS:
            raise NotTranslated
        return Source(BANK, operand.bank, value=int(value) // 4)
    raise NotTranslated


def integer(operand: Operand) -> Source:
    """A 32- or 64-bit integer source with its signs."""
    source = raw(operand)
    if operand.kind in ("immediate", "float"):
        return source
    return Source(source.kind, source.index, changes(operand), source.value, source.upper)


def single(operand: Operand, here: Site) -> Source:
    """A float32 source with its signs."""
    if operand.kind in ("float", "immediate"):
        value = np.float32(operand.value)
        encoding = here.instruction.encoding
        if np.isnan(value) and encoding:
            return constant(encoding[0] >> 32)
        return constant(int(value.view(np.uint32)))
    if operand.invert:
        raise NotTranslated
    return integer(operand)


def double(operand: Operand) -> Source:
    """A float64 source with its signs."""
    if operand.kind in ("float", "immediate"):
        return constant(int(np.float64(operand.value).view(np.uint64)))
    if operand.invert:
        raise NotTranslated
    return integer(operand)


def flag(operand: Operand) -> Source:
    """A predicate source."""
    if not is_predicate(operand):
        raise NotTranslated
    if operand.index == PT:
        return constant(0 if operand.invert else MASK32)
    kind = PREDICATE if operand.kind == "predicate" else UNIFORM_PREDICATE
    return Source(kind, operand.index, INVERTED * operand.invert)


def register_out(operand: Operand | None) -> Source:
    if operand is None or operand.index == RZ:
        return Source()
    return Source(UNIFORM if operand.kind == "uniform" else REGISTER, operand.index)


def flags_out(here: Site) -> list[Source]:
    return [
        Source() if operand.index == PT
        else Source(PREDICATE if operand.kind == "predicate" else UNIFORM_PREDICATE, operand.index)
        for operand in here.predicates_out
    ]  # fmt: skip
