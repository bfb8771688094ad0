"""Cost of each memory access of a kernel, from the code's address arithmetic alone.

Source   The rules of `requests` on the addresses that `address_arithmetic` finds.
Models   All threads of a block take part. Arrays begin at multiples of 256 bytes and rows of unknown length are
         multiples of 128 bytes, so that lanes in different rows share no line. Other unknowns (block index, loop
         counters, values of the whole warp) are averaged over the alignments that they can give.
Omits    Predicates and divergence.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.launch_memory import launch_area
from warpbound.emulate.trace import accesses_of
from warpbound.memory import coalescing, requests
from warpbound.memory.address_arithmetic import PERIOD_B, Address, addresses
from warpbound.memory.address_registers import Threads
from warpbound.memory.affine import Form
from warpbound.memory.static_lane_addresses import rows
from warpbound.memory.static_reuse import first_touches
from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program
from warpbound.program.registers import lane_bytes
from warpbound.quick_dataclasses import dataclass

NOTE = (
    "sectors and bank conflicts follow from the address arithmetic for blocks of {block} threads: every thread takes "
    "part, arrays and rows of unknown length begin at multiples of 128 bytes, no index is clamped"
)
TOO_LATE = "what the analysis had no time for"
SECTORED_FROM = 50  # sm number from which 32-byte sectors are the transactions
_WIDTHS = (32, 16, 8, 4, 2)


@dataclass(frozen=True)
class Access:
    """One memory instruction in one space, means over the warps of a block and over alignments, per execution.

    transactions : by the coalescing rule of the machine; from 5.0 on these are the sectors. Before, `sectors` are the
    bytes of the transactions in units of 32.
    depends_on : what the address depends on where it is not known; the counts are then 0.
    stride : bytes from each lane to the next one where that is the same for all lanes of all warps, else None.
    row_stride : the same inside rows of 16, 8, 4 or 2 lanes, as blocks of that width have them.
    first_touch : share of those sectors that no access before it in the same iteration, nor one iteration before,
    touched.
    level_shares : shares of a load's executions of which L1, L2 and DRAM answered the slowest sector; empty if unknown.
    """

    sectors: float = 0.0
    ideal_sectors: float = 0.0
    wavefronts: float = 0.0
    ideal_wavefronts: float = 0.0
    transactions: float = 0.0
    stride: int | None = None
    row_stride: int | None = None
    depends_on: str = ""
    first_touch: float = 1.0
    level_shares: tuple[float, ...] = ()


Predicted = Mapping[tuple[int, str], Access]  # (instruction, global or shared)


def threads_of(
    program: Program, block: tuple[int, int, int], grid: tuple[int, int, int] | None, scalars: Mapping[int, int]
) -> Threads:
    """A block of the launch; scalars : offset of a parameter of 4 bytes -> its value, where that is known."""
    block_at, grid_at = _dimensions(program.arch)
    words = {block_at + 4 * i: size for i, size in enumerate(block)}
    if grid is not None:
        words |= {grid_at + 4 * i: size for i, size in enumerate(grid)}
    words |= {program.parameter_base + offset: value for offset, value in scalars.items()}
    return Threads(block, words, dict(zip("XYZ", grid, strict=True)) if grid else {})


def _dimensions(arch: int) -> tuple[int, int]:
    """Where block and grid stand in constant bank 0; before Volta from memory, as published listings have it."""
    if arch < 70:
        return (0x28, 0x34) if 30 <= arch < 50 else (0x8, 0x14)
    place = launch_area(arch)
    return place.block, place.grid


def predicted(
    program: Program, arch: int, threads: Threads, streams: Sequence[Sequence[int]], deadline: float = math.inf
) -> dict[tuple[int, str], Access]:
    """(instruction, space) -> what one execution costs on sm `arch`.

    streams : the path through the kernel, then an iteration of each loop. deadline : in the thread's processor time, s;
    loops and accesses that come later are left out.
    """
    instructions = program.instructions
    result = addresses(instructions, program.arch, threads, streams, deadline)
    non_local = {key: access for key, access in result.items() if key[1] != "local"}
    new = first_touches(instructions, non_local, threads)
    costs = _Costs(threads, arch)
    return {
        key: replace(costs.of(instructions[key[0]], key[1], address), first_touch=new.get(key, 1.0))
        if time.thread_time() < deadline
        else Access(depends_on=TOO_LATE, first_touch=new.get(key, 1.0))
        for key, address in non_local.items()
    }


class _Costs:
    """Costs of accesses, computed once for all that differ by whole lines: unrolled loops have hundreds of those."""

    def __init__(self, threads: Threads, arch: int) -> None:
        self.where = threads, arch
        self.known: dict[tuple[object, ...], Access] = {}

    def of(self, instruction: Instruction, space: str, address: Address) -> Access:
        if isinstance(address.form, str):
            return Access(depends_on=address.form)
        key = (instruction.mnemonic, space, address.step, *_up_to_lines(address.form))
        if key not in self.known:
            self.known[key] = _access(instruction, space, address, self.where)
        return self.known[key]


def _up_to_lines(form: Form) -> tuple[object, ...]:
    """What two forms have in common that differ by the same number of whole lines for all threads."""
    fixed = np.asarray(form.known)
    unknown = sorted((name, np.asarray(part).tobytes()) for name, part in form.terms.items() if name)
    return (fixed - fixed.min() // PERIOD_B * PERIOD_B).tobytes(), *unknown


def _access(instruction: Instruction, space: str, address: Address, where: tuple[Threads, int]) -> Access:
    threads, arch = where
    lanes, active = rows(address, threads)
    lanes, active = _distinct(lanes, active)
    nothing = np.zeros(len(lanes), np.int32)
    accesses = accesses_of(nothing, nothing, lanes, active)
    if space == "shared":
        cost = requests.shared_cost(accesses, (instruction,), arch)
        sectors = cost.sectors
    else:
        cost = requests.global_cost(accesses, (instruction,))
        sectors = cost.sectors
        if arch < SECTORED_FROM:
            rule = coalescing.transactions(lanes, active, lane_bytes(instruction), arch)
            sectors, cost = rule.bytes // coalescing.SECTOR_B, replace(cost, wavefronts=rule.count)
    count = cost.wavefronts if arch < SECTORED_FROM else sectors
    return Access(
        sectors=float(sectors.mean()),
        ideal_sectors=float(cost.ideal_sectors.mean()),
        wavefronts=float(cost.wavefronts.mean()),
        ideal_wavefronts=float(cost.ideal_wavefronts.mean()),
        transactions=float(count.mean()) if space == "global" else 0.0,
        stride=_stride(lanes, active, len(lanes[0])),
        row_stride=next((s for width in _WIDTHS if (s := _stride(lanes, active, width)) is not None), None),
    )


def _distinct(
    lanes: NDArray[np.uint64], active: NDArray[np.bool_]
) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """One row of each kind, if all kinds are equally frequent: warps that differ by whole lines are alike."""
    lowest = np.where(active, lanes, lanes.max()).min(axis=1, keepdims=True)
    alike = np.where(active, lanes - lowest // PERIOD_B * PERIOD_B, np.uint64(0))
    kinds, first, times = np.unique(alike, axis=0, return_index=True, return_counts=True)
    if len(set(times.tolist())) == 1:
        return lanes[first], active[first]
    return lanes, active


def _stride(lanes: NDArray[np.uint64], active: NDArray[np.bool_], width: int) -> int | None:
    """Bytes from lane to lane inside rows of `width` lanes where they are the same everywhere, else None."""
    inside = np.arange(1, lanes.shape[1]) % width != 0
    both = active[:, 1:] & active[:, :-1] & inside
    change = (lanes[:, 1:].astype(np.int64) - lanes[:, :-1].astype(np.int64))[both]
    return int(change[0]) if change.size and (change == change[0]).all() else None
