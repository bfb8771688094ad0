"""Whole kernels of many trades, each against a computation that shares nothing with it."""

import numpy as np

from support.emulator.case import KERNELS, Case, Expected, Make

SOURCE = KERNELS / "applied.cu"


def _case(name, grid, block, args, expected, **more):
    return Case(SOURCE, name, grid, block, args, expected, **more)


def radix_pass(random):
    keys = random.integers(0, 2**32, (3, 256), np.uint32)
    order = np.argsort(keys >> 8 & 15, axis=1, kind="stable")
    args = {"in": keys, "out": np.zeros_like(keys), "shift": 8}
    return _case("radix_pass", 3, 256, args, {"out": Expected(np.take_along_axis(keys, order, 1))})


def segmented_scan(random):
    x, head = random.integers(0, 9, 256).astype(np.float32), (random.random(256) < 0.03).astype(np.uint8)
    wanted, before = np.zeros(256, np.float32), 0.0
    for i in range(256):
        wanted[i] = before = x[i] + (0 if head[i] else before)
    args = {"x": x, "head": head, "out": np.zeros_like(x)}
    return _case("segmented_scan", 1, 256, args, {"out": Expected(wanted)})


def _aligned(a, b):
    n = len(a)
    h = np.zeros((n + 1, n + 1), int)
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            same = 3 if a[i - 1] == b[j - 1] else -2
            h[i, j] = max(0, h[i - 1, j - 1] + same, h[i - 1, j] - 4, h[i, j - 1] - 4)
    return h.max()


def smith_waterman(random):
    n = 40
    a, b = (random.integers(65, 69, (4, n)).astype(np.int8) for _ in range(2))
    b[1, 10:30] = a[1, 15:35]
    args = {"a": a, "b": b, "n": n, "best": np.zeros(4, np.int32)}
    wanted = [_aligned(p, q) for p, q in zip(a, b, strict=True)]
    return _case("smith_waterman", 4, n, args, {"best": Expected(wanted)}, smem=12 * (n + 1))


def small_qr(random):
    m = random.standard_normal((100, 4, 4))
    wanted = np.abs(np.linalg.qr(m, mode="r"))
    args = {"in": np.ascontiguousarray(m.transpose(1, 2, 0)), "out": np.zeros((4, 4, 100)), "count": 100}
    order = Expected(wanted.transpose(1, 2, 0), rtol=1e-9, atol=1e-11, order=np.abs)
    return _case("small_qr", 4, 32, args, {"out": order})


def flash_tile(random):
    q, k, v = (random.standard_normal((n, 16)).astype(np.float16) for n in (16, 80, 80))
    scores = q.astype(float) @ k.astype(float).T / 4
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    wanted = weights / weights.sum(axis=1, keepdims=True) @ v.astype(float)
    args = {"q": q, "k": k, "v": v, "out": np.zeros((16, 16), np.float32), "keys": 80}
    return _case("flash_tile", 1, 32, args, {"out": Expected(wanted, rtol=4e-3, atol=4e-3)})


def mersenne_twister(random):
    seeds = random.integers(0, 2**32, 2, np.uint32)
    wanted = [np.random.RandomState(int(s)).randint(0, 2**32, 624, np.uint32) for s in seeds]
    args = {"seeds": seeds, "out": np.zeros((2, 624), np.uint32)}
    return _case("mersenne_twister", 2, 256, args, {"out": Expected(np.stack(wanted))})


def big_product(random):
    a, b = (random.integers(0, 2**32, (70, 8), np.uint32) for _ in range(2))
    a[0], b[0] = 2**32 - 1, 2**32 - 1
    whole = [[int.from_bytes(one.tobytes(), "little") for one in numbers] for numbers in (a, b)]
    products = b"".join((p * q).to_bytes(64, "little") for p, q in zip(*whole, strict=True))
    wanted = np.frombuffer(products, np.uint32).reshape(70, 16)
    args = {"a": a, "b": b, "out": np.zeros((70, 16), np.uint32), "count": 70}
    return _case("big_product", 3, 32, args, {"out": Expected(wanted)})


def jacobi_grid(random):
    a, rounds = random.random(700).astype(np.float32), 6
    now = a.copy()
    for _ in range(rounds):
        now[1:-1] = np.float32(0.5) * (now[:-2] + now[2:])
    args = {"a": a, "b": np.zeros_like(a), "n": 700, "rounds": rounds}
    return _case("jacobi_grid", 6, 64, args, {"a": Expected(now)})


def queens(random):
    n = 7

    def free(rows, c):
        return all(c != q and abs(c - q) != len(rows) - r for r, q in enumerate(rows))

    def ways(rows):
        return 1 if len(rows) == n else sum(ways([*rows, c]) for c in range(n) if free(rows, c))

    wanted = [0 if abs(a - b) < 2 else ways([a, b]) for a in range(n) for b in range(n)]
    return _case("queens", 2, 32, {"n": n, "ways": np.zeros(n * n, np.int32)}, {"ways": Expected(wanted)})


def prefix_code(random):
    codes = {0: "0", 1: "10", 2: "1100", 3: "1101", 4: "111"}
    tree, nodes = [[0, 0]], {"": 0}
    for letter, code in codes.items():
        for end in range(len(code)):
            if end + 1 == len(code):
                tree[nodes[code[:end]]][int(code[end])] = ~letter
            elif code[: end + 1] not in nodes:
                nodes[code[: end + 1]] = len(tree)
                tree[nodes[code[:end]]][int(code[end])] = len(tree)
                tree.append([0, 0])
    letters = random.integers(0, 5, (64, 40)).astype(np.uint8)
    streams = ["".join(codes[int(one)] for one in row).ljust(192, "0") for row in letters]
    bits = np.array([[int(s[i : i + 32][::-1], 2) for i in range(0, 192, 32)] for s in streams], np.uint32)
    args = {"bits": bits, "tree": np.array(tree, np.int16), "out": np.zeros_like(letters), "words": 6, "letters": 40}
    return _case("prefix_code", 1, 64, args, {"out": Expected(letters)})


CASES: dict[str, Make] = {
    make.__name__: make
    for make in (radix_pass, segmented_scan, smith_waterman, small_qr, flash_tile, mersenne_twister, big_product,
                 jacobi_grid, queens, prefix_code)
}  # fmt: skip
