"""Straight-line code of a recorded chunk: executed in one go while no other lane group is ready inside it."""

from typing import TYPE_CHECKING

from warpbound.emulate.emulator import Chunk

if TYPE_CHECKING:
    from warpbound.emulate.trace_recorder import Recording


class Straight:
    """Straight-line code: executed in one go from any place to its end while no other lane group waits inside it."""

    def __init__(self, chunk: Chunk, recording: "Recording") -> None:
        self.chunk, self.recording = chunk, recording
        code, plain = chunk.kernel.program.instructions, chunk.kernel.handlers
        self.ends = list(range(1, len(code) + 1))
        for at in reversed(range(len(code))):
            if plain[at] is None or chunk.polls[at] or code[at].traits.kind == "special_register":
                self.ends[at] = at
            elif at + 1 < len(code) and self.ends[at + 1] > at + 1:
                self.ends[at] = self.ends[at + 1]
        self.known: dict[int, tuple[int, ...]] = {}
        self.writing: dict[int, bool] = {}
        self.products: dict[int, int] = {}

    def meets_others(self, at: int) -> bool:
        """Whether another lane group is ready in the code from `at` on."""
        return any(at < place < self.ends[at] for place in self.chunk.flow.groups.ready)

    def run(self, at: int) -> int:
        """Execute from `at` to the end of the straight-line code; returns the next index."""
        chunk, recording, end = self.chunk, self.recording, self.ends[at]
        x, handlers, guards = chunk.x, chunk.handlers, recording.guards
        first = at not in self.known
        if first:
            self.known[at] = tuple(i for i in range(at, end) if i not in recording.idle)
            self.writing[at] = any(chunk.writes[at:end])
            self.products[at] = sum(recording.weights[i] for i in self.known[at])
        chunk.wrote = chunk.wrote or self.writing[at]
        recording.products += self.products[at]
        log = recording.log
        log.extend(range(at, end))
        for i in range(at, end) if first else self.known[at]:
            chunk.at = recording.at = i
            guard = guards[i]
            if guard is not None:
                recording.count_guarded(x, i, guard)
            try:
                handlers[i](x)
            except BaseException:
                del log[len(log) - (end - i) + 1 :]
                raise
        chunk.steps += end - at - 1
        x.clock += end - at - 1
        return end
