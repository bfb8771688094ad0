"""What newer C++ and newer machines bring: functions by address, FP8, arrival barriers, clusters of blocks."""

import numpy as np

from support.emulator.case import KERNELS, Case, Expected, Make

POINTERS, FLOAT8 = KERNELS / "pointers.cu", KERNELS / "float8.cu"


def function_table(random):
    x, which = random.integers(-99, 99, 96).astype(np.int32), random.integers(0, 3, 96).astype(np.int32)
    wanted = np.choose(which, [x + 3, x * 3, x - 3]).astype(np.int32)
    return Case(POINTERS, "function_table", 1, 96, {"which": which, "x": x}, {"x": Expected(wanted)})


def function_choice(random):
    x = random.integers(-99, 99, 96).astype(np.int32)
    return Case(POINTERS, "function_choice", 1, 96, {"which": 0, "x": x}, {"x": Expected(x * 5)})


def virtual_functions(random):
    x = random.random(64).astype(np.float32)
    wanted = np.where(np.arange(64) & 1, x * x, np.float32(3) * x)
    return Case(POINTERS, "virtual_functions", 1, 64, {"x": x}, {"x": Expected(wanted)})


def _codes(exponent, bias, finite):
    """Magnitudes of the finite codes, from the definition of the format."""
    mantissa = 7 - exponent
    return np.array([
        (c & (1 << mantissa) - 1) / 2.0**mantissa * 2.0 ** (1 - bias) if c >> mantissa == 0
        else (1 + (c & (1 << mantissa) - 1) / 2.0**mantissa) * 2.0 ** ((c >> mantissa) - bias)
        for c in range(finite)
    ])  # fmt: skip


E4M3, E5M2 = _codes(4, 7, 0x7F), _codes(5, 15, 0x7C)


def _nearest(values, magnitudes):
    """Codes by trying all of them; of two equally near ones the even code."""
    found = []
    for v in np.asarray(values, np.float64).ravel():
        if np.isnan(v):
            found.append(0x7F)
            continue
        away = np.abs(magnitudes - min(abs(v), magnitudes[-1]))
        best = np.flatnonzero(away == away.min())
        found.append(int(best[best % 2 == 0][0] if len(best) > 1 else best[0]) | 0x80 * bool(np.signbit(v)))
    return np.array(found, np.uint8).reshape(np.shape(values))


def _spread(random, count):
    """Numbers of all sizes, halves between codes, and the ends."""
    some = random.choice([-1, 1], count) * np.exp2(random.uniform(-20, 18, count))
    some[: len(E4M3) - 1] = (E4M3[1:] + E4M3[:-1]) / 2
    some[130 : 130 + len(E5M2) - 1] = -(E5M2[1:] + E5M2[:-1]) / 2
    some[-8:] = [0.0, -0.0, np.inf, -np.inf, np.nan, 448.0, 464.1, 61440.0]
    return some.astype(np.float32)


def float8_each(random):
    x = _spread(random, 512)
    e4, e5 = _nearest(x, E4M3), _nearest(x, E5M2)
    back = np.empty((512, 2), np.float32)
    for column, (codes, magnitudes) in enumerate(((e4, E4M3), (e5, E5M2))):
        sizes = np.concatenate([magnitudes, np.full(128 - len(magnitudes), np.nan)])
        back[:, column] = np.where(codes & 0x80, -1, 1) * sizes[codes & 0x7F]
    args = {"in": x, "e4": np.zeros_like(e4), "e5": np.zeros_like(e5), "back": np.zeros_like(back)}
    return Case(
        FLOAT8, "float8_each", 4, 128, args, {"e4": Expected(e4), "e5": Expected(e5), "back": Expected(back)}
    )


def float8_four(random):
    x = _spread(random, 512).reshape(128, 4)
    x = np.where(np.isnan(x), np.float32(1), x)
    codes = _nearest(x, E4M3)
    back = (np.where(codes & 0x80, -1, 1) * E4M3[codes & 0x7F]).astype(np.float32)
    args = {"in": x, "out": np.zeros(128, np.uint32), "back": np.zeros_like(back)}
    expected = {"out": Expected(codes.view(np.uint32).ravel()), "back": Expected(back)}
    return Case(FLOAT8, "float8_four", 1, 128, args, expected)


def float8_halves(random):
    x = np.clip(_spread(random, 512), -65504, 65504).astype(np.float16).reshape(256, 2)
    codes = _nearest(x, E5M2)
    args = {"in": x, "out": np.zeros(256, np.uint16)}
    return Case(FLOAT8, "float8_halves", 2, 128, args, {"out": Expected(codes.view(np.uint16).ravel())})


