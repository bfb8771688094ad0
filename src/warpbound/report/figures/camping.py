"""Partition camping: the band between best and worst time, and which partition each tile of a matrix lies in.

Source   A. Aji, M. Daga, W. Feng, "Bounding the Effect of Partition Camping in GPU Kernels", CF 2011.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.report.figures.picture import Axis, Band, Boxes, Curve, Look, Numbers, Panels, Picture, numbers
from warpbound.report.figures.theme import FILLS, PREDICTION

SOURCE = "A. Aji, M. Daga, W. Feng, Bounding the Effect of Partition Camping in GPU Kernels, CF 2011"
MILLI = 1e3
MOST_BLOCKS_WITH_TEXT = 256


def camping_band(warps_per_sm: Numbers, best_s: Numbers, worst_s: Numbers, application_s: Numbers) -> Picture:
    """Predicted best and worst time and the application's, seconds over warps per SM, shape (n,) each.

    application_s may be empty where nothing was measured, or have one value: a level.
    """
    warps, best, worst = numbers(warps_per_sm), numbers(best_s), numbers(worst_s)
    own = numbers(application_s)
    if own.size == 1:
        own = np.full(warps.shape, own[0])
    measured = (Curve("application", warps, MILLI * own, PREDICTION, "circle"),) if own.size else ()
    top = 1.1 * MILLI * max(float(np.nanmax(part)) for part in (best, worst, own) if part.size)
    return Picture(
        title="Partition camping",
        x=Axis("active warps", "warps per SM", span=(0.0, float(warps.max()) + 1.0)),
        y=Axis("time of the kernel", "ms", span=(0.0, top)),
        layers=(
            Band("between no camping and the worst", warps, MILLI * best, MILLI * worst, Look("sky", "solid")),
            Curve("worst: all warps on one partition", warps, MILLI * worst, Look("vermilion", "dash"), "square"),
            Curve("best: partitions evenly used", warps, MILLI * best, Look("blue", "solid"), "diamond"),
            *measured,
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
    """Tiles of a matrix, shape (rows, columns) each: the partition each lies in and the block that touches it.

    block_of : -1 where no block at hand does.
    """
    rows, columns = partition_of.shape
    row, column = np.indices((rows, columns))
    layers = []
    for number in np.unique(partition_of):
        here = partition_of == number
        names = tuple(str(block) if block >= 0 else "" for block in block_of[here])
        texts = names if block_of.size <= MOST_BLOCKS_WITH_TEXT else ()
        r, c = row[here], column[here]
        look = FILLS[int(number) % len(FILLS)]
        layers.append(Boxes(f"partition {number}", c - 0.5, c + 0.5, r - 0.5, r + 0.5, texts, look))
    return Picture(
        title=title,
        x=Axis("column of tiles", span=(-0.5, columns - 0.5)),
        y=Axis("row of tiles", span=(rows - 0.5, -0.5)),
        layers=tuple(layers),
        source=source,
        caption="Colours: memory partitions; numbers: thread blocks. Blocks that run together should differ in colour.",
    )


def partition_maps(pictures: tuple[Picture, ...]) -> Panels:
    """Reads and writes, or two versions of a kernel, beside each other."""
    return Panels(
        title="Where thread blocks meet memory partitions",
        pictures=pictures,
        source=SOURCE,
        caption=pictures[0].caption,
        columns=2,
    )


def queue_at_partitions(steps: int, warps: int, partitions: int = 8) -> Picture:
    """Warps that all walk the partitions in order: they queue at first, then every partition is in use (Figure 7)."""
    step, warp = (index.reshape(-1) for index in np.indices((steps, warps)))
    at = step - warp
    layers = []
    for number in range(partitions):
        here = (at >= 0) & (at % partitions == number)
        names = tuple(str(number) for _ in at[here])
        layers.append(
            Boxes(
                f"partition {number}",
                step[here] - 0.48,
                step[here] + 0.48,
                warp[here] - 0.45,
                warp[here] + 0.45,
                names,
                FILLS[number % len(FILLS)],
            )
        )
    return Picture(
        title="Warps queue until the pipeline of partitions is full",
        x=Axis("step", "one access each", span=(-0.6, steps - 0.4)),
        y=Axis("warp", span=(warps - 0.4, -0.6)),
        layers=tuple(layers),
        source=f"{SOURCE}, Figure 7",
        caption="Each row is a warp, each box an access, its number the partition. Empty: waiting for the first one.",
    )
