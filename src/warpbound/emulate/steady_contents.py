"""The contents of arrays that the omitted iterations of a steady loop read before anything wrote them, or write."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.emulator import Kernel
from warpbound.emulate.recorded_accesses import Piece
from warpbound.program.registers import lane_bytes

if TYPE_CHECKING:
    from warpbound.emulate.trace_recorder import Recording

AT_ONCE = 256  # iterations whose stores are noted together
Steps = list[tuple[Piece, NDArray[np.int64]]]  # accesses of an iteration, and how far each lane moves


class Contents:
    """Notes of the arrays whose contents nobody gave; nothing is noted where all are known."""

    def __init__(self, kernel: Kernel, recording: "Recording") -> None:
        self.image, self.code, self.recording = kernel.memory.image, kernel.program.instructions, recording

    def reads_are_noted(self, steps: Steps) -> bool:
        """Whether every read is of known contents, is reported already, or repeats one of the watched iterations."""
        if not self.image.has_unknown:
            return True
        reported = set[int]().union(*self.recording.unknown.values())
        return all(piece.instruction in reported or self._stores(piece) or not step.any() for piece, step in steps)

    def note_stores(self, steps: Steps, count: int) -> None:
        """Note what the stores of `count` further iterations write."""
        for piece, step in steps if self.image.has_unknown else ():
            if self._stores(piece) and step.any():
                lanes = slice(None) if piece.active is None else piece.active
                first, by = piece.addresses[lanes].astype(np.int64), step[lanes]
                for some in range(1, count + 1, AT_ONCE):
                    numbers = np.arange(some, min(some + AT_ONCE, count + 1))
                    places = first + numbers[:, None] * by
                    self.image.note_stored(places.ravel(), lane_bytes(self.code[piece.instruction]))

    def note(self, piece: Piece) -> None:
        """Report an access that reads unknown contents, or note what it writes."""
        size, places = lane_bytes(self.code[piece.instruction]), piece.addresses.astype(np.int64, copy=False)
        if self._stores(piece):
            self.image.note_stored(places if piece.active is None else places[piece.active], size)
        else:
            self.image.look(places, size)

    def _stores(self, piece: Piece) -> bool:
        return self.code[piece.instruction].traits.kind == "store"
