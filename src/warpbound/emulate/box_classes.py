"""Classes of the blocks of a large grid, found from the corners of boxes of blocks.

Models   Within a box of blocks whose corners take the same path, every register that decides is an affine function of
         the block's coordinates, modulo 2**32: sums, products with a factor that all blocks share, and shifts are
         affine, too. A comparison of two such numbers that do not wrap around divides the blocks by a plane; if all
         corners are on one side, so are all blocks, and they take the path of the corners. Each instruction
         is checked with the values at the corners and at the neighbours of the lowest one, which give the slopes. Boxes
         that fail are divided.
Omits    Other functions of block coordinates (remainders, bits): such boxes are divided, and given up if most of the
         grid is still undecided after some blocks; then every block is evaluated (`block_classes`).
"""

from collections.abc import Iterable
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.block_path import MOST_STEPS, Path
from warpbound.emulate.broadcast_registers import Code, Value
from warpbound.emulate.counted_iterations import as_number, word_of
from warpbound.emulate.steady_loops import sources_of
from warpbound.kernel_launch import Dim, Launch
from warpbound.program.instruction import Instruction, Operand
from warpbound.quick_dataclasses import dataclass

Ints = NDArray[np.int64]
FEWEST_BLOCKS = 1 << 11  # blocks of a grid; a smaller grid is evaluated block by block at once
WORD = 32  # bits
PARTS = 16  # into which a box is divided, along one axis
LANES_AT_ONCE = 1 << 19  # lanes of the points of the boxes that are evaluated together
LOOKED_AT = 8  # one in so many blocks of the grid may be looked at before this is given up
FIRST_LOOK, DECIDED = 2, 0.5  # divisions after which this share of the grid must be decided
SHARE_OF_STEPS = 0.5  # share of the steps of an evaluation of all blocks that all divisions together may take
LANES_OF_STEP = 1 << 9  # lanes of the points of the boxes; a step of more lanes counts as several: its checks cost more
_SUMS = frozenset({"add", "move", "to_uniform", "shifted_add", "scaled_add", "shift_left"})
_OF_PRODUCTS = frozenset({"MOV", "SHL", "IADD", "U32", "WIDE"})  # modifiers of IMAD, not opcodes: affine ones
_NOT_WORDS = frozenset({"EX", "64", "S64", "U64", "packed", "RELU"})  # comparisons of other things than two words


