"""State of the page, a frozen record stored in its address: a link shares the view.

The server keeps nothing about a user, so users do not affect each other. Short source text travels in the address,
compressed; longer text is named by its hash, which only this server knows.
"""

import base64
import binascii
import hashlib
import math
import zlib
from collections import OrderedDict
from dataclasses import fields
from threading import Lock
from urllib.parse import parse_qsl, urlencode

from warpbound.errors import InputError
from warpbound.page.pasted_source import LARGEST
from warpbound.quick_dataclasses import dataclass

LONGEST_IN_ADDRESS = 3000  # characters: browsers tell no server of an address of more than 4096
KEPT_TEXTS = 32


@dataclass(frozen=True)
class State:
    """source : example:NAME, paper:FILE/CASE, bare, text:COMPRESSED or here:HASH. grid to args : as on the command
    line, arguments one per line; empty for what the source itself brings. values : control -> number set by hand."""

    source: str = "example:matmul_tiled"
    gpu: str = "h200"
    kernel: str = ""
    grid: str = ""
    block: str = ""
    smem: str = ""
    args: str = ""
    view: str = "verdict"
    values: tuple[tuple[str, float], ...] = ()


_WORDS = tuple(f.name for f in fields(State) if f.name != "values")


def to_query(state: State) -> str:
    """The query part of the address, without default values."""
    pairs = [(name, getattr(state, name)) for name in _WORDS if getattr(state, name) != getattr(State, name)]
    return urlencode([*pairs, *(("set", f"{name}:{value!r}") for name, value in state.values)])


def from_query(query: str) -> State:
    """The state of a query; unknown keys are ignored."""
    words: dict[str, str] = {}
    values: dict[str, float] = {}
    for key, word in parse_qsl(query.removeprefix("?"), keep_blank_values=True):
        name, colon, number = word.rpartition(":")
        if key == "set" and colon and (value := _number(number)) is not None:
            values[name] = value
        elif key in _WORDS:
            words[key] = word
    return State(**words, values=tuple(values.items()))


def _number(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


class Texts:
    """Sources too long for an address, by hash; those unused for longest are dropped."""

    def __init__(self, most: int = KEPT_TEXTS) -> None:
        self._kept = most
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._lock = Lock()

    def source(self, text: str) -> str:
        """The `source` of a State for a text."""
        packed = base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode()
        if len(packed) <= LONGEST_IN_ADDRESS:
            return f"text:{packed}"
        key = hashlib.sha256(text.encode()).hexdigest()
        with self._lock:
            self._texts[key] = text
            self._texts.move_to_end(key)
            while len(self._texts) > self._kept:
                self._texts.popitem(last=False)
        return f"here:{key}"

    def text(self, source: str) -> str:
        """The text behind `text:` or `here:`. Raises InputError where the address is damaged or forgotten."""
        kind, _, word = source.partition(":")
        if kind == "here":
            with self._lock:
                if word in self._texts:
                    self._texts.move_to_end(word)
                    return self._texts[word]
            raise InputError("This server does not hold that source any more.", "Paste it again.")
        return unpacked(word)


def unpacked(word: str) -> str:
    """The text of an address. Raises InputError where it is damaged or grows beyond what the page takes."""
    try:
        unpack = zlib.decompressobj()
        raw = unpack.decompress(base64.urlsafe_b64decode(word), LARGEST + 1)
        text = raw.decode()
    except (binascii.Error, zlib.error, ValueError):
        raise InputError("The source in the address is damaged.", "Paste it again.") from None
    if not unpack.eof and len(raw) <= LARGEST:
        raise InputError("The source in the address is damaged.", "Paste it again.")
    if len(raw) > LARGEST:
        raise InputError(f"The source in the address has more than {LARGEST} characters.", "Paste less.")
    return text
