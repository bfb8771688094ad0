"""Events of the warps of one block, or of one cluster, at mbarriers: arrivals, tests, copies that complete there.

Models   A barrier's phases are counted as they end. An event belongs to the phase in which it happened, and a test that
         succeeds needs as many phases as had ended by then.
"""

from collections import defaultdict
from collections.abc import Iterable
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.quick_dataclasses import dataclass

Numbers = NDArray[np.int64]


class Kind(StrEnum):
    ARRIVAL = "arrival"  # of a warp, at once
    TEST = "test"  # that succeeded; phase: how many have ended
    RETRY = "retry"  # a test that did not
    COPY = "copy"  # bytes under way, which count as they arrive
    PRODUCTS = "products"  # an arrival when the products of tensor memory before it are done
    MEETING = "meeting"  # an arrival and a wait at a barrier of the block; not recorded (workload.block_meetings)


@dataclass(frozen=True)
class Event:
    """One execution of an instruction by a warp, and the mbarriers that it affects.

    barriers : (barrier, phase) of each. size_B : bytes that the copy engine fetches, by this many requests.
    """

    kind: Kind
    barriers: tuple[tuple[int, int], ...]
    size_B: int = 0
    requests: int = 0


@dataclass(frozen=True)
class MbarrierAccess:
    """The barrier of each warp or lane; size_B : bytes that the copy engine fetches for it, by this many requests."""

    kind: Kind
    barriers: Numbers
    size_B: Numbers | None = None
    requests: int = 0


@dataclass(frozen=True)
class MbarrierLog:
    """Warps of one block or cluster: block, stream and events of each; events by instruction, in order.

    blocks : number of the block of each warp. streams : instruction indices in issue order. off : of each warp, the
    instructions that it only ever issues with all lanes off.
    """

    blocks: tuple[int, ...]
    streams: tuple[NDArray[np.int32], ...]
    events: tuple[dict[int, list[Event]], ...]
    off: tuple[frozenset[int], ...]


class MbarrierLogger:
    """Counts the phases of barriers and keeps the events of the watched warps, by row of the trace."""

    def __init__(self, rows: Iterable[int]) -> None:
        self.rows = frozenset(rows)
        self._rows = np.array(sorted(self.rows), np.int64)
        self.ended: defaultdict[int, int] = defaultdict(int)  # barrier -> phases
        self.events: dict[int, defaultdict[int, list[Event]]] = {row: defaultdict(list) for row in sorted(self.rows)}
        self._last: dict[int, tuple[int, int]] = {}  # row -> instruction and clock of its last event

    def note(self, met_at: "MbarrierAccess", at: int, clock: int, warps: Numbers, over: NDArray[np.bool_]) -> None:
        """One execution of instruction `at` by `warps` (rows of the trace); over : whether the phase ended."""
        phases: dict[int, dict[int, int]] = {}
        own = np.flatnonzero(np.isin(warps, self._rows))
        for place, warp, barrier in zip(own.tolist(), warps[own].tolist(), met_at.barriers[own].tolist(), strict=True):
            phases.setdefault(warp, {})[barrier] = place
        for warp, places in phases.items():
            ended_phases = tuple((barrier, self.ended[barrier]) for barrier in places)
            size_B = 0 if met_at.size_B is None else int(met_at.size_B[min(places.values())])
            events = self.events[warp][at]
            if self._last.get(warp) == (at, clock):  # a copy to several blocks
                ended_phases, size_B = events[-1].barriers + ended_phases, events[-1].size_B
                events.pop()
            self._last[warp] = at, clock
            events.append(Event(met_at.kind, ended_phases, size_B, met_at.requests))
        for barrier in distinct(met_at.barriers[over]).tolist():
            self.ended[barrier] += 1

    def mbarrier_log(
        self, blocks: dict[int, int], streams: dict[int, NDArray[np.int32]], off: dict[int, frozenset[int]]
    ) -> MbarrierLog:
        """The log of the watched warps; blocks, streams, off : of each row."""
        rows = list(self.events)
        return MbarrierLog(
            tuple(blocks[row] for row in rows), tuple(streams[row] for row in rows),
            tuple(dict(self.events[row]) for row in rows), tuple(off[row] for row in rows),
        )  # fmt: skip
