"""An Nsight Compute report (.ncu-rep): the profiled launches, their counters, machine code and board.

Source   The layout, found in reports of Nsight Compute 2020.1 to 2026.1: "NVR\\0", a sized header, then blocks; a block
         has a sized header (number of sources and of results, session, strings, size of its payload) and a payload of
         sized messages, first the sources (machine code), then the results (launches). Names of metrics are numbers
         of strings, counted over all blocks in order. Tests read what we write with NVIDIA's own `ncu-report`.
"""

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from warpbound.errors import InputError
from warpbound.nsight.protocol_buffers import FIXED64, LENGTH, Malformed, fields
from warpbound.program.cubin import is_cubin
from warpbound.quick_dataclasses import dataclass

MAGIC = b"NVR\0"
SIZE_B = 4
DEVICE = "device__attribute_"
DEVICE_NAME, DEVICE_INDEX = f"{DEVICE}display_name", f"{DEVICE}device_index"
DEVICE_ID = "launch__device_id"

Value = float | int | str


@dataclass(frozen=True)
class Metric:
    """A metric of one launch. value : None where only instances exist. instances : value by correlation, which is a
    program counter, an opcode or a size."""

    value: Value | None
    instances: Mapping[Value, Value] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class ProfiledLaunch:
    """One result of a report. index : its place in the report; images : ELF files of the report, its own module first;
    metrics : by Nsight's name, in Nsight's unit (ns, Hz, B). code : a file with the kernel where a report has none."""

    report: Path
    index: int
    kernel: str
    mangled: str
    demangled: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    metrics: Mapping[str, Metric] = field(repr=False)
    images: tuple[bytes, ...] = field(repr=False)
    board_name: str
    device: Mapping[str, Value] = field(repr=False)
    code: Path | None = None

    def number(self, *names: str) -> float | None:
        """The first of these metrics that the report has, as a number."""
        for name in names:
            metric = self.metrics.get(name)
            if metric is not None and isinstance(metric.value, int | float) and math.isfinite(metric.value):
                return float(metric.value)
        return None

    def by_address(self, name: str) -> dict[int, float]:
        """A metric by program counter; empty where the report does not have it so."""
        metric = self.metrics.get(name)
        pairs = metric.instances.items() if metric else ()
        return {at: float(value) for at, value in pairs if isinstance(at, int) and not isinstance(value, str)}


@dataclass(frozen=True)
class Report:
    """A report file and its launches."""

    path: Path
    launches: tuple[ProfiledLaunch, ...]


def is_report(name: str | Path) -> bool:
    """Whether a file is named like a report of Nsight Compute."""
    return str(name).lower().endswith(".ncu-rep")


def read_report(path: str | Path) -> Report:
    """The launches of a report. Raises InputError where the file cannot be read or is no report."""
    path = Path(path)
    try:
        raw = path.read_bytes()
    except OSError as failed:
        raise InputError(f"{path} cannot be read ({failed.strerror}).", "Check the path.") from failed
    if raw[: len(MAGIC)] != MAGIC:
        raise InputError(f"{path} is not a report of Nsight Compute.", "Give a file that `ncu -o NAME` wrote.")
    try:
        launches = tuple(_launches(memoryview(raw), path))
    except (Malformed, struct.error, UnicodeDecodeError, LookupError, TypeError, AttributeError) as broken:
        raise InputError(f"{path} is truncated or broken ({broken}).", "Copy or record the report again.") from broken
    if not launches:
        raise InputError(f"{path} holds no profiled launch.", "Profile a program that launches a kernel.")
    return Report(path, launches)


@dataclass
class _Contents:
    """What the blocks of a file hold, in order."""

    strings: list[str] = field(default_factory=list)
    images: dict[int, bytes] = field(default_factory=dict)
    results: list[memoryview] = field(default_factory=list)
    devices: list[tuple[str, dict[str, Value]]] = field(default_factory=list)


def _launches(raw: memoryview, path: Path) -> Iterator[ProfiledLaunch]:
    contents = _read_blocks(raw)
    for index, message in enumerate(contents.results):
        yield _launch(message, contents, path, index)


def _read_blocks(raw: memoryview) -> _Contents:
    contents = _Contents()
    _, at = _sized(raw, len(MAGIC))
    while at < len(raw):
        header, at = _sized(raw, at)
        top = _first(header)
        for number, kind, value in fields(header):
            if number == 3 and kind == LENGTH:
                contents.devices += _devices(_bytes(value))
            if number == 4 and kind == LENGTH:
                contents.strings += [_text(text) for n, _, text in fields(_bytes(value)) if n == 1]
        end = at + _whole(top.get(5, 0))
        if end > len(raw):
            raise Malformed("the file ends within a block")
        sources = _whole(top.get(1, 0))
        order = 0
        while at < end:
            message, at = _sized(raw, at)
            if order < sources:
                _add_source(message, contents)
            else:
                contents.results.append(message)
            order += 1
    return contents


