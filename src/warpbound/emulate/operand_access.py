"""Compiles the operands of an instruction into functions that read or write the state."""

from collections.abc import Callable
from dataclasses import field
from functools import partial

import numpy as np

from warpbound.emulate.state import FRESH, LANES, State, Value
from warpbound.errors import InputError
from warpbound.program.instruction import PT, RZ, Instruction, Operand
from warpbound.quick_dataclasses import dataclass

Read = Callable[[State], Value]
Write = Callable[[State, Value], None]

ZERO = np.uint32(0)
TRUE, FALSE = np.bool_(1), np.bool_(0)
MASK32, MASK64 = 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF


@dataclass(frozen=True)
class Constants:
    """The constant banks of a launch, bank number -> bytes as 32-bit words."""

    banks: dict[int, "np.ndarray[tuple[int], np.dtype[np.uint32]]"]

    def word(self, bank: int, offset: int) -> int:
        words = self.banks.get(bank)
        return int(words[offset // 4]) if words is not None and 0 <= offset // 4 < len(words) else 0


@dataclass(frozen=True)
class Site:
    """One instruction with its operands sorted by what they do.

    outputs : destination registers, in order (at most one but for shuffles, matches and atomics).
    predicates_out, sources, predicates_in : the rest, in printed order.
    uniform : whether it runs on the uniform datapath, one value per warp.
    """

    instruction: Instruction
    constants: Constants
    arch: int
    output: Operand | None
    predicates_out: tuple[Operand, ...]
    sources: tuple[Operand, ...]
    predicates_in: tuple[Operand, ...]
    uniform: bool
    modifiers: frozenset[str] = field(default=frozenset())

    def has(self, *modifiers: str) -> bool:
        return not self.modifiers.isdisjoint(modifiers)


def unsupported(instruction: Instruction, why: str = "") -> InputError:
    """The error for an instruction that the emulator does not execute."""
    place = instruction.place.outermost if instruction.place else None
    where = f"line {place.line}" if place else f"address {instruction.address:#x}"
    return InputError(
        f"The emulator does not execute {instruction.mnemonic} ({where}: `{instruction.text}`){why}.",
        "The kernel can still be analysed statically, without arguments.",
    )


def is_predicate(operand: Operand) -> bool:
    return operand.kind in ("predicate", "uniform_predicate")


def site(instruction: Instruction, constants: Constants, arch: int) -> Site:
    """Sort the operands of an arithmetic instruction: outputs come first, predicates before and after sources."""
    operands = list(instruction.operands)
    output = None
    before: list[Operand] = []
    traits = instruction.traits
    registers = () if traits.result in ("predicates", "none") else ("register", "uniform")
    most = 2 if traits.result == "predicates" else len(operands)
    while (
        len(before) < most
        and operands
        and (is_predicate(operands[0]) or (output is None and operands[0].kind in registers))
    ):
        first = operands.pop(0)
        if is_predicate(first):
            before.append(first)
        else:
            output = first
    after = [operand for operand in operands if is_predicate(operand)]
    sources = [operand for operand in operands if not is_predicate(operand)]
    return Site(
        instruction, constants, arch, output, tuple(before), tuple(sources), tuple(after),
        uniform=traits.uniform or (output is not None and output.kind == "uniform"),
        modifiers=frozenset(instruction.modifiers),
    )  # fmt: skip


# --- reading ---


def raw(operand: Operand, here: Site) -> Read:
    """The 32 bits of a source, before any sign."""
    kind, value, index = operand.kind, operand.value, operand.index
    if kind == "register":
        if index == RZ:
            return constant(ZERO)
        return lambda x: x.get(index)
    if kind == "uniform":
        if index == RZ:
            return constant(ZERO)
        return (lambda x: x.get_uniform(index)) if here.uniform else (lambda x: x.broadcast(index))
    if kind == "immediate":
        return constant(np.uint32(int(value) & MASK32))
    if kind == "float":
        return constant(np.float32(value).view(np.uint32))
    if kind == "constant" and isinstance(operand.bank, int) and not _live_terms(operand):
        return constant(np.uint32(here.constants.word(operand.bank, int(value))))
    raise unsupported(here.instruction, f", operand {operand.text}")


def _live_terms(operand: Operand) -> bool:
    return any(term.index != RZ for term in operand.terms)


def constant(value: Value) -> Read:
    return lambda x: value


def integer(operand: Operand, here: Site) -> Read:
    """A 32-bit integer source with -, ~ or | |."""
    reader = raw(operand, here)
    if operand.kind in ("immediate", "float"):
        return reader
    if operand.absolute:
        reader = _then(reader, lambda v: np.where(v >> 31, -v, v).astype(np.uint32))
    if operand.invert:
        reader = _then(reader, np.invert)
    if operand.negate:
        reader = _then(reader, np.negative)
    return reader


def _then(reader: Read, change: Callable[[Value], Value]) -> Read:
    return lambda x: change(reader(x))


def signed(operand: Operand, here: Site) -> Read:
    return _then(integer(operand, here), lambda v: v.view(np.int32))


def wide(operand: Operand, here: Site) -> Read:
    """A 64-bit integer source: a register pair, a constant pair, or an immediate that is sign-extended."""
    reader = raw_pair(operand, here)
    if operand.kind == "immediate":
        return reader
    if operand.invert:
        reader = _then(reader, np.invert)
    if operand.negate:
        reader = _then(reader, np.negative)
    return reader


def raw_pair(operand: Operand, here: Site) -> Read:
    """The 64 bits of a source as uint64."""
    kind, index = operand.kind, operand.index
    if kind in ("register", "uniform") and index == RZ:
        return constant(np.uint64(0))
    if kind == "register":
        return lambda x: x.get_pair(index)
    if kind == "uniform":
        low, high = raw(operand, here), raw(_next(operand), here)
        return lambda x: join(low(x), high(x))
    if kind == "immediate":
        return constant(np.uint64(int(operand.value) & MASK64))
    if kind == "float":
        return constant(np.float64(operand.value).view(np.uint64))
    if kind == "constant" and isinstance(operand.bank, int) and not _live_terms(operand):
        words = [here.constants.word(operand.bank, int(operand.value) + part) for part in (0, 4)]
        return constant(np.uint64(words[0] | words[1] << 32))
    raise unsupported(here.instruction, f", operand {operand.text}")


def _next(operand: Operand) -> Operand:
    return Operand(operand.kind, operand.text, index=operand.index + 1)


def join(low: Value, high: Value) -> Value:
    """64 bits of two words."""
    return low.astype(np.uint64) | high.astype(np.uint64) << np.uint64(32)


def single(operand: Operand, here: Site) -> Read:
    """A float32 source with - and | |."""
    if operand.kind == "register" and operand.index != RZ:
        return _float_signs(operand, partial(_float_register, operand.index))
    if operand.kind in ("float", "immediate"):  # a whole number is printed without a point
        return constant(_exact_float(operand, here))
    return _float_signs(operand, _then(raw(operand, here), lambda v: v.view(np.float32)))


def _float_register(index: int, x: State) -> Value:
    if x.normal[index] == FRESH:
        x.note_fresh(index)
    row = x.float_rows[index]
    return row if x.index is None else row.take(x.index)


def _exact_float(operand: Operand, here: Site) -> np.float32:
    """A printed immediate; a NaN's bits come from the encoding, which the print does not give."""
    value = np.float32(operand.value)
    encoding = here.instruction.encoding
    if np.isnan(value) and encoding:
        return np.uint32(encoding[0] >> 32).view(np.float32)
    return value


def _float_signs(operand: Operand, reader: Read) -> Read:
    if operand.absolute:
        reader = _then(reader, np.abs)
    if operand.negate:
        reader = _then(reader, np.negative)
    return reader


def double(operand: Operand, here: Site) -> Read:
    """A float64 source with - and | |."""
    if operand.kind in ("float", "immediate"):  # a whole number is printed without a point
        return constant(np.float64(operand.value))
    bits = raw_pair(operand, here)
    return _float_signs(operand, _then(bits, lambda v: v.view(np.float64)))


def predicate(operand: Operand, here: Site) -> Read:
    """A predicate source, per lane, or per warp on the uniform datapath; a scalar when it is always the same."""
    index, inverted = operand.index, operand.invert
    if index == PT:
        return constant(np.bool_(not inverted))
    if operand.kind == "predicate":

        def read(x: State) -> Value:
            return x.get_predicate(index)
    elif here.uniform:

        def read(x: State) -> Value:
            return x.get_uniform_predicate(index)
    else:

        def read(x: State) -> Value:
            value = x.get_uniform_predicate(index)
            return np.repeat(value, LANES) if value.ndim else value

    return _then(read, np.logical_not) if inverted else read


# --- writing ---


def write_words(operand: Operand | None) -> Write:
    """Write 32 bits to the destination; nothing for RZ."""
    if operand is None or operand.index == RZ:
        return lambda x, value: None
    index = operand.index
    if operand.kind == "uniform":
        return lambda x, value: x.put_uniform(index, value)
    return lambda x, value: x.put(index, value)


def write_single(operand: Operand | None) -> Write:
    if operand is None or operand.index == RZ:
        return lambda x, value: None
    index = operand.index
    if operand.kind == "uniform":
        return lambda x, value: x.put_uniform(index, value.view(np.uint32))
    return lambda x, value: x.put_float(index, value)


def write_pair(operand: Operand | None) -> Write:
    """Write 64 bits of uint64, int64 or float64."""
    if operand is None or operand.index == RZ:
        return lambda x, value: None
    index = operand.index
    if operand.kind == "uniform":

        def write(x: State, value: Value) -> None:
            bits = value.view(np.uint64)
            x.put_uniform(index, (bits & np.uint64(MASK32)).astype(np.uint32))
            x.put_uniform(index + 1, (bits >> np.uint64(32)).astype(np.uint32))

        return write
    return lambda x, value: x.put_pair(index, value)


def write_predicate(operand: Operand | None) -> Write:
    if operand is None or operand.index == PT:
        return lambda x, value: None
    index = operand.index
    if operand.kind == "uniform_predicate":
        return lambda x, value: x.put_uniform_predicate(index, value)
    return lambda x, value: x.put_predicate(index, value)
