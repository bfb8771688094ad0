"""The two partitions of a large L2: each is next to half of the SMs and holds what its own SMs read.

Source   NVIDIA, A100 whitepaper, 2020: each partition of L2 caches data for the SMs directly connected to it. A line
         that SMs of both sides read is held twice. In te42kyfo/gpu-benches, gpu-cache, where all SMs read the same
         data, rates fall at half of L2 on an A100 and an H100 PCIe; gpu-latency, where one SM reads, has a plateau
         between half and all of L2. The plateau ends as in evenly filled sets with least-recently-used lines: on the
         H100 at both edges, on the A100 more softly (docs/model-notes/l2-near-and-far.md).
Models   SMs alternate between the sides. A partition, half of L2, keeps the lines that its SMs touched last. A line
         that it lost comes from the other partition while the whole L2 has room for it beside the replicated lines.
Omits    Which SMs are on which side; the first crossing of a line within a turn of blocks, which measured L2 rates
         contain.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.memory.caches import Outcome, Stream, l2
from warpbound.memory.sorted_order import first_of_each
from warpbound.quick_dataclasses import dataclass

SIDES = 2
LINE_B = 128
_LINES = (1 << 44) - 1  # mask of the line number; the side is in the bits above


@dataclass(frozen=True)
class L2Accesses:
    """Accesses that reach an L2, in order of time.

    sm : of each access, (m,). warm : L2 has served the same accesses before. share : part of L2 that these accesses
    have; if less than 1, each partition gives in proportion to the data that they use there.
    """

    stream: Stream
    sm: NDArray[np.int64]
    warm: bool
    share: float = 1.0

    @property
    def before(self) -> Stream | None:
        """The accesses that L2 has served before."""
        return self.stream if self.warm else None


def part_of(accesses: L2Accesses, own: slice | NDArray[np.int64], share: float) -> L2Accesses:
    """Some of the accesses, with that share of L2."""
    stream = accesses.stream
    part = Stream(stream.sector[own], stream.kind[own], stream.place[own])
    return L2Accesses(part, accesses.sm[own], accesses.warm, share)


def side_of(sm: NDArray[np.int64]) -> NDArray[np.int64]:
    """The L2 partition next to each SM, any shape."""
    return sm % SIDES


def lookup(
    accesses: L2Accesses, size_bytes: float, simulate: Callable[..., Outcome]
) -> tuple[Outcome, NDArray[np.bool_]]:
    """Outcome in an L2 of two partitions and `size_bytes` in all; and which lines the reader's side has lost, (m,)."""
    stream, side = accesses.stream, side_of(accesses.sm)
    lines, held_lines = _distinct(side << 44 | stream.sector >> 2)
    copies = held_lines.sum() / max(1, lines)
    size_bytes *= accesses.share
    outcome = simulate(stream, l2(size_bytes / max(1.0, copies)), accesses.before)
    parts = np.full(SIDES, 1 / SIDES) if accesses.share >= 1 else held_lines / max(1, int(held_lines.sum()))
    near, lost = [l2(size_bytes * part) for part in parts], np.zeros(len(side), bool)
    if all(lines * LINE_B <= partition.bytes for lines, partition in zip(held_lines, near, strict=True)):
        return outcome, lost
    for number, partition in enumerate(near):
        members = np.flatnonzero(side == number)
        # writes count as reads: they do not alter which accesses hit
        own = Stream(stream.sector[members], np.zeros(len(members), np.int8), side[members])
        missed = members[~simulate(own, partition, own if accesses.warm else None).hit]
        lost[missed] = True
        if not accesses.warm:
            lost[missed[first_of_each(stream.sector[missed])]] = False
    return outcome, lost


def _distinct(line: NDArray[np.int64]) -> tuple[int, NDArray[np.int64]]:
    """The number of different lines, and of those that each side touches, from side and line number, (m,)."""
    changes = np.ones(len(line), bool)
    changes[1:] = line[1:] != line[:-1]
    lines_by_side = distinct(line[changes])
    return len(distinct(lines_by_side & _LINES)), np.bincount(lines_by_side >> 44, minlength=SIDES)
