"""How the programs of public projects are built and run with small inputs that need no data files of theirs."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from program_checks import CHECKS, Check


@dataclass(frozen=True)
class How:
    """A program in a folder: sources, options of nvcc, arguments, what makes its input files, how it says that it is
    right: `check` is a regular expression, `verify` a check of ours; options of `warpbound run`."""

    folder: str
    sources: tuple[str, ...]
    options: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    make: Callable[[Path], None] | None = None
    check: str = ""
    verify: Check | None = None
    run: tuple[str, ...] = ()


# --- input files ---


def _fields(folder: Path, count: int = 1 << 15) -> None:
    """Temperatures and powers as Rodinia's hotspot reads them: uniform random numbers, one a line."""
    generator = np.random.default_rng(1)
    for name, low, high in (("temp.txt", 320, 340), ("power.txt", 0, 1)):
        values = generator.uniform(low, high, count)
        (folder / name).write_text("".join(f"{value:.6f}\n" for value in values))


def _graph(folder: Path, nodes: int = 4096, degree: int = 6) -> None:
    """A random graph as Rodinia's bfs reads it."""
    generator = np.random.default_rng(2)
    starts = np.arange(nodes) * degree
    lines = [str(nodes), *(f"{start} {degree}" for start in starts), "", "0", "", str(nodes * degree)]
    lines += [f"{edge} 1" for edge in generator.integers(0, nodes, nodes * degree)]
    (folder / "graph.txt").write_text("\n".join(lines) + "\n")


def _hurricanes(folder: Path, count: int = 1024) -> None:
    """Records of 49 characters as Rodinia's nn reads them; latitude and longitude from column 28 on."""
    generator = np.random.default_rng(3)
    lines = []
    for i in range(count):
        latitude, longitude = generator.uniform(5, 60), generator.uniform(5, 99)
        date = f"1950  8 {i % 28 + 1:2d} {i % 24:2d} {i % 28:2d}"
        lines.append(f"{date} ALBERTO   {latitude:5.1f} {longitude:5.1f}  98  215")
    (folder / "storms.txt").write_text("\n".join(line[:48].ljust(48) for line in lines) + "\n")
    (folder / "list.txt").write_text("storms.txt\n")


def _pgm(folder: Path, rows: int = 64, columns: int = 64) -> None:
    pixels = np.random.default_rng(4).integers(1, 255, (rows, columns))
    text = "\n".join(" ".join(map(str, row)) for row in pixels)
    (folder / "image.pgm").write_text(f"P2\n{columns} {rows}\n255\n{text}\n")


def _pixels(folder: Path, size: int = 256) -> None:
    """An image of one byte per pixel, with so little contrast that no wavelet coefficient leaves a byte."""
    pixels = np.random.default_rng(8).integers(110, 146, (size, size), np.uint8)
    (folder / "image.rgb").write_bytes(pixels.tobytes())


def _tree(folder: Path, count: int = 4096) -> None:
    """Keys and commands as Rodinia's b+tree reads them."""
    (folder / "keys.txt").write_text(f"{count}\n" + "".join(f"{i}\n" for i in range(count)))
    (folder / "command.txt").write_text("j 600 300\n\nk 1000\n\n")


def _bytes(folder: Path, size: int = 1 << 16) -> None:
    values = np.random.default_rng(5).geometric(0.3, size).clip(0, 255).astype(np.uint8)
    (folder / "text.in").write_bytes(values.tobytes())


def _points(folder: Path, count: int = 800, features: int = 4) -> None:
    values = np.random.default_rng(6).uniform(0, 100, (count, features))
    lines = (f"{i} " + " ".join(f"{v:.3f}" for v in row) for i, row in enumerate(values, 1))
    (folder / "points.txt").write_text("\n".join(lines) + "\n")


def _mesh(folder: Path, count: int = 384) -> None:
    """A ring of closed elements as Rodinia's cfd reads them: an area, then for each of four faces the element behind it
    (from 1; 0: a wing, negative: far away) and its normal."""
    generator = np.random.default_rng(8)
    between = generator.normal((1, 0, 0), 0.1, (count, 3))  # the face to the next element
    wing = generator.normal(0, 0.1, (count, 3))
    rest = np.roll(between, 1, 0) - between - wing
    following, areas = np.arange(count) + 1, generator.uniform(1, 2, count)
    numbers = (following % count + 1, (following - 2) % count + 1, np.zeros(count), np.full(count, -2))
    faces = zip(numbers, (between, -np.roll(between, 1, 0), wing, rest), strict=True)
    rows = np.column_stack([areas, *(part for number, normal in faces for part in (number[:, None], normal))])
    lines = (" ".join(f"{value:.9g}" for value in row) for row in rows)
    (folder / "mesh.txt").write_text(f"{count}\n" + "\n".join(lines) + "\n")


MAKERS: dict[str, Callable[[Path], None]] = {
    "fields": _fields, "graph": _graph, "hurricanes": _hurricanes, "image": _pgm, "tree": _tree, "text": _bytes,
    "points": _points, "pixels": _pixels, "mesh": _mesh,
}  # fmt: skip
TABLES = tomllib.loads((Path(__file__).parent / "programs.toml").read_text())
SAMPLE_ARGUMENTS: dict[str, tuple[str, ...]] = {name: tuple(words) for name, words in TABLES["arguments"].items()}
SAMPLE_CHECKS: dict[str, str] = TABLES["checks"]  # what a sample prints if it agrees with what it expects
SMALLER: dict[str, list[list[str]]] = TABLES["smaller"]  # file, pattern, replacement
OPTIONS = {  # of every program of a suite: names that CUDA 13 has dropped; small sizes
    "rodinia": (
        "-DcudaThreadSynchronize=cudaDeviceSynchronize", "-DcudaThreadExit=cudaDeviceReset", "-Xcompiler",
        "-fpermissive",
    ),
    "polybench": ("-DcudaThreadSynchronize=cudaDeviceSynchronize",),
}  # fmt: skip
OWN_WORDS = {"polybench": r"(?:Percent|Number of misses): 0\b"}


def suite(name: str) -> dict[str, How]:
    """The programs of a suite by name."""
    return {
        program: How(
            keys["folder"], tuple(keys["sources"]), (*keys.get("options", ()), *OPTIONS[name]),
            tuple(keys.get("arguments", ())), MAKERS.get(keys.get("make", "")),
            keys.get("check", OWN_WORDS.get(name, "")), CHECKS.get(keys.get("verify", "")),
            tuple(keys.get("run", ())),
        )
        for program, keys in TABLES["suites"][name].items()
    }  # fmt: skip
