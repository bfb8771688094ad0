"""Memory partitions under a matrix: which of them the blocks of a transpose read and write.

Source   A. Aji, M. Daga, W. Feng, CF 2011, section 5.3 and Figure 8; the order of blocks on diagonals is NVIDIA's.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.page.sliders import Control, whole_slider
from warpbound.page.subject import Subject
from warpbound.page.views.view import Values, ViewOutput
from warpbound.quick_dataclasses import dataclass
from warpbound.report import figures
from warpbound.report.figures.camping import SOURCE
from warpbound.report.figures.picture import Picture
from warpbound.report.formatting import listed

TILE, FLOAT_B = 16, 4
SHOWN = 32   # rows and columns of tiles, from the corner of the matrix
BLOCKS = 32  # blocks that run together
LARGEST, MOST_BLOCKS, MOST_PARTITIONS = 1e6, 1024, 64
WORDS = {  # key -> label, unit, value, range
    "side": ("Side of the matrix", "floats", 2048, (128, 8192)),
    "padding": ("Padding of a row", "floats", 0, (0, 256)),
    "diagonal": ("Blocks on diagonals: 0 no, 1 yes", "", 0, (0, 1)),
    "partitions": ("Memory partitions", "", 8, (1, 16)),
    "width": ("Width of a partition", "B", 256, (64, 4096)),
    "blocks": ("Blocks that run together", "", BLOCKS, (1, 120)),
}
Whole = NDArray[np.int64]


def partition_controls(subject: Subject) -> list[Control]:
    return [whole_slider(f"map.{name}", label, unit, value, ends) for name, (label, unit, value, ends) in WORDS.items()]


def partition_maps(subject: Subject, values: Values) -> ViewOutput:
    """Maps of the matrix that is read and of the one that is written."""
    numbers = {name: round(min(LARGEST, values.get(f"map.{name}", value))) for name, (_, _, value, _) in WORDS.items()}
    side = max(TILE, numbers["side"] // TILE * TILE)
    tiles, pitch = side // TILE, side + numbers["padding"]
    block = np.arange(min(max(1, numbers["blocks"]), MOST_BLOCKS, tiles * tiles))
    column, row = block % tiles, block // tiles
    if numbers["diagonal"]:
        column, row = (column + row) % tiles, column
    parts, width = min(max(1, numbers["partitions"]), MOST_PARTITIONS), max(1, numbers["width"])
    matrices = {"read": (row, column, 0), "written": (column, row, side * pitch * FLOAT_B)}
    plots, words = [], []
    for kind, (down, across, begin) in matrices.items():
        memory = _Memory(begin, pitch * FLOAT_B, width, parts)
        plots.append(_map(memory, down, across, kind, min(tiles, SHOWN)))
        counts = np.bincount(memory.partition(down, across), minlength=parts)
        words.append(f"{np.count_nonzero(counts)} of {parts} partitions, the fullest by {counts.max()}, are {kind}")
    sentence = f"Of {len(block)} blocks that start together: {listed(words)}."
    return ViewOutput(figures.partition_maps(tuple(plots)), (sentence,))


@dataclass(frozen=True)
class _Memory:
    """A matrix in memory: where it begins, bytes of a row, width and number of partitions."""

    begin: int
    row_B: int
    width: int
    parts: int

    def partition(self, down: Whole, across: Whole) -> Whole:
        """Partition of the first row of a tile."""
        address = self.begin + TILE * down * self.row_B + across * TILE * FLOAT_B
        return np.asarray(address // self.width % self.parts)


def _map(memory: _Memory, down: Whole, across: Whole, kind: str, partition_count: int) -> Picture:
    every_row, every_column = np.indices((partition_count, partition_count))
    block_of = np.full((partition_count, partition_count), -1)
    inside = (down < partition_count) & (across < partition_count)
    block_of[down[inside], across[inside]] = np.flatnonzero(inside)
    return figures.partition_map(memory.partition(every_row, every_column), block_of, kind, f"{SOURCE}, Figure 8")
