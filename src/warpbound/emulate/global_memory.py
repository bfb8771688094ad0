"""Global memory of a launch: arrays far apart, every access checked, contents filled on first access.

Every array has a slot of at least 64 GB of addresses for itself, so that an index that is wrong by any 32-bit number
is caught and never read from another array. The bytes themselves lie close together: an address is its slot
and the place of its byte among all bytes, the *offset*. Bytes that nothing touches take no memory, whatever the sizes.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct_below
from warpbound.emulate.device_heap import DeviceHeap
from warpbound.emulate.lane_queries import every, greatest, least
from warpbound.emulate.texture_objects import Texture
from warpbound.emulate.untouched_memory import zeros
from warpbound.quick_dataclasses import dataclass

BASE = 0x0100_0000_0000  # where the slots begin; any multiple of a slot does
SLOT_BITS = 36  # least address bits of a slot
SLOTS_END = 0x7E00_0000_0000  # where the windows of shared and local memory begin
MOST_B = 1 << 42  # most bytes of all arrays together
TRACED_BASE = 0x7F40_0000_0000  # in a trace the arrays lie close together from here on
ALIGNMENT = 512
GAP = 4096
PAGE_BITS = 12  # contents are made in pieces of 4 KB, as the system gives memory
LARGE_PAGE_BITS = 16  # 64 KB where an array has so many pages that a list of them is long
MOST_PAGES = 1 << 22
AT_ONCE_B = 1 << 20  # bytes of neighbouring pages that are made together

_SHIFTS = {1: 0, 2: 1, 4: 2, 8: 3, 16: 4}

Fill = Callable[[int, int], NDArray[np.uint8]]  # first byte, last byte + 1 -> these bytes of an array


@dataclass(frozen=True)
class Plan:
    """An array to allocate. fill : produces its bytes piece by piece; None: zeros.

    has_contents : False for unknown contents; their bytes are zeros too. is_zeros : the launch gives zeros.
    """

    name: str
    size: int
    fill: Fill | None = None
    has_contents: bool = True
    is_zeros: bool = False


@dataclass(frozen=True)
class Allocation:
    """An array in the image: bytes [start, end) from the base; `has_contents` is False for unknown contents.

    is_zeros : the launch gives zeros.
    """

    name: str
    start: int
    end: int
    has_contents: bool = True
    is_zeros: bool = False

    @property
    def words_end(self) -> int:
        """The end for accesses of 4 bytes: atomics of 1 and 2 bytes are compiled to those of the word around them."""
        return -(-self.end // 4) * 4

    def end_for(self, width: int) -> int:
        return self.words_end if width == 4 else self.end


@dataclass(frozen=True)
class Layout:
    """Where allocations lie. slot_bits : address bits of the slot of each; 0: they lie in one heap, in order.

    starts, ends : offsets in the image; ends for accesses of 1, 2, 4, 8 and 16 bytes.
    """

    base: int
    slot_bits: int
    starts: NDArray[np.int64]
    ends: tuple[NDArray[np.int64], ...]


@dataclass(frozen=True)
class Fault:
    """An invalid access: the lane, its address, the error."""

    lane: int
    address: int
    problem: str


class Unfilled:
    """Pages of one array that are not filled yet."""

    def __init__(self, fill: Fill, size: int) -> None:
        self.fill = fill
        self.size = size
        self.page_bits = PAGE_BITS if size >> PAGE_BITS <= MOST_PAGES else LARGE_PAGE_BITS
        self.missing = np.ones(-(-size >> self.page_bits), np.bool_)

    def make(self, low: int, high: int, target: NDArray[np.uint8], which: NDArray[np.int64] | None = None) -> None:
        """Fill the pages of bytes low to high (both included), or only those of the bytes `which`, in `target`."""
        bits = self.page_bits
        if which is None:
            first, last = low >> bits, high >> bits
            pages = first + np.flatnonzero(self.missing[first : last + 1])
        else:
            own = which >> bits
            pages = distinct_below(len(self.missing), own[self.missing[own]])
        if not len(pages):
            return
        self.missing[pages] = False
        gaps = np.flatnonzero(np.diff(pages) > 1)
        begins = (pages[np.concatenate(([0], gaps + 1))] << bits).tolist()
        ends = np.minimum(self.size, pages[np.concatenate((gaps, [-1]))] + 1 << bits).tolist()
        for begin, end in zip(begins, ends, strict=True):
            for start in range(begin, end, AT_ONCE_B):
                target[start : min(end, start + AT_ONCE_B)] = self.fill(start, min(end, start + AT_ONCE_B))

    def done(self) -> bool:
        return not self.missing.any()


class Image:
    """The bytes of global memory, and the place of each array.

    device_heap : of malloc in kernels. output : takes what the kernel prints; None: it prints nothing.
    textures : texture and surface objects by number. tell_failed : called with the lanes whose assertion fails
    and which therefore end; None: the kernel is refused.
    """

    device_heap: DeviceHeap | None = None
    output: list[bytes] | None = None
    textures: Mapping[int, Texture] = MappingProxyType({})
    tell_failed: Callable[[int], None] | None = None

    def __init__(self, plans: list[Plan]) -> None:
        at = GAP
        allocations = []
        for plan in plans:
            allocations.append(Allocation(plan.name, at, at + plan.size, plan.has_contents, plan.is_zeros))
            at += -(-(plan.size + GAP) // ALIGNMENT) * ALIGNMENT
        self.allocations = tuple(allocations)
        self.slot_bits = slot_bits(at + GAP)
        self._slot, self._in_slot = np.uint64(self.slot_bits), np.uint64((1 << self.slot_bits) - 1)
        self.bytes = zeros(at + GAP)
        self._start_array = np.array([allocation.start for allocation in allocations], np.int64)
        self._ends = {
            width: np.array([allocation.end_for(width) for allocation in allocations], np.int64)
            for width in (1, 2, 4, 8, 16)
        }
        self._unfilled = {i: Unfilled(plan.fill, plan.size) for i, plan in enumerate(plans) if plan.fill and plan.size}
        self._stored_to = set[int]()  # numbers of such arrays
        self._written = {  # of arrays with unknown contents: untouched flags take no memory
            i: zeros(allocation.words_end - allocation.start).view(np.bool_)
            for i, allocation in enumerate(allocations)
            if not allocation.has_contents
        }
        self.left_out: set[int] = set()  # numbers of arrays of which stores of boxes were counted, not made
        self.tell: Callable[[str], None] = _ignored  # of an array whose unknown contents are read
        self.tell_stray: Callable[[int], None] | None = None  # of lanes outside their arrays; None: they are refused
        self._views = {width: self._view(width) for width in (1, 2, 4, 8, 16)}

    def _view(self, width: int) -> NDArray[Any]:
        whole = self.bytes[: len(self.bytes) // 16 * 16]
        if width == 16:
            return whole.view(np.uint32).reshape(-1, 4)
        return whole.view({1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[width])

    def address(self, number: int) -> int:
        """First address of allocation `number`."""
        return BASE + (number << self.slot_bits) + self.allocations[number].start

    def contents(self, number: int) -> NDArray[np.uint8]:
        """The bytes of allocation `number`, not a copy."""
        allocation = self.allocations[number]
        whole = self.bytes[allocation.start : allocation.end]
        if number in self._unfilled:
            self._unfilled.pop(number).make(0, allocation.end - allocation.start - 1, whole)
        return whole

    def layout(self) -> Layout:
        return Layout(BASE, self.slot_bits, self._start_array, tuple(self._ends.values()))

    def make_contents(self) -> bool:
        """Make the contents of all arrays; whether the image need not be told of accesses after that."""
        for number in list(self._unfilled):
            self.contents(number)
        return not self._written

    def note_touched(self, loaded: NDArray[np.int64], stored: NDArray[np.int64]) -> None:
        """Note allocations that were read and written without `load` and `store`."""

    # --- where an access goes ---

    def numbers(self, addresses: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Numbers of the allocations whose addresses these may be; -1 for addresses of none."""
        number = (addresses - np.uint64(BASE)) >> self._slot
        return np.where(number < np.uint64(len(self.allocations)), number, np.uint64(2**64 - 1)).view(np.int64)

    def offsets(
        self, addresses: NDArray[np.uint64], active: NDArray[np.bool_] | None, width: int
    ) -> NDArray[np.int64] | Fault:
        """`places`, with the contents of the arrays made there."""
        places = self.places(addresses, active, width)
        if self._unfilled and not isinstance(places, Fault):
            self._fill(places, width)
        return places

    def places(
        self, addresses: NDArray[np.uint64], active: NDArray[np.bool_] | None, width: int
    ) -> NDArray[np.int64] | Fault:
        """Places of the bytes at `addresses`, or the first access of `width` bytes that is wrong.

        Inactive lanes get the offset of the first active one.
        """
        if active is not None:
            first = int(active.argmax())
            addresses = np.where(active, addresses, addresses[first])
        low, high = least(addresses), greatest(addresses)
        number = low - BASE >> self.slot_bits
        if number != high - BASE >> self.slot_bits or not 0 <= number < len(self.allocations):
            return self._of_several(addresses, width)
        allocation, slot = self.allocations[number], BASE + (number << self.slot_bits)
        if (
            low - slot < allocation.start
            or high - slot + width > allocation.end_for(width)
            or _misaligned(addresses, width)
        ):
            return self._fault(addresses, width)
        return np.subtract(addresses, np.uint64(slot)).view(np.int64)

    def _of_several(self, addresses: NDArray[np.uint64], width: int) -> NDArray[np.int64] | Fault:
        """`places` for lanes that access several arrays."""
        relative = addresses - np.uint64(BASE)  # of an address below: beyond every slot
        number = (relative >> self._slot).view(np.int64)
        if greatest(number) < len(self.allocations):
            places = (relative & self._in_slot).view(np.int64)
            inside = every(places >= self._start_array[number]) and every(places + width <= self._ends[width][number])
            if inside and not _misaligned(addresses, width):
                return places
        return self._fault(addresses, width)

    def _fill(self, places: NDArray[np.int64], width: int) -> None:
        """Make the pages that elements of `width` bytes at these places touch; an element lies in one page."""
        low, high = int(places.min()), int(places.max())
        for number, unfilled in self._unfilled.items():
            allocation = self.allocations[number]
            start, end = allocation.start, allocation.end
            if high < start or low >= end:
                continue
            whole = low >= start and high < end
            own = places if whole else places[(places >= start) & (places < end)]
            if not len(own):
                continue
            first, last = (low, high) if whole else (int(own.min()), int(own.max()))
            which = own - start if last - first >> unfilled.page_bits > 1 else None
            unfilled.make(first - start, min(last + width, end) - start - 1, self.bytes[start:end], which)

    def _good(self, addresses: NDArray[np.uint64], width: int) -> NDArray[np.bool_]:
        number, offset = self.numbers(addresses), ((addresses - np.uint64(BASE)) & self._in_slot).view(np.int64)
        if not self.allocations:
            return number >= 0
        in_array = (offset >= self._start_array[number]) & (offset + width <= self._ends[width][number])
        return np.asarray((number >= 0) & in_array)

    def _fault(self, addresses: NDArray[np.uint64], width: int) -> Fault:
        bad = ~self._good(addresses, width)
        if bad.any():
            lane = int(bad.argmax())
            return Fault(lane, int(addresses[lane]), self._whereabouts(int(addresses[lane]), width))
        lane = int(((addresses & np.uint64(width - 1)) != 0).argmax())
        return Fault(lane, int(addresses[lane]), f"is not a multiple of {width}")

    def _whereabouts(self, address: int, width: int) -> str:
        if not self.allocations:
            return "is outside: the launch has no array"
        half = 1 << self.slot_bits - 1  # a little before a slot is before its array
        number = (address - BASE + half) >> self.slot_bits
        if not 0 <= number < len(self.allocations):
            return "is a null pointer, or nearly" if address < 1 << 16 else "is far outside every array"
        offset = address - BASE - (number << self.slot_bits)
        near = self.allocations[number]
        if offset < near.start:
            place = f"{near.start - offset} bytes before the start of"
        elif offset < near.end:
            place = "across the end of"
        else:
            place = f"{offset - near.end} bytes past the end of"
        return f"is {place} '{near.name}' ({near.end - near.start} bytes)"

    def let_through(
        self, addresses: NDArray[np.uint64], active: NDArray[np.bool_] | None, width: int
    ) -> NDArray[np.int64] | None:
        """Places of an access of which some lanes are outside their arrays, if that is allowed and all that is wrong.

        Those lanes are in the gap before all arrays: they read zeros, and nobody sees what they write.
        """
        bad = ~self._good(addresses, width)
        if active is not None:
            bad &= active
        half = np.uint64(1 << self.slot_bits - 1)
        number = (addresses - np.uint64(BASE) + half) >> self._slot
        near = (addresses >= np.uint64(BASE) - half) & (number < np.uint64(len(self.allocations)))
        misaligned = (addresses if active is None else addresses[active]) & np.uint64(width - 1)
        if self.tell_stray is None or not bad.any() or (bad & ~near).any() or misaligned.any():
            return None
        self.tell_stray(int(bad.sum()))
        self.bytes[:GAP] = 0
        gap = np.uint64(GAP // 2)
        good = (addresses - np.uint64(BASE)) & self._in_slot
        outside = bad if active is None else bad | ~active
        places = np.where(outside, gap + addresses % gap, good).view(np.int64)
        self._fill(places, width)
        return places

    # --- the access itself ---

    def load(self, offsets: NDArray[np.int64], width: int) -> NDArray[Any]:
        """Elements of `width` bytes at checked offsets; shape (n, 4) of words for 16 bytes."""
        if self._written:
            self._note_unknown(offsets, width)
        return self._views[width].take(offsets >> _SHIFTS[width], axis=0)

    def store(self, offsets: NDArray[np.int64], width: int, values: Any) -> None:
        """Write at checked offsets; of lanes with one address the last wins."""
        if self._written:
            self._note_written(offsets, width)
        self._views[width][offsets >> _SHIFTS[width]] = values

    def look(self, offsets: NDArray[np.int64], width: int) -> None:
        """A load at checked offsets without its values."""
        if self._written:
            self._note_unknown(offsets, width)

    @property
    def has_unknown(self) -> bool:
        """Whether the contents of an array are not known."""
        return bool(self._written)

    def note_stored(self, offsets: NDArray[np.int64], width: int) -> None:
        """A store at checked offsets without its values."""
        if self._written:
            self._note_written(offsets, width)

    def touch(self, offsets: NDArray[np.int64], width: int) -> None:
        """Note that the caller itself reads and writes at these checked offsets."""
        if self._written:
            self._note_unknown(offsets, width)
            self._note_written(offsets, width)

    def trust_what_is_stored_to(self) -> None:
        """More was stored than was noted: arrays that something was stored to count as known from here on."""
        for number in self._stored_to & self._written.keys():
            del self._written[number]

    def elements(self, width: int) -> NDArray[Any]:
        """The whole image as elements of `width` bytes."""
        return self._views[width]

    def _note_unknown(self, offsets: NDArray[np.int64], width: int) -> None:
        for number, flags in self._written.items():
            allocation = self.allocations[number]
            inside = offsets[(offsets >= allocation.start) & (offsets < allocation.end)] - allocation.start
            if len(inside) and not flags[inside].all():
                self.tell(allocation.name)

    def _note_written(self, offsets: NDArray[np.int64], width: int) -> None:
        for number, flags in self._written.items():
            allocation = self.allocations[number]
            inside = offsets[(offsets >= allocation.start) & (offsets < allocation.end)] - allocation.start
            if len(inside):
                self._stored_to.add(number)
            for byte in range(width if len(inside) else 0):
                flags[inside + byte] = True


def slot_bits(total: int) -> int:
    """Address bits of a slot if all arrays together take this many bytes."""
    return max(SLOT_BITS, (2 * total).bit_length())


def _ignored(name: str) -> None:
    """The default callback."""


def _misaligned(addresses: NDArray[np.uint64], width: int) -> bool:
    return width > 1 and bool(int(np.bitwise_or.reduce(addresses)) & (width - 1))
