"""Registers of many blocks at once, and code prepared for evaluation on them.

A value has the shape that it needs: one number where all blocks agree, (blocks, 1, 1) where blocks differ, up to
(blocks, warps, lanes). The emulator's own handlers compute on such values.
"""

from collections.abc import Callable, Iterable, Set
from dataclasses import replace
from functools import cache, cached_property
from operator import is_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.control_dependence import ControlDependence
from warpbound.emulate.handler_building import Handler, handler_of
from warpbound.emulate.handlers import PLAIN
from warpbound.emulate.launch_memory import Memory
from warpbound.emulate.read_only_contents import GivenContents
from warpbound.emulate.state import LANES
from warpbound.emulate.value_slicing import guarded_arithmetic, slice_of, slice_without_guards
from warpbound.kernel_launch import Launch
from warpbound.program.control_flow import calls
from warpbound.program.instruction import PT, RZ, Instruction, Operand
from warpbound.program.kernel import Program
from warpbound.program.registers import guard_of, reads, writes

Value = Any  # a NumPy scalar or an array that broadcasts to (blocks, warps, lanes)
Mask = Any  # the same of bool

UNIFORM = 256  # register number at which the uniform registers follow the others here
UNIFORM_PREDICATES = 8  # the same of predicates
EVALUATED = ("integer", "predicate", "conversion")  # kinds that work value by value, lane by lane
RECIPROCAL = "MUFU"  # the one of the floats that divisions of integers use, in loops too
_BRINGING = ("special_register", "constant", "load")  # kinds that bring known values from elsewhere
_DECIDING = ("branch", "exit", "return", "call")


class Code:
    """A kernel's instructions prepared for evaluation: uniform registers become ordinary ones of higher numbers."""

    def __init__(self, program: Program, memory: Memory) -> None:
        self.program = program
        self.constants = memory.constants
        self.given = GivenContents(program, memory)
        self.branches = ControlDependence(program)
        self.instructions = [_renumbered(instruction) for instruction in program.instructions]
        self.reads = [_places(reads(instruction)) for instruction in program.instructions]
        self.writes = [_places(writes(instruction)) for instruction in program.instructions]
        self._handlers: dict[int, Handler | None] = {}
        own = slice_of(program)
        if not own.fast_paths and any(map(calls, program.instructions)):  # guards of arithmetic may need their results
            own = slice_without_guards(program, guarded_arithmetic(program), own.assumed)
        needed_places = frozenset(range(len(program.instructions))) - own.unneeded
        self.short = {at: way.begin for at, way in own.fast_paths.items()}
        self.selects = {at for at in needed_places if program.instructions[at].traits.affine == "select"}
        self.index = {instruction.address: at for at, instruction in enumerate(program.instructions)}

    def handler(self, at: int) -> Handler | None:
        """The function that computes an instruction's result; None where registers alone do not determine it."""
        if at not in self._handlers:
            code = replace(self.instructions[at], guard=None)
            is_computed = self._is_computed(at)
            self._handlers[at] = handler_of(code, self.constants, self.program.arch, PLAIN) if is_computed else None
        return self._handlers[at]

    def _is_computed(self, at: int) -> bool:
        instruction = self.instructions[at]
        if _is_evaluated(instruction):
            return True
        # in loops, such as iterations to convergence, floats would be evaluated for every lane of the grid
        return instruction.traits.index_float and at not in self.in_loops

    @cached_property
    def blocks_alike(self) -> bool:
        """Whether no block differs from another in what decides: it comes from thread numbers, constants and scalars
        alone, and all of it can be evaluated."""
        return not any(map(self._may_part_blocks, range(len(self.instructions))))

    def _may_part_blocks(self, at: int) -> bool:
        """Whether an instruction may decide something in one block and something else in another."""
        instruction = self.instructions[at]
        kind = instruction.traits.kind
        if kind == "branch":
            sends_apart = instruction.traits.indirect or not {"DIV", "CONV"}.isdisjoint(instruction.modifiers)
            return sends_apart and at not in self.short
        if kind in ("call", "return") or not self.deciding[at] or instruction.traits.same_in_blocks:
            return kind in ("call", "return")
        if kind == "special_register":
            name = next((x.text for x in instruction.operands if x.kind == "special"), "")
            return not name.startswith(("SR_TID", "SR_NTID", "SR_NCTAID", "SR_LANEID", "SRZ"))
        if kind == "constant":
            return not any(x.kind == "constant" and isinstance(x.bank, int) for x in instruction.operands)
        return not self._is_computed(at)

    @cached_property
    def in_loops(self) -> frozenset[int]:
        """The instructions inside loops."""
        blocks, loops = self.program.flow.blocks, self.program.flow.loops
        return frozenset(i for x in loops for n in x.blocks for i in range(blocks[n].first, blocks[n].last))

    def chosen_by(self, at: int) -> list[tuple[str, int]]:
        """The predicates by which an instruction chooses one of two values."""
        return [("P", x.index) for x in self.instructions[at].operands if x.kind == "predicate" and x.index != PT]

    @cached_property
    def relevant(self) -> list[bool]:
        """Whether an instruction is evaluated: it branches, is guarded, or its result goes into what decides."""
        return [
            (instruction.guard is not None and at not in self.uncounted)
            or instruction.traits.kind in _DECIDING or at in self.selects or deciding
            for at, (instruction, deciding) in enumerate(zip(self.program.instructions, self.deciding, strict=True))
        ]  # fmt: skip

    @cached_property
    def uncounted(self) -> frozenset[int]:
        """Guarded arithmetic whose lanes are not counted: only its guards would need loops or contents of arrays."""
        arithmetic, code = guarded_arithmetic(self.program), self.program.instructions
        if not arithmetic:
            return frozenset()
        exact, without = self._deciding(frozenset()), self._deciding(arithmetic)
        more = [i for i, decides in enumerate(exact) if decides and not without[i]]
        return arithmetic if any(i in self.in_loops or code[i].traits.is_global_load for i in more) else frozenset()

    def _conditions_at(self, at: int, uncounted: Set[int]) -> tuple[tuple[str, int], ...]:
        """The predicates that decide what an instruction does."""
        if at in self.short or at in uncounted:
            return ()
        chosen_by = self.chosen_by(at) if at in self.selects else ()
        return (*_places(_conditions(self.program.instructions[at])), *chosen_by)

    @cached_property
    def deciding(self) -> list[bool]:
        """Whether the result of an instruction goes into what decides."""
        return self._deciding(self.uncounted)

    def _deciding(self, uncounted: Set[int]) -> list[bool]:
        instructions, blocks = self.program.instructions, self.program.flow.blocks
        deciding = [False] * len(instructions)
        conditions = [self._conditions_at(at, uncounted) for at in range(len(instructions))]
        live: list[frozenset[tuple[str, int]]] = [frozenset()] * len(blocks)
        pending = set(range(len(blocks)))
        before: dict[int, set[int]] = {number: set() for number in range(len(blocks))}
        for number, block in enumerate(blocks):
            for other in block.follows:
                before[other].add(number)
        while pending:
            number = max(pending)
            pending.remove(number)
            names = set[tuple[str, int]]().union(*(live[other] for other in blocks[number].follows))
            for at in reversed(range(blocks[number].first, blocks[number].last)):
                if not names.isdisjoint(self.writes[at]):
                    deciding[at] = True
                    if instructions[at].guard is None:
                        names -= set(self.writes[at])
                    if self._is_computed(at) or instructions[at].traits.kind in _BRINGING:
                        names |= set(self.reads[at])
                names |= set(conditions[at])
            if names != live[number]:
                live[number] = frozenset(names)
                pending |= before[number]
        return deciding


