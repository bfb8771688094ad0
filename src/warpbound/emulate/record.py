"""Runs sampled blocks and writes down what they did: the Trace."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.emulator import Chunk, Kernel, make_ready, run_blocks
from warpbound.emulate.operand_access import Read, predicate, site
from warpbound.emulate.state import LANES, Mask, State, Value
from warpbound.emulate.table import PLAIN
from warpbound.emulate.texture import COUNTED
from warpbound.emulate.trace import Accesses, Trace
from warpbound.errors import CommandError, InputError
from warpbound.kernel_launch import Launch
from warpbound.program.instruction import PT
from warpbound.program.kernel import Program

SPACES = ("global", "shared", "local", "constant", "texture")
STREAMS = 4  # warps whose dynamic instructions are kept, spread over the sample
PATIENCE_S = 20.0  # of the clock on the wall, after which a sample is given up
SAMPLE_STEP_LIMIT = 2_000_000  # a sampled block may wait for one that is not in the sample
MOST_ACCESSES = 2_000_000  # warp-wide accesses kept per space; 290 bytes each


@dataclass
class Rows:
    """Accesses of one space as they come, in pieces."""

    instruction: list[NDArray[np.int32]] = field(default_factory=list)
    warp: list[NDArray[np.int32]] = field(default_factory=list)
    addresses: list[NDArray[np.uint64]] = field(default_factory=list)
    active: list[Mask] = field(default_factory=list)
    count: int = 0

    def joined(self) -> Accesses:
        if not self.count:
            empty = np.empty((0, LANES), np.uint64)
            return Accesses(np.empty(0, np.int32), np.empty(0, np.int32), empty, empty.astype(bool))
        return Accesses(
            np.concatenate(self.instruction),
            np.concatenate(self.warp),
            np.concatenate(self.addresses),
            np.concatenate(self.active),
        )


class Recording:
    """What the warps of one trace did; warps are rows, first_warp the row of the chunk's first one."""

    def __init__(self, kernel: Kernel, warps: int) -> None:
        instructions = kernel.program.instructions
        self.executed = np.zeros((len(instructions), warps), np.int64)
        self.threads = np.zeros((len(instructions), warps), np.int64)
        self.rows = {space: Rows() for space in SPACES}
        self.streams: dict[int, list[int]] = {
            int(row): [] for row in np.unique(np.linspace(0, warps - 1, STREAMS).astype(int))
        }
        self.guards = [_guard(kernel, at) for at in range(len(instructions))]
        self.at = 0
        self.deadline = time.monotonic() + PATIENCE_S
        self.first_warp = 0
        self.dropped = 0

    def stepper(self, chunk: Chunk) -> Callable[[int], int | None]:
        """Execution of the instructions of a chunk that is written down."""
        handlers, x = chunk.handlers, chunk.x
        x.recorder = self

        steps = 0

        def step(at: int) -> int | None:
            nonlocal steps
            steps += 1
            if not steps & 1023 and time.monotonic() > self.deadline:
                raise InputError(
                    f"The sampled blocks still run after {PATIENCE_S:.0f} s.",
                    "They may wait for each other or for blocks outside the sample; or give a smaller problem.",
                )
            self._count(chunk, at)
            return handlers[at](x)  # type: ignore[no-any-return]

        return step

    def _count(self, chunk: Chunk, at: int) -> None:
        """Count instruction `at` for the selected warps, before it runs."""
        x = chunk.x
        self.at, self.first_warp = at, chunk.first_warp
        guard = self.guards[at]
        if x.index is None and x.mask is None and guard is None:
            every = slice(self.first_warp, self.first_warp + x.warp_count)
            self.executed[at, every] += 1
            self.threads[at, every] += LANES
            for row, stream in self.streams.items():
                if every.start <= row < every.stop:
                    stream.append(at)
            return
        active = x.active()
        if guard is not None:
            active = active & guard(x)
        warps = x.selected_warps() + self.first_warp
        self.executed[at, warps] += 1
        self.threads[at, warps] += active.reshape(-1, LANES).sum(axis=1)
        for row, stream in self.streams.items():
            place = np.searchsorted(warps, row)
            if place < len(warps) and warps[place] == row:
                stream.append(at)

    def access(self, x: State, space: str, addresses: NDArray[np.uint64]) -> None:
        """Keep the addresses of the executing group, one row per warp with an active lane."""
        rows = self.rows[space]
        warps, lanes = x.selected_warps(), addresses.reshape(-1, LANES)
        active: Mask = np.broadcast_to(np.bool_(1), lanes.shape)
        if x.mask is not None:
            active = x.mask.reshape(-1, LANES).copy()
            some = active.any(axis=1)
            if not some.all():
                warps, lanes, active = warps[some], lanes[some], active[some]
        if rows.count + len(warps) > MOST_ACCESSES:
            self.dropped += len(warps)
            return
        rows.count += len(warps)
        rows.instruction.append(np.full(len(warps), self.at, np.int32))
        rows.warp.append((warps + self.first_warp).astype(np.int32))
        rows.addresses.append(lanes)
        rows.active.append(active)


