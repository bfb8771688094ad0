"""Contents of global memory that a launch gives and its kernel never writes, for values of many lanes at once.

Models   The pointer in an address is followed from the constants that hold pointers through the registers. A loaded
         value is taken to be an index, not a pointer; a store whose pointer is not known may write every array.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.emulate.global_memory import Fault
from warpbound.emulate.launch_memory import Memory
from warpbound.emulate.value_dependence import address_registers, taint
from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program
from warpbound.program.registers import lane_bytes

_POINTER_B = 8
_SIGNED = {"S8": np.int8, "S16": np.int16}


class GivenContents:
    """The arrays of a launch as a kernel reads them before anything is written.

    names : of the arrays that were read.
    """

    def __init__(self, program: Program, memory: Memory) -> None:
        self.program = program
        self.memory = memory
        self.names: set[str] = set()

    def load(self, instruction: Instruction, addresses: Any, mask: Any) -> list[Any] | None:
        """The words that a load returns, each of the shape of `addresses`; None where they are not given.

        addresses : uint64, a number or (blocks, warps, lanes). mask : the lanes that load, which broadcasts against it.
        """
        shape, size = np.shape(addresses), lane_bytes(instruction)
        flat = np.asarray(addresses, np.uint64).reshape(-1)
        active: NDArray[np.bool_] | None = _narrowed(mask, shape).reshape(-1)
        if active is not None and active.all():
            active = None
        if size > 16 or not self._given(flat if active is None else flat[active]):
            return None
        image = self.memory.image
        offsets = image.offsets(flat, active, size)
        if isinstance(offsets, Fault):
            return None
        return [word.reshape(shape)[()] for word in _words(image.load(offsets, size), size, instruction)]

    def are_zeros(self, addresses: NDArray[np.uint64]) -> bool:
        """Whether all addresses lie in arrays of zeros that the kernel does not write."""
        numbers = set(self.memory.image.numbers(addresses.reshape(-1)).tolist())
        zeros = {number for number, array in enumerate(self.memory.image.allocations) if array.is_zeros}
        return numbers <= zeros - self.written

    def _given(self, addresses: NDArray[np.uint64]) -> bool:
        """Whether all addresses lie in arrays that are given and not written."""
        image = self.memory.image
        arrays = image.allocations
        ends = np.array([addresses.min(), addresses.max()]) if len(addresses) else addresses
        numbers = sorted(set(image.numbers(ends).tolist()))
        if len(numbers) > 1:  # arrays lie one after the other, so that equal ends are one array
            numbers = distinct(image.numbers(addresses)).tolist()
        if not all(number >= 0 and arrays[number].has_contents for number in numbers):
            return False
        if not self.written.isdisjoint(numbers):
            return False
        self.names |= {arrays[number].name for number in numbers}
        return True

    @cached_property
    def written(self) -> frozenset[int]:
        """Numbers of the arrays that the kernel may write."""
        code, names = self.program.instructions, self.program.register_sets
        writers = [
            i
            for i, instruction in enumerate(code)
            if "global" in instruction.traits.stores or instruction.traits.is_global_atomic
        ]
        unexplained, own_writes = set(writers), set[int]()
        loads = {i for i, instruction in enumerate(code) if instruction.traits.kind in ("load", "atomic")}
        for number, sources in self._pointers().items():
            before = taint(self.program, sources, loads)
            own = {
                i for i in writers if i in sources or before[i] & names.of(address_registers(code[i]))
            }
            own_writes |= {number} if own else set()
            unexplained -= own
        every = range(len(self.memory.image.allocations))
        return frozenset(every if unexplained else own_writes)

    def _pointers(self) -> dict[int, set[int]]:
        """Array -> the instructions that read its address from a constant bank."""
        writers_of: dict[int, set[int]] = {}
        for i, instruction in enumerate(self.program.instructions):
            for number in self._addressed(instruction):
                writers_of.setdefault(number, set()).add(i)
        return writers_of

    def _addressed(self, instruction: Instruction) -> Iterator[int]:
        """The arrays whose addresses are in the constants that the instruction reads."""
        for operand in instruction.operands:
            if operand.kind != "constant" or not isinstance(operand.bank, int):
                continue
            words = self.memory.constants.banks.get(operand.bank, np.zeros(0, np.uint32))
            first = int(operand.value) // _POINTER_B * 2
            last = (int(operand.value) + max(4, lane_bytes(instruction)) - 1) // _POINTER_B * 2
            if any(term.index != 255 for term in operand.terms):
                first, last = 0, len(words) - 2
            for at in range(first, min(last, len(words) - 2) + 1, 2):
                address = np.array([int(words[at]) | int(words[at + 1]) << 32], np.uint64)
                number = int(self.memory.image.numbers(address)[0])
                if number >= 0:
                    yield number


def _narrowed(mask: Any, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """The mask in the given shape: an element is on if any lane that shares it is."""
    lanes: NDArray[np.bool_] = np.asarray(mask, np.bool_)
    if not shape:
        return np.asarray(lanes.any())
    shared = tuple(axis for axis in range(lanes.ndim) if shape[axis] == 1 < lanes.shape[axis])
    return np.broadcast_to(np.any(lanes, axis=shared, keepdims=True), shape)


def _words(values: NDArray[Any], size: int, instruction: Instruction) -> list[NDArray[np.uint32]]:
    """Loaded elements as words; small signed ones are extended."""
    if size == 16:
        return [values[:, i] for i in range(4)]
    if size == 8:
        return [(values & np.uint64(0xFFFF_FFFF)).astype(np.uint32), (values >> np.uint64(32)).astype(np.uint32)]
    signed = next((_SIGNED[m] for m in instruction.modifiers if m in _SIGNED), None)
    if signed is not None:
        return [values.view(signed).astype(np.int32).view(np.uint32)]
    return [values.astype(np.uint32)]
