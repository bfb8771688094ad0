"""A Zstandard frame unpacked: what nvcc 13 packs images with, which Python before 3.14 cannot read.

Source   RFC 8878, section 3 (frames and blocks) and 4 (entropy coding); names as there.
Omits    Dictionaries, which no fat binary uses; the checksum is not verified.
"""

from dataclasses import dataclass, field

from warpbound.program.entropy import Backward, FsTable, Huffman, fse_distribution, huffman_tree
from warpbound.program.lz4 import repeat

_MAGIC = b"\x28\xb5\x2f\xfd"
_LARGEST_BLOCK_B = 128 << 10
_FIRST_OFFSETS = (1, 4, 8)

# code -> (least value, extra bits)
_LITERAL_LENGTHS = tuple((code, 0) for code in range(16)) + (
    (16, 1), (18, 1), (20, 1), (22, 1), (24, 2), (28, 2), (32, 3), (40, 3), (48, 4), (64, 6), (128, 7), (256, 8),
    (512, 9), (1024, 10), (2048, 11), (4096, 12), (8192, 13), (16384, 14), (32768, 15), (65536, 16),
)  # fmt: skip
_MATCH_LENGTHS = tuple((code + 3, 0) for code in range(32)) + (
    (35, 1), (37, 1), (39, 1), (41, 1), (43, 2), (47, 2), (51, 3), (59, 3), (67, 4), (83, 4), (99, 5), (131, 7),
    (259, 8), (515, 9), (1027, 10), (2051, 11), (4099, 12), (8195, 13), (16387, 14), (32771, 15), (65539, 16),
)  # fmt: skip
_OFFSETS = tuple((1 << code, code) for code in range(32))

# the distributions for blocks that bring none: counts by code, -1 for less than one
_USUAL_LITERAL_LENGTHS = (
    4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1,
)  # fmt: skip
_USUAL_MATCH_LENGTHS = (
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
)  # fmt: skip
_USUAL_OFFSETS = (1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1)


@dataclass(frozen=True)
class _Field:
    """One of the three codes of a sequence: its values, its usual distribution, the largest accuracy allowed."""

    values: tuple[tuple[int, int], ...]
    usual: FsTable
    accuracy: int


_FIELDS = (
    _Field(_LITERAL_LENGTHS, FsTable.of(_USUAL_LITERAL_LENGTHS, 6), 9),
    _Field(_OFFSETS, FsTable.of(_USUAL_OFFSETS, 5), 8),
    _Field(_MATCH_LENGTHS, FsTable.of(_USUAL_MATCH_LENGTHS, 6), 9),
)


@dataclass
class _Frame:
    """What goes from block to block: the output, the last offsets, tables that may be used again."""

    size: int
    out: bytearray = field(default_factory=bytearray)
    offsets: list[int] = field(default_factory=lambda: list(_FIRST_OFFSETS))
    huffman: Huffman | None = None
    tables: list[FsTable | None] = field(default_factory=lambda: [None, None, None])


def unpacked(raw: bytes, size: int) -> bytes:
    """The `size` bytes of a frame. Raises ValueError where it is damaged or holds more or fewer."""
    try:
        out = _unpack(raw, size)
    except IndexError as short:
        raise ValueError("Zstandard: cut off") from short
    if len(out) != size:
        raise ValueError(f"Zstandard: {len(out)} bytes where {size} were due")
    return bytes(out)


def _unpack(raw: bytes, size: int) -> bytearray:
    if raw[:4] != _MAGIC:
        raise ValueError("Zstandard: no frame")
    at = _after_header(raw)
    frame, last = _Frame(size), 0
    while not last:
        header = int.from_bytes(raw[at : at + 3], "little")
        last, kind, length = header & 1, header >> 1 & 3, header >> 3
        at += 3
        if kind == 1:
            block = raw[at : at + 1] * length
            at += 1
        else:
            block = raw[at : at + length]
            at += length
        if at > len(raw) or length > _LARGEST_BLOCK_B or kind == 3:
            raise ValueError("Zstandard: a block that cannot be")
        if kind == 2:
            _compressed(frame, block)
        else:
            frame.out += block
        if len(frame.out) > size:
            raise ValueError("Zstandard: more than was due")
    return frame.out


