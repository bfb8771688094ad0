"""printf and assert of a kernel: formats as C formats, arguments as the compiler packs them.

Source   CUDA C++ Programming Guide, formatted output: arguments as in C, `float` as `double`; each at a multiple of its
         size. Registers of the two calls read off compiled probes for sm_75 to sm_120: vprintf has the format in R4 and
         R5 and the place of the arguments in R6 and R7; __assertfail has message, file, line, function in R4 to R11.
"""

import re
import struct

import numpy as np

from warpbound.emulate.addresses import LOCAL_WINDOW, SHARED_WINDOW
from warpbound.emulate.global_memory import Fault
from warpbound.emulate.memory_windows import Window
from warpbound.emulate.state import State
from warpbound.quick_dataclasses import dataclass

LONGEST_TEXT = 4096
FORMAT, ARGUMENTS = 4, 6  # first register of each pair
MESSAGE, FILE, LINE, FUNCTION = 4, 6, 8, 10
_SPECIFIER = re.compile(rb"%([-+ #0]*)(\*|\d*)(?:\.(\*|\d*))?(hh|h|ll|l|z|j|t|L)?([diouxXeEfFgGaAcsp%])")
_LONG = {b"l", b"ll", b"z", b"j", b"t"}
_NARROW = {b"hh": 8, b"h": 16}


@dataclass
class Arguments:
    """The packed arguments of one lane, taken one after the other."""

    x: State
    lane: int
    address: int
    at: int = 0

    def take(self, size: int) -> bytes:
        self.at += -self.at % size
        raw = bytes_at(self.x, self.lane, self.address + self.at, size)
        self.at += size
        return raw

    def whole(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little", signed=True)


def print_lanes(x: State) -> None:
    """Print for the active lanes, in the order of their numbers; nothing if no output is set."""
    sink = x.image.output
    lanes = np.flatnonzero(x.active())
    if sink is not None:
        formats, arguments = x.get_pair(FORMAT), x.get_pair(ARGUMENTS)
        by_address: dict[int, bytes] = {}
        for lane in lanes.tolist():
            place = int(formats[lane])
            if place not in by_address:
                by_address[place] = text_at(x, lane, place)
            sink.append(formatted(by_address[place], Arguments(x, lane, int(arguments[lane]))))
    x.put(FORMAT, np.uint32(0))


def assertion(x: State, lane: int) -> str:
    """The words of a failed assertion."""
    message, file, function = (
        text_at(x, lane, int(x.get_pair(register)[lane])).decode(errors="replace")
        for register in (MESSAGE, FILE, FUNCTION)
    )
    return f"an assertion does not hold: `{message}` in {function} ({file}:{int(x.get(LINE)[lane])})"


def formatted(form: bytes, arguments: Arguments) -> bytes:
    """The text of one printf."""
    return _SPECIFIER.sub(lambda match: _converted(match, arguments), form)


def _converted(match: "re.Match[bytes]", arguments: Arguments) -> bytes:
    flags, width, precision, length, kind = match.groups()
    if kind == b"%":
        return b"%"
    words = [flags.decode()]
    for part, mark in ((width, ""), (precision, ".")):
        if part is not None:
            words.append(mark + (str(arguments.whole(4)) if part == b"*" else part.decode()))
    form, letter = "%" + "".join(words), kind.decode()
    if letter in "di":
        return (form + "d").encode() % _signed(arguments.whole(8 if length in _LONG else 4), length)
    if letter in "ouxX":
        size = 8 if length in _LONG else 4
        value = int.from_bytes(arguments.take(size), "little") & (1 << _NARROW.get(length, 64)) - 1
        digits: bytes = (form + letter.replace("u", "d")).encode() % value
        return digits
    if letter in "eEfFgG":
        number: bytes = (form + letter).encode() % struct.unpack("<d", arguments.take(8))[0]
        return number
    if letter in "aA":
        return float(struct.unpack("<d", arguments.take(8))[0]).hex().encode()
    if letter == "c":
        character: bytes = (form + "s").encode() % bytes([arguments.whole(4) & 0xFF])
        return character
    address = int.from_bytes(arguments.take(8), "little")
    if letter == "p":
        pointer_text: bytes = (form + "s").encode() % (hex(address).encode() if address else b"(nil)")
        return pointer_text
    text: bytes = (form + "s").encode() % text_at(arguments.x, arguments.lane, address)
    return text


def _signed(value: int, length: bytes | None) -> int:
    bits = _NARROW.get(length or b"", 64)
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def text_at(x: State, lane: int, address: int) -> bytes:
    """The characters at a generic address up to the end of the string."""
    if not address:
        return b"(null)"
    text = bytearray()
    while len(text) < LONGEST_TEXT:
        byte = bytes_at(x, lane, address + len(text), 1)
        if byte in (b"\0", b""):
            break
        text += byte
    return bytes(text)


def bytes_at(x: State, lane: int, address: int, size: int) -> bytes:
    """Bytes at a generic address as one lane sees them; empty where nothing is."""
    upper = address >> 32
    if upper in (SHARED_WINDOW, LOCAL_WINDOW):
        window: Window = x.windows["shared" if upper == SHARED_WINDOW else "local"]
        own = lane if x.index is None else int(x.index[lane])
        start = int(window.base(1)[own]) + (address & 0xFFFF_FFFF)
        return window.bytes[start : start + size].tobytes()
    places = x.image.offsets(np.array([address], np.uint64), None, 1)
    if isinstance(places, Fault):
        return b""
    return x.image.bytes[int(places[0]) : int(places[0]) + size].tobytes()
