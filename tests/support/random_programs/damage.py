"""Ways to damage bytes, texts and TOML files, and a clock that stops a reader which does not come back.

The default run asks a fixed number of questions with fixed seeds; only the long one looks at a clock.
"""

import copy
import datetime
import json
import random
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from warpbound.errors import WarpboundError

LONGEST = 60  # seconds of this process's own time for one input: hundreds of times what any has taken
FULL_PART = 160.0  # in `make full`: twenty minutes a file
INTERESTING = (0, 1, 0x7F, 0x80, 0xFF, 10, 32, 91)


def numbered(seed: int, count: int) -> Iterator[int]:
    """So many numbers, the same each time."""
    return iter(range(seed * 1_000_003, seed * 1_000_003 + count))


def new_ones(seconds: float) -> Iterator[int]:
    """Numbers that differ from run to run, for so long."""
    end = time.monotonic() + seconds
    for number in count(int(time.time()) * 1_000_003):
        if time.monotonic() > end:
            return
        yield number


def tried(numbers: Iterable[int], one: Callable[[random.Random], object]) -> None:
    """Call `one` with the chance that each number gives.

    Our own errors are answers; anything else fails, with the seed of the call in its message.
    """
    for number in numbers:
        try:
            with deadline():
                one(random.Random(number))
        except WarpboundError as refused:
            said = refused.reason.strip()
        except Exception as fault:
            raise AssertionError(f"seed {number}: {type(fault).__name__}: {fault}") from fault
        else:
            said = "answered"
        assert said, f"seed {number}: refused without a word"


@contextmanager
def deadline() -> Iterator[None]:
    """Raises TimeoutError after LONGEST seconds of the processor, where the system has such a clock."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError(f"no answer within {LONGEST} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def damaged(raw: bytes, source: random.Random) -> bytes:
    """Bits flipped, bytes replaced, runs repeated, moved or lost, the end cut off."""
    changed = bytearray(raw or b"\0")
    for _ in range(source.choice((1, 1, 2, 8, 64))):
        at, size = source.randrange(len(changed)), source.choice((1, 2, 4, 8, 64))
        match source.randrange(6):
            case 0:
                changed[at] ^= 1 << source.randrange(8)
            case 1:
                changed[at] = source.choice(INTERESTING)
            case 2:
                changed[at] = source.randrange(256)
            case 3:
                changed[at : at + size] = source.randbytes(size)
            case 4:
                changed[at:at] = changed[at : at + size]
            case _:
                del changed[at : at + size]
        changed = changed or bytearray(b"\0")
    return bytes(changed[: source.randrange(len(changed)) + 1] if source.random() < 0.2 else changed)


def shuffled(text: str, source: random.Random, words: tuple[str, ...] = ()) -> str:
    """Lines swapped, lost, doubled, cut, garbled, or given foreign words."""
    lines = text.splitlines() or [""]
    for _ in range(source.choice((1, 3, 20, 200))):
        at, other = source.randrange(len(lines)), source.randrange(len(lines))
        match source.randrange(7):
            case 0:
                lines[at], lines[other] = lines[other], lines[at]
            case 1:
                del lines[at]
            case 2:
                lines.insert(at, lines[other])
            case 3:
                lines[at] = lines[at][: source.randrange(len(lines[at]) + 1)]
            case 4:
                lines[at] = damaged(lines[at].encode(), source).decode("latin-1")
            case 5:
                lines[at:other] = reversed(lines[at:other])
            case _:
                lines[at] += source.choice(words or (" ", "\t", "]", '"', "="))
        lines = lines or [""]
    return "\n".join(lines)


def soup(words: tuple[str, ...], source: random.Random) -> str:
    """Words one after the other."""
    return "".join(source.choice(words) for _ in range(source.randrange(80)))


# ------------------------------------------------------------------------------------------ TOML

ODD: tuple[Any, ...] = (
    0, 1, -1, 2**31, 2**63 - 1, -(2**63), 1e308, -0.0, 1e-320, float("inf"), float("nan"), True, False, "", "x", "0",
    "per_warp", "h200", "../..", "\0", "é" * 300, [], [[]], [1, "a"], {}, {"value": 1}, {"": {}},
    datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), datetime.time(1),
)  # fmt: skip


def altered(tree: Any, source: random.Random) -> Any:
    """A TOML document with some keys lost, renamed or added and some values replaced."""
    whole: Any = json.loads(json.dumps(tree, default=str))
    for _ in range(source.choice((1, 1, 2, 6))):
        place = _somewhere(whole, source)
        if isinstance(place, dict) and place:
            key = source.choice(list(place))
            match source.randrange(4):
                case 0:
                    del place[key]
                case 1:
                    place[key] = _odd(source)
                case 2:
                    place[source.choice((key + "s", key.upper(), "", "name", "value"))] = place.pop(key)
                case _:
                    place["extra"] = _odd(source)
        elif isinstance(place, list) and place:
            at = source.randrange(len(place))
            place[at] = _odd(source)
            place += place[: source.randrange(3)]
    return whole


def _odd(source: random.Random) -> Any:
    return copy.deepcopy(source.choice(ODD))


def _somewhere(tree: Any, source: random.Random) -> Any:
    """A table or list inside the document, the document itself included."""
    while True:
        inner = tree.values() if isinstance(tree, dict) else tree
        deeper = [value for value in inner if isinstance(value, dict | list) and value]
        if not deeper or source.random() < 0.2:
            return tree
        tree = source.choice(deeper)
