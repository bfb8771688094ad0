"""Repeated parts of a stream: issued until the warp reaches a steady state, then multiplied.

Models   Equal states have equal futures: once a warp reaches the head of a repeated part in a state that it has had
         some iterations before (relative to cycle and position), the iterations between repeat from then on.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from warpbound.schedule.warp_state import Warp

_FEWEST_TURNS = 6  # iterations of one body in a row from which on states are compared
_MOST_HEADS = 16  # places jumped back to that are tried as the head of a body
_MOST_STATES = 32  # iterations without a repeated state, after which none is expected


def run(warp: Warp, stream: Sequence[int]) -> None:
    """Issue `stream`, which nothing follows."""
    for first, size, turns in parts(np.asarray(stream, np.int64)):
        body, end = stream[first : first + size], first + size * turns
        after = stream[end] if end < len(stream) else None
        if turns == 1:
            warp.run(body, after)
        else:
            _repeat(warp, body, turns, after)


def _repeat(warp: Warp, body: Sequence[int], turns: int, after: int | None) -> None:
    """Issue `body` this many times; the last turn is always simulated, as its successor differs."""
    states: dict[object, int] = {}
    turns_left = turns
    while turns_left > 1:
        if len(states) < _MOST_STATES:
            state = warp.whole_state()
            if state in states:
                period = states[state] - turns_left
                times = (turns_left - 1) // period
                if times:
                    warp.again(period, times)
                turns_left -= times * period
                states = {}
                for _ in range(turns_left - 1):
                    warp.run(body, body[0])
                break
            states[state] = turns_left
        warp.run(body, body[0])
        turns_left -= 1
    warp.run(body, after)


def parts(stream: NDArray[np.int64]) -> Iterator[tuple[int, int, int]]:
    """(first position, size, turns in a row) of bodies that follow each other and make up the stream."""
    whole = [(0, len(stream), 1)] if len(stream) else []
    best, saved = whole, 0
    for head in _heads(stream):
        result = _turns_of(stream, head)
        gain = sum(size * (turns - 1) for _, size, turns in result)
        if gain > saved:
            best, saved = result, gain
    yield from best


def _heads(stream: NDArray[np.int64]) -> list[int]:
    """Targets of backward jumps, the least frequent first: outer loops before inner ones."""
    back = stream[1:][stream[1:] <= stream[:-1]]
    places, times = np.unique(back, return_counts=True)
    often = times >= _FEWEST_TURNS - 1
    return [int(place) for place in places[often][np.argsort(times[often], kind="stable")]][:_MOST_HEADS]


def _turns_of(stream: NDArray[np.int64], head: int) -> list[tuple[int, int, int]]:
    """The stream cut at every `head`: equal pieces counted as iterations, all others joined."""
    cuts = [0, *np.flatnonzero(stream[1:] == head) + 1, len(stream)]
    pieces = [(stream[first:end].tobytes(), first, end) for first, end in zip(cuts, cuts[1:], strict=False)]
    result: list[tuple[int, int, int]] = []
    for _, equal in groupby(pieces, key=lambda piece: piece[0]):
        turns = list(equal)
        first, end = int(turns[0][1]), int(turns[-1][2])
        if len(turns) >= _FEWEST_TURNS:
            result.append((first, (end - first) // len(turns), len(turns)))
        elif result and result[-1][2] == 1:
            result[-1] = (result[-1][0], end - result[-1][0], 1)
        else:
            result.append((first, end - first, 1))
    return result
