"""The two entropy codes of Zstandard: finite state entropy and Huffman's, both read from the end of their bits.

Source   RFC 8878, section 4.
"""

from collections.abc import Sequence
from dataclasses import dataclass

_PAD = 16  # zero bytes put before the bits, so that a peek may reach beyond the first one
_WEIGHT_ACCURACY, _LARGEST_DEPTH = 6, 11


class Backward:
    """Bits read from the last one down; the highest bit that is set marks the end."""

    def __init__(self, raw: bytes) -> None:
        if not raw or not raw[-1]:
            raise ValueError("Zstandard: bits without an end")
        self._raw = bytes(_PAD) + raw
        self.at = 8 * (len(self._raw) - 1) + raw[-1].bit_length() - 1

    def read(self, count: int) -> int:
        """The next `count` bits (at most 32), zeros beyond the first one."""
        self.at -= count
        if self.at < 8 * (_PAD - 12):
            raise ValueError("Zstandard: bits beyond the end")
        first = self.at >> 3
        return int.from_bytes(self._raw[first : first + 8], "little") >> (self.at & 7) & (1 << count) - 1

    @property
    def left(self) -> int:
        return self.at - 8 * _PAD

    @property
    def overrun(self) -> bool:
        return self.left < 0


@dataclass(frozen=True)
class FsTable:
    """States of finite state entropy: the symbol of each, and how the next is made: bits to read, what to add."""

    accuracy: int
    symbols: tuple[int, ...]
    bits: tuple[int, ...]
    base: tuple[int, ...]

    def next(self, state: int, source: Backward) -> int:
        return self.base[state] + source.read(self.bits[state])

    @staticmethod
    def single(symbol: int) -> "FsTable":
        """The one state of a code with one symbol."""
        return FsTable(0, (symbol,), (0,), (0,))

    @staticmethod
    def of(counts: Sequence[int], accuracy: int) -> "FsTable":
        """The table of a distribution; counts add up to 2 ** accuracy, -1 counts as one state at the end."""
        size = 1 << accuracy
        symbols = [0] * size
        high = size
        for symbol, count in enumerate(counts):
            if count < 0:
                high -= 1
                symbols[high] = symbol
        place, step = 0, (size >> 1) + (size >> 3) + 3
        for symbol, count in enumerate(counts):
            for _ in range(max(count, 0)):
                symbols[place] = symbol
                place = place + step & size - 1
                while place >= high:
                    place = place + step & size - 1
        seen = [abs(count) for count in counts]
        bits, base = [], []
        for symbol in symbols:
            number = seen[symbol]
            seen[symbol] += 1
            bits.append(accuracy + 1 - number.bit_length())
            base.append((number << bits[-1]) - size)
        return FsTable(accuracy, tuple(symbols), tuple(bits), tuple(base))


def fse_distribution(raw: bytes, largest: int, symbols: int) -> tuple[list[int], int, int]:
    """Counts by symbol, accuracy, and the bytes used, of a description of a distribution."""
    stream = int.from_bytes(raw[:256], "little")
    accuracy, at = (stream & 15) + 5, 4
    if accuracy > largest:
        raise ValueError("Zstandard: a table that is too large")
    left, counts = 1 << accuracy, []
    while left > 0:
        width = (left + 1).bit_length()
        value = stream >> at & (1 << width) - 1
        small = (1 << width) - 2 - left  # values below it take one bit less
        if value & (1 << width - 1) - 1 < small:
            value &= (1 << width - 1) - 1
            width -= 1
        elif value >= 1 << width - 1:
            value -= small
        at += width
        counts.append(value - 1)
        left -= abs(value - 1)
        zeros = 3 if value == 1 else 0
        while zeros == 3:
            zeros = stream >> at & 3
            at += 2
            counts += [0] * zeros
        if len(counts) > symbols or at > 8 * len(raw):
            raise ValueError("Zstandard: a distribution that cannot be")
    if left:
        raise ValueError("Zstandard: a distribution that does not add up")
    return counts, accuracy, (at + 7) // 8


@dataclass(frozen=True)
class Huffman:
    """A prefix code as a table over the next `depth` bits: the symbol, and how many bits it takes."""

    depth: int
    symbols: bytes
    lengths: bytes

    def decoded(self, packed: bytes, size: int, streams: int) -> bytes:
        """`size` bytes from one stream, or from four that stand behind a table of their lengths."""
        if streams == 1:
            return self._stream(packed, size)
        ends = [int.from_bytes(packed[i : i + 2], "little") for i in (0, 2, 4)]
        quarter = (size + 3) // 4
        out, at = b"", 6
        for length in ends:
            out += self._stream(packed[at : at + length], quarter)
            at += length
        if size < 3 * quarter:
            raise ValueError("Zstandard: too few literals for four streams")
        return out + self._stream(packed[at:], size - 3 * quarter)

    def _stream(self, packed: bytes, size: int) -> bytes:
        source, out = Backward(packed), bytearray()
        state, mask = source.read(self.depth), (1 << self.depth) - 1
        for _ in range(size):
            out.append(self.symbols[state])
            taken = self.lengths[state]
            state = state << taken & mask | source.read(taken)
        if source.left != -self.depth:
            raise ValueError("Zstandard: literals that do not fill their stream")
        return bytes(out)


def huffman_tree(packed: bytes) -> tuple[Huffman, int]:
    """The code that stands before its streams, and the bytes it takes."""
    size = packed[0]
    if size >= 128:
        count, used = size - 127, 1 + (size - 126) // 2
        weights = [packed[1 + i // 2] >> (0 if i & 1 else 4) & 15 for i in range(count)]
    else:
        weights, used = _packed_weights(packed[1 : 1 + size]), 1 + size
    return _code(weights), used


def _packed_weights(raw: bytes) -> list[int]:
    """Two states take turns until the bits run out; the state that was not read last gives the last weight."""
    counts, accuracy, used = fse_distribution(raw, _WEIGHT_ACCURACY, _LARGEST_DEPTH + 2)
    table, source = FsTable.of(counts, accuracy), Backward(raw[used:])
    states = [source.read(accuracy), source.read(accuracy)]
    weights: list[int] = []
    turn = 0
    while len(weights) < 255:
        weights.append(table.symbols[states[turn]])
        states[turn] = table.next(states[turn], source)
        turn = 1 - turn
        if source.overrun:
            return [*weights, table.symbols[states[turn]]]
    raise ValueError("Zstandard: too many weights")


def _code(weights: list[int]) -> Huffman:
    """The table of the code; the last weight is not written: it fills the sum up to a power of two."""
    total = sum(1 << weight - 1 for weight in weights if weight)
    depth = total.bit_length()
    rest = (1 << depth) - total
    if not total or depth > _LARGEST_DEPTH or rest & rest - 1 or len(weights) > 255:
        raise ValueError("Zstandard: weights that make no code")
    weights = [*weights, rest.bit_length()]
    symbols, lengths = bytearray(), bytearray()
    for weight in range(1, depth + 1):
        for symbol, own in enumerate(weights):
            if own == weight:
                symbols += bytes([symbol]) * (1 << weight - 1)
                lengths += bytes([depth + 1 - weight]) * (1 << weight - 1)
    return Huffman(depth, bytes(symbols), bytes(lengths))