def packed_atomics(random):
    h = np.array([[32, 64], [32, 64], [28, 224]], np.float16)
    out = np.array([1 + 8 * 0.5, 1 + 8 * 4], np.float32)
    args = {"h": np.zeros((3, 2), np.float16), "out": np.zeros(2, np.float32)}
    return Case(KERNELS / "instructions.cu", "packed_atomics", 1, 64, args, {"h": Expected(h), "out": Expected(out)})


# --- barriers that count arrivals ---


def arrive_and_wait(random):
    v = random.integers(0, 9, (3, 256)).astype(np.float32)
    wanted = v.copy()
    for _ in range(3):
        wanted += np.roll(wanted, -1, axis=1)
    args = {"in": v, "out": np.zeros_like(v), "rounds": 3}
    return _arrival("arrive_and_wait", 3, 256, args, {"out": Expected(wanted)})


def arrive_then_wait(random):
    v = random.integers(0, 99, (4, 32)).astype(np.int32)
    args = {"in": v, "out": np.zeros_like(v)}
    return _arrival("arrive_then_wait", 1, 64, args, {"out": Expected(3 * v[:, ::-1])})


def arrive_and_leave(random):
    stays = np.arange(96) % 3 != 0
    wanted = np.stack([np.where(stays, 64 * (r + 1), 0) for r in range(3)]).astype(np.int32)
    return _arrival("arrive_and_leave", 1, 96, {"out": np.zeros((3, 96), np.int32)}, {"out": Expected(wanted)})


def arrive_for_several(random):
    out = np.zeros(96, np.int32)
    return _arrival("arrive_for_several", 1, 96, {"out": out}, {"out": Expected(out + 77)})


def copies_in_stages(random):
    v = random.integers(0, 99, (5, 256)).astype(np.float32)
    wanted = (np.arange(1, 6)[:, None] * v[:, ::-1]).sum(axis=0).astype(np.float32)
    args = {"in": v, "out": np.zeros(256, np.float32), "rounds": 5}
    return _arrival("copies_in_stages", 1, 256, args, {"out": Expected(wanted)})


def parities(random):
    out = np.zeros((5, 128), np.int32)
    return _arrival("parities", 1, 128, {"out": out, "rounds": 5}, {"out": Expected(out + 1)})


def _arrival(name, grid, block, args, expected):
    return Case(KERNELS / "arrival.cu", name, grid, block, args, expected, least_arch=80)


# --- the whole grid, and clusters of blocks ---


def grid_sum(random):
    v = random.integers(0, 99, (40, 512)).astype(np.int32)  # more lanes than one chunk
    args = {"in": v, "partial": np.zeros(40, np.int32), "out": np.zeros(40 * 512, np.int32)}
    expected = {"out": Expected(np.full(40 * 512, v.sum(), np.int32)), "partial": Expected(np.full(40, -1, np.int32))}
    return Case(KERNELS / "cooperative.cu", "grid_sum", 40, 512, args, expected)


def cluster_ring(random):
    v = random.integers(0, 99, (3, 4, 128)).astype(np.float32)
    wanted = np.roll(v, -1, axis=1)[:, :, ::-1] + np.arange(4, dtype=np.float32)[:, None]
    args = {"in": v, "out": np.zeros_like(v)}
    return _clustered("cluster_ring", 12, 128, args, {"out": Expected(wanted)}, None)


def cluster_histogram(random):
    v = random.integers(0, 10**6, 3000).astype(np.int32)
    args = {"in": v, "out": np.zeros(64, np.int32), "n": 3000}
    wanted = 2 * np.bincount(v % 64, minlength=64)  # two clusters, each over all of it
    return _clustered("cluster_histogram", 4, 96, args, {"out": Expected(wanted)}, 2)


def cluster_places(random):
    y, x = np.mgrid[0:4, 0:6]
    wanted = np.stack([x % 3 + 3 * (y % 2), np.full_like(x, 23), x % 3 + 10 * (y % 2), x // 3 + 10 * (y // 2)], axis=-1)
    args = {"out": np.zeros((24, 4), np.int32)}
    return _clustered("cluster_places", (6, 4), 32, args, {"out": Expected(wanted.reshape(24, 4))}, (3, 2))


def _clustered(name, grid, block, args, expected, cluster):
    source = KERNELS / "clusters.cu"
    return Case(source, name, grid, block, args, expected, least_arch=90, cluster=cluster)


CASES: dict[str, Make] = {
    make.__name__: make
    for make in (function_table, function_choice, virtual_functions, float8_each, float8_four, float8_halves,
                 packed_atomics,
                 arrive_and_wait, arrive_then_wait, arrive_and_leave, arrive_for_several, copies_in_stages, parities,
                 grid_sum, cluster_ring, cluster_histogram, cluster_places)
}  # fmt: skip
