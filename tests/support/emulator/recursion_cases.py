"""Functions that call themselves on parting lanes, and small atomics at the end of an array, against Python."""

import numpy as np

from support.emulator.case import KERNELS, Case, Expected, Make

SOURCE = KERNELS / "recursion.cu"


def quicksort(random):
    rows = random.integers(-100, 100, (80, 32)).astype(np.int32)
    return Case(SOURCE, "quicksort", 2, 40, {"x": rows, "n": 32}, {"x": Expected(np.sort(rows, axis=1))})


def _walk(i, depth):
    if depth == 0:
        return i
    total = 0
    for k in range(3):
        if (i + k) % 4 == 1:
            total += _walk(i + k, depth - 1)
        elif (i + k) % 4 == 2:
            return total + 7
        else:
            total += k
        if total > 50:
            break
    return total + 1


def leaving_walks(random):
    wanted = np.array([_walk(i, i % 6) for i in range(128)])
    return Case(SOURCE, "leaving_walks", 1, 128, {"out": np.zeros(128, np.int32)}, {"out": Expected(wanted)})


def _fibonacci(n):
    return n if n < 2 else _fibonacci(n - 1) + _fibonacci(n - 2)


def _loops(i):
    total = 0
    for a in range(5):
        for b in range(4):
            if (i + a * b) % 7 == 3:
                total += 100
                break
            total += _fibonacci((i + a + b) % 7) if (i + b) % 3 == 0 else 1
        else:
            total += 10
            continue
        if i % 5 == 0:
            break
    return total


def loops_left(random):
    wanted = np.array([_loops(i) for i in range(192)])
    return Case(SOURCE, "loops_left", 2, 96, {"out": np.zeros(192, np.int32)}, {"out": Expected(wanted)})


def add_to_shorts(random):
    wanted = np.array([sum(i % 7 for i in range(k, 400, 13)) for k in range(13)], np.uint16)
    return Case(SOURCE, "add_to_shorts", 4, 100, {"x": np.zeros(13, np.uint16), "n": 13}, {"x": Expected(wanted)})


def whereabouts(random):
    block, thread = np.divmod(np.arange(3 * 70), 70)
    wanted = np.stack([block, np.full(210, 128), thread // 32], axis=1)
    return Case(SOURCE, "whereabouts", 3, 70, {"out": np.zeros((210, 3), np.uint32)}, {"out": Expected(wanted)})


CASES: dict[str, Make] = {
    make.__name__: make for make in (quicksort, leaving_walks, loops_left, add_to_shorts, whereabouts)
}
