"""Device memory of a program: one file that the program and the emulator map, and its allocations.

No allocation reuses the addresses of an earlier one, and gaps lie between them, so that a wild access hits none.
"""

import mmap
import os
import sys
from bisect import bisect_right
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.emulate.device_heap import USUAL_B, DeviceHeap
from warpbound.emulate.global_memory import Allocation, Fault, Image, Layout
from warpbound.emulate.lane_queries import greatest, least
from warpbound.emulate.texture_objects import Texture
from warpbound.errors import InputError
from warpbound.program_run.protocol import HEAP, HEAP_B, CudaError, MemoryKind, Refusal
from warpbound.quick_dataclasses import dataclass

ALIGNMENT = 512
GAP = 1 << 16
_NO_RESERVE = 0x4000 if sys.platform == "linux" else 0  # MAP_NORESERVE, which Python names from 3.13 on
PAGE = 4096
_HEAP = np.uint64(HEAP)
NEAR = 1 << 24  # bytes from an allocation within which an error names it


@dataclass(frozen=True)
class Piece:
    """An allocation. start : offset in the heap; version : changes with the contents, as far as calls tell."""

    name: str
    start: int
    size: int
    kind: MemoryKind
    version: int = 0

    @property
    def end(self) -> int:
        return self.start + self.size


