"""What inline PTX asks for, bit by bit from its definition; pipelines, interpreters, recursion, trees."""

import numpy as np

from support.emulator.case import KERNELS, Case, Expected, Make
from support.emulator.modern_cases import E4M3, E5M2, _nearest, _spread

SOURCE = KERNELS / "ptx.cu"
M32 = 0xFFFFFFFF


def _signed(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


def _permuted(x, y, selector):
    pool, result = (x | y << 32).to_bytes(8, "little"), 0
    for i in range(4):
        nibble = selector >> 4 * i & 15
        byte = pool[nibble & 7]
        result |= (255 * (byte >> 7) if nibble & 8 else byte) << 8 * i
    return result


def _extracted(x, place, length, signed):
    above = x >> min(place + length - 1, 31) & 1 if signed and length else 0
    bits = [x >> place + i & 1 if i < length and place + i < 32 else above for i in range(32)]
    return sum(bit << i for i, bit in enumerate(bits))


def _dot(x, y, pairs, bits_x, bits_y):
    """pairs: which part of x meets which byte of y; negative widths are signed."""
    parts = []
    for word, bits in ((x, bits_x), (y, bits_y)):
        size = abs(bits)
        parts.append([_signed(word >> size * i, size) if bits < 0 else word >> size * i & (1 << size) - 1
                      for i in range(32 // size)])  # fmt: skip
    return sum(parts[0][i] * parts[1][j] for i, j in pairs)


def _bits(x, y, z):
    wide = (x * y + (z << 32 | x)) % 2**64
    mask = (1 << (y >> 27)) - 1 << (z & 31) & M32
    pool, half = x.to_bytes(4, "little"), z & 1
    four, signed_x = [(i, i) for i in range(4)], _signed(x, 32)
    total = (x + y) & M32
    return [
        x ^ y ^ z, x & y | x & z | y & z, _permuted(x, y, z), sum(pool[2 * half + i % 2] << 8 * i for i in range(4)),
        wide & M32, wide >> 32, _extracted(x, y & 63, z & 63, False), _extracted(x, y & 63, z & 63, True),  # noqa: FBT003
        y & ~mask | x << (z & 31) & mask, z + _dot(x, y, four, 8, -8), z + _dot(x, y, [(0, 0), (1, 1)], -16, 8),
        z + _dot(x, y, [(0, 2), (1, 3)], 16, 8), abs(signed_x - _signed(y, 32)) + z,
        (signed_x if signed_x >= 0 else ~signed_x).bit_length() - 1, z + total + (x + y > M32),
        (y << 32 | x) << min(z & 63, 32) >> 32,
    ]  # fmt: skip


def ptx_bits(random):
    words = random.integers(0, 2**32, (3, 128), dtype=np.uint32)
    words[:, :6] = [[0, 1, M32, 0x7FFFFFFF, 0x80000000, 2]] * 3
    a, b, c = words[0], np.roll(words[1], 3), np.roll(words[2], 9)
    wanted = [[v & M32 for v in _bits(*one)] for one in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)]
    args = {"a": a, "b": b, "c": c, "o": np.zeros((128, 16), np.uint32), "n": 128}
    return Case(SOURCE, "ptx_bits", 4, 32, args, {"o": Expected(np.array(wanted, np.uint32))})


def ptx_warp(random):
    v = random.integers(-50, 50, (2, 32)).astype(np.int32)
    v[1] = abs(v[1])
    lane, wanted = np.arange(32), np.zeros((2, 32, 8), np.int64)
    wanted[..., 0] = ((v > 0) << lane).sum(axis=1)[:, None]
    wanted[..., 1] = 1  # no lane is greater than 0 after the shift
    wanted[..., 2] = ((v[:, :, None] & 3 == v[:, None, :] & 3) << lane).sum(axis=2)
    wanted[..., 3:5] = [M32, 1]
    within = lane % 8 < 3  # segments of eight
    wanted[..., 5], wanted[..., 6] = np.where(within, np.roll(v, -5, axis=1), v), within
    wanted[..., 7] = v.max(axis=1)[:, None]
    args = {"in": v, "o": np.zeros((64, 8), np.uint32)}
    return Case(SOURCE, "ptx_warp", 1, 64, args, {"o": Expected((wanted & M32).reshape(64, 8))})


def ptx_float8(random):
    x = _spread(random, 512)[:500]
    positive = np.where(x < 0, np.float32(0), x)
    wanted = np.stack([_nearest(x, E4M3).view(np.uint16), _nearest(positive, E5M2).view(np.uint16) & 0x7F7F], axis=1)
    args = {"x": x, "o": np.zeros((250, 2), np.uint16), "n": 250}
    return Case(SOURCE, "ptx_float8", 8, 32, args, {"o": Expected(wanted)}, least_arch=89)


def copy_pipeline(random):
    x = random.integers(0, 9, (7, 128, 4)).astype(np.float32)
    args = {"in": x, "out": np.zeros((128, 4), np.float32), "tiles": 7}
    return Case(SOURCE, "copy_pipeline", 1, 128, args, {"out": Expected(x.sum(axis=0)[::-1])}, least_arch=80)


def producer_consumer(random):
    x = random.integers(0, 99, (6, 64)).astype(np.int32)
    args = {"in": x, "out": np.zeros(64, np.int32), "rounds": 6}
    return Case(SOURCE, "producer_consumer", 1, 128, args, {"out": Expected(3 * x.sum(axis=0)[::-1])})


def stack_machine(random):
    code, x = bytes([0, 4, 4, 2, 5, 1, 100, 3, 6, 8, 9, 77, 1, 4, 7, 2]), random.integers(-99, 99, 64).astype(np.int32)
    wanted = [_interpreted(code, v) for v in x.tolist()]
    args = {"code": np.frombuffer(code, np.uint8), "length": len(code), "in": x, "out": np.zeros(64, np.int32)}
    return Case(SOURCE, "stack_machine", 1, 64, args, {"out": Expected(np.array(wanted))})


def _interpreted(code, start):
    stack, at = [], 0
    while at < len(code):
        match code[at]:
            case 0:
                stack.append(start)
            case 1 | 2 | 3 as op:
                b, a = stack.pop(), stack.pop()
                stack.append([a + b, a * b, a - b][op - 1])
            case 4:
                stack.append(stack[-1])
            case 5:
                stack[-1], stack[-2] = stack[-2], stack[-1]
            case 6:
                at += 2 * (stack[-1] & 1)
            case 7:
                stack[-1] = (stack[-1] & M32).bit_count()
            case 8:
                stack[-1] = -stack[-1]
            case op:
                stack.append(op)
        stack[-1] = _signed(stack[-1], 32)
        at += 1
    return stack[-1]


def _steps(n):
    return 0 if n == 1 else 1 + _steps(3 * n + 1 if n & 1 else n // 2)


def _ackermann(m, n):
    if m == 0:
        return n + 1
    return _ackermann(m - 1, 1 if n == 0 else _ackermann(m, n - 1))


def recursions(random):
    n = random.integers(0, 2**20, 64).astype(np.uint32)
    wanted = np.array([[_steps(v % 40 + 1), _ackermann(v % 3, v % 4)] for v in n.tolist()])
    return Case(SOURCE, "recursions", 1, 64, {"n": n, "out": np.zeros((64, 2), np.uint32)}, {"out": Expected(wanted)})


def tree_walk(random):
    node = np.dtype([("value", "i2"), ("left", "i4"), ("right", "i4")], align=True)
    tree, depth = np.zeros(200, node), {}
    tree["value"], tree["left"], tree["right"] = random.permutation(200), -1, -1
    for i, value in enumerate(tree["value"].tolist()):
        at, steps = 0, 0
        while at < i:
            side = "left" if value < tree["value"][at] else "right"
            if tree[side][at] < 0:
                tree[side][at] = i
            at, steps = int(tree[side][at]), steps + 1
        depth[value] = steps
    keys = random.integers(-20, 230, 150).astype(np.int16)
    wanted = np.array([depth.get(key, -1) for key in keys.tolist()])
    args = {"tree": tree.view(np.uint8), "keys": keys, "depth": np.zeros(150, np.int32), "n": 150}
    return Case(SOURCE, "tree_walk", 2, 64, args, {"depth": Expected(wanted)})


def halves_atomics(random):
    n = 150
    x = random.integers(0, 256, n).astype(np.uint8)
    numbers = x.astype(np.uint64)
    words = np.zeros(131, np.uint32)
    np.add.at(words, x // 2, np.where(x & 1, np.uint32(0x10000), np.uint32(1)))
    words[128], words[130] = n % 100, 5
    words[129] = np.bitwise_xor.reduce(numbers * np.uint64(2654435761) & np.uint64(M32))
    best = np.array([(numbers << np.uint64(32) | np.arange(n, dtype=np.uint64)).max(), numbers.sum(), 3 * n])
    args = {"hist": np.zeros(131, np.uint32), "x": x, "best": np.zeros(4, np.uint64), "n": n}
    expected = {"hist": Expected(words), "best": Expected(best, order=lambda v: v[:3])}
    return Case(SOURCE, "halves_atomics", 3, 64, args, expected)


CASES: dict[str, Make] = {
    make.__name__: make
    for make in (ptx_bits, ptx_warp, ptx_float8, copy_pipeline, producer_consumer, stack_machine, recursions,
                 tree_walk, halves_atomics)
}  # fmt: skip
