"""Iterations of a loop that need not be evaluated one by one: their registers change by constant steps.

Models   Loops of one basic block whose deciding instructions add and compare integers of 32 bits. Such an iteration
         maps the registers linearly (modulo 2**32): once two steps are equal, all later ones are, too. A comparison
         then keeps its result for a number of iterations that follows from its operands and their steps, at most until
         an operand wraps around.
Omits    Loops with branches inside, comparisons of 64-bit numbers, guarded instructions.
"""

from collections.abc import Iterable
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.broadcast_registers import Code, Mask, Registers, Value
from warpbound.program.instruction import PT, RZ, Instruction, Operand
from warpbound.quick_dataclasses import dataclass

Ints = NDArray[np.int64]
_ADDING = frozenset({"add", "multiply_add", "shifted_add", "move"})  # rules of address arithmetic
_NOT_LINEAR = frozenset({"HI", "WIDE", "X", "CC"})  # modifiers of such instructions
FEW_OF = 4  # lanes for each that continues, at least, where only those that continue are evaluated
ENDLESS = np.int64(1) << 40
RELATIONS = ("LT", "LE", "GT", "GE", "EQ", "NE")


@dataclass(frozen=True)
class CountedLoop:
    """A loop of one block: its first instruction, its branch, the registers that decide, its comparisons."""

    header: int
    branch: int
    registers: tuple[int, ...]
    flags: tuple[int, ...]
    comparisons: tuple[int, ...]


def counted_loops(code: Code) -> dict[int, CountedLoop]:
    """The loops whose iterations may be counted, by the number of their branch."""
    loops = {}
    for number, block in enumerate(code.program.flow.blocks):
        if number not in block.follows:
            continue
        branch = block.last - 1
        deciding = [at for at in range(block.first, branch) if code.relevant[at]]
        written_places = {place for at in deciding for place in code.writes[at]}
        if all(_is_linear(code.instructions[at], code.writes[at], written_places) for at in deciding):
            comparisons = tuple(at for at in deciding if code.instructions[at].traits.compares == "integer")
            registers, flags = (tuple(sorted(n for kind, n in written_places if kind == each)) for each in "RP")
            loops[branch] = CountedLoop(block.first, branch, registers, flags, comparisons)
    return loops


def _is_linear(instruction: Instruction, writes: Iterable[tuple[str, int]], varying: set[tuple[str, int]]) -> bool:
    if instruction.guard is not None and (instruction.guard.index != PT or instruction.guard.invert):
        return False
    if instruction.traits.compares == "integer":
        return "EX" not in instruction.modifiers and all(_plain_operand(x) for x in compared(instruction))
    if instruction.opcode in ("PLOP3", "UPLOP3"):
        return True
    if instruction.traits.affine not in _ADDING or _NOT_LINEAR & set(instruction.modifiers):
        return False
    if any(kind == "P" for kind, _ in writes):
        return False
    factors = [x for x in instruction.operands[1:3] if x.kind == "register" and ("R", x.index) in varying]
    return instruction.traits.affine != "multiply_add" or len(factors) < 2


def compared(instruction: Instruction) -> list[Operand]:
    """The two numbers that an ISETP or UISETP compares."""
    return [x for x in instruction.operands if not x.kind.endswith("predicate")][:2]


def _plain_operand(operand: Operand) -> bool:
    if operand.negate or operand.absolute or operand.invert:
        return False
    constant = operand.kind == "constant" and isinstance(operand.bank, int) and not operand.terms
    return operand.kind in ("register", "immediate") or constant


def compared_values(code: Code, x: Registers, at: int) -> tuple[Value, Value]:
    """Both operands of the comparison `at` as they are now, uint32."""
    first, second = (word_of(code, x, operand) for operand in compared(code.instructions[at]))
    return first, second


def word_of(code: Code, x: Registers, operand: Operand) -> Value:
    """The word that an integer instruction reads: a register, an immediate or a constant at a fixed place, uint32."""
    if operand.kind == "register":
        word = np.uint32(0) if operand.index == RZ else x.get(operand.index)
    elif operand.kind == "constant":
        word = np.uint32(code.constants.word(int(operand.bank), int(operand.value)))  # type: ignore[arg-type]
    else:
        word = np.uint32(int(operand.value) & 0xFFFF_FFFF)
    if operand.invert:
        word = ~word
    return np.uint32(0) - word if operand.negate else word


@dataclass(frozen=True)
class Iteration:
    """The end of an iteration: the lanes that continue, registers and flags, the operands of each comparison."""

    lanes: Mask
    registers: tuple[Value, ...]
    flags: tuple[Value, ...]
    operands: tuple[tuple[Value, Value], ...]

    def shape(self) -> tuple[int, ...]:
        """Of all values together."""
        operands = (each for pair in self.operands for each in pair)
        return np.broadcast_shapes(*(np.shape(x) for x in (self.lanes, *self.registers, *self.flags, *operands)))

    def of(self, at: tuple[NDArray[np.int64], ...], shape: tuple[int, ...]) -> "Iteration":
        """The same for some lanes, which all continue; at : their indices in arrays of this shape."""

        def few(values: Iterable[Value]) -> tuple[Value, ...]:
            return tuple(np.broadcast_to(value, shape)[at] if np.ndim(value) else value for value in values)

        operands = tuple((first, second) for first, second in map(few, self.operands))
        return Iteration(np.bool_(1), few(self.registers), few(self.flags), operands)


