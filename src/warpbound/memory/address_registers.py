"""Registers as affine forms, at one place of the code."""

from collections.abc import Mapping
from dataclasses import field

import numpy as np

from warpbound.memory import affine
from warpbound.memory.affine import ALIGNED, Form
from warpbound.program.instruction import PT, RZ, Instruction, Operand
from warpbound.quick_dataclasses import dataclass

Value = Form | str  # the form in a register, or what its value depends on
Key = tuple[str, int]  # register or uniform, number
Guard = tuple[str, int, bool, int] | None  # predicate: kind, number, inverted, how often it was written before


@dataclass(frozen=True)
class Threads:
    """Threads of one block, and the known parameters of the launch.

    block : threads in x, y and z. words : constant bank 0, byte offset -> value. grid : axis -> blocks along it.
    """

    block: tuple[int, int, int]
    words: Mapping[int, int] = field(default_factory=dict)
    grid: Mapping[str, int] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return int(np.prod(self.block))

    @property
    def warps(self) -> int:
        return -(-self.count // 32)

    def index(self, axis: str) -> Form:
        """threadIdx.X, .Y or .Z of every lane; lanes beyond the block continue the numbering."""
        linear = np.arange(32 * self.warps).reshape(self.warps, 32)
        x, y, _ = self.block
        return affine.constant({"X": linear % x, "Y": linear // x % y, "Z": linear // (x * y)}[axis])


@dataclass(frozen=True)
class _Held:
    value: Value
    guard: Guard = None
    before: "_Held | None" = None


class Registers:
    """The form in each register, by the guard of the instruction that wrote it."""

    def __init__(self, threads: Threads) -> None:
        self.threads = threads
        self.held: dict[Key, _Held] = {}
        self.writes: dict[Key, int] = {}  # predicate -> times written
        self.names = [0]  # unknowns named so far

    def copy(self) -> "Registers":
        """The same state; names of unknowns stay distinct."""
        twin = Registers(self.threads)
        twin.held, twin.writes, twin.names = dict(self.held), dict(self.writes), self.names
        return twin

    def any_value(self) -> Form:
        """An unknown value, equal for the whole warp."""
        self.names[0] += 1
        return affine.unknown(f"value{self.names[0]}")

    def word(self, bank: int, offset: int) -> Form:
        """A word of a constant bank."""
        if bank == 0 and offset in self.threads.words:
            return affine.constant(self.threads.words[offset])
        return affine.unknown(f"{ALIGNED}c[{bank:#x}][{offset:#x}]")

    def guard(self, instruction: Instruction) -> Guard:
        """The condition under which an instruction is executed."""
        by = instruction.guard
        if by is None or by.index == PT:
            return None
        return by.kind, by.index, by.invert, self.writes.get((by.kind, by.index), 0)

    def condition(self, predicate: Operand) -> None:
        """Note that a predicate is written."""
        key = (predicate.kind, predicate.index)
        self.writes[key] = self.writes.get(key, 0) + 1

    def value(self, operand: Operand, guard: Guard) -> Value:
        """An operand's lower word."""
        plain = self._plain(operand, guard)
        if isinstance(plain, str):
            return plain
        if operand.negate:
            plain = affine.scale(plain, -1)
        return affine.subtract(affine.constant(-1), plain) if operand.invert else plain

    def write(self, key: Key, value: Value, guard: Guard) -> None:
        before = self.held.get(key) if guard else None
        if before is not None and before.guard == guard:
            before = before.before
        self.held[key] = _Held(value, guard if before else None, before)

    def either(self, first: Value, second: Value) -> Value:
        """One of two values; which one is not known."""
        if isinstance(first, str) or isinstance(second, str):
            return first if isinstance(first, str) else second
        if affine.equal(first, second):
            return first
        return self.any_value() if first.uniform and second.uniform else "a choice between two values"

    def _plain(self, operand: Operand, guard: Guard) -> Value:
        match operand.kind:
            case "register" | "uniform":
                return affine.constant(0) if operand.index == RZ else self._read((operand.kind, operand.index), guard)
            case "immediate":
                return affine.constant(int(operand.value))
            case "float":
                return affine.constant(int(np.float32(operand.value).view(np.int32)))
            case "constant" if isinstance(operand.bank, int) and not has_register(operand):
                return self.word(operand.bank, int(operand.value))
        return f"`{operand.text}`"

    def _read(self, key: Key, guard: Guard) -> Value:
        holding = self.held.get(key)
        if holding is None:
            return "a register that is not set on the way through the code"
        return self._guarded(holding, guard)

    def _guarded(self, holding: _Held, guard: Guard) -> Value:
        """The value that an instruction under `guard` reads; another guard may have written it."""
        if holding.guard is None or holding.guard == guard or holding.before is None:
            return holding.value
        kind, number, inverted, version = holding.guard
        old = self._guarded(holding.before, guard)
        return old if guard == (kind, number, not inverted, version) else self.either(holding.value, old)


def has_register(operand: Operand) -> bool:
    """Whether a register takes part in an address."""
    return any(term.index != RZ for term in operand.terms)


def at_place(instruction: Instruction) -> str:
    """Position of an instruction, in words."""
    return f" at line {instruction.place.outermost.line}" if instruction.place else f" at {instruction.address:#x}"
