"""Livelock: polling threads never make progress if no thread writes anything and their registers repeat."""

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
    """A loop that the executed blocks can never end."""


class Polling(Protocol):
    """A chunk of blocks that has yielded to others."""

    x: State
    flow: Flow
    wrote: bool


def polls(instruction: Instruction) -> bool:
    """Whether a loop that contains this instruction may wait for other threads."""
    traits = instruction.traits
    if traits.kind == "load":
        return traits.is_global_load and "STRONG" in instruction.modifiers
    return traits.kind == "atomic" or traits.waits_for == "mbarrier"


def writes(instruction: Instruction) -> bool:
    """Whether an instruction may change memory or a barrier; atomics that return a value report changes themselves."""
    return instruction.traits.publishes and "PHASECHK" not in instruction.modifiers


class LivelockDetector:
    """Counts passes over all resident chunks that end in a state seen before, without any write."""

    def __init__(self) -> None:
        self.states: set[bytes] = set()
        self.passes = 0

    def detects(self, chunks: Sequence[Polling]) -> bool:
        """Whether the chunks are in a livelock, after a pass in which no chunk began or ended."""
        if any(chunk.wrote or chunk.x.changed for chunk in chunks):
            self.states.clear()
            self.passes = 0
            return False
        now = b"".join(_digest(chunk) for chunk in chunks)
        self.passes = self.passes + 1 if now in self.states else 0
        self.states.add(now)
        return self.passes >= PASSES


def _digest(chunk: Polling) -> bytes:
    """Hash of registers, predicates and program counters."""
    x, hasher = chunk.x, blake2b(digest_size=16)
    for row in (*x.rows, *x.predicates, *x.convergence, *x.uniform, *x.uniform_predicates):
        hasher.update(np.ascontiguousarray(row).data)
    for at, group in sorted(chunk.flow.groups.ready.items()):
        hasher.update(at.to_bytes(4, "little") + group.lanes.tobytes())
    return hasher.digest()