def _sized(raw: memoryview, at: int) -> tuple[memoryview, int]:
    """The message at `at` behind its 32-bit size, and where the next one begins."""
    if at + SIZE_B > len(raw):
        raise Malformed("the file ends before a message")
    (size,) = struct.unpack_from("<I", raw, at)
    begin = at + SIZE_B
    if begin + size > len(raw):
        raise Malformed("the file ends within a message")
    return raw[begin : begin + size], begin + size


def _add_source(message: memoryview, contents: _Contents) -> None:
    top = _first(message)
    code = bytes(_bytes(top.get(4, memoryview(b""))))
    if is_cubin(code):
        contents.images[_whole(top.get(1, 0))] = code


def _devices(session: memoryview) -> Iterator[tuple[str, dict[str, Value]]]:
    """Name and attributes of each device of a session."""
    for number, kind, value in fields(session):
        if number != 6 or kind != LENGTH:
            continue
        name, attributes = "", dict[str, Value]()
        for part, _, content in fields(_bytes(value)):
            if part == 2:
                name = _text(content)
            if part == 3:
                pair = _first(_bytes(content))
                cell = _value(_bytes(pair[2]))
                if cell is not None:
                    attributes[_text(pair[1])] = cell
        yield name, attributes


def _launch(message: memoryview, contents: _Contents, path: Path, index: int) -> ProfiledLaunch:
    top = _first(message)
    metrics = {}
    for number, kind, value in fields(message):
        if number == 13 and kind == LENGTH:
            name, metric = _metric(_bytes(value), contents.strings)
            metrics[name] = metric
    own = _whole(_first(_bytes(top[15])).get(1, 0)) if 15 in top else 0
    images = [image for key, image in contents.images.items() if key == own]
    images += [image for key, image in contents.images.items() if key != own]
    names = _text(top.get(6, memoryview(b""))), _text(top.get(5, memoryview(b"")))
    board, device = _device_of(metrics, contents.devices)
    return ProfiledLaunch(
        report=path,
        index=index,
        kernel=names[0] or names[1],
        mangled=names[1] or names[0],
        demangled=_text(top.get(7, memoryview(b""))),
        grid=_extent(top.get(10)),
        block=_extent(top.get(11)),
        metrics=metrics,
        images=tuple(images),
        board_name=board,
        device=device,
    )


def _device_of(
    metrics: Mapping[str, Metric], devices: Sequence[tuple[str, dict[str, Value]]]
) -> tuple[str, dict[str, Value]]:
    """Name and attributes of the device of a launch: as its own metrics have them, else as the session has them."""
    attributes_here = {name: metric.value for name, metric in metrics.items() if name.startswith(DEVICE)}
    own = {name: value for name, value in attributes_here.items() if value is not None}
    number = next((metrics[name].value for name in (DEVICE_ID, DEVICE_INDEX) if name in metrics), 0)
    place = int(number) if isinstance(number, int | float) and 0 <= number < len(devices) else 0
    name, attributes = devices[place] if devices else ("", {})
    return str(own.get(DEVICE_NAME, name)), {**attributes, **own}


def _metric(message: memoryview, strings: list[str]) -> tuple[str, Metric]:
    name, value, instances = "", None, dict[Value, Value]()
    for number, kind, content in fields(message):
        if number == 1:
            name = strings[_whole(content)]
        elif number == 2 and kind == LENGTH:
            value = _value(_bytes(content))
        elif number == 3 and kind == LENGTH:
            pair = _first(_bytes(content))
            at = _value(_bytes(pair[1])) if 1 in pair else None
            there = _value(_bytes(pair[2])) if 2 in pair else None
            if at is not None and there is not None:
                instances[at] = there
    return name, Metric(value, instances)


def _value(message: memoryview) -> Value | None:
    """A string (1), a float (2), a double (3), or a 32-bit or 64-bit number (4, 5)."""
    for number, kind, content in fields(message):
        if isinstance(content, int):
            return content
        if number == 1:
            return _text(content)
        layout = "<d" if kind == FIXED64 else "<f"
        unpacked: float = struct.unpack(layout, content)[0]
        return unpacked
    return None


def _extent(message: int | memoryview | None) -> tuple[int, int, int]:
    """Sizes in x, y and z; zeros where a result has none, as ranges and graphs and launches that failed."""
    if message is None:
        return 0, 0, 0
    sizes = _first(_bytes(message))
    return _whole(sizes.get(1, 1)), _whole(sizes.get(2, 1)), _whole(sizes.get(3, 1))


def _first(message: memoryview) -> dict[int, int | memoryview]:
    """The first field of each number."""
    by_number: dict[int, int | memoryview] = {}
    for number, _, value in fields(message):
        by_number.setdefault(number, value)
    return by_number


def _whole(value: int | memoryview) -> int:
    if not isinstance(value, int):
        raise Malformed("bytes where a number belongs")
    return value


def _bytes(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise Malformed("a number where bytes belong")
    return value


def _text(value: int | memoryview) -> str:
    return bytes(_bytes(value)).decode("utf-8", "replace")
