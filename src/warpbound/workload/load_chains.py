"""Longest chain of dependent loads of a warp: each load's address depends on the load before it.

Source   our own.
Models   registers, and shared memory as one location: every load depends on every earlier store.
Omits    global memory that the warp wrote itself; branches that depend on loaded values.
"""

from collections.abc import Sequence

from warpbound.program.instruction import Instruction
from warpbound.program.registers import reads, writes

MOST = 4096  # instructions that are followed; beyond them a chain grows as in the second half of these
_SHARED = "shared memory"


def longest_chain(instructions: Sequence[Instruction], stream: Sequence[int]) -> float:
    """Loads in the longest chain of a warp that executes `stream`, indices into the instructions; 0 without loads."""
    chains: dict[int, tuple[tuple[str, ...], tuple[str, ...], int]] = {}
    before: dict[str, int] = {}  # register -> loads in a chain that its value took
    longest, halfway, some = 0, 0, stream[:MOST]
    for position, index in enumerate(some):
        if position == len(some) // 2:
            halfway = longest
        if index not in chains:
            chains[index] = _step(instructions[index])
        inputs, outputs, load = chains[index]
        loads = max((before.get(name, 0) for name in inputs), default=0) + load
        for name in outputs:
            before[name] = max(loads, before.get(name, 0)) if name == _SHARED else loads
        longest = max(longest, loads if load else 0)
    return longest + (longest - halfway) * (len(stream) - len(some)) / max(1, len(some) - len(some) // 2)


def _step(instruction: Instruction) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """What an instruction reads and writes, and 1 if it loads from global memory."""
    traits, inputs, outputs = instruction.traits, reads(instruction), writes(instruction)
    if "shared" in traits.spaces and traits.stores:
        outputs = (*outputs, _SHARED)
    if traits.spaces == ("shared",) and traits.loads:
        inputs = (*inputs, _SHARED)
    return inputs, outputs, int(traits.is_global_load)
