"""A reader of ELF sections of its own, so that the tests do not lean on what they test."""

import struct


def sections(image: bytes) -> dict[str, bytes]:
    """Contents of every section by name."""
    (offset,) = struct.unpack_from("<Q", image, 0x28)
    size, count, names = struct.unpack_from("<HHH", image, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", image, offset + i * size) for i in range(count)]
    strings = headers[names]
    table = image[strings[4] : strings[4] + strings[5]]

    def name(at: int) -> str:
        return table[at : table.index(b"\0", at)].decode()

    return {name(one[0]): b"" if one[1] == 8 else image[one[4] : one[4] + one[5]] for one in headers}


def words(code: bytes) -> list[int]:
    """The 128-bit instructions of a code section."""
    assert len(code) % 16 == 0
    return [int.from_bytes(code[at : at + 16], "little") for at in range(0, len(code), 16)]
