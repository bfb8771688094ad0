"""CampProf, sections 4.1 and 4.2, from the text: plain loops over transactions, no arrays."""

from random import Random
from typing import Any

TYPES = [("gld", 32), ("gld", 64), ("gld", 128), ("gst", 32), ("gst", 64), ("gst", 128)]


def line(alphas: list[float], warps: float, size: int) -> float:
    """t of equation 1: alpha 1 to 3 and beta; a transaction of 32 bytes has words of 2, of 64 words of 4."""
    time = alphas[3] + alphas[0] * warps
    if size == 32:
        time += alphas[1]
    elif size == 64:
        time += alphas[2]
    return time


def bound(read: list[float], write: list[float], counts: dict[str, float], warps: float, per_warp: float) -> float:
    """A kernel's time: its transactions, each at what one of the micro-benchmark's costs at these active warps."""
    total = 0.0
    for kind, size in TYPES:
        one = line(read if kind == "gld" else write, warps, size) / (per_warp * warps)
        total += counts[f"{kind}_{size}"] * one
    return total


def normal_equations(rows: list[list[float]], times: list[float]) -> list[float]:
    """Least squares by Gauss's elimination of the normal equations."""
    count = len(rows[0])
    matrix = [[sum(row[i] * row[j] for row in rows) for j in range(count)] for i in range(count)]
    right = [sum(row[i] * time for row, time in zip(rows, times, strict=True)) for i in range(count)]
    for i in range(count):
        pivot = max(range(i, count), key=lambda k: abs(matrix[k][i]))
        matrix[i], matrix[pivot], right[i], right[pivot] = matrix[pivot], matrix[i], right[pivot], right[i]
        for k in range(i + 1, count):
            factor = matrix[k][i] / matrix[i][i]
            right[k] -= factor * right[i]
            matrix[k] = [a - factor * b for a, b in zip(matrix[k], matrix[i], strict=True)]
    found = [0.0] * count
    for i in reversed(range(count)):
        found[i] = (right[i] - sum(matrix[i][j] * found[j] for j in range(i + 1, count))) / matrix[i][i]
    return found


def drawn(random: Random) -> dict[str, Any]:
    """Inputs of a random case: four regressions, counters (some 0), warps (1 and 32 among them), a degree."""
    number = random.uniform
    equations = [
        [number(1e-8, 1e-5), number(-1e-6, 1e-6), number(-1e-6, 1e-6), number(1e-6, 1e-4)] for _ in range(4)
    ]
    counts = {f"{kind}_{size}": random.choice([0.0, 1.0, number(1, 1e8)]) for kind, size in TYPES}
    degree = random.choice([0.0, 1.0, number(-0.5, 1.5)])
    warps = random.choice([1.0, 32.0, float(random.randint(1, 32))])
    return {"equations": equations, "counts": counts, "warps": warps, "per_warp": number(60, 4000), "degree": degree}
