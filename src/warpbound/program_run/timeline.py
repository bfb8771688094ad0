"""The device's timeline for a program: streams, events, kernels that run side by side, copies.

Models   A stream does one thing after another; the default stream waits for the others and they for it. Kernels of
         different streams run side by side while their shares of the SMs' room for blocks add up to at most one.
         Copies in each direction follow each other. The program's own time between its calls counts as none.
Omits    Slowing down of kernels that run together, page faults of managed memory.
"""

from dataclasses import field

from warpbound.machine import Gpu
from warpbound.program_run.protocol import EVERY_STREAM, UNORDERED
from warpbound.quick_dataclasses import dataclass

LEGACY = (0, 1)
LANES = 16
CODING = 128 / 130
# Link of boards by major compute capability: PCI Express x16 of the generation that NVIDIA's data sheets name for them
# (T4 and V100: generation 3, A100 and L40S: 4, H100, H200, B200 and RTX 50: 5); 10^9 transfers per second and lane of
# the generation (PCI-SIG), 128 of 130 bits are data.
TRANSFERS_PER_S = {7: 8e9, 8: 16e9, 9: 32e9, 10: 32e9, 12: 32e9}


def link_bandwidth(board: Gpu) -> float:
    """Bytes per second between host and device, one way."""
    rate = TRANSFERS_PER_S.get(board.arch // 10, min(TRANSFERS_PER_S.values()))
    return rate * LANES * CODING / 8


@dataclass(frozen=True)
class Span:
    """A kernel or a copy on the device: seconds from the start of the program."""

    what: str
    stream: int
    start_s: float
    end_s: float
    launch: int | None = None


@dataclass
class Timeline:
    """The state of every stream in seconds; `spans` is what has been done."""

    spans: list[Span] = field(default_factory=list)
    host: float = 0.0
    _ends: dict[int, float] = field(default_factory=dict)
    _ordered: set[int] = field(default_factory=set)
    _events: dict[int, float] = field(default_factory=dict)
    _running: list[tuple[float, float, float]] = field(default_factory=list)  # start, end, share of the SMs
    _copying: dict[str, float] = field(default_factory=dict)

    def kernel(self, name: str, stream: int, seconds: float, share: float, launch: int) -> float:
        """A kernel that takes `share` of the SMs' room; returns its start."""
        start = self._room(self._ready(stream), min(1.0, share))
        self._running = [each for each in self._running if each[1] > self.host]
        self._running.append((start, start + seconds, min(1.0, share)))
        self._done(stream, Span(name, stream & ~UNORDERED, start, start + seconds, launch))
        return start

    def copy(self, what: str, stream: int, seconds: float) -> None:
        """A copy; those of one kind follow each other."""
        start = max(self._ready(stream), self._copying.get(what, 0.0))
        self._copying[what] = start + seconds
        self._done(stream, Span(what, stream & ~UNORDERED, start, start + seconds))

    def record(self, event: int, stream: int) -> None:
        self._events[event] = self._ready(stream)

    def wait(self, stream: int, event: int) -> None:
        self._ends[self._number(stream)] = max(self._ready(stream), self._events.get(event, 0.0))

    def elapsed(self, first: int, second: int) -> float:
        """Seconds between two events."""
        return self._events.get(second, 0.0) - self._events.get(first, 0.0)

    def wait_on_host(self, event: int) -> None:
        self.host = max(self.host, self._events.get(event, 0.0))

    def synchronize(self, stream: int) -> None:
        """The program waits for a stream, or for all."""
        ends = self._ends.values() if stream == EVERY_STREAM else (self._ready(stream),)
        self.host = max((self.host, *ends))

    @property
    def end(self) -> float:
        return max((self.host, *self._ends.values()))

    def _number(self, stream: int) -> int:
        stream &= ~UNORDERED
        return 0 if stream in LEGACY else stream

    def _ready(self, stream: int) -> float:
        """When a stream can begin something new."""
        number = self._number(stream)
        if number == 0:
            ends = [end for other, end in self._ends.items() if other == 0 or other in self._ordered]
            return max((self.host, *ends))
        if not stream & UNORDERED:
            self._ordered.add(number)
        default = self._ends.get(0, 0.0) if number in self._ordered else 0.0
        return max(self.host, self._ends.get(number, 0.0), default)

    def _done(self, stream: int, span: Span) -> None:
        self._ends[self._number(stream)] = span.end_s
        self.spans.append(span)

    def _room(self, earliest: float, share: float) -> float:
        """The first time from `earliest` on at which the SMs have room."""
        for start in sorted({earliest, *(end for _, end, _ in self._running if end > earliest)}):
            busy = sum(s for begin, end, s in self._running if begin <= start < end)
            if busy + share <= 1.0 + 1e-9:
                return start
        return earliest