def _after_header(raw: bytes) -> int:
    """Where the blocks begin."""
    flags = raw[4]
    if flags & 3:
        raise ValueError("Zstandard: packed with a dictionary")
    single = flags >> 5 & 1
    return 5 + (1 - single) + (single, 2, 4, 8)[flags >> 6]


def _compressed(frame: _Frame, block: bytes) -> None:
    literals, at = _literals(frame, block)
    count = block[at]
    if count > 127:
        wide = count == 255
        count = (block[at + 1] | block[at + 2] << 8) + 0x7F00 if wide else (count - 128 << 8) + block[at + 1]
        at += 1 + wide
    at += 1
    if not count:
        frame.out += literals
        return
    modes = block[at]
    at += 1
    for number, one in enumerate(_FIELDS):
        frame.tables[number], at = _table(one, modes >> 6 - 2 * number & 3, frame.tables[number], block, at)
    _execute(frame, literals, count, Backward(block[at:]))


def _table(one: _Field, mode: int, previous: FsTable | None, block: bytes, at: int) -> tuple[FsTable, int]:
    """The table of one code, by one of four modes: the usual one, one code only, described here, as before."""
    if mode == 0:
        return one.usual, at
    if mode == 1:
        return FsTable.single(block[at]), at + 1
    if mode == 2:
        counts, accuracy, used = fse_distribution(block[at:], one.accuracy, len(one.values))
        return FsTable.of(counts, accuracy), at + used
    if previous is None:
        raise ValueError("Zstandard: a table that was never given")
    return previous, at


def _literals(frame: _Frame, block: bytes) -> tuple[bytes, int]:
    """The literals of a block, and where its sequences begin."""
    kind, form = block[0] & 3, block[0] >> 2 & 3
    if kind < 2:
        length = (1, 2, 1, 3)[form]
        size = int.from_bytes(block[:length], "little") >> (3, 4, 3, 4)[form]
        stored = size if kind == 0 else 1
        literals = block[length : length + stored] * (1 if kind == 0 else size)
        if len(literals) != size or size > _LARGEST_BLOCK_B:
            raise ValueError("Zstandard: literals beyond the end")
        return literals, length + stored
    length, bits = ((3, 10), (3, 10), (4, 14), (5, 18))[form]
    header = int.from_bytes(block[:length], "little") >> 4
    size, stored = header & (1 << bits) - 1, header >> bits
    packed = block[length : length + stored]
    if len(packed) != stored or size > _LARGEST_BLOCK_B:
        raise ValueError("Zstandard: literals beyond the end")
    if kind == 2:
        frame.huffman, used = huffman_tree(packed)
        packed = packed[used:]
    if frame.huffman is None:
        raise ValueError("Zstandard: a tree that was never given")
    return frame.huffman.decoded(packed, size, 4 if form else 1), length + stored


def _execute(frame: _Frame, literals: bytes, count: int, bits: Backward) -> None:
    """Literals and repetitions, alternating, as the sequences say; the rest of the literals follows."""
    tables = [table for table in frame.tables if table is not None]
    states = [bits.read(table.accuracy) for table in tables]
    used = 0
    for left in range(count, 0, -1):
        codes = [table.symbols[state] for table, state in zip(tables, states, strict=True)]
        (least, more) = _OFFSETS[codes[1]]
        offset = least + bits.read(more)
        (least, more) = _MATCH_LENGTHS[codes[2]]
        match = least + bits.read(more)
        (least, more) = _LITERAL_LENGTHS[codes[0]]
        length = least + bits.read(more)
        if left > 1:
            for number in (0, 2, 1):
                states[number] = tables[number].next(states[number], bits)
        if bits.overrun:
            raise ValueError("Zstandard: sequences beyond the end")
        frame.out += literals[used : used + length]
        used += length
        repeat(frame.out, _distance(frame.offsets, offset, length), match, frame.size)
    if used > len(literals) or bits.left:
        raise ValueError("Zstandard: sequences that do not fit their block")
    frame.out += literals[used:]


def _distance(recent: list[int], offset: int, literals: int) -> int:
    """What an offset means: 1 to 3 are the last three distances, moved by one where no literals stand before."""
    if offset > 3:
        recent[:] = [offset - 3, recent[0], recent[1]]
        return recent[0]
    place = offset - 1 + (literals == 0)
    distance = recent[place] if place < 3 else recent[0] - 1
    if place:
        recent[:] = [distance, recent[0], recent[1] if place > 1 else recent[2]]
    return distance
