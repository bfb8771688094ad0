"""What programs that do not check themselves must print or write, computed with NumPy from the same input."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

Check = Callable[[Path, str], bool]  # folder of the run, what the program printed -> whether they agree


def costs(folder: Path, _: str) -> bool:
    """Rodinia's bfs: the number of edges from node 0 to every node."""
    words = [int(word) for word in (folder / "graph.txt").read_text().split()]
    nodes = words[0]
    starts, counts = words[1 : 2 * nodes + 1 : 2], words[2 : 2 * nodes + 2 : 2]
    edges = words[2 * nodes + 3 :: 2]
    cost, front = {0: 0}, [0]
    while front:
        after = [edge for node in front for edge in edges[starts[node] : starts[node] + counts[node]]]
        level = cost[front[0]] + 1
        front = [node for node in dict.fromkeys(after) if node not in cost]
        cost.update(dict.fromkeys(front, level))
    written = re.findall(r"(\d+)\) cost:(-?\d+)", (folder / "result.txt").read_text())
    return [(int(node), int(each)) for node, each in written] == [(node, cost.get(node, -1)) for node in range(nodes)]


def nearest(folder: Path, printed: str) -> bool:
    """Rodinia's nn: the five records with the least distance from (30, 90)."""
    lines = (folder / "storms.txt").read_text().splitlines()
    places = np.array([[float(line[27:33]), float(line[33:39])] for line in lines], np.float32)
    distances = np.sort(np.hypot(places[:, 0] - 30, places[:, 1] - 90))[:5]
    listed = [float(word) for word in re.findall(r"Distance=([\d.]+)", printed)]
    return len(listed) == len(distances) and bool(np.allclose(sorted(listed), distances, rtol=1e-4, atol=2e-4))


def solution(_: Path, printed: str) -> bool:
    """Rodinia's gaussian: the solution for its Toeplitz matrix 10 exp(-0.01 |i - j|) and a right-hand side of ones."""
    listed = printed.partition("The final solution is:")[2].partition("Time total")[0]
    values = np.array([float(word) for word in re.findall(r"-?\d+\.\d+", listed)])
    rows = np.arange(len(values))
    matrix = 10 * np.exp(-0.01 * np.abs(rows[:, None] - rows))
    return len(values) > 1 and bool(np.allclose(values, np.linalg.solve(matrix, np.ones(len(values))), atol=6e-3))


def cheapest_paths(_: Path, printed: str) -> bool:
    """Rodinia's pathfinder: the least sum from the first row to each place of the last, by steps to a neighbour."""
    rows = [
        np.array([int(word) for word in line.split()])
        for line in printed.splitlines() if re.fullmatch(r"(?:\d+ ){3,}", line)
    ]  # fmt: skip
    *wall, _first, result = rows  # the last two lines are the first row again, and the result
    best = wall[0]
    for row in wall[1:]:
        padded = np.pad(best, 1, constant_values=np.iinfo(best.dtype).max)
        best = row + np.minimum(np.minimum(padded[:-2], padded[2:]), best)
    return bool(np.array_equal(best, result))


def temperatures(folder: Path, _: str) -> bool:
    """Rodinia's hotspot: four explicit steps of heat conduction on 128 x 128 cells of a chip 16 mm wide, 0.5 mm thick.

    Its constants: silicon 100 W/(m K) and 1.75e6 J/(m3 K), of which half counts; a step in which 3e6 W/m2 warm a cell
    by 0.001 K; 80 outside; the border reflects.
    """
    size, chip, thick, conductivity, heat = 128, 0.016, 0.0005, 100.0, 0.5 * 1.75e6
    now, power = (np.loadtxt(folder / name)[: size * size].reshape(size, size) for name in ("temp.txt", "power.txt"))
    cell = chip / size
    capacity = heat * thick * cell * cell
    side, up = 1 / (2 * conductivity * thick), thick / (conductivity * cell * cell)
    step = 0.001 / (3e6 / (heat * thick))
    for _step in range(4):
        wide = np.pad(now, 1, mode="edge")
        flow = (wide[2:, 1:-1] + wide[:-2, 1:-1] + wide[1:-1, 2:] + wide[1:-1, :-2] - 4 * now) / side
        now = now + step / capacity * (power + flow + (80 - now) / up)
    written = np.loadtxt(folder / "out.txt")[:, 1].reshape(size, size)
    return bool(np.allclose(written, now, rtol=1e-5))


CHECKS: dict[str, Check] = {
    "costs": costs, "nearest": nearest, "solution": solution, "cheapest paths": cheapest_paths,
    "temperatures": temperatures,
}  # fmt: skip
