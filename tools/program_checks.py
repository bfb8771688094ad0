"""What programs that do not check themselves must print or write, computed with NumPy from the same input."""

import ctypes
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

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


def _drawn(count: int, seed: int = 7) -> NDArray[np.int64]:
    """Whole numbers from 1 to 10 as these programs draw them from the C library."""
    library = ctypes.CDLL(None)
    library.srand(seed)
    return np.array([library.rand() % 10 + 1 for _ in range(count)])


def alignment(folder: Path, _: str) -> bool:
    """Rodinia's nw: the scores along the best alignment of two drawn sequences of 128, from the end to the start."""
    size, penalty = 128, 10
    source = (folder / "needle.cu").read_text(errors="replace").partition("blosum62[24][24]")[2].partition(";")[0]
    substitution = np.array([int(word) for word in re.findall(r"-?\d+", source)]).reshape(24, 24)
    drawn = _drawn(2 * size)
    score = np.zeros((size + 1, size + 1), np.int64)
    score[:, 0] = score[0] = -penalty * np.arange(size + 1)
    for i in range(1, size + 1):
        for j in range(1, size + 1):
            matched = score[i - 1, j - 1] + substitution[drawn[i - 1], drawn[size + j - 1]]
            score[i, j] = max(matched, score[i, j - 1] - penalty, score[i - 1, j] - penalty)
    i = j = size - 1  # where the program starts its way back
    way = [score[i, j]]
    while i or j:  # as the program compares, by scores alone
        none = -999
        aside, above = score[i, j - 1] if j else none, score[i - 1, j] if i else none
        before = score[i - 1, j - 1] if i and j else none, aside, above
        gains = substitution[drawn[i - 1], drawn[size + j - 1]] if i and j else 0, -penalty, -penalty
        value = max(a + b for a, b in zip(before, gains, strict=True))
        for a, b in zip(before, gains, strict=True):
            value = a if value == a + b else value
        way.append(value)
        up, left = ((1, 1), (0, 1), (1, 0))[before.index(value)]
        i, j = i - up, j - left
    return [int(word) for word in (folder / "result.txt").read_text().partition(":")[2].split()] == way


def forces(folder: Path, _: str) -> bool:
    """Rodinia's lavaMD: potential and forces of 800 particles in 2 x 2 x 2 boxes, all of them neighbours."""
    count = 800
    drawn = _drawn(5 * count) / 10
    place, charge = drawn[: 4 * count].reshape(count, 4), drawn[4 * count :]
    weight, xyz = place[:, 0], place[:, 1:]
    decay = charge * np.exp(-2 * 0.5**2 * (weight[:, None] + weight - xyz @ xyz.T))
    pulls = 2 * (xyz * decay.sum(1)[:, None] - decay @ xyz)
    written = np.array([line.split(",") for line in (folder / "result.txt").read_text().splitlines()], float)
    return bool(np.allclose(written, np.column_stack([decay.sum(1), pulls]), rtol=1e-6, atol=2e-6))


def speckle(folder: Path, _: str) -> bool:
    """Rodinia's srad: two steps of 0.5 of speckle-reducing diffusion (Yu and Acton, 2002) on a picture."""
    picture = np.array((folder / "image.pgm").read_text().split()[4:], float).reshape(64, 64)
    now = np.exp(picture / 255)
    for _step in range(2):
        now = _diffused(now, now)
    written = np.array((folder / "image_out.pgm").read_text().split()[4:], float).reshape(64, 64)
    return bool(np.abs(written - np.floor(255 * np.log(now))).max() <= 1)


def noise(_: Path, printed: str) -> bool:
    """Rodinia's srad_v2: the same steps on random numbers; rows and columns 0 to 31 tell how much speckle there is."""
    library = ctypes.CDLL(None)
    library.srand(7)
    now = np.exp(np.array([library.rand() for _ in range(64 * 64)]) / (2**31 - 1)).reshape(64, 64)
    for _step in range(2):
        now = _diffused(now, now[:32, :32])
    listed = printed.partition("Printing Output:")[2].partition("Computation Done")[0].split()
    return len(listed) == now.size and bool(np.allclose(np.array(listed, float), now.ravel(), atol=2e-5))


