"""Sampled accesses by memory space: the cost of each, and how many accesses of the launch it represents.

Models   Local memory has addresses as a driver might choose them, away from every allocation; blocks reuse that of the
         blocks that ran before them on the same SM.
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.trace import Accesses, Trace, accesses_of
from warpbound.identity_cache import remember
from warpbound.memory import requests
from warpbound.memory.hierarchy import Facts, Schedule, block_of_warp
from warpbound.memory.requests import Cost, SectorList
from warpbound.memory.reuse import PAGE_B, pages
from warpbound.native_loops import accesses as native
from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program
from warpbound.quick_dataclasses import dataclass

Reals = NDArray[np.float64]
_DIGITS = 6  # digits after the point: hides the rounding of weights in whole counts
_LOCAL_BASE = 1 << 46
NOTHING = accesses_of(
    np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 32), np.uint64), np.zeros((0, 32), np.bool_)
)


@dataclass(frozen=True)
class Space:
    """Accesses of one space, their cost and how many of the launch each represents, (n,)."""

    accesses: Accesses
    cost: Cost
    weight: Reals

    def total(self, values: NDArray[Any], kind: int) -> float:
        """Whole-launch sum of per-access values over the accesses of one kind."""
        return round(float((values * self.weight)[self.cost.kind == kind].sum()), _DIGITS)

    @cached_property
    def _lists(self) -> dict[float, SectorList]:
        return {}

    def sectors(self, part: float = 1.0) -> SectorList:
        """Distinct sectors of every access, as `requests.sector_list`, found once for each part of the lines."""
        if part not in self._lists:
            self._lists[part] = requests.sector_list(self.accesses, part)
        return self._lists[part]

    @cached_property
    def pages(self) -> int:
        """Pages that the accesses touch."""
        return pages(requests.sectors_of_pages(self.accesses, PAGE_B))

    @property
    def takes_part(self) -> NDArray[np.bool_]:
        """Accesses with an active lane, (n,)."""
        return self.cost.lanes > 0

    def requests(self, kind: int) -> float:
        """Warp instructions of one kind with an active lane."""
        return self.total(self.takes_part, kind)

    def by_instruction(self, values: NDArray[Any], size: int) -> Reals:
        """Whole-launch sum of per-access values, (instructions,)."""
        group = self.accesses.instruction
        sums = native.weighted_sums(group, values, self.weight, size)
        return (added(group, values * self.weight, size) if sums is None else sums).round(_DIGITS)


@dataclass(frozen=True)
class Spaces:
    """What was recorded: `words` are the local accesses at physical addresses, 4 bytes a row."""

    global_: Space
    local: Space
    words: Space
    shared: Space
    texture: Space


_global_cost, _shared_cost = remember(1)(requests.global_cost), remember(1)(requests.shared_cost)  # what-ifs ask again


def spaces(
    program: Program, trace: Trace, machine: Facts, plan: Schedule, warp_weight: Reals
) -> Spaces:
    """The recorded accesses with their costs."""
    code = program.instructions

    global_, local, shared, texture = (
        trace.accesses.get(name, NOTHING) for name in ("global", "local", "shared", "texture")
    )
    of_global, of_local, of_shared, of_texture = _kept_for(trace, (global_, local, shared, texture), warp_weight, code)

    def space(accesses: Accesses, cost: Cost, stands_for: Reals) -> Space:
        weight = accesses.repeated(warp_weight[accesses.warp])
        return Space(accesses, cost, weight * stands_for[accesses.instruction])

    words = requests.local_words(local, code, _local_bases(program, trace, plan, machine))
    return Spaces(
        space(global_, _global_cost(global_, code), of_global),
        space(local, requests.global_cost(local, code), of_local),
        space(words, requests.global_cost(words, code, widest=4), of_local),
        space(shared, _shared_cost(shared, code, machine.arch), of_shared),
        space(texture, requests.global_cost(texture, code), of_texture),
    )


def _kept_for(
    trace: Trace, recorded: tuple[Accesses, ...], warp_weight: Reals, code: tuple[Instruction, ...]
) -> Reals:
    """Accesses that each kept one represents, by active lanes, (spaces, instructions): 1 if all were kept.

    Both ends of a copy are recorded, each with all lanes; a generic access is recorded in one space or another.
    """
    size = len(code)
    if not trace.dropped:
        return np.ones((len(recorded), size))
    lanes = np.zeros((len(recorded), size))
    for own, space in zip(lanes, recorded, strict=True):
        active = space.patterns.active.sum(axis=1)[space.pattern]
        own += added(space.instruction, space.repeated(warp_weight[space.warp] * active), size)
    copies = np.array([x.traits.kind == "copy" for x in code] or [False])
    recorded_lanes = np.where(copies, lanes, lanes.sum(axis=0))
    took_part = warp_weight @ trace.threads
    return np.maximum(1.0, np.divide(took_part, recorded_lanes, out=np.ones(lanes.shape), where=recorded_lanes > 0))


def _local_bases(program: Program, trace: Trace, plan: Schedule, machine: Facts) -> NDArray[np.uint64]:
    """Where each traced warp's local memory begins, (w,): blocks take over that of those before them."""
    block = block_of_warp(trace)
    warps = int(trace.warps[:, 1].max(initial=0)) + 1
    seat = plan.sm[block] * machine.blocks_per_sm + plan.seat[block] % machine.blocks_per_sm
    place = seat * warps + trace.warps[:, 1]
    return np.asarray(_LOCAL_BASE + place * _local_bytes(program, trace)).astype(np.uint64)


def local_array(program: Program, trace: Trace, machine: Facts) -> tuple[int, int]:
    """Address and bytes of the local memory of all warps that are resident at once."""
    warps = int(trace.warps[:, 1].max(initial=0)) + 1
    at_once = machine.sm_count * machine.blocks_per_sm
    return _LOCAL_BASE, at_once * warps * _local_bytes(program, trace)


def _local_bytes(program: Program, trace: Trace) -> int:
    """Local memory of one warp in bytes, from the stack frame or from the highest offset seen."""
    local = trace.accesses.get("local", NOTHING)
    farthest = np.where(local.patterns.active, local.patterns.offsets, 0).max(axis=1, initial=0)
    highest = int((local.base + farthest[local.pattern]).max(initial=0)) + 16
    return 32 * (max(highest, program.local_bytes) // 16 * 16 + 16)


def added(instruction: NDArray[np.int32], values: Reals, size: int) -> Reals:
    """Values summed by instruction, (instructions,)."""
    return np.bincount(instruction, values, size).astype(np.float64)
