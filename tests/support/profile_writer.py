"""Reports of Nsight Compute for tests: a writer for the fields that the reader uses."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Value = float | int | str


@dataclass(frozen=True)
class WrittenLaunch:
    """A launch to be written. metrics : name -> value; instances : name -> value by correlation; module : its code."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    metrics: Mapping[str, Value]
    instances: Mapping[str, Mapping[Value, Value]] = field(default_factory=dict)
    demangled: str = ""
    module: int = 7


def write_report(
    path: Path, launches: Sequence[WrittenLaunch], image: bytes, board: str, device: Mapping[str, Value]
) -> Path:
    """A report with one module and these launches."""
    return write_blocks(path, [launches], {WrittenLaunch.module: image}, board, device)


def write_blocks(
    path: Path, blocks: Sequence[Sequence[WrittenLaunch]], images: Mapping[int, bytes], board: str,
    device: Mapping[str, Value], others: Sequence[tuple[str, Mapping[str, Value]]] = (),
) -> Path:  # fmt: skip
    """A report of several blocks, as long profiles have: each brings the names that are new; the first, the modules.

    others : names and attributes of the devices of the session behind the first.
    """
    names: list[str] = []
    process = _message((1, 1), (2, "127.0.0.1"), (3, "program"))
    devices = enumerate(((board, device), *others))
    session = _message(*(
        (6, _message((1, number), (2, name), *((3, _attribute(*pair)) for pair in own.items())))
        for number, (name, own) in devices
    ))  # fmt: skip
    written = b"NVR\0" + _sized(_message((1, 500)))
    for number, launches in enumerate(blocks):
        own = {name for launch in launches for name in (*launch.metrics, *launch.instances)}
        new = sorted(own - set(names))
        names += new
        sources = [] if number else [
            _message((1, module), (4, image), (5, 8), (6, 8 << 16), (7, 0)) for module, image in images.items()
        ]
        payload = b"".join(_sized(part) for part in (*sources, *(_result(launch, names) for launch in launches)))
        strings = b"".join(_field(1, name.encode()) for name in new)
        begin = [] if number else [(3, session)]
        written += _sized(_message(
            (1, len(sources)), (2, len(launches)), *begin, (4, strings), (5, len(payload)), (6, process), (7, 0)
        )) + payload  # fmt: skip
    path.write_bytes(written)
    return path


def _result(launch: WrittenLaunch, names: Sequence[str]) -> bytes:
    metrics = []
    for number, name in enumerate(names):
        parts: list[tuple[int, bytes | int]] = [(1, number)]
        if name in launch.metrics:
            parts.append((2, _value(launch.metrics[name])))
        for at, value in launch.instances.get(name, {}).items():
            parts.append((3, _message((1, _value(at)), (2, _value(value)))))
        if len(parts) > 1:
            metrics.append((13, _message(*parts)))
    return _message(
        (1, 1), (2, 1), (3, 1), (4, 1), (5, launch.kernel), (6, launch.kernel), (7, launch.demangled), (8, 3),
        (9, _extent((0, 0, 0))), *_sizes(launch), *metrics, (14, 0),
        (15, _message((1, launch.module))), (16, 0), (22, 1), (23, 7), (25, _message((1, 1), (2, 1))),
    )  # fmt: skip


def _sizes(launch: WrittenLaunch) -> list[tuple[int, bytes]]:
    """Grid and block; a range or a graph has none."""
    return [(10, _extent(launch.grid)), (11, _extent(launch.block))] if any(launch.grid) else []


def _attribute(name: str, value: Value) -> bytes:
    return _message((1, name), (2, _value(value)))


def _value(value: Value) -> bytes:
    if isinstance(value, str):
        return _message((1, value))
    return _field(3, value) if isinstance(value, float) else _message((5, value))


def _extent(size: tuple[int, int, int]) -> bytes:
    return _message(*enumerate(size, 1))


def _message(*fields: tuple[int, bytes | int | str]) -> bytes:
    return b"".join(_field(number, value) for number, value in fields)


def _field(number: int, value: bytes | int | float | str) -> bytes:
    if isinstance(value, float):
        return _varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    coded = bytearray()
    while value > 0x7F:
        coded.append(value & 0x7F | 0x80)
        value >>= 7
    coded.append(value)
    return bytes(coded)


def _sized(message: bytes) -> bytes:
    return struct.pack("<I", len(message)) + message
