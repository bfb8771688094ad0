"""Fields of a protocol-buffer message without its schema.

Source   Protocol Buffers Documentation, "Encoding": a message is a list of (field number, wire type, payload).
"""

from collections.abc import Iterator

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
LONGEST_VARINT_B = 10


class Malformed(ValueError):
    """Bytes that are no message."""


def fields(message: memoryview) -> Iterator[tuple[int, int, int | memoryview]]:
    """(field number, wire type, payload) of each field: an int for a varint, the bytes for all others.

    Raises Malformed where the bytes end within a field or have a wire type that does not exist.
    """
    at, end = 0, len(message)
    while at < end:
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value, at = _varint(message, at)
            yield number, kind, value
            continue
        if kind == LENGTH:
            size, at = _varint(message, at)
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
        else:
            raise Malformed(f"wire type {kind}")
        if at + size > end:
            raise Malformed("the message ends within a field")
        yield number, kind, message[at : at + size]
        at += size


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for n in range(LONGEST_VARINT_B):
        if at + n >= len(message):
            raise Malformed("the message ends within a number")
        byte = message[at + n]
        value |= (byte & 0x7F) << 7 * n
        if byte < 0x80:
            return value, at + n + 1
    raise Malformed("a number of more than ten bytes")