class CornerPath(Path):
    """The path of the corners of boxes; low, high : the boxes' first and last blocks, by coordinate, (boxes, 3).

    fits : of each box, whether what decides is affine in it, and no comparison divides it, (boxes,).
    """

    def __init__(self, code: Code, launch: Launch, low: Ints, high: Ints, thread: Ints) -> None:
        points = _points(launch.grid, low, high)
        x, y, _ = launch.grid
        super().__init__(code, launch, (points @ np.array([1, x, x * y])).ravel(), thread)
        axes = [axis for axis in range(3) if launch.grid[axis] > 1]
        self.boxes, self.points = points.shape[:2]
        self.apart = [(points - low[:, None])[:, :, axis, None, None] for axis in axes]
        self.fits = np.ones(self.boxes, np.bool_)
        self.cost = max(1.0, self.boxes * self.points * thread.size / LANES_OF_STEP)

    def _follow_few(self, lanes: Value, share: float) -> None:
        """All boxes continue together."""

    def _evaluate(self, at: int, instruction: Instruction) -> None:
        decides = self.code.deciding[at] and self.x.known(self.code.reads[at])
        if decides and not self._keeps_affine(at, instruction):
            for number in _numbers("R", self.code.reads[at]):
                self._require(self._is_same(self.x.get(number)))
        super()._evaluate(at, instruction)
        if decides:
            for number in _numbers("P", self.code.writes[at]):
                self._require(self._is_same(self.x.get_predicate(number)))

    def _keeps_affine(self, at: int, instruction: Instruction) -> bool:
        """Whether the result is affine where the operands are; boxes for which that fails are marked."""
        if instruction.traits.kind == "load":
            return self._loads_alike(at, instruction)
        return self._is_sum(at, instruction) or self._is_product(instruction) or self._compares(instruction)

    def _loads_alike(self, at: int, instruction: Instruction) -> bool:
        """Whether all loads return zeros, or all unknown contents; boxes where addresses wrap around are marked."""
        address = self._address(instruction)
        if address is None or not instruction.traits.is_global_load:
            return False
        contents = self.code.given.load(instruction, address, self.x.mask)
        if contents is not None and not self.code.given.are_zeros(np.asarray(address)):
            return False
        for number in _numbers("R", self.code.reads[at]):
            self._require(self._is_affine(self.x.get(number), np.uint32))
        return True

    def _is_sum(self, at: int, instruction: Instruction) -> bool:
        """Whether the result is a sum, a choice or a shift by a fixed count, and so affine where the operands are."""
        words, rule, operands = set(instruction.modifiers), instruction.traits.affine, sources_of(instruction)
        if not all(map(_is_plain, operands)):
            return False
        if rule == "select":
            return not words
        if rule == "funnel_shift":
            return operands[1].kind == "immediate" and (words == {"L", "U32"} or self._shifts_pair(operands, words))
        if rule not in _SUMS or words - {"X"}:
            return False
        carries = any(kind == "P" for kind, _ in self.code.writes[at])
        if rule not in ("add", "move", "to_uniform"):
            return operands[-1].kind == "immediate" and not words and not carries
        return not carries or (not words and self._carries(operands))

    def _shifts_pair(self, operands: list[Operand], words: set[str]) -> bool:
        """Whether the result is the high word of a pair shifted to the left; boxes in which it gets
        other bits of the low word are marked."""
        count = int(operands[1].value)
        if words != {"L", "U64", "HI"} or not 0 < count < WORD:
            return False
        low = self._word(operands[0])
        self._require(self._is_affine(low, np.uint32) & self._is_same(low >> np.uint32(WORD - count)))
        return True

    def _carries(self, operands: list[Operand]) -> bool:
        """Boxes in which an operand of a sum wraps around are marked; False where operands are negated."""
        if any(x.negate or x.invert for x in operands):
            return False
        for operand in operands:
            self._require(self._is_affine(self._word(operand), np.uint32))
        return True

    def _is_product(self, instruction: Instruction) -> bool:
        """Whether the result is a product, possibly of 64 bits; boxes in which no factor is the same are marked."""
        words, operands = set(instruction.modifiers), sources_of(instruction)
        is_wide = "WIDE" in words
        if instruction.traits.affine != "multiply_add" or words - _OF_PRODUCTS or not all(map(_is_plain, operands)):
            return False
        if len(operands) < 2 or (is_wide and any(x.negate or x.invert for x in operands)):
            return False
        factors = [self._word(operand) for operand in operands[:2]]
        self._require(self._is_same(factors[0]) | self._is_same(factors[1]))
        if is_wide:  # the high word is affine if neither the factors nor the low words wrap around
            kind = np.uint32 if "U32" in words else np.int32
            addends = [self._word(operand) for operand in operands[2:3]]
            for value in factors:
                self._require(self._is_affine(value, kind))
            for value in (*addends, sum(addends, factors[0] * factors[1])):
                self._require(self._is_affine(value, np.uint32))
        return True

    def _compares(self, instruction: Instruction) -> bool:
        """Whether the result is that of a comparison of two words; boxes that it divides are marked."""
        words, rule, operands = set(instruction.modifiers), instruction.traits.affine, sources_of(instruction)
        if instruction.traits.compares != "integer" and rule not in ("extreme", "add_extreme"):
            return False
        if words & _NOT_WORDS or not all(map(_is_plain, operands)):
            return False
        values = [self._word(operand) for operand in operands]
        if rule == "add_extreme":
            values = [values[0] + values[1], *values[2:]]
        kind = np.uint32 if "U32" in words else np.int32
        for value in values[:2]:
            self._require(self._is_affine(value, kind))
        first, second = (as_number(value, np.dtype(kind)) for value in values[:2])
        self._require(self._is_same(first < second))  # their being equal at one corner alone changes the predicate
        return len(values) == 2

    def _word(self, operand: Operand) -> Value:
        return word_of(self.code, self.x, operand)

    def _require(self, holds: Any) -> None:
        self.fits &= holds

    def _by_box(self, value: Value) -> NDArray[Any] | None:
        """A value at the points of each box, (boxes, points, warps, lanes); None where all blocks share it."""
        array = np.asarray(value)
        if array.ndim != 3 or array.shape[0] == 1:
            return None
        return array.reshape(self.boxes, self.points, *array.shape[1:])

    def _where_executed(self, holds: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Of each box, whether something holds at all points in the lanes that execute."""
        mask = self._by_box(self.x.mask)
        mask = np.asarray(self.x.mask) if mask is None else mask
        return np.asarray((holds | ~mask).all(axis=(1, 2, 3)))

    def _is_same(self, value: Value) -> Any:
        """Of each box, whether all its blocks have the same value, which is known to be affine."""
        values = self._by_box(value)
        return np.bool_(1) if values is None else self._where_executed(values == values[:, :1])

    def _is_affine(self, value: Value, kind: type) -> Any:
        """Of each box, whether a number that is affine modulo 2**32 is so as it is read, without wrapping around."""
        values = self._by_box(value)
        if values is None:
            return np.bool_(1)
        numbers = as_number(np.ascontiguousarray(values), np.dtype(kind))
        low = numbers[:, :1]
        estimate = low.astype(np.float64)  # differences of up to 2**33 times 2**31 blocks: too large for exact integers
        exact = low
        for count, apart in enumerate(self.apart):
            slope = numbers[:, self.points - len(self.apart) + count, None] - low
            exact = exact + slope * apart
            estimate = estimate + slope.astype(np.float64) * apart
        return self._where_executed((exact == numbers) & (np.abs(estimate) < 2.0**40))


@dataclass(frozen=True)
class Boxes:
    """Boxes of blocks that take one path each. low, high : first and last block, by coordinate, (boxes, 3).

    key : of the path, (boxes,). complete : whether every decision was evaluated.
    """

    low: Ints
    high: Ints
    key: NDArray[np.uint64]
    complete: bool


def boxes_of_one_path(code: Code, launch: Launch, thread: Ints) -> Boxes | None:
    """Boxes that fill the grid; None where what decides is not affine in most of it. thread : see `block_path.Path`."""
    blocks = prod(launch.grid)
    low, high = np.zeros((1, 3), np.int64), np.array([launch.grid], np.int64) - 1
    single_path: list[tuple[Ints, Ints, NDArray[np.uint64]]] = []
    corners, classified_blocks, divisions, steps, complete = 0, 0, 0, 0.0, True
    while True:
        path = CornerPath(code, launch, low, high, thread)
        corners += path.boxes * path.points
        if corners > blocks // LOOKED_AT or corners * thread.size > LANES_AT_ONCE:
            return None
        path.steps = steps
        path.follow(SHARE_OF_STEPS)
        steps = path.steps
        if steps > SHARE_OF_STEPS * MOST_STEPS:
            return None
        complete &= path.complete
        key = path.keys.with_trail().reshape(path.boxes, path.points)
        whole = path.fits & (key == key[:, :1]).all(axis=1) | (low == high).all(axis=1)
        single_path.append((low[whole], high[whole], key[whole, 0]))
        classified_blocks += int((high - low + 1)[whole].prod(axis=1).sum())
        if divisions == FIRST_LOOK and classified_blocks < DECIDED * blocks:
            return None
        if whole.all():
            break
        low, high = _divided(low[~whole], high[~whole], key[~whole], launch.grid)
        divisions += 1
    lows, highs, keys = (np.concatenate(part) for part in zip(*single_path, strict=True))
    return Boxes(lows, highs, keys, complete)


def _divided(low: Ints, high: Ints, key: NDArray[np.uint64], grid: Dim) -> tuple[Ints, Ints]:
    """The boxes in PARTS parts each, along an axis at whose ends corners differ, or the longest."""
    axes = [axis for axis in range(3) if grid[axis] > 1]
    corners = key[:, : 1 << len(axes)].reshape(len(key), *[2] * len(axes))
    weight = (high - low)[:, axes].astype(np.float64)
    for place in range(len(axes)):
        ends = np.moveaxis(corners, place + 1, 0)
        weight[:, place] *= np.where((ends[0] != ends[1]).reshape(len(key), -1).any(axis=1), prod(grid), 1)
    axis = np.array(axes)[weight.argmax(axis=1)]
    box = np.arange(len(key))
    begin, extent = low[box, axis], high[box, axis] - low[box, axis] + 1
    edges = begin[:, None] + extent[:, None] * np.arange(PARTS + 1) // PARTS
    box, part = np.nonzero(edges[:, 1:] > edges[:, :-1])
    lows, highs = low[box], high[box]
    lows[np.arange(len(box)), axis[box]] = edges[box, part]
    highs[np.arange(len(box)), axis[box]] = edges[box, part + 1] - 1
    return lows, highs


def _numbers(kind: str, places: Iterable[tuple[str, int]]) -> list[int]:
    """The registers (R) or predicates (P) among some places, by number."""
    return [number for each, number in places if each == kind]


def _is_plain(operand: Operand) -> bool:
    fixed = operand.kind != "constant" or (isinstance(operand.bank, int) and not operand.terms)
    whole = operand.kind in ("register", "immediate", "constant") and set(operand.suffixes) <= {"reuse"}
    return fixed and whole and not operand.absolute


def _points(grid: Dim, low: Ints, high: Ints) -> Ints:
    """The corners of each box, and behind them the neighbours of the lowest along each axis, (boxes, points, 3)."""
    axes = [axis for axis in range(3) if grid[axis] > 1]
    points = []
    for ends in product((0, 1), repeat=len(axes)):
        point = low.copy()
        for axis, end in zip(axes, ends, strict=True):
            point[:, axis] = (low, high)[end][:, axis]
        points.append(point)
    for axis in axes:
        point = low.copy()
        point[:, axis] = np.minimum(low[:, axis] + 1, high[:, axis])
        points.append(point)
    return np.stack(points, axis=1)