def _diffused(now: NDArray[np.float64], region: NDArray[np.float64]) -> NDArray[np.float64]:
    """A picture after a step of 0.5; region : the part of it that tells how much speckle there is."""
    speckle = region.var() / region.mean() ** 2
    wide = np.pad(now, 1, mode="edge")
    up, down, left, right = wide[:-2, 1:-1] - now, wide[2:, 1:-1] - now, wide[1:-1, :-2] - now, wide[1:-1, 2:] - now
    gradient = (up**2 + down**2 + left**2 + right**2) / now**2
    laplacian = (up + down + left + right) / now
    variation = (gradient / 2 - laplacian**2 / 16) / (1 + laplacian / 4) ** 2
    rate = np.clip(1 / (1 + (variation - speckle) / (speckle * (1 + speckle))), 0, 1)
    after = np.pad(rate, ((0, 1), (0, 1)), mode="edge")
    return now + 0.5 / 4 * (rate * up + after[1:, :-1] * down + rate * left + after[:-1, 1:] * right)


def layers(folder: Path, _: str) -> bool:
    """Rodinia's backprop: products of inputs and weights summed by blocks of 16 inputs, and the weights corrected."""
    inputs, hidden = 1024, 16
    library = ctypes.CDLL(None)
    library.srand(7)
    draws = [library.rand() for _ in range((inputs + 1) * (hidden + 1) + 2 * (hidden + 1) + inputs)]
    drawn = np.array(draws, float) / (2**31 - 1)
    weights, second, units = np.split(drawn, np.cumsum([(inputs + 1) * (hidden + 1), 2 * (hidden + 1)]))
    weights, last = weights.reshape(inputs + 1, hidden + 1) - 0.5, second.reshape(hidden + 1, 2)[:, 1] - 0.5
    products = units[:, None] * weights[1:, 1:]
    sums = products.reshape(inputs // 16, 16, hidden).sum(1)
    middle = 1 / (1 + np.exp(-(weights[0, 1:] + products.sum(0))))
    output = 1 / (1 + np.exp(-(last[0] + middle @ last[1:])))
    delta = middle * (1 - middle) * output * (1 - output) * (0.1 - output) * last[1:]
    weights[:, 1:] += 0.3 * delta * np.concatenate([[1.0], units])[:, None]
    written = np.fromfile(folder / "results.bin", np.float32)
    corrected = written[sums.size :].reshape(weights.shape)[:, 1:]
    return bool(
        np.allclose(written[: sums.size], sums.ravel(), atol=1e-5)
        and np.allclose(corrected, weights[:, 1:], rtol=0, atol=1e-6) and np.abs(delta).max() > 1e-3
    )  # fmt: skip


def records(folder: Path, _: str) -> bool:
    """Rodinia's b+tree: keys 0 to 4095 hold themselves; ranges and single keys are drawn from the C library."""
    size = 4096
    library = ctypes.CDLL(None)
    library.srand(1)

    def key() -> int:
        return int(np.float32(library.rand()) / np.float32(2**31 - 1) * np.float32(size))

    text = (folder / "output.txt").read_text()
    ranges, _, single = text.partition("command: k")
    span = int(re.findall(r"rSize=(\d+)", ranges)[0])
    expected = []
    for number in range(int(re.findall(r"j count=(\d+)", ranges)[0])):
        start, end = (first := key()), first + span
        if end >= size:
            start, end = start - (end - size), size - 1
        expected.append((number, start, end - start + 1))
    listed = [tuple(map(int, each)) for each in re.findall(r"^(\d+) +(-?\d+) +(-?\d+)$", ranges, re.M)]
    values = [int(value) for value in re.findall(r"^\d+ +(-?\d+)$", single, re.M)]
    return listed == expected and len(values) > 0 and values == [key() for _ in values]


def clusters(folder: Path, _: str) -> bool:
    """Rodinia's streamcluster: the program for CPUs that lies beside it finds the same centres."""
    program = folder / "on_cpu"
    source = folder / "streamcluster_original.cpp"
    subprocess.run(["g++", "-O2", "-w", "-fpermissive", str(source), "-o", str(program), "-lpthread"], check=True)
    arguments = ["3", "5", "16", "512", "512", "100", "none", "cpu.txt", "1"]
    subprocess.run([str(program), *arguments], cwd=folder, check=True, capture_output=True)
    own, cpu = (np.array((folder / name).read_text().split(), float) for name in ("out.txt", "cpu.txt"))
    return len(cpu) > 0 and len(own) == len(cpu) and bool(np.allclose(own, cpu, rtol=1e-5))


def wavelets(folder: Path, _: str) -> bool:
    """Rodinia's dwt2d: the reversible 5/3 wavelets of JPEG 2000 on two levels of 256 x 256 pixels, columns first."""
    bands = np.fromfile(folder / "image.rgb", np.uint8).reshape(256, 256).astype(int) - 128
    for size in (256, 128):
        for _axis in range(2):
            bands[:size, :size] = _lifted(bands[:size, :size].T)
    written = np.fromfile(folder / "image.rgb.dwt.out", np.uint8).reshape(256, 256)
    return bool(np.array_equal(written.astype(int) - 128, bands))


def _lifted(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each row's low half, then its high half; rows are mirrored at their ends. Quotients are cut as in C."""
    even, odd = rows[:, ::2], rows[:, 1::2]
    high = odd - np.trunc((even + np.concatenate([even[:, 1:], even[:, -1:]], 1)) / 2).astype(int)
    low = even + np.trunc((np.concatenate([high[:, :1], high[:, :-1]], 1) + high + 2) / 4).astype(int)
    return np.concatenate([low, high], 1)


def centres(folder: Path, printed: str) -> bool:
    """Rodinia's kmeans: Lloyd's iteration from points 0, 1, 2 and 3 until no point changes its cluster."""
    points = np.loadtxt(folder / "points.txt", dtype=np.float32)[:, 1:].astype(float)
    means, member = points[:4], np.full(len(points), -1)
    while True:
        before, member = member, ((points[:, None] - means) ** 2).sum(2).argmin(1)
        means = np.array([points[member == i].mean(0) for i in range(4)])
        if (before == member).all():
            break
    listed = printed.partition("Centroid Coordinates")[2].partition("Number of Iteration")[0]
    rows = [[float(word) for word in words.split()] for words in re.findall(r"\d+:((?: -?\d+\.\d+)+)", listed)]
    return len(rows) == len(means) and bool(np.allclose(rows, means, rtol=0, atol=0.006))


def supersonic_flow(folder: Path, _: str) -> bool:
    """Rodinia's cfd: four steps of three stages of the Euler equations on a mesh, the flow at Mach 1.2 at first."""
    words = np.array((folder / "mesh.txt").read_text().split()[1:], float).reshape(-1, 17)
    faces = words[:, 1:].reshape(-1, 4, 4)
    behind, normals = faces[:, :, 0].astype(int) - 1, -faces[:, :, 1:]
    far = np.array([1.4, 1.4 * 1.2, 0, 0, 1.4 * 1.2**2 / 2 + 1 / 0.4])  # density, momentum, energy; pressure 1
    inner, wing = (behind >= 0)[:, :, None], (behind == -1)[:, :, None]
    now = np.tile(far, (len(words), 1))
    for _step in range(4):
        old, (_, _, speed) = now, _gas(now)
        rate = 0.5 / (np.sqrt(words[:, 0]) * speed)
        for stage in range(3):
            flux, pressure, speed = _gas(now)
            other = np.where(inner, now[behind], far)
            outside, _, fast = _gas(other)
            passing = np.einsum("efvd,efd->efv", outside + flux[:, None], normals) / 2
            smooth = 0.1 * np.linalg.norm(normals, axis=2) * (speed[:, None] + fast)
            passing -= inner * smooth[:, :, None] * (now[:, None] - other)
            pushed = np.zeros_like(passing)
            pushed[:, :, 1:4] = normals * pressure[:, None, None]
            now = old + (rate / (4 - stage))[:, None] * np.where(wing, pushed, passing).sum(1)
    names = ("density", "momentum", "density_energy")
    written = [np.array((folder / name).read_text().split()[2:], float).reshape(len(words), -1) for name in names]
    return bool(np.allclose(np.column_stack(written), now, rtol=1e-4, atol=1e-5) and np.ptp(now, axis=0).max() > 0.1)


def _gas(state: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """Of a gas with adiabatic index 1.4: fluxes of density, momentum and energy; pressure; speeds of gas and sound
    together."""
    density, momentum, energy = state[..., :1], state[..., 1:4], state[..., 4:]
    velocity = momentum / density
    square = (velocity**2).sum(-1, keepdims=True)
    pressure = 0.4 * (energy - density * square / 2)
    push = velocity[..., :, None] * momentum[..., None, :] + pressure[..., None] * np.eye(3)
    flux = np.concatenate([momentum[..., None, :], push, (velocity * (energy + pressure))[..., None, :]], -2)
    return flux, pressure[..., 0], (np.sqrt(square) + np.sqrt(1.4 * pressure / density))[..., 0]


CHECKS: dict[str, Check] = {
    "speckle": speckle, "alignment": alignment, "forces": forces, "costs": costs,
    "nearest": nearest, "solution": solution, "cheapest paths": cheapest_paths,
    "temperatures": temperatures, "layers": layers, "records": records, "clusters": clusters,
    "wavelets": wavelets, "noise": noise, "supersonic flow": supersonic_flow, "centres": centres,
}  # fmt: skip
