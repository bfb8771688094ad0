"""Scans, sorts, graphs, locks."""

import numpy as np

from support.emulator.case import KERNELS, Case, Expected, Make

SOURCE = KERNELS / "parallel.cu"


def scan_block(random):
    values = random.integers(-50, 50, 4 * 512, np.int32)
    rows = values.reshape(4, 512)
    return Case(SOURCE, "scan_block", 4, 256, {"in": values, "out": np.zeros_like(values)},
                {"out": Expected((np.cumsum(rows, axis=1) - rows).astype(np.int32).reshape(-1))})  # fmt: skip


def lookback_scan(random):
    blocks = 70
    values = random.integers(0, 1000, blocks * 256).astype(np.uint32)
    args = {
        "in": values, "out": np.zeros_like(values), "state": np.zeros(blocks, np.uint32),
        "sums": np.zeros(2 * blocks, np.uint32), "ticket": np.zeros(1, np.uint32),
    }  # fmt: skip
    return Case(SOURCE, "lookback_scan", blocks, 256, args, {"out": Expected(np.cumsum(values, dtype=np.uint32))})


def bitonic_sort(random):
    keys = random.integers(0, 2**32, 1024, np.uint32)
    return Case(
        SOURCE, "bitonic_sort", 4, 256, {"keys": keys}, {"keys": Expected(np.sort(keys.reshape(4, 256)).reshape(-1))}
    )


def radix_sort(random):
    keys = random.integers(0, 2**32, 1024, np.uint32)
    return Case(SOURCE, "radix_sort", 1, 1024, {"keys": keys}, {"keys": Expected(np.sort(keys))})


def histogram256(random):
    data = np.minimum(random.geometric(0.05, 20001), 255).astype(np.uint8)
    args = {"data": data, "bins": np.zeros(256, np.uint32), "n": len(data)}
    return Case(
        SOURCE, "histogram256", 8, 256, args, {"bins": Expected(np.bincount(data, minlength=256).astype(np.uint32))}
    )


def _graph(random, vertices, degree):
    counts = random.integers(0, degree, vertices)
    first = np.r_[0, np.cumsum(counts)].astype(np.int32)
    return first, random.integers(0, vertices, first[-1]).astype(np.int32)


def bfs_step(random):
    first, edges = _graph(random, 1000, 8)
    level = np.where(random.random(1000) < 0.1, 3, -1).astype(np.int32)
    after = level.copy()
    for v in np.flatnonzero(level == 3):
        for w in edges[first[v] : first[v + 1]]:
            if after[w] == -1:
                after[w] = 4
    args = {"first": first, "edges": edges, "level": level, "changed": np.zeros(1, np.int32), "depth": 3, "n": 1000}
    return Case(SOURCE, "bfs_step", 4, 256, args, {"level": Expected(after), "changed": Expected(np.ones(1, np.int32))})


def _hash(key):
    key = np.array([key], np.uint32)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        key = (key ^ key >> np.uint32(shift)) * np.uint32(factor)
    return int(key[0])


def hash_build(random):
    keys = random.choice(10000, 100, replace=False).astype(np.uint32)
    entries = sorted(int(k) << 32 | i + 1 for i, k in enumerate(keys))
    args = {"keys": keys, "table": np.zeros(256, np.uint64), "mask": np.uint32(255), "n": 100}
    return Case(
        SOURCE, "hash_build", 1, 128, args, {"table": Expected(np.array([0] * 156 + entries, np.uint64), order=np.sort)}
    )


def hash_probe(random):
    keys = random.choice(10000, 100, replace=False).astype(np.uint32)
    table = np.zeros(256, np.uint64)
    for i, key in enumerate(keys):
        slot = _hash(key) & 255
        while table[slot]:
            slot = (slot + 1) & 255
        table[slot] = int(key) << 32 | i + 1
    probes = np.where(random.random(500) < 0.5, random.choice(keys, 500), random.integers(0, 10000, 500)).astype(
        np.uint32
    )
    where = {int(key): i for i, key in enumerate(keys)}
    found = np.array([where.get(int(p), -1) for p in probes], np.int32)
    args = {"probes": probes, "table": table, "mask": np.uint32(255), "found": np.zeros(500, np.int32), "n": 500}
    return Case(SOURCE, "hash_probe", 4, 128, args, {"found": Expected(found)})


def spin_lock(random):
    args = {"lock": np.zeros(1, np.int32), "count": np.zeros(1, np.int32)}
    return Case(SOURCE, "spin_lock", 2, 96, args, {"count": Expected(np.array([192], np.int32))})


def ticket_lock(random):
    value = 5
    for _ in range(96):
        value = (value * 3 + 1) & 0xFFFFFFFF
    args = {"next": np.zeros(1, np.uint32), "serving": np.zeros(1, np.uint32), "count": np.array([5], np.int32)}
    return Case(SOURCE, "ticket_lock", 3, 32, args, {"count": Expected(np.array([value], np.uint32).view(np.int32))})


def last_block_sum(random):
    values = random.integers(0, 100, 5000).astype(np.float32)
    args = {
        "in": values, "partial": np.zeros(9, np.float32), "arrived": np.zeros(1, np.uint32),
        "out": np.zeros(1, np.float32), "n": 5000,
    }  # fmt: skip
    return Case(SOURCE, "last_block_sum", 9, 128, args, {"out": Expected(np.array([values.sum()], np.float32))})


def spmv_vector(random):
    first, column = _graph(random, 200, 90)
    value, x = random.standard_normal(len(column)).astype(np.float32), random.standard_normal(200).astype(np.float32)
    y = np.array([np.dot(value[a:b].astype(float), x[column[a:b]]) for a, b in zip(first[:-1], first[1:], strict=True)])
    args = {"first": first, "column": column, "value": value, "x": x, "y": np.zeros(200, np.float32), "rows": 200}
    return Case(SOURCE, "spmv_vector", 50, 128, args, {"y": Expected(y, 1e-5, 1e-5)})


CASES: dict[str, Make] = {
    make.__name__: make
    for make in (scan_block, lookback_scan, bitonic_sort, radix_sort, histogram256, bfs_step, hash_build, hash_probe,
                 spin_lock, ticket_lock, last_block_sum, spmv_vector)
}  # fmt: skip