def _guard(kernel: Kernel, at: int) -> Read | None:
    instruction = kernel.program.instructions[at]
    guard = instruction.guard
    if guard is None or (guard.index == PT and not guard.invert):
        return None
    here = site(instruction, kernel.memory.constants, kernel.program.arch)
    read = predicate(guard, replace(here, uniform=False))
    return lambda x: _lanes(read(x), x)


def _lanes(value: Value, x: State) -> Mask:
    return np.broadcast_to(value, x.selected_lanes)


def trace(program: Program, launch: Launch, blocks: Sequence[int], *, step_limit: int = SAMPLE_STEP_LIMIT) -> Trace:
    """What the given blocks (linear numbers) of a launch do, each run to its end.

    A block that cannot go on - a fault, a deadlock, the step limit - ends the sample: `stopped` says why.
    Raises CommandError for block numbers outside the grid.
    """
    kernel = make_ready(program, launch, {**PLAIN, **COUNTED})
    numbers = np.asarray(sorted(set(blocks)), np.int64)
    if not len(numbers) or numbers[0] < 0 or numbers[-1] >= kernel.block_count:
        raise CommandError(f"blocks to trace must be among 0 to {kernel.block_count - 1}.", "Give at least one.")
    recording = Recording(kernel, len(numbers) * kernel.lanes_per_block // LANES)
    stopped = ""
    try:
        run_blocks(kernel, numbers, step_limit, recording.stepper)
    except InputError as problem:
        stopped = str(problem)
    return _trace(kernel, numbers, recording, stopped)


def _arrays(kernel: Kernel) -> tuple[tuple[str, int, int], ...]:
    image = kernel.memory.image
    return tuple((one.name, image.address(i), one.end - one.start) for i, one in enumerate(image.allocations))


def _trace(kernel: Kernel, blocks: NDArray[np.int64], recording: Recording, stopped: str) -> Trace:
    per_block = kernel.lanes_per_block // LANES
    warps = np.stack([np.repeat(blocks, per_block), np.tile(np.arange(per_block), len(blocks))], axis=1)
    unknown = tuple(
        f"{count} bytes or more of '{name}' were read with unknown contents and taken as 0"
        for name, count in kernel.memory.image.unknown_reads.items()
    )
    fetches = [i for i, one in enumerate(kernel.program.instructions) if one.opcode in COUNTED]
    if recording.executed[fetches].any():
        unknown += ("textures and surfaces were read with unknown contents and taken as 0",)
    notes = (f"addresses of {recording.dropped} accesses were not kept",) if recording.dropped else ()
    return Trace(
        blocks=blocks,
        of_blocks=kernel.block_count,
        warps=warps,
        executed=np.ascontiguousarray(recording.executed.T),
        threads=np.ascontiguousarray(recording.threads.T),
        streams={row: np.array(stream, np.int32) for row, stream in recording.streams.items()},
        accesses={space: rows.joined() for space, rows in recording.rows.items()},
        unknown=unknown,
        arrays=_arrays(kernel),
        stopped=stopped,
        notes=notes,
    )
