"""A block of LZ4 unpacked.

Source   The block format as its author describes it (lz4_Block_format.md).
"""

_SHORTEST_MATCH = 4


def unpacked(block: bytes, size: int) -> bytes:
    """The `size` bytes that a block holds. Raises ValueError where it is damaged or holds more or fewer."""
    out = bytearray()
    at, end = 0, len(block)
    while at < end:
        token = block[at]
        length, at = _length(block, at + 1, token >> 4)
        if at + length > end:
            raise ValueError("LZ4: literals beyond the end")
        out += block[at : at + length]
        at += length
        if at >= end:
            break
        distance = int.from_bytes(block[at : at + 2], "little")
        length, at = _length(block, at + 2, token & 15)
        repeat(out, distance, length + _SHORTEST_MATCH, size)
    if len(out) != size:
        raise ValueError(f"LZ4: {len(out)} bytes where {size} were due")
    return bytes(out)


def _length(block: bytes, at: int, nibble: int) -> tuple[int, int]:
    """A length, and where the next byte is: 15 in the token is continued in bytes until one is not 255."""
    if nibble < 15:
        return nibble, at
    more = 255
    while more == 255:
        if at >= len(block):
            raise ValueError("LZ4: a length beyond the end")
        more = block[at]
        nibble += more
        at += 1
    return nibble, at


def repeat(out: bytearray, distance: int, length: int, limit: int) -> None:
    """Append `length` bytes from `distance` before the end; they may overlap what they make.

    Raises ValueError where that lies before the beginning, or the result grows beyond `limit`.
    """
    if not 0 < distance <= len(out) or len(out) + length > limit:
        raise ValueError("a repetition leads out of the data")
    start = len(out) - distance
    if distance >= length:
        out += out[start : start + length]
    else:
        piece = bytes(out[start:])
        out += (piece * (length // distance + 1))[:length]