def _conditions(instruction: Instruction) -> tuple[str, ...]:
    """The predicates that decide what an instruction does: its guard; of a branch all that it reads."""
    return reads(instruction) if instruction.traits.kind in _DECIDING else guard_of(instruction)


def _is_evaluated(instruction: Instruction) -> bool:
    traits = instruction.traits
    if instruction.opcode == RECIPROCAL or (traits.affine == "half_constant" and not reads(instruction)):
        return True
    return traits.kind in EVALUATED and not traits.all_predicates and traits.width != "typed_sources"


def _renumbered(instruction: Instruction) -> Instruction:
    """The instruction with its uniform registers and predicates as ordinary ones behind those."""
    operands = tuple(_plain(operand) for operand in instruction.operands)
    guard = None if instruction.guard is None else _plain(instruction.guard)
    if guard is instruction.guard and all(map(is_, operands, instruction.operands)):
        return instruction
    return replace(instruction, operands=operands, guard=guard)


def _plain(operand: Operand) -> Operand:
    if operand.kind == "uniform":
        index = operand.index if operand.index == RZ else operand.index + UNIFORM
        return replace(operand, kind="register", index=index)
    if operand.kind == "uniform_predicate":
        index = operand.index if operand.index == PT else operand.index + UNIFORM_PREDICATES
        return replace(operand, kind="predicate", index=index)
    return operand


