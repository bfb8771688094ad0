"""CampProf: the pipeline through the partitions, the maps of the transpose, the bands of the applications."""

from dataclasses import replace

import numpy as np

from warpbound.camping.validation import Judged
from warpbound.machine import gpu
from warpbound.report import figures
from warpbound.report.figures.picture import Curve, Drawable, Panels, Picture, Style
from warpbound.reproduce.campprof_2011.partition_camping import APPLICATIONS, gem_pipeline, validated
from warpbound.reproduce.item import ItemInputs
from warpbound.simulate.partition_patterns import FLOAT_B, TILE, transpose
from warpbound.simulate.partitions import Machine, machine_of

OF = "CampProf"
STEPS = 14   # of the pipeline
TILES = 32   # rows and columns of the map, from the matrix's corner
BLOCKS = 32  # that run together


def fig_7(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """The pipeline of GEM's warps through the partitions."""
    return (figures.queue_at_partitions(gem_pipeline(inputs)[:STEPS], f"{OF}, Figure 7: simulated"),)


def fig_8(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figure 8: what the first blocks read and write, in rows and on diagonals; a corner of the matrices."""
    machine = machine_of(gpu(inputs["gpu"]))
    kinds = [(way, kind) for way in ("coalesced", "diagonal") for kind in ("read", "written")]
    plots = [_map(inputs["side"], machine, way, kind) for way, kind in kinds]
    return (
        Panels(
            "Where thread blocks meet memory partitions", tuple(plots), f"{OF}, Figure 8: a corner of the matrices",
            plots[0].caption, columns=2,
        ),
    )  # fmt: skip


def _map(side: int, machine: Machine, way: str, kind: str) -> Picture:
    """Tiles of the matrix that is read or written. Each tile lies in one partition: the one of its first row."""
    row_B, width_B = FLOAT_B * side, FLOAT_B * TILE
    row, column = np.indices((TILES, TILES))
    offset = side * row_B if kind == "written" else 0
    partition_of = machine.mapping(offset + TILE * row * row_B + column * width_B, machine.width, machine.partitions)
    pattern = transpose(side, diagonal=way == "diagonal", blocks=BLOCKS)
    first = pattern.address.reshape(BLOCKS, -1, 2, 2)[:, 0, int(kind == "written"), 0] - offset
    at_row, at_column = first // row_B // TILE, first % row_B // width_B
    block_of = np.full((TILES, TILES), -1)
    in_corner = (at_row < TILES) & (at_column < TILES)
    block_of[at_row[in_corner], at_column[in_corner]] = np.flatnonzero(in_corner)
    return figures.partition_map(partition_of, block_of, f"{way}: {kind}", f"{OF}, Figure 8")


def fig_10(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figure 10: the band between best and worst case of each application; both transposes in one, as in 10c."""
    cases = {name: validated(inputs["gpu"])[name] for name in APPLICATIONS}
    first = zip(APPLICATIONS[:2], "ab", strict=True)
    bands = [_band(cases[name], f"Partition camping: {name}", letter) for name, letter in first]
    camped, free = cases["transpose, coalesced"], cases["transpose, diagonal"]
    band = _band(camped, "Partition camping: matrix transpose", "c")
    *edges, own = band.layers
    assert isinstance(own, Curve)
    without = replace(own, name="without camping (diagonal)", y=1e3 * free.times, style=Style("green", "solid"))
    both = replace(band, layers=(*edges, replace(own, name="with camping (coalesced)"), without))
    return (*bands, both)


def _band(case: Judged, title: str, letter: str) -> Picture:
    picture = figures.camping_band(case.application.warps, case.band.best, case.band.worst, case.times)
    return replace(picture, title=title, source=f"{OF}, Figure 10{letter}: simulated")
