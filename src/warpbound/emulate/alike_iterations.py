"""Iterations of an outermost loop that are counted, not executed, because they are known to take the same path.

Models   Persistent blocks: a loop around the whole kernel fetches tile after tile, by numbers that divisions make. Once
         enough accesses are recorded, `CountedPath` follows the path of all threads by what decides it, and tells what
         each warp has executed at every jump back to the loop. Where that agrees with the execution, the following
         iterations that add the same counts as the last executed one are counted. What they pass on is linear
         (`carried_values`). Their accesses are like those that are recorded; their addresses are not known.
Omits    Loops that poll, that store values which somebody needs, that are left by some lanes of a chunk before others
         arrive; clusters and mbarriers.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.carried_values import carried_values
from warpbound.emulate.counted_path import CodeWithGuards, CountedPath, Lanes, Sums, weights_of
from warpbound.emulate.emulator import Chunk
from warpbound.emulate.memory_windows import WORD_B
from warpbound.emulate.stack_slots import FRAME, stack_slots
from warpbound.emulate.state import LANES, Value
from warpbound.emulate.steady_iterations import read_value, write_value
from warpbound.emulate.steady_loops import PASSED
from warpbound.isa.traits import Traits
from warpbound.program.registers import writes
from warpbound.quick_dataclasses import dataclass

if TYPE_CHECKING:
    from warpbound.emulate.trace_recorder import Counts, Recording

ENOUGH = 200_000  # recorded accesses, after which iterations need not be executed
LAST = 1  # iterations before the first other one that are executed
FEWEST = 4  # iterations that are worth leaving out
SHORTEST = 1000  # steps of an iteration that is worth it
STEPS = 2  # equal ones that show how carried values move
PATH_SHARE = 4.0  # of the steps that the paths of all blocks may take: few blocks are followed here
MOST_B = 1 << 26  # of the values that are kept at an arrival


@dataclass(frozen=True)
class _Arrival:
    """At a jump back to the loop: the sums so far, counts by instruction and warp, the length of each stream, accesses
    recorded or not, instructions executed one after the other, values that iterations change."""

    sums: Sums
    counts: "tuple[Counts, ...]"
    streams: dict[int, int]
    accesses: int
    steps: int
    values: dict[str, Value]


def _stores(traits: Traits) -> bool:
    """Whether it may change what a later load brings."""
    return traits.publishes and traits.kind not in PASSED


class AlikeIterations:
    """Watches the outermost loops of one chunk."""

    def __init__(self, chunk: Chunk, recording: "Recording") -> None:
        self.chunk, self.recording = chunk, recording
        self.program = chunk.kernel.program
        self.slots = stack_slots(self.program)
        self.loops = self._loops() if self._fits() else {}
        self.path: CountedPath | None = None
        self._arrivals: dict[int, list[_Arrival]] = {}
        self._last: dict[int, int] = {}  # steps at the last arrival

    def _fits(self) -> bool:
        kernel, image = self.chunk.kernel, self.chunk.kernel.memory.image
        strange = kernel.checked or kernel.cluster_size > 1 or image.tell_stray is not None
        return not strange and not any(x.traits.waits_for == "mbarrier" for x in self.program.instructions)

    def _loops(self) -> dict[int, tuple[str, ...]]:
        """The registers and slots that an iteration changes, by the loop's first instruction."""
        code, blocks, loops = self.program.instructions, self.program.flow.blocks, dict[int, tuple[str, ...]]()
        for loop in self.program.flow.loops:
            body = [at for number in loop.blocks for at in range(blocks[number].first, blocks[number].last)]
            in_slice = [at for at in body if at not in self.recording.removable]
            stores = any(_stores(code[at].traits) and at not in self.slots for at in in_slice)
            if loop.depth == 1 and not stores and not any(self.chunk.polls[at] for at in body):
                names = {name for at in in_slice for name in (*writes(code[at]), *self.slots.get(at, ()))}
                values = tuple(sorted(name for name in names if "P" not in name))
                if WORD_B * len(values) * self.chunk.x.lane_count <= MOST_B:
                    loops[blocks[loop.header].first] = values
        return loops

    def arrive(self, at: int) -> None:
        """The chunk has jumped back to the loop at `at`: leave out iterations if they are known to be alike."""
        if at not in self.loops:
            return
        recording, flow, x = self.recording, self.chunk.flow, self.chunk.x
        last, self._last[at] = self._last.get(at, -SHORTEST), self.chunk.steps
        arrivals = self._arrivals.setdefault(at, [])
        if flow.groups.ready or x.index is not None or x.mask is not None or self.chunk.steps - last < SHORTEST:
            arrivals.clear()
            return
        arrivals.append(self._arrival(at))
        del arrivals[: -STEPS - 1]
        if recording.kept < ENOUGH or len(arrivals) <= STEPS:
            return
        path = self._followed()
        here, alike = _known_alike(path, at, arrivals) if path.complete else (0, 0)
        iterations = alike - LAST
        if iterations >= FEWEST and (steps := self._steps(arrivals)) is not None:
            self._leave_out(arrivals, iterations, steps)
            self._count_guarded((path.off[at][here], path.off[at][here + iterations]), iterations, arrivals)
        arrivals.clear()

    @property
    def _rows(self) -> slice:
        """The chunk's warps among those of the recording."""
        return slice(self.chunk.first_warp, self.chunk.first_warp + self.chunk.x.warp_count)

    def _arrival(self, at: int) -> _Arrival:
        recording = self.recording
        recording.count()
        counts = tuple(
            each[:, self._rows].copy() for each in (recording.executed, recording.threads, recording.switched_off)
        )
        weights = weights_of(self.program)
        sums = np.stack([weight @ each.view(np.uint64) for weight, each in zip(weights, counts, strict=False)])
        streams = {row: len(stream) for row, stream in recording.streams.items()}
        values = {name: self._read(name) for name in self.loops[at]}
        return _Arrival(sums, counts, streams, recording.kept + recording.dropped, self.chunk.steps, values)

    def _followed(self) -> CountedPath:
        """The path of the chunk's blocks."""
        if self.path is None:
            kernel = self.chunk.kernel
            guards, instructions = self.recording.guards, self.program.instructions
            free = (at for at, x in enumerate(instructions) if guards[at] is None and x.traits.is_arithmetic)
            code = CodeWithGuards(self.program, kernel.memory, frozenset(free))
            self.path = CountedPath(code, kernel.launch, self.chunk.blocks, tuple(self.loops))
            self.path.follow(PATH_SHARE)
        return self.path

    def _steps(self, arrivals: list[_Arrival]) -> dict[str, Value] | None:
        """How far each carried value moves in an iteration; None where that is not known."""
        *_, before, middle, now = arrivals
        row = next((row for row in now.streams if self._rows.start <= row < self._rows.stop), None)
        if row is None:
            return None
        path = np.concatenate(self.recording.streams[row][middle.streams[row] :])
        in_slice = frozenset(path.tolist()) - self.recording.removable
        names = carried_values(self.program, path.tolist(), in_slice, self.slots)
        if names is None or not self._all_lanes(list(in_slice), middle, now):
            return None
        steps = {name: now.values[name] - middle.values[name] for name in names}
        equal = all(np.all(steps[name] == middle.values[name] - before.values[name]) for name in names)
        return steps if equal else None

    def _all_lanes(self, in_slice: list[int], middle: _Arrival, now: _Arrival) -> bool:
        """Whether all lanes of all warps have taken the same path in the last iteration."""
        executions, active, off = (
            later[in_slice] - earlier[in_slice] for earlier, later in zip(middle.counts, now.counts, strict=True)
        )
        return bool((executions == executions[:, :1]).all() and (active + off == LANES * executions).all())

    def _leave_out(self, arrivals: list[_Arrival], iterations: int, steps: dict[str, Value]) -> None:
        """Count that many iterations like the last one, and advance what they pass on."""
        recording, chunk = self.recording, self.chunk
        *_, before, now = arrivals
        all_counts = recording.executed, recording.threads, recording.switched_off
        for counts, earlier, later in zip(all_counts, before.counts, now.counts, strict=True):
            counts[:, self._rows] += iterations * (later - earlier)
        for row, stream in recording.streams.items():
            if self._rows.start <= row < self._rows.stop:
                stream.append(np.tile(np.concatenate(stream[before.streams[row] :]), iterations))
        accesses = iterations * (now.accesses - before.accesses)
        recording.dropped += accesses
        recording.left_out += accesses
        for name, step in steps.items():
            if np.any(step):
                self._write(name, now.values[name] + step * np.uint32(iterations))
        chunk.kernel.memory.image.trust_what_is_stored_to()
        chunk.x.clock += iterations * (now.steps - before.steps)

    def _count_guarded(self, off: tuple[Lanes, Lanes], iterations: int, arrivals: list[_Arrival]) -> None:
        """Count the lanes of guarded arithmetic in those iterations as the path has them; off : before and after."""
        recording, (earlier, later) = self.recording, off
        *_, before, now = arrivals
        for place, lanes in later.items():
            if recording.guards[place] is not None:
                more = lanes - earlier.get(place, 0) - iterations * (now.counts[2][place] - before.counts[2][place])
                recording.switched_off[place, self._rows] += more
                recording.threads[place, self._rows] -= more

    def _slot(self, name: str) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """The words of local memory, and the place of the slot for each lane."""
        x = self.chunk.x
        window = x.windows["local"]
        places = window.base(WORD_B) + (x.get(int(FRAME[1:])) >> np.uint32(2)) + int(name[1:])
        return window.elements(WORD_B), places

    def _read(self, name: str) -> Value:
        if name.startswith("S"):
            words, places = self._slot(name)
            return words.take(places)
        value = read_value(self.chunk.x, name)
        return value.copy() if np.ndim(value) else value

    def _write(self, name: str, value: Value) -> None:
        if name.startswith("S"):
            words, places = self._slot(name)
            words[places] = value
        else:
            write_value(self.chunk.x, name, value)


def _known_alike(path: CountedPath, at: int, arrivals: list[_Arrival]) -> tuple[int, int]:
    """Which arrival of the path this is, and how many further iterations add the same to the sums of each warp as the
    last one."""
    sums = [each.tobytes() for each in path.arrivals[at]]
    *_, before, now = arrivals
    if now.sums.tobytes() not in sums:
        return 0, 0
    here = sums.index(now.sums.tobytes())
    each, total, alike = now.sums - before.sums, now.sums, 0
    for later in sums[here + 1 :]:
        total = total + each
        if later != total.tobytes():
            break
        alike += 1
    return here, alike
