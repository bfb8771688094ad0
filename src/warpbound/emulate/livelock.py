"""Whether threads that poll can ever go on: not if nothing was written, and all that they hold stays as it was."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Protocol

import numpy as np

from warpbound.emulate.control_flow import Flow
from warpbound.emulate.lane_groups import PATIENCE
from warpbound.emulate.state import State
from warpbound.errors import InputError
from warpbound.program.instruction import Instruction

PASSES = 2 * PATIENCE  # after which lanes that may be let go have been


class Endless(InputError):
    """A loop that nothing can end which the executed blocks do."""


class Polling(Protocol):
    """A chunk of blocks that has stopped for others."""

    x: State
    flow: Flow
    wrote: bool


def polls(instruction: Instruction) -> bool:
    """Whether a loop with that instruction in it may wait for other threads."""
    traits = instruction.traits
    if traits.kind == "load":
        return traits.is_global_load and "STRONG" in instruction.modifiers
    return traits.kind == "atomic" or traits.waits_for == "mbarrier"


def writes(instruction: Instruction) -> bool:
    """Whether an instruction may change what other threads see, or own memory; atomics tell it themselves."""
    return instruction.traits.publishes and "PHASECHK" not in instruction.modifiers


class Standstill:
    """Counts passes over all resident chunks after which they are as they have been before, nothing being written."""

    def __init__(self) -> None:
        self.seen: set[bytes] = set()
        self.passes = 0

    def lasts(self, chunks: Sequence[Polling]) -> bool:
        """Whether nothing will ever change, after a pass in which no chunk began or ended."""
        if any(chunk.wrote or chunk.x.changed for chunk in chunks):
            self.seen.clear()
            self.passes = 0
            return False
        now = b"".join(_digest(chunk) for chunk in chunks)
        self.passes = self.passes + 1 if now in self.seen else 0
        self.seen.add(now)
        return self.passes >= PASSES


def _digest(chunk: Polling) -> bytes:
    """Of registers, predicates, and where the lanes stand."""
    x, found = chunk.x, blake2b(digest_size=16)
    for row in (*x.rows, *x.predicates, *x.convergence, *x.uniform, *x.uniform_predicates):
        found.update(np.ascontiguousarray(row).data)
    for at, group in sorted(chunk.flow.groups.ready.items()):
        found.update(at.to_bytes(4, "little") + group.lanes.tobytes())
    return found.digest()
