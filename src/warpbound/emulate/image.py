"""Global memory of a launch: allocations at made-up addresses with gaps between them, every access checked."""

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

BASE = 0x7F40_0000_0000  # where a driver puts allocations on Linux; any value does
ALIGNMENT = 512
GAP = 4096


@dataclass(frozen=True)
class Allocation:
    """An array in the image: bytes [start, end) from the base; `known` is False for unknown contents."""

    name: str
    start: int
    end: int
    known: bool = True


@dataclass(frozen=True)
class Fault:
    """A bad access: which of the lanes given, its address, what is wrong."""

    lane: int
    address: int
    problem: str


class Image:
    """The bytes, and what lies where."""

    def __init__(self, sizes: list[tuple[str, int, bool]]) -> None:
        at = GAP
        allocations = []
        for name, size, known in sizes:
            allocations.append(Allocation(name, at, at + size, known))
            at += -(-(size + GAP) // ALIGNMENT) * ALIGNMENT
        self.allocations = tuple(allocations)
        self.bytes = np.zeros(at + GAP, np.uint8)
        self._starts = [one.start for one in allocations]
        self._start_array = np.array(self._starts, np.int64)
        self._end_array = np.array([one.end for one in allocations], np.int64)
        self._unwritten = {
            i: np.ones(one.end - one.start, np.bool_) for i, one in enumerate(allocations) if not one.known
        }
        self.unknown_reads: dict[str, int] = {}
        self._views = {width: self._view(width) for width in (1, 2, 4, 8, 16)}

    def _view(self, width: int) -> NDArray[Any]:
        whole = self.bytes[: len(self.bytes) // 16 * 16]
        if width == 16:
            return whole.view(np.uint32).reshape(-1, 4)
        return whole.view({1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[width])

    def address(self, number: int) -> int:
        """Where allocation `number` begins."""
        return BASE + self.allocations[number].start

    def contents(self, number: int) -> NDArray[np.uint8]:
        """The bytes of allocation `number`, not a copy."""
        one = self.allocations[number]
        return self.bytes[one.start : one.end]

    def offsets(self, addresses: NDArray[np.uint64], active: NDArray[np.bool_] | None) -> NDArray[np.int64]:
        """Bytes from the base; lanes that do not take part point at the first allocation."""
        offsets = (addresses - np.uint64(BASE)).view(np.int64)
        if active is not None:
            first = int(active.argmax())
            offsets = np.where(active, offsets, offsets[first] if active[first] else 0)
        return offsets

    def fault(self, offsets: NDArray[np.int64], width: int) -> Fault | None:
        """The first access of `width` bytes that is misaligned or outside every allocation."""
        if not len(offsets):
            return None
        if width > 1 and np.bitwise_or.reduce(offsets) & (width - 1):
            lane = int(np.flatnonzero(offsets & (width - 1))[0])
            return Fault(lane, BASE + int(offsets[lane]), f"is not a multiple of {width}")
        low, high = int(offsets.min()), int(offsets.max())
        which = bisect_right(self._starts, low) - 1
        if which >= 0 and high + width <= self.allocations[which].end:
            return None
        number = np.searchsorted(self._start_array, offsets, side="right") - 1
        good = (number >= 0) & (offsets + width <= self._end_array[np.maximum(number, 0)])
        if good.all():
            return None
        lane = int(np.flatnonzero(~good)[0])
        return Fault(lane, BASE + int(offsets[lane]), self._whereabouts(int(offsets[lane]), width))

    def _whereabouts(self, offset: int, width: int) -> str:
        if not self.allocations:
            return "is outside: the launch has no array"
        distance = [max(a.start - offset, offset + width - a.end) for a in self.allocations]
        near = self.allocations[int(np.argmin(distance))]
        if offset < near.start:
            place = f"{near.start - offset} bytes before the start of"
        elif offset < near.end:
            place = "across the end of"
        else:
            place = f"{offset - near.end} bytes behind the end of"
        return f"is {place} '{near.name}' ({near.end - near.start} bytes)"

    def load(self, offsets: NDArray[np.int64], width: int) -> NDArray[Any]:
        """Elements of `width` bytes at checked offsets; shape (n, 4) of words for 16 bytes."""
        if self._unwritten:
            self._note_unknown(offsets, width)
        return np.take(self._views[width], offsets // width if width > 1 else offsets, axis=0)

    def store(self, offsets: NDArray[np.int64], width: int, values: Any) -> None:
        """Write at checked offsets; of lanes with one address the last wins."""
        if self._unwritten:
            self._note_written(offsets, width)
        self._views[width][offsets // width] = values

    def elements(self, width: int) -> NDArray[Any]:
        """The whole image as elements of `width` bytes."""
        return self._views[width]

    def _note_unknown(self, offsets: NDArray[np.int64], width: int) -> None:
        for number, fresh in self._unwritten.items():
            one = self.allocations[number]
            inside = offsets[(offsets >= one.start) & (offsets < one.end)] - one.start
            if len(inside):
                count = int(np.count_nonzero(fresh[inside]))
                if count:
                    self.unknown_reads[one.name] = self.unknown_reads.get(one.name, 0) + count

    def _note_written(self, offsets: NDArray[np.int64], width: int) -> None:
        for number, fresh in self._unwritten.items():
            one = self.allocations[number]
            inside = offsets[(offsets >= one.start) & (offsets < one.end)] - one.start
            for byte in range(width if len(inside) else 0):
                fresh[inside + byte] = False