def _places(names: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """Registers by name as their kind (R or P) and number here."""
    return tuple(place for name in names if (place := _place(name)) is not None)


@cache
def _place(name: str) -> tuple[str, int] | None:
    kind = name.rstrip("0123456789")
    shift = {"R": 0, "P": 0, "UR": UNIFORM, "UP": UNIFORM_PREDICATES}.get(kind)
    return None if shift is None else (kind[-1], int(name[len(kind) :]) + shift)


class Registers:
    """Registers and predicates of all blocks of a part; handlers read and write them in place of a `State`.

    words, flags : values by number. unknown : (kind, number) -> the lanes in which a value is not known.
    mask : the lanes that execute.
    """

    index = warps = fma_scratch = None
    normal = bytes(UNIFORM + UNIFORM)  # nothing is known of any register, as `State` has it

    def __init__(self) -> None:
        self.words: dict[int, Value] = {}
        self.flags: dict[int, Value] = {PT: np.bool_(1)}
        self.unknown: dict[tuple[str, int], Mask] = {}
        self.mask: Mask = np.bool_(1)

    def where(self, of: Callable[[Value], Value]) -> "Registers":
        """The registers with `of` applied to each value."""
        part = Registers()
        part.words = {number: of(value) for number, value in self.words.items()}
        part.flags = {number: of(value) for number, value in self.flags.items()}
        part.unknown = {place: of(lanes) for place, lanes in self.unknown.items()}
        return part

    def known(self, places: Iterable[tuple[str, int]]) -> bool:
        """Whether the executing lanes know all of these registers."""
        return not any((self.unknown[place] & self.mask).any() for place in places if place in self.unknown)

    def forget(self, places: Iterable[tuple[str, int]], lanes: Mask) -> None:
        """The lanes no longer know these registers."""
        for place in places:
            self.unknown[place] = self.unknown.get(place, np.bool_(0)) | lanes

    def learn(self, place: tuple[str, int]) -> None:
        """The executing lanes know the register that they have just written."""
        if place in self.unknown:
            lanes = self.unknown.pop(place) & ~self.mask
            if lanes.any():
                self.unknown[place] = lanes

    def get(self, register: int) -> Value:
        return self.words.get(register, np.uint32(0))

    def put(self, register: int, value: Value) -> None:
        value = _shaped(value).astype(np.uint32, copy=False)[()]
        self.words[register] = value if self.mask.all() else np.where(self.mask, value, self.get(register))
        self.learn(("R", register))

    @property
    def float_rows(self) -> "Registers":
        """The registers as float32, by number."""
        return self

    def __getitem__(self, register: int) -> Value:
        return self.get(register).view(np.float32)

    def put_float(self, register: int, value: Value) -> None:
        self.put(register, np.asarray(value, np.float32).view(np.uint32))

    def get_pair(self, register: int) -> Value:
        return self.get(register).astype(np.uint64) | self.get(register + 1).astype(np.uint64) << np.uint64(32)

    def put_pair(self, register: int, value: Value) -> None:
        bits = np.asarray(value).view(np.uint64)[()]
        self.put(register, (bits & np.uint64(0xFFFF_FFFF)).astype(np.uint32))
        self.put(register + 1, (bits >> np.uint64(32)).astype(np.uint32))

    def get_predicate(self, register: int) -> Value:
        return self.flags.get(register, np.bool_(0))

    def put_predicate(self, register: int, value: Value) -> None:
        value = _shaped(value).astype(np.bool_, copy=False)[()]
        before = self.get_predicate(register)
        self.flags[register] = as_one(value if self.mask.all() else np.where(self.mask, value, before))
        self.learn(("P", register))


def as_one(lanes: Mask) -> Mask:
    """Flags of lanes that are all set or all clear as one flag, which costs nothing to look at."""
    if not np.ndim(lanes) or not lanes.size or (lanes != lanes.flat[0]).any():
        return lanes
    return np.bool_(lanes.flat[0])


def _shaped(value: Value) -> NDArray[Any]:
    """A value as an array; ValueError for a handler's row of lanes, which does not broadcast."""
    array = np.asarray(value)
    if array.ndim not in (0, 3):
        raise ValueError(f"a value of shape {array.shape}")
    return array


def special_values(launch: Launch, blocks: NDArray[np.int64], thread: NDArray[np.int64]) -> dict[str, Value]:
    """Special registers whose values the launch tells, shaped to broadcast."""
    values: dict[str, Value] = {"SRZ": np.uint32(0), "SR_CgaCtaId": np.uint32(0), "SR_CgaSize": np.uint32(0)}
    step = 1
    for axis, size in zip("XYZ", launch.block, strict=True):
        value = (thread // step % size).astype(np.uint32)
        values[f"SR_TID.{axis}"] = value if size > 1 else np.uint32(0)
        values[f"SR_NTID.{axis}"] = np.uint32(size)
        step *= size
    step = 1
    for axis, size in zip("XYZ", launch.grid, strict=True):
        value = (blocks // step % size).astype(np.uint32)
        values[f"SR_CTAID.{axis}"] = value[:, None, None] if size > 1 else np.uint32(0)
        values[f"SR_NCTAID.{axis}"] = np.uint32(size)
        step *= size
    values["SR_LANEID"] = (thread[:, :1] % LANES).astype(np.uint32)
    return values
