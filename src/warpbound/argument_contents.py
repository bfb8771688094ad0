"""Contents of an array argument, as a whole or piece by piece, from fills, files or the caller's values.

Random numbers come from PCG64 seeded by (seed, argument index). `rand` takes a fixed number of the generator's 64-bit
outputs per value: any piece is made alone, by advancing the generator, and equals the same piece of the whole. `randn`
takes a varying number: all numbers before a piece are drawn once and dropped. The generator's state at every RUN-th
number is kept on the disk, so that any piece can be drawn again.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.disk_cache import cached, digest
from warpbound.errors import InputError
from warpbound.kernel_argument import DTYPES, UNREADABLE, Argument, array_file, bfloat_bits

Piece = Callable[[int, int], NDArray[np.uint8]]

_OUTPUT_B = 8
RUN = 8192  # normal numbers between two states that are kept
RUNS_TOGETHER = 512  # runs whose generator states are one entry of the disk cache
_STATE_B, _REST_B = 16, 4  # of the generator's number, and of the half of an output that it holds back
State = tuple[int, int, int]  # the generator's number, whether it holds back a half, that half


def contents(argument: Argument, index: int) -> NDArray[Any] | None:
    """A fresh array of the argument's shape; bf16 as its bits in uint16. None: no array, or contents unknown.

    index : the argument's position, which with its seed fixes the random numbers. `rand` is uniform in
    [0, 1) for floats and covers the whole type for integers; `iota` wraps in small integers.
    """
    if argument.kind != "array" or argument.dtype is None:
        return None
    dtype = DTYPES[argument.dtype]
    try:
        if argument.bytes is not None:
            return np.frombuffer(argument.bytes, dtype).reshape(argument.shape).copy()
        if argument.file is not None:
            return array_file(argument.file).astype(dtype, order="C").reshape(argument.shape)
        if argument.fill is None:
            return None
        return _numbers(argument, _bits(argument, index), 0, _count(argument)).reshape(argument.shape)
    except UNREADABLE as problem:
        raise _refusal(argument, problem) from problem


def pieces(argument: Argument, index: int) -> Piece | None:
    """A function that makes bytes [start, end) of `contents`; start is a multiple of 64, which is a whole number of the
    generator's outputs. None for unknown contents and zeros.

    Raises InputError where `contents` does, at once or when a piece is made.
    """
    if argument.kind != "array" or argument.dtype is None or argument.fill == "zeros":
        return None
    if argument.bytes is not None:
        data = np.frombuffer(argument.bytes, np.uint8)
        return lambda start, end: data[start:end]
    if argument.fill in ("rand", "ones", "iota"):
        return _made_alone(argument, index)
    if argument.fill == "randn":
        return _drawn_again(argument, index)
    if argument.fill is None and argument.file is None:
        return None
    return _made_at_once(argument, index)


def _made_at_once(argument: Argument, index: int) -> Piece:
    """Contents that can only be made as a whole: the first piece makes them all."""
    whole_bytes: list[NDArray[np.uint8]] = []

    def piece(start: int, end: int) -> NDArray[np.uint8]:
        if not whole_bytes:
            whole = contents(argument, index)
            whole_bytes.append(np.ascontiguousarray(whole).reshape(-1).view(np.uint8))
        return whole_bytes[0][start:end]

    return piece


def _made_alone(argument: Argument, index: int) -> Piece:
    if argument.fill == "rand" and argument.below is None and argument.dtype in _FROM_OUTPUTS:
        return _outputs_of(argument, index)
    size = DTYPES[str(argument.dtype)].itemsize

    def piece(start: int, end: int) -> NDArray[np.uint8]:
        return _numbers(argument, _bits(argument, index), start // size, (end - start) // size).view(np.uint8)

    return piece


def _outputs_of(argument: Argument, index: int) -> Piece:
    """Pieces of `rand`, computed from the generator's raw outputs; they equal what `Generator` gives.

    Sparse reads of a large array ask for thousands of pieces of one page each.
    """
    dtype, convert = DTYPES[str(argument.dtype)], _FROM_OUTPUTS[str(argument.dtype)]
    generator = lru_cache(1)(lambda: _bits(argument, index))
    at = [0]

    def piece(start: int, end: int) -> NDArray[np.uint8]:
        first, last = start // _OUTPUT_B, -(-end // _OUTPUT_B)
        generator().advance(first - at[0])
        raw = generator().random_raw(last - first)
        at[0] = last
        return convert(raw.view(dtype.str.replace("f", "u").replace("i", "u"))).view(np.uint8)[: end - start]

    return piece


def _signed(words: NDArray[Any]) -> NDArray[Any]:
    """The smallest number of the type added."""
    return np.asarray(words ^ words.dtype.type(1 << 8 * words.itemsize - 1))


_FROM_OUTPUTS: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    **dict.fromkeys(("u8", "u16", "u32", "u64"), lambda words: words),
    **dict.fromkeys(("i8", "i16", "i32", "i64"), _signed),
    "f32": lambda words: (words >> np.uint32(8)).astype(np.float32) * np.float32(2**-24),
    "f64": lambda words: (words >> np.uint64(11)).astype(np.float64) * 2.0**-53,
}


def _drawn_again(argument: Argument, index: int) -> Piece:
    dtype = DTYPES[str(argument.dtype)]
    runs = lru_cache(8)(_runs(argument.seed, index, _normal_kind(str(argument.dtype))))  # pieces are smaller

    def piece(start: int, end: int) -> NDArray[np.uint8]:
        first, last = start // dtype.itemsize, end // dtype.itemsize
        random_words = np.concatenate([runs(number) for number in range(first // RUN, -(-last // RUN))])
        number = random_words[first % RUN :][: last - first]
        return _stored(number, str(argument.dtype)).view(np.uint8)

    return piece


@lru_cache(64)
def _runs(seed: int, index: int, kind: np.dtype[Any]) -> Callable[[int], NDArray[Any]]:
    """A function that gives normal numbers RUN * n to RUN * (n + 1) of a generator."""
    bits, one_at_a_time = np.random.PCG64([seed, index]), Lock()
    first, thrown_away = bits.state, np.empty(RUN, kind)

    def go_to(state: State) -> None:
        number, has_half, half = state
        inner: Any = first["state"]
        bits.state = first | {"state": inner | {"state": number}, "has_uint32": has_half, "uinteger": half}

    def here() -> State:
        now: Any = bits.state
        return now["state"]["state"], now["has_uint32"], now["uinteger"]

    def drawn(part: int) -> bytes:
        """The states at which the runs of a part begin, and the one behind them."""
        for earlier in range(part):
            states(earlier)
        bits.state = first
        if part:
            go_to(states(part - 1)[-1])
        begins = [here()]
        for _ in range(RUNS_TOGETHER):
            np.random.Generator(bits).standard_normal(RUN, kind, out=thrown_away)
            begins.append(here())
        return b"".join(map(_packed, begins))

    @cache
    def states(part: int) -> list[State]:
        name = digest("states of normal numbers", np.__version__, kind.str, f"{seed} {index} {part}")
        return _unpacked(cached(name, lambda: drawn(part)))

    def run(number: int) -> NDArray[Any]:
        with one_at_a_time:
            bits.state = first
            if number:
                go_to(states(number // RUNS_TOGETHER)[number % RUNS_TOGETHER])
            return np.random.Generator(bits).standard_normal(RUN, kind)

    return run


def _packed(state: State) -> bytes:
    number, has_half, half = state
    return number.to_bytes(_STATE_B, "little") + bytes([has_half]) + half.to_bytes(_REST_B, "little")


def _unpacked(content: bytes) -> list[State]:
    each = _STATE_B + 1 + _REST_B
    parts = (content[at : at + each] for at in range(0, len(content), each))
    return [
        (int.from_bytes(x[:_STATE_B], "little"), x[_STATE_B], int.from_bytes(x[_STATE_B + 1 :], "little"))
        for x in parts
    ]


def _normal_kind(dtype: str) -> np.dtype[Any]:
    return np.dtype(np.float64 if dtype == "f64" else np.float32)


def _bits(argument: Argument, index: int) -> "np.random.PCG64":  # NumPy loads `random` when it is used
    return np.random.PCG64([argument.seed, index])


def _count(argument: Argument) -> int:
    return int(np.prod(argument.shape, dtype=object))


def _refusal(argument: Argument, problem: BaseException) -> InputError:
    reason = f"argument '{argument.name}': its {argument.size_B} bytes are not available ({problem})."
    return InputError(reason, "Give a smaller shape, or check the file.")


def _numbers(argument: Argument, bits: "np.random.PCG64", first: int, count: int) -> NDArray[Any]:
    """Elements first to first + count of the argument's fill, in the type that holds them; `bits` as seeded."""
    name = str(argument.dtype)
    if argument.fill == "zeros":
        return np.zeros(count, DTYPES[name])  # untouched pages cost nothing
    numbers: NDArray[Any]
    if argument.fill == "iota":
        numbers = np.arange(first, first + count, dtype=np.int64)
    elif argument.fill == "randn":
        numbers = np.random.Generator(bits).standard_normal(count, _normal_kind(name))
    elif argument.fill == "rand":
        bits.advance(first * _drawn_B(argument) // _OUTPUT_B)
        random = np.random.Generator(bits)
        numbers = _uniform(random, name, count) if argument.below is None else _below(random, argument, count)
    else:
        numbers = np.full(count, int(argument.fill == "ones"), np.uint8)
    return _stored(numbers, name)


def _stored(numbers: NDArray[Any], name: str) -> NDArray[Any]:
    """Numbers in the storage type."""
    if name == "bf16":
        return bfloat_bits(numbers.astype(np.float32))
    with np.errstate(over="ignore"):  # iota in f16 ends in inf
        return numbers.astype(DTYPES[name], copy=False)


def _drawn_B(argument: Argument) -> int:
    """Bytes of the generator's output that each random number consumes."""
    return DTYPES[str(argument.dtype)].itemsize if argument.below is None else 4


def _below(random: "np.random.Generator", argument: Argument, count: int) -> NDArray[Any]:
    """Integers from 0 to `below` - 1: the upper half of 32 random bits times `below`, so that each takes 32 bits."""
    random_words = random.integers(0, 1 << 32, count, np.uint32).astype(np.uint64)
    return (random_words * np.uint64(argument.below or 1)) >> np.uint64(32)


def _uniform(random: "np.random.Generator", name: str, count: int) -> NDArray[Any]:
    """Floats in [0, 1) that their own type holds exactly; integers over the whole type; bool 0 or 1."""
    if name in ("f32", "f64"):
        return random.random(count, np.float64 if name == "f64" else np.float32)
    if name in ("f16", "bf16"):
        steps = 2**11 if name == "f16" else 2**8
        return random.integers(0, steps, count, np.uint16) / np.float32(steps)
    if name == "bool":
        return random.integers(0, 2, count, np.uint8)
    limits = np.iinfo(DTYPES[name])
    return random.integers(limits.min, limits.max, count, DTYPES[name], endpoint=True)