class Heap:
    """The memory file and its allocations; addresses are those of the program."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.used = 0
        self.file = os.memfd_create("warpbound-device-memory", os.MFD_CLOEXEC)
        os.ftruncate(self.file, HEAP_B)
        self.bytes = mapped(self.file, mmap.MAP_SHARED)
        self.pieces: list[Piece] = []  # by start
        self.host_pages: list[tuple[int, int, int]] = []  # registered host memory: address, size, offset in the heap
        self._starts: list[int] = []
        self._next = GAP
        self.malloc_B = USUAL_B
        self.device_heap: DeviceHeap | None = None
        self.textures: dict[int, Texture] = {}  # texture and surface objects by number
        self._textures = 0
        self._versions = 0
        self._counts = dict.fromkeys(MemoryKind, 0)

    def close(self) -> None:
        os.close(self.file)

    def snapshot(self) -> "HeapImage":
        """The present memory as an image; writes to the image change nothing else."""
        size = -(-(self._next + GAP) // PAGE) * PAGE
        image = HeapImage(self, mapped(self.file, mmap.MAP_PRIVATE, size))
        image.device_heap = self.device_heap.copy() if self.device_heap else None
        return image

    def make_device_heap(self) -> None:
        """Memory for malloc in kernels, from the first launch on that asks for it."""
        if self.device_heap is None:
            start = self.allocate(self.malloc_B, MemoryKind.DEVICE_MEMORY, "the heap of malloc")
            self.device_heap = DeviceHeap(start, self.malloc_B)

    def allocate(self, size: int, kind: MemoryKind, name: str = "") -> int:
        """Address of a new allocation. Raises Refusal where the device has no room."""
        if kind != MemoryKind.HOST_MEMORY and self.used + size > self.capacity or self._next + size > HEAP_B // 2:
            raise Refusal(CudaError.NO_MEMORY)
        self._counts[kind] += 1
        start = self._next
        piece = Piece(name or _NAMES[kind].format(self._counts[kind]), start, size, kind, self._version())
        self._next = -(-(start + size + GAP) // ALIGNMENT) * ALIGNMENT
        if kind != MemoryKind.DEVICE_MEMORY:  # pages of host memory may be mapped elsewhere
            self._next = -(-self._next // PAGE) * PAGE
        self.pieces.append(piece)
        self._starts.append(start)
        self.used += size * (kind != MemoryKind.HOST_MEMORY)
        return HEAP + start

    def release(self, address: int) -> None:
        """Raises Refusal where nothing begins there."""
        at = self._index(address - HEAP)
        if at is None or self.pieces[at].start != address - HEAP:
            raise Refusal(CudaError.INVALID_VALUE)
        piece = self.pieces.pop(at)
        del self._starts[at]
        self.used -= piece.size * (piece.kind != MemoryKind.HOST_MEMORY)
        first, last = -(-piece.start // PAGE) * PAGE, piece.end // PAGE * PAGE
        if last > first:
            _punch(self.file, first, last - first)

    def at(self, address: int) -> Piece | None:
        """The allocation that holds an address of the program."""
        offset = self.offset(address)
        index = None if offset is None else self._index(offset)
        return None if index is None else self.pieces[index]

    def offset(self, address: int) -> int | None:
        """Offset of an address in the heap; None if it is not in the heap."""
        if HEAP <= address < HEAP + HEAP_B:
            return address - HEAP
        for start, size, offset in self.host_pages:
            if start <= address < start + size:
                return address - start + offset
        return None

    def holds(self, address: int, size: int) -> bool:
        """Whether bytes lie in one allocation; memory of the host always counts as one."""
        offset = self.offset(address)
        if offset is None:
            return True
        index = self._index(offset)
        return index is not None and offset + size <= self.pieces[index].end

    def address(self, piece: Piece) -> int:
        return HEAP + piece.start

    def register(self, address: int, size: int, copy: int) -> None:
        """Host memory of the program that it now sees in an allocation of ours, `copy`, page by page."""
        offset = self.offset(copy)
        assert offset is not None
        self.host_pages.append((address, size, offset))

    def unregister(self, address: int) -> bool:
        """Whether host memory that begins there was registered; it is no longer."""
        remaining_pages = [pages for pages in self.host_pages if not pages[0] <= address < pages[0] + pages[1]]
        was_registered = len(remaining_pages) < len(self.host_pages)
        self.host_pages = remaining_pages
        return was_registered

    def describe(self, texture: Texture) -> int:
        """Number of a new texture or surface object. Raises Refusal where its memory is not that of an allocation."""
        for level in (texture, *(texture.levels.smaller if texture.levels else ())):
            before = max(level.slices - 1, 0) * level.slice_B + max(level.height - 1, 0) * level.pitch_B
            if self.at(level.address) is None or not self.holds(level.address, before + level.width * level.texel_B):
                raise Refusal(CudaError.INVALID_VALUE)
        self._textures += 1
        self.textures[self._textures] = texture
        return self._textures

    def changed(self, address: int) -> None:
        """The contents of the allocation at an address have changed."""
        offset = self.offset(address)
        index = None if offset is None else self._index(offset)
        if index is not None:
            self.changed_piece(index)

    def changed_piece(self, index: int) -> None:
        """The contents of an allocation, by its place among all, have changed."""
        self.pieces[index] = replace(self.pieces[index], version=self._version())

    def _version(self) -> int:
        self._versions += 1
        return self._versions

    def _index(self, offset: int) -> int | None:
        at = bisect_right(self._starts, offset) - 1
        return at if at >= 0 and offset < max(self.pieces[at].end, self.pieces[at].start + 1) else None


_NAMES = {
    MemoryKind.DEVICE_MEMORY: "allocation {} of device memory",
    MemoryKind.MANAGED_MEMORY: "allocation {} of managed memory",
    MemoryKind.HOST_MEMORY: "allocation {} of host memory",
}


def mapped(file: int, how: int, size: int = HEAP_B) -> NDArray[np.uint8]:
    """The first `size` bytes of the memory file; MAP_PRIVATE: what is written there stays there.

    Raises InputError where the process may not have so many addresses.
    """
    try:
        return np.frombuffer(mmap.mmap(file, size, flags=how | _NO_RESERVE), np.uint8)
    except OSError as refused:
        reason = f"{size >> 30} GiB of addresses for device memory are refused here ({refused.strerror})."
        raise InputError(reason, "Raise the limit: `ulimit -v unlimited`; the memory itself is not taken.") from refused


def _punch(file: int, start: int, size: int) -> None:
    """Give the pages back; they read as zeros."""
    import ctypes

    keep_size, punch_hole = 1, 2
    libc = ctypes.CDLL(None)
    libc.fallocate(file, keep_size | punch_hole, ctypes.c_long(start), ctypes.c_long(size))


class HeapImage(Image):
    """The heap as global memory of a kernel: real addresses, checked against the allocations.

    read, stored : places among `allocations` that the kernel has read, and written. strays : accesses of single lanes
    outside all allocations, where `let_strays_pass` lets them pass.
    """

    def __init__(self, heap: Heap, contents: NDArray[np.uint8]) -> None:
        self.heap = heap
        self.textures, self.device_heap = heap.textures, heap.device_heap
        self.bytes = contents
        self.allocations = tuple(Allocation(piece.name, piece.start, piece.end) for piece in heap.pieces)
        self._starts = [allocation.start for allocation in self.allocations]
        self._start_array = np.array(self._starts, np.int64)
        self._ends = {
            width: np.array([allocation.end_for(width) for allocation in self.allocations], np.int64)
            for width in (1, 2, 4, 8, 16)
        }
        self._views = {width: self._view(width) for width in (1, 2, 4, 8, 16)}
        self._unfilled, self._written = {}, {}
        self.tell, self.tell_stray, self.strays = lambda name: None, None, 0
        self.read: set[int] = set()
        self.stored: set[int] = set()
        self._touched: tuple[int, ...] = ()

    def layout(self) -> Layout:
        return Layout(HEAP, 0, self._start_array, tuple(self._ends.values()))

    def note_touched(self, loaded: NDArray[np.int64], stored: NDArray[np.int64]) -> None:
        self.read.update(loaded.tolist())
        self.stored.update(stored.tolist())

    def address(self, number: int) -> int:
        return HEAP + self.allocations[number].start

    def contents(self, number: int) -> NDArray[np.uint8]:
        return self.bytes[self.allocations[number].start : self.allocations[number].end]

    def numbers(self, addresses: NDArray[np.uint64]) -> NDArray[np.int64]:
        offsets = (self._in_heap(addresses) - np.uint64(HEAP)).view(np.int64)
        number = self._numbers(offsets)
        inside = (offsets >= 0) & (offsets < len(self.bytes)) & (number >= 0)
        return np.where(inside, number, -1) if self.allocations else np.full(len(addresses), -1)

    def let_strays_pass(self) -> None:
        """Accesses near an allocation but outside it read zeros and write nothing from now on."""
        self.tell_stray = self._count_strays

    def _count_strays(self, lanes: int) -> None:
        self.strays += lanes

    def let_through(
        self, addresses: NDArray[np.uint64], active: NDArray[np.bool_] | None, width: int
    ) -> NDArray[np.int64] | None:
        addresses = self._in_heap(addresses)
        if active is not None:
            addresses = np.where(active, addresses, addresses[int(active.argmax())])
        stray, offsets = ~self._good(addresses, width), np.subtract(addresses, _HEAP).view(np.int64)
        if not self.allocations:
            return None
        near = (offsets > self._starts[0] - NEAR) & (offsets < self.allocations[-1].end + NEAR)
        if self.tell_stray is None or not stray.any() or (stray & ~near).any() or width > 1 and _odd(addresses, width):
            return None
        self.tell_stray(int((stray if active is None else stray & active).sum()))
        self.bytes[:GAP] = 0
        self._touched = tuple(np.unique(self._numbers(offsets[~stray])).tolist())
        return np.where(stray, GAP // 2 + offsets % (GAP // 2), offsets)

    def places(
        self, addresses: NDArray[np.uint64], active: NDArray[np.bool_] | None, width: int
    ) -> NDArray[np.int64] | Fault:
        if active is not None:
            addresses = np.where(active, addresses, addresses[int(active.argmax())])
        low, high = least(addresses) - HEAP, greatest(addresses) - HEAP
        number = bisect_right(self._starts, low) - 1
        if number < 0 or high + width > self._ends[width][number] or width > 1 and _odd(addresses, width):
            return self._of_several(addresses, width)
        self._touched = (number,)
        return np.subtract(addresses, _HEAP).view(np.int64)

    def _of_several(self, addresses: NDArray[np.uint64], width: int) -> NDArray[np.int64] | Fault:
        addresses = self._in_heap(addresses)
        if not self._good(addresses, width).all() or width > 1 and _odd(addresses, width):
            return self._fault(addresses, width)
        offsets = np.subtract(addresses, np.uint64(HEAP)).view(np.int64)
        self._touched = tuple(distinct(self._numbers(offsets)).tolist())
        return offsets

    def _in_heap(self, addresses: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Addresses of registered host memory become those of the same bytes in the heap."""
        for start, size, offset in self.heap.host_pages:
            inside = addresses - np.uint64(start) < np.uint64(size)
            addresses = np.where(inside, addresses - np.uint64(start) + np.uint64(HEAP + offset), addresses)
        return addresses

    def _numbers(self, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.asarray(np.searchsorted(self._start_array, offsets, side="right") - 1)

    def _good(self, addresses: NDArray[np.uint64], width: int) -> NDArray[np.bool_]:
        offsets = (addresses - np.uint64(HEAP)).view(np.int64)
        if not self.allocations:
            return np.zeros(len(addresses), np.bool_)
        number = self._numbers(offsets)
        return np.asarray((number >= 0) & (offsets >= 0) & (offsets + width <= self._ends[width][number]))

    def _whereabouts(self, address: int, width: int) -> str:
        if address < 1 << 16:
            return "is a null pointer, or nearly"
        offset = address - HEAP
        near = [a for a in self.allocations if a.start - NEAR < offset < a.end + NEAR]
        if not near:
            return "is far outside every allocation"
        closest = min(near, key=lambda a: max(a.start - offset, offset - a.end))
        size = f"({closest.end - closest.start} bytes)"
        if offset < closest.start:
            return f"is {closest.start - offset} bytes before the start of {closest.name} {size}"
        if offset < closest.end:
            return f"is across the end of {closest.name} {size}"
        return f"is {offset - closest.end} bytes past the end of {closest.name} {size}"

    def load(self, offsets: NDArray[np.int64], width: int) -> NDArray[Any]:
        self.read.update(self._touched)
        return super().load(offsets, width)

    def store(self, offsets: NDArray[np.int64], width: int, values: Any) -> None:
        self.stored.update(self._touched)
        super().store(offsets, width, values)

    def touch(self, offsets: NDArray[np.int64], width: int) -> None:
        self.read.update(self._touched)
        self.stored.update(self._touched)


def _odd(addresses: NDArray[np.uint64], width: int) -> bool:
    return bool(int(np.bitwise_or.reduce(addresses)) & (width - 1))
