"""Messages between the replacement of libcudart and the server, and their binary format.

A question is four 32-bit words (operation, number of 64-bit words, number of bytes, 0), the words, the bytes. An answer
is four 32-bit words (error of CUDA, words, bytes, bytes of text that kernels have printed), then those.
"""

import socket
import struct
from enum import IntEnum

from warpbound.quick_dataclasses import dataclass

HEAP = 0x2000_0000_0000  # where the program maps device memory; not where sanitizers keep theirs
HEAP_B = 1 << 40
EVERY_STREAM = 1 << 62
UNORDERED = 1 << 63  # bit of a stream's number: it does not wait for the default stream
COOPERATIVE = 1
_HEAD = struct.Struct("<4I")


class Operation(IntEnum):
    """What is asked."""

    REFUSED = 1
    MODULE = 2
    KERNEL = 3
    VARIABLE = 4
    ALLOCATE = 5
    RELEASE = 6
    POINTER = 7
    MEMORY_LEFT = 8
    COPY = 9
    FILL = 10
    LAUNCH = 11
    SYNCHRONIZE = 12
    RECORD = 13
    WAIT = 14
    WAIT_ON_HOST = 15
    ELAPSED = 16
    OCCUPANCY = 17
    SHARED_LEFT = 18
    ALLOW_SHARED = 19
    CARVE = 20
    PROPERTIES = 21
    ATTRIBUTE = 22
    REGISTER = 23
    UNREGISTER = 24
    DESCRIBE_TEXTURE = 25
    FORGET_TEXTURE = 26
    LIMIT_MALLOC = 27


class MemoryKind(IntEnum):
    """Who may use an allocation directly."""

    DEVICE_MEMORY = 1
    MANAGED_MEMORY = 2
    HOST_MEMORY = 3


class CudaError(IntEnum):
    """Errors of the CUDA runtime that are given as answers; numbers as in its documentation."""

    SUCCESS = 0
    INVALID_VALUE = 1
    NO_MEMORY = 2
    INVALID_CONFIGURATION = 9
    INVALID_SYMBOL = 13
    INVALID_DEVICE_FUNCTION = 98
    NO_KERNEL_IMAGE = 209
    INVALID_HANDLE = 400
    ILLEGAL_ADDRESS = 700
    OUT_OF_RESOURCES = 701
    ASSERTION = 710
    LAUNCH_FAILURE = 719
    COOPERATIVE_TOO_LARGE = 720
    NOT_SUPPORTED = 801


class Refusal(Exception):
    """A call that CUDA answers with an error."""

    def __init__(self, error: CudaError) -> None:
        super().__init__(error.name)
        self.error = error


@dataclass(frozen=True)
class Question:
    operation: Operation
    words: tuple[int, ...]
    data: bytes


@dataclass(frozen=True)
class Answer:
    """error : of CUDA; output : text of kernels that the program prints when it next waits for the device."""

    words: tuple[int, ...] = ()
    data: bytes = b""
    error: CudaError = CudaError.SUCCESS
    output: bytes = b""


def header() -> str:
    """The C header with the numbers of this module."""
    numbers = [f"#define {each.name} {int(each)}" for kind in (Operation, MemoryKind) for each in kind]
    places = {"HEAP": HEAP, "HEAP_B": HEAP_B, "EVERY_STREAM": EVERY_STREAM, "COOPERATIVE": COOPERATIVE}
    return "\n".join([*numbers, *(f"#define {name} {value:#x}ULL" for name, value in places.items()), ""])


def receive(channel: socket.socket) -> Question | None:
    """The next question; None where the program has ended."""
    head = _bytes(channel, _HEAD.size)
    if len(head) < _HEAD.size:
        return None
    operation, words, size, _ = _HEAD.unpack(head)
    body = _bytes(channel, 8 * words + size)
    if len(body) < 8 * words + size:
        return None
    return Question(Operation(operation), struct.unpack_from(f"<{words}Q", body), body[8 * words :])


def send(channel: socket.socket, answer: Answer) -> None:
    """Raises OSError where the program has ended."""
    words = struct.pack(f"<{len(answer.words)}Q", *(word & (1 << 64) - 1 for word in answer.words))
    head = _HEAD.pack(answer.error, len(answer.words), len(answer.data), len(answer.output))
    channel.sendall(head + words + answer.data + answer.output)


def hello(channel: socket.socket) -> tuple[int, int] | None:
    """Process number of a program that connects, and the release of its libcudart."""
    raw = _bytes(channel, 16)
    return struct.unpack("<2Q", raw) if len(raw) == 16 else None


def _bytes(channel: socket.socket, size: int) -> bytes:
    """`size` bytes, or fewer where the other side has ended."""
    parts = []
    while size:
        try:
            part = channel.recv(min(size, 1 << 20))
        except OSError:
            break
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
