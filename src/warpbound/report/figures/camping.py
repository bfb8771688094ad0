"""Partition camping: the band between best and worst time, and the partition that holds each tile of a matrix.

Source   A. Aji, M. Daga, W. Feng, "Bounding the Effect of Partition Camping in GPU Kernels", CF 2011.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.report.figures.picture import (
    Axis,
    Band,
    Bars,
    Boxes,
    Curve,
    Numbers,
    Panels,
    Picture,
    Rule,
    Style,
    numbers,
)
from warpbound.report.figures.theme import FILLS, PREDICTION

SOURCE = "A. Aji, M. Daga, W. Feng, Bounding the Effect of Partition Camping in GPU Kernels, CF 2011"
MILLI = 1e3
LONG_S = 10.0  # times from here on are drawn in seconds
MOST_TILES_WITH_TEXT = 8  # blocks with a label each; of more blocks, every n-th has one
MOST_ACCESSES_WITH_TEXT = 32
PALE = 0.12  # fill of tiles that no block touches


def camping_band(warps_per_sm: Numbers, best_s: Numbers, worst_s: Numbers, application_s: Numbers) -> Picture:
    """Predicted best and worst time and the application's, seconds over warps per SM, shape (n,) each.

    application_s : empty without a measurement; one value is drawn as a level line.
    """
    warps, best, worst = numbers(warps_per_sm), numbers(best_s), numbers(worst_s)
    own = numbers(application_s)
    if own.size == 1:
        own = np.full(warps.shape, own[0])
    longest = max(float(np.nanmax(part)) for part in (best, worst, own) if part.size)
    unit, per_second = ("s", 1.0) if longest >= LONG_S else ("ms", MILLI)
    best, worst, own = (per_second * part for part in (best, worst, own))
    points = (Curve("application", warps, own, PREDICTION, "circle"),) if own.size else ()
    return Picture(
        title="Partition camping",
        x=Axis("active warps", "warps per SM", span=(0.0, float(warps.max()) + 1.0)),
        y=Axis("time of the kernel", unit, span=(0.0, 1.1 * per_second * longest)),
        layers=(
            Band("between no camping and the worst", warps, best, worst, Style("sky", "solid")),
            Curve("worst: all warps on one partition", warps, worst, Style("vermilion", "dash"), "square"),
            Curve("best: partitions evenly used", warps, best, Style("blue", "solid"), "diamond"),
            *points,
        ),
        source=SOURCE,
        caption="Near the lower line the kernel camps little; near the upper line its warps queue at one partition.",
    )


def partition_map(
    partition_of: NDArray[np.int64],
    block_of: NDArray[np.int64],
    title: str = "Partitions of a matrix",
    source: str = SOURCE,
) -> Picture:
    """Tiles of a matrix, shape (rows, columns) each: the partition that holds each tile and the block that accesses it.

    block_of : -1 where none of these blocks accesses the tile; such tiles are pale.
    """
    rows, columns = partition_of.shape
    has_block = block_of >= 0
    every = max(1, max(rows, columns) // MOST_TILES_WITH_TEXT)
    layers = []
    for number in np.unique(partition_of):
        here, style = partition_of == number, FILLS[int(number) % len(FILLS)]
        texts = tuple("" if block % every else str(block) for block in block_of[here & has_block])
        layers += [_tiles(f"partition {number}", here & has_block, texts, style)] if (here & has_block).any() else []
        layers += [_stripes(here & ~has_block, replace(style, fill=PALE))] if (here & ~has_block).any() else []
    return Picture(
        title=title,
        x=Axis("column of tiles", span=(-0.5, columns - 0.5)),
        y=Axis("row of tiles", span=(rows - 0.5, -0.5)),
        layers=tuple(layers),
        source=source,
        caption="Colours: memory partitions; numbers: thread blocks. Blocks that run together should differ in colour.",
    )


def _tiles(name: str, here: NDArray[np.bool_], texts: tuple[str, ...], style: Style) -> Boxes:
    row, column = np.nonzero(here)
    return Boxes(name, column - 0.5, column + 0.5, row - 0.5, row + 0.5, texts, style)


def _stripes(here: NDArray[np.bool_], style: Style) -> Boxes:
    """Adjacent tiles of one partition in a column as one box."""
    edges = np.diff(np.pad(here, ((1, 1), (0, 0))).astype(int), axis=0).T
    column, first = np.nonzero(edges == 1)
    _, behind = np.nonzero(edges == -1)
    return Boxes("", column - 0.5, column + 0.5, first - 0.5, behind - 0.5, (), style)


def blocks_at_partitions(partition_at: NDArray[np.int64], source: str = SOURCE) -> Picture:
    """The partition of each block's k-th access, shape (blocks, accesses), -1 : none, of blocks that run together.

    A column of one colour is a queue: all blocks are at that partition at once, while the others idle.
    """
    blocks, accesses = partition_at.shape
    layers = []
    for number in np.unique(partition_at[partition_at >= 0]):
        here = partition_at == number
        texts = (str(number),) * int(here.sum()) if accesses <= MOST_ACCESSES_WITH_TEXT else ()
        layers.append(_tiles(f"partition {number}", here, texts, FILLS[int(number) % len(FILLS)]))
    return Picture(
        title="Where blocks that run together meet memory partitions",
        x=Axis("access of the block's first warp", span=(-0.5, accesses - 0.5)),
        y=Axis("block", span=(blocks - 0.5, -0.5)),
        layers=tuple(layers),
        source=source,
        caption="Each box is an access, its colour and number the partition. Blocks start together, so that a column "
        "of one colour is a queue at one partition; a column of many colours uses all of them.",
        height=170 + 16 * blocks,
    )


def sampled_at_partitions(partition_at: NDArray[np.int64], blocks: Sequence[int], source: str = SOURCE) -> Picture:
    """`blocks_at_partitions` of sampled blocks, by their numbers; assumes that the blocks advance in step."""
    picture = blocks_at_partitions(partition_at, source)
    return replace(
        picture,
        title="Where sampled blocks meet memory partitions",
        y=Axis("block", names=tuple(map(str, blocks)), span=picture.y.span),
        caption="Each box is an access, its colour and number the partition. Where blocks run together and keep step, "
        "a column of one colour is a queue at one partition; a column of many colours uses all of them.",
    )


def partition_shares(bytes_at: NDArray[np.int64], source: str = SOURCE) -> Picture:
    """Per cent of the bytes that each partition carries, shape (partitions,), and the even share."""
    count = len(bytes_at)
    shares = 100.0 * bytes_at / max(1, int(bytes_at.sum()))
    texts = tuple(f"{share:.0f} %" if share > 0.1 * shares.max() else "" for share in shares)
    return Picture(
        title="What each partition carries of the executed blocks",
        x=Axis("share of the bytes", "%", span=(0.0, 1.1 * max(float(shares.max()), 100.0 / count))),
        y=Axis("partition", names=tuple(map(str, range(count))), span=(count - 0.4, -0.6)),
        layers=(
            Bars("carried", range(count), [0.0] * count, shares, texts, Style("blue")),
            Rule(100.0 / count, "even share"),
        ),
        source=source,
        caption="Even shares do not exclude queues: what counts is which blocks meet at one moment.",
        height=170 + 24 * count,
    )


def partition_maps(pictures: tuple[Picture, ...]) -> Panels:
    """Two partition maps side by side: reads and writes, or two versions of a kernel."""
    return Panels(
        title="Where thread blocks meet memory partitions",
        pictures=pictures,
        source=SOURCE,
        caption=pictures[0].caption,
        columns=2,
    )


def queue_at_partitions(warp_at: NDArray[np.int64], source: str = f"{SOURCE}, Figure 7") -> Picture:
    """Which warp, from 1 on, accesses each partition in each step, shape (steps, partitions); 0 : none.

    Where all warps walk the partitions in order, they queue at first, then every partition is in use.
    """
    layers = []
    for number in range(warp_at.shape[1]):
        step = np.flatnonzero(warp_at[:, number])
        warp = warp_at[step, number] - 1
        layers.append(
            Boxes(
                f"partition {number}", step - 0.48, step + 0.48, warp - 0.45, warp + 0.45, (str(number),) * len(step),
                FILLS[number % len(FILLS)],
            )  # fmt: skip
        )
    warps = int(warp_at.max(initial=1))
    return Picture(
        title="Warps queue until the pipeline of partitions is full",
        x=Axis("step", "one access each", span=(-0.6, len(warp_at) - 0.4)),
        y=Axis("warp", names=tuple(map(str, range(1, warps + 1))), span=(warps - 0.4, -0.6)),
        layers=tuple(layers),
        source=source,
        caption="Each row is a warp, each box an access, its number the partition. Empty: waiting for the first one.",
    )


def in_order(steps: int, warps: int, partitions: int = 8) -> NDArray[np.int64]:
    """The table of warps that all walk the partitions from the first on, each a step behind the one before it."""
    step, partition = np.indices((steps, partitions))
    warp = (step - partition) % partitions
    return np.where((warp < warps) & (step >= partition + warp), warp + 1, 0)
