"""Occupancy against block size, registers and shared memory, on one board.

Source   the rules of `residency`, which follow NVIDIA's cuda_occupancy.h.
"""

from functools import partial

import numpy as np

from warpbound import residency
from warpbound.machine import Gpu
from warpbound.quick_dataclasses import dataclass
from warpbound.report.figures.picture import Axis, Curve, Panels, Picture, Points, Style
from warpbound.report.figures.theme import HERE

SOURCE = "NVIDIA cuda_occupancy.h, CUDA 13, as `warpbound occupancy` applies it"
STEP_B = 1024
_LINE = Style("blue", "solid", width=2.4)


@dataclass(frozen=True)
class Block:
    """threads per block, registers per thread, bytes of shared memory and columns of tensor memory per block."""

    threads: int
    registers: int
    shared_bytes: int
    tensor_columns: int = 0


def occupancy_against_limits(board: Gpu, block: Block) -> Panels:
    """Resident warps as one property of the block changes and the others stay: three plots."""
    rules = board.limits
    threads = np.arange(rules.warp_size, rules.max_threads_per_block + 1, rules.warp_size)
    registers = np.arange(1, rules.max_registers_per_thread + 1)
    shared = np.arange(0, rules.max_shared_per_block + 1, STEP_B)
    most = rules.max_warps_per_sm
    occupancy_of = partial(residency.occupancy, board, tensor_columns=block.tensor_columns)
    by_threads = occupancy_of(threads, block.registers, block.shared_bytes).warps_per_sm
    by_registers = occupancy_of(block.threads, registers, block.shared_bytes).warps_per_sm
    by_shared = occupancy_of(block.threads, block.registers, shared).warps_per_sm
    here = float(occupancy_of(block.threads, block.registers, block.shared_bytes).warps_per_sm)
    axes = (
        (Axis("threads per block"), threads, by_threads, block.threads),
        (Axis("registers per thread"), registers, by_registers, block.registers),
        (Axis("shared memory", "KiB per block"), shared / 1024, by_shared, block.shared_bytes / 1024),
    )
    return Panels(
        title=f"Occupancy on {board.name}",
        pictures=tuple(
            Picture(
                title="",
                x=Axis(axis.label, axis.unit, span=(0.0, 1.02 * float(x.max()))),
                y=Axis("resident warps", "warps per SM", span=(0.0, 1.08 * most)),
                layers=(
                    Curve("resident warps", x, warps, _LINE),
                    Points("this kernel", [float(at)], [here], (), HERE),
                ),
                source=SOURCE,
            )
            for axis, x, warps, at in axes
        ),
        source=SOURCE,
        caption="Each plot changes one property of the block and keeps the other two. Steps down: one block less fits.",
    )
