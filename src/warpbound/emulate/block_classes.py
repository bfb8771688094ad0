"""Classes of blocks: blocks whose warps take the same path, as far as block and thread numbers decide it.

A kernel's guards and trip counts often depend on blockIdx, threadIdx, scalar arguments and arrays of the launch:
borders, rows beyond a limit, triangular loops, every k-th block, lengths of rows. Those instructions are evaluated for
every block of the grid at once (`block_path`); blocks whose branches and guards have equal results, lane by lane, form
one class.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.emulate.block_path import Path
from warpbound.emulate.box_classes import FEWEST_BLOCKS, Boxes, boxes_of_one_path
from warpbound.emulate.broadcast_registers import Code
from warpbound.emulate.launch_memory import Memory
from warpbound.emulate.state import LANES
from warpbound.kernel_launch import Launch
from warpbound.program.kernel import Program
from warpbound.quick_dataclasses import dataclass

LANES_AT_ONCE = 1 << 19  # lanes of the blocks that are evaluated together: their arrays stay in the caches
EVERY_LANE = 1 << 20  # lanes of a grid up to which each is evaluated; beyond, PROBE_LANES of PROBE_WARPS of each block
LANES_WITH_DATA = 1 << 23  # the same if contents of arrays decide; larger grids are evaluated in PROBE_WARPS
FULL_PARTS = 4  # parts of a grid that take all their steps if contents decide; more parts share these steps
PROBE_LANES = (0, 11, 22, 31)  # the ends of a warp, where guards fall, and two between
PROBE_WARPS = (0.0, 0.4, 1.0)  # places of the evaluated warps in a block, as shares of its last warp's number


@dataclass(frozen=True)
class Classes:
    """Which class each block belongs to.

    of_block : number of the class of each block, (blocks,); classes are numbered by their first block.
    counts : blocks of each class, (classes,). first : the first block of each, (classes,).
    length : instructions that the evaluated warps of a block of each issue, (classes,); loops that data end count once;
    1 where one look at the code tells that all blocks are alike.
    lanes : the same, times the evaluated lanes that take part, (classes,).
    complete : whether every decision was evaluated, so that blocks of a class do the same, but for lanes of arithmetic
    whose guards data decide.
    """

    of_block: NDArray[np.int64]
    counts: NDArray[np.int64]
    first: NDArray[np.int64]
    length: NDArray[np.int64]
    lanes: NDArray[np.int64]
    complete: bool


def block_classes(program: Program, launch: Launch, memory: Memory, blocks: NDArray[np.int64]) -> Classes:
    """The classes of the given blocks (linear numbers, ascending, (b,)) of a launch."""
    code = Code(program, memory)
    if code.blocks_alike:
        alike = np.ones(1, np.int64)
        return Classes(np.zeros(len(blocks), np.int64), alike * len(blocks), blocks[:1], alike, alike, complete=True)
    reads_data = any(n and x.traits.is_global_load for n, x in zip(code.deciding, code.instructions, strict=True))
    thread = _threads(launch, len(blocks), LANES_WITH_DATA if reads_data else EVERY_LANE)
    step = max(1, LANES_AT_ONCE // thread.size)
    keys, work = np.empty(len(blocks), np.uint64), np.empty((2, len(blocks)), np.int64)  # lengths and lanes
    complete = not reads_data or thread.size >= math.prod(launch.block)
    if len(blocks) == math.prod(launch.grid) >= FEWEST_BLOCKS:
        boxes = boxes_of_one_path(code, launch, thread)
        if boxes is not None:
            return _of_boxes(code, launch, thread, replace(boxes, complete=complete and boxes.complete))
    trail, has_one_trail = list[object](), True
    share = min(1.0, FULL_PARTS * step / len(blocks)) if reads_data and complete else 1.0
    for start in range(0, len(blocks), step):
        path = Path(code, launch, blocks[start : start + step], thread)
        path.follow(share)
        complete &= path.complete
        keys[start : start + step] = path.keys.of_block
        work[:, start : start + step] = path.length, path.lanes
        trail = trail if start else path.keys.trail
        has_one_trail &= path.keys.trail == trail
    if not has_one_trail:  # one class may have other keys in each part: the first blocks are compared in one part
        part = (np.arange(len(blocks)) // step).astype(np.uint64)
        _, first, group = np.unique(keys + part, return_index=True, return_inverse=True)
        path = Path(code, launch, blocks[first], thread)
        path.follow()
        keys, work = path.keys.of_block[group.ravel()], np.stack([path.length, path.lanes])[:, group.ravel()]
    _, at, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(at)
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    length, lanes = work[:, at[order]]
    return Classes(number[inverse.ravel()], counts[order], blocks[at[order]], length, lanes, complete)


def _of_boxes(code: Code, launch: Launch, thread: NDArray[np.int64], boxes: Boxes) -> Classes:
    """The classes of a grid from its boxes. One path may have several keys: first blocks of the boxes are compared."""
    x, y, z = launch.grid
    number = boxes.low @ np.array([1, x, x * y])
    order = np.argsort(number)
    _, at, group = np.unique(boxes.key[order], return_index=True, return_inverse=True)
    path = Path(code, launch, number[order][at], thread)
    path.follow()
    group = group.ravel()
    _, at, inverse = np.unique(path.keys.of_block[group], return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(at))
    of_box = rank[inverse.ravel()]
    of_block = np.zeros((z, y, x), np.int64)
    low, end = boxes.low[order], boxes.high[order] + 1
    for each in np.flatnonzero(of_box):
        along_x, along_y, along_z = map(slice, low[each], end[each])
        of_block[along_z, along_y, along_x] = of_box[each]
    counts = np.bincount(of_box, weights=(end - low).prod(axis=1)).astype(np.int64)
    first = np.sort(at)
    length, lanes = path.length[group[first]], path.lanes[group[first]]
    return Classes(of_block.ravel(), counts, number[order][first], length, lanes, boxes.complete and path.complete)


def _threads(launch: Launch, blocks: int, most: int) -> NDArray[np.int64]:
    """The threads of a block that are evaluated, by warp and lane, (1, warps, lanes); most : of the grid, for all."""
    warps = -(-math.prod(launch.block) // LANES)
    if blocks * warps * LANES <= most:
        return np.arange(warps * LANES).reshape(1, warps, LANES)
    warp_numbers = distinct([int(share * (warps - 1)) for share in PROBE_WARPS])
    if most > EVERY_LANE and blocks * warps * len(PROBE_LANES) <= most:
        warp_numbers = np.arange(warps)
    return np.asarray((warp_numbers[:, None] * LANES + np.array(PROBE_LANES))[None])
