"""malloc and free in kernels: a heap in global memory, handed out lane by lane.

Source   CUDA C++ Programming Guide, "Dynamic Global Memory Allocation and Operations": the heap has 8 MB unless the
         program sets cudaLimitMallocHeapSize; addresses are multiples of 16; NULL where there is no room; memory stays
         until it is freed, also across launches. Both calls have their argument and result in R4 and R5 (compiled
         probes for sm_75 to sm_120).
Models   Freed memory is handed out again for the same size only.
Omits    The time that both calls take.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program

if TYPE_CHECKING:
    from warpbound.emulate.state import State

NAME = "(heap of malloc)"
USUAL_B, UNIT_B = 8 << 20, 16
ARGUMENT = 4  # first register of the pair
FREE_OF_COST = "malloc and free of the kernel take no time here"


class DeviceHeap:
    """Memory from an address on. sizes : of the allocations in use. free_places : what is free again, by size."""

    def __init__(self, start: int, size_B: int) -> None:
        self.next, self.end = start, start + size_B
        self.sizes: dict[int, int] = {}
        self.free_places: dict[int, list[int]] = {}

    def copy(self) -> "DeviceHeap":
        heap = DeviceHeap(self.next, self.end - self.next)
        heap.sizes = dict(self.sizes)
        heap.free_places = {size: list(places) for size, places in self.free_places.items()}
        return heap

    def allocate(self, size_B: int) -> int:
        """Address of a new allocation of this many bytes; 0 where there is no room for them."""
        size = -(-size_B // UNIT_B) * UNIT_B
        if self.free_places.get(size):
            place = self.free_places[size].pop()
        elif 0 < size <= self.end - self.next:
            place, self.next = self.next, self.next + size
        else:
            return 0
        self.sizes[place] = size
        return place

    def release(self, address: int) -> int:
        size = self.sizes.pop(address, None)
        if size is not None:
            self.free_places.setdefault(size, []).append(address)
        return address


def uses_heap(program: Program) -> bool:
    """Whether the kernel's code calls malloc or free: it moves the place of their address in the compiler's bank to a
    register, as a number or as the lower half of a result of HFMA2. Equal numbers may represent something else."""
    places = {fixup.offset for fixup in program.fixups if fixup.symbol in _CALLS} if program.has_calls else set()
    moves = (x for x in program.instructions if x.traits.affine == "move" or x.opcode == "HFMA2") if places else ()
    return not places.isdisjoint({_moved(x) for x in moves})


def _moved(instruction: Instruction) -> int | None:
    numbers = [operand.value for operand in instruction.operands if operand.kind == "immediate"]
    if not numbers:
        return None
    return int(np.float16(numbers[-1]).view(np.uint16)) if instruction.opcode == "HFMA2" else int(numbers[-1])


def serve(name: str, x: "State") -> bool:
    """Allocate or free for the active lanes; False if the function is not one of the heap's, or there is no heap."""
    heap, call = x.image.device_heap, _CALLS.get(name)
    if heap is None or call is None:
        return False
    arguments = x.get_pair(ARGUMENT)
    results = np.zeros(len(arguments), np.uint64)
    for lane in np.flatnonzero(x.active()).tolist():
        results[lane] = call(heap, int(arguments[lane]))
    x.put_pair(ARGUMENT, results)
    return True


_CALLS: Mapping[str, Callable[[DeviceHeap, int], int]] = {"malloc": DeviceHeap.allocate, "free": DeviceHeap.release}
