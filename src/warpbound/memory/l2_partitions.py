"""Sides: an L2 of two halves, each next to half of the SMs, which holds what its own SMs read.

Source   NVIDIA, A100 whitepaper, 2020: each partition of L2 caches data for the SMs directly connected to it. A line
         that SMs of both sides read is held twice: te42kyfo/gpu-benches, gpu-cache, where all SMs read the same data,
         falls at half of L2 on an A100 and an H100 PCIe; gpu-latency, where one SM reads, has a plateau between half
         and all of L2. It ends as least-recently-used lines in evenly filled sets do: on the H100 at both edges, on the
         A100 more softly (docs/model-notes/l2-near-and-far.md).
Models   SMs alternate between the sides. A side of half the size keeps the lines that its SMs touched last. What it
         lost comes from the other side while the whole L2 has room for it, beside the second copies.
Omits    Which SMs are on which side; the first crossing of a line within a turn of blocks, which L2's measured rates
         contain.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpbound.memory.caches import Outcome, Stream, l2
from warpbound.memory.sorted_order import distinct, first_of_each

SIDES = 2
LINE_B = 128
_LINES = (1 << 44) - 1  # the side stands above


@dataclass(frozen=True)
class Asked:
    """What reaches an L2 in order of time.

    sm : of each access, (m,). warm : it has seen the same before. share : of it, what is for these accesses; less than
    all is of each side as much as the data asked for there.
    """

    stream: Stream
    sm: NDArray[np.int64]
    warm: bool
    share: float = 1.0

    @property
    def before(self) -> Stream | None:
        """What the L2 has seen."""
        return self.stream if self.warm else None


def part_of(asked: Asked, mine: slice, share: float) -> Asked:
    """Some of what is asked, for which there is that share."""
    stream = asked.stream
    return Asked(Stream(stream.sector[mine], stream.kind[mine], stream.place[mine]), asked.sm[mine], asked.warm, share)


def side_of(sm: NDArray[np.int64]) -> NDArray[np.int64]:
    """The side of L2 that SMs are next to, any shape."""
    return sm % SIDES


def looked_up(
    asked: Asked, size_bytes: float, simulate: Callable[..., Outcome]
) -> tuple[Outcome, NDArray[np.bool_]]:
    """What an L2 of two sides and `size_bytes` in all says; and what the reader's side had and has lost, (m,)."""
    stream, side = asked.stream, side_of(asked.sm)
    lines, held = _distinct(side << 44 | stream.sector >> 2)
    copies = held.sum() / max(1, lines)
    size_bytes *= asked.share
    outcome = simulate(stream, l2(size_bytes / max(1.0, copies)), asked.before)
    parts = np.full(SIDES, 1 / SIDES) if asked.share >= 1 else held / max(1, int(held.sum()))
    near, lost = [l2(size_bytes * part) for part in parts], np.zeros(len(side), bool)
    if all(lines * LINE_B <= one.bytes for lines, one in zip(held, near, strict=True)):
        return outcome, lost
    for number, one in enumerate(near):
        mine = np.flatnonzero(side == number)
        own = Stream(stream.sector[mine], np.zeros(len(mine), np.int8), side[mine])  # changes do not alter what hits
        missed = mine[~simulate(own, one, own if asked.warm else None).hit]
        lost[missed] = True
        if not asked.warm:
            lost[missed[first_of_each(stream.sector[missed])]] = False
    return outcome, lost


def _distinct(line: NDArray[np.int64]) -> tuple[int, NDArray[np.int64]]:
    """How many different lines there are, and how many each side touches, from lines under their sides, (m,)."""
    changes = np.ones(len(line), bool)
    changes[1:] = line[1:] != line[:-1]
    found = distinct(line[changes])
    return len(distinct(found & _LINES)), np.bincount(found >> 44, minlength=SIDES)