def iteration_end(loop: CountedLoop, x: Registers, lanes: Mask, operands: dict[int, tuple[Value, Value]]) -> Iteration:
    """The end of the present iteration of a loop."""
    return Iteration(
        lanes,
        tuple(x.get(register) for register in loop.registers),
        tuple(x.get_predicate(flag) for flag in loop.flags),
        tuple(operands[at] for at in loop.comparisons),
    )


def iterations_alike(code: Code, loop: CountedLoop, last: tuple[Iteration, Iteration, Iteration]) -> Value | None:
    """For how many more iterations each lane (of `last[2].lanes`) continues as in the last three; None if not known.

    0 in lanes that do not continue.
    """
    lanes = last[2].lanes
    is_for_most = np.size(lanes) < FEW_OF * np.count_nonzero(lanes)
    if is_for_most or not np.ndim(lanes) or any(each.shape() != lanes.shape for each in last):
        return _of_lanes(code, loop, last)
    at = np.nonzero(lanes)
    of_few = _of_lanes(code, loop, tuple(each.of(at, lanes.shape) for each in last))
    iterations = np.zeros(lanes.shape, np.int64)
    iterations[at] = 0 if of_few is None else of_few
    return None if of_few is None else iterations


def _of_lanes(code: Code, loop: CountedLoop, last: tuple[Iteration, ...]) -> Value | None:
    """The same, each lane computed."""
    lanes = last[2].lanes
    if not all(_alike(first, second, lanes) for first, second in zip(last[1].flags, last[2].flags, strict=True)):
        return None
    for before, middle, now in zip(*(x.registers for x in last), strict=True):
        if not _alike(now - middle, middle - before, lanes):
            return None
    counts = []
    for number, at in enumerate(loop.comparisons):
        words = code.instructions[at].modifiers
        relation = next((word for word in words if word in RELATIONS), None)
        if relation is None:
            return None
        sides = []
        for side in (0, 1):
            before, middle, now = (x.operands[number][side] for x in last)
            if not _alike(now - middle, middle - before, lanes):
                return None
            kind = np.dtype(np.uint32 if "U32" in words else np.int32)
            sides.append((as_number(now, kind), _step(now - middle, lanes), kind))
        counts.append(iterations_unchanged(relation, *sides))
    if not counts:
        return None
    iterations = np.where(lanes, reduce(np.minimum, counts), 0)
    return None if (iterations >= ENDLESS).any() else iterations


def _alike(first: Value, second: Value, lanes: Mask) -> bool:
    return not ((first != second) & lanes).any()


def as_number(word: Value, kind: np.dtype[Any]) -> Ints:
    """A word as an integer of its kind, int32 or uint32."""
    return np.asarray(word).view(kind).astype(np.int64)


def _step(change: Value, lanes: Mask) -> Ints:
    """A change from one iteration to the next as a number; one number if all these lanes have the same, which is
    quicker."""
    step = as_number(change, np.dtype(np.int32))
    each, own = np.broadcast_arrays(step, lanes)
    common = each[np.unravel_index(own.argmax(), own.shape)]
    return np.asarray(common) if ((each == common) | ~own).all() else step


Side = tuple[Ints, Ints, np.dtype[Any]]  # number, its step from one iteration to the next, its kind


def iterations_unchanged(relation: str, first: Side, second: Side) -> Ints:
    """Iterations for which a comparison keeps its result and its operands do not wrap around."""
    apart, step = first[0] - second[0], first[1] - second[1]
    if relation in ("EQ", "NE"):
        divisor = np.where(step == 0, 1, step)
        meets = (step != 0) & (-apart % divisor == 0) & (-apart // divisor > 0)
        iterations = np.where(meets, -apart // divisor - 1, ENDLESS)
        iterations = np.where((apart == 0) & (step != 0), 0, iterations)
    else:
        if relation in ("GT", "GE"):
            apart, step = -apart, -step
        limit = apart + (relation in ("LE", "GE")) * np.int64(-1)  # now: holds where limit < 0
        iterations = _until_sign_changes(limit, step)
    return reduce(np.minimum, [iterations, *(until_wrap(*side) for side in (first, second))])


def _until_sign_changes(limit: Ints, step: Ints) -> Ints:
    """Steps for which a number stays below 0, or at 0 and above."""
    if np.ndim(step) == 0:  # few operations on the lanes
        if step == 0:
            return np.asarray(ENDLESS)
        distance, changes = (-limit - 1, limit < 0) if step > 0 else (limit, limit >= 0)
        return np.where(changes, distance // abs(step), ENDLESS)
    up, down = np.where(step > 0, step, 1), np.where(step < 0, -step, 1)
    holds = np.where(step > 0, (-limit - 1) // up, ENDLESS)
    fails = np.where(step < 0, limit // down, ENDLESS)
    return np.where(limit < 0, holds, fails)


def until_wrap(value: Ints, step: Ints, kind: np.dtype[Any]) -> Ints:
    """Steps for which a number stays within its kind."""
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    if np.ndim(step) == 0:
        return np.asarray(ENDLESS if step == 0 else (high - value if step > 0 else value - low) // abs(step))
    room = np.where(step > 0, high - value, value - low)
    return np.where(step == 0, ENDLESS, room // np.maximum(1, np.abs(step)))


def advance(loop: CountedLoop, x: Registers, last: tuple[Iteration, Iteration, Iteration], iterations: Any) -> None:
    """The registers this many iterations later, for the lanes that continue."""
    mask, x.mask = x.mask, last[2].lanes
    for register, middle, now in zip(loop.registers, last[1].registers, last[2].registers, strict=True):
        step = (now - middle).astype(np.uint64)
        x.put(register, ((now + step * iterations.astype(np.uint64)) & np.uint64(0xFFFF_FFFF)).astype(np.uint32))
    x.mask = mask
