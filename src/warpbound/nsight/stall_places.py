"""Where the predicted stalls of a launch are: by instruction and reason, as samples of warps would show them.

Source   NVIDIA, Nsight Compute, Kernel Profiling Guide: a sample names the instruction that the warp is to issue next,
         and why it does not. In public reports samples of `barrier` are at the instruction behind BAR.
Models   Each reason's share of the launch is spread over the instructions: issue by how often they issue; waiting for
         results by the cycles for which the schedule of one warp waits there, distinguished by what it waits for; full
         queues over the instructions that enter them; waiting for code over the first instructions of its lines.
Omits    that some instructions cause more waiting in a queue than others, such as an access of many sectors.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from warpbound.isa.instruction_caches import code_path
from warpbound.program.instruction import Instruction
from warpbound.schedule import Schedule
from warpbound.time_model.stall_reasons import NO_INSTRUCTION, REPLACEMENT

Reals = NDArray[np.float64]
OF_SPACE = {  # what a warp waits for -> the reason
    "global": "long scoreboard", "local": "long scoreboard", "shared": "short scoreboard", "constant": "imc miss",
}  # fmt: skip
ENTERS: Mapping[str, Callable[[Instruction], bool]] = {  # reason -> instructions that enter the full queue
    "lg throttle": lambda x: not {"global", "local"}.isdisjoint(x.traits.spaces),
    "mio throttle": lambda x: "shared" in x.traits.spaces,
    "math pipe throttle": lambda x: not x.traits.spaces,
    NO_INSTRUCTION: lambda x: x.address % code_path().line_B == 0,  # a line of code arrives
}


def stalls_by_place(
    instructions: Sequence[Instruction], schedule: Schedule, shares: Mapping[str, float]
) -> list[dict[str, float]]:
    """By instruction, reason -> share of all samples, without those of zero; together 1 where there is anything.

    schedule : of one warp. shares : of a warp's time by reason; what no instruction waits for does not count.
    """
    size = len(instructions)
    issued = np.bincount(schedule.stream, minlength=size).astype(np.float64)
    waited = _waited(instructions, schedule)
    spread: list[dict[str, float]] = [{} for _ in range(size)]
    for reason, share in shares.items():
        weights = _weights(reason, instructions, issued, waited)
        total = float(weights.sum())
        if reason == REPLACEMENT or not share or not total:
            continue
        for index in np.flatnonzero(weights).tolist():
            spread[index][reason] = share * float(weights[index]) / total
    whole = sum(sum(each.values()) for each in spread) or 1.0
    return [
        {reason: share / whole for reason, share in sorted(each.items(), key=lambda item: -item[1])} for each in spread
    ]


def _weights(reason: str, instructions: Sequence[Instruction], issued: Reals, waited: Mapping[str, Reals]) -> Reals:
    """How much of a reason is at each instruction, in any unit, (instructions,)."""
    if reason in ENTERS:
        return issued * np.array([ENTERS[reason](instruction) for instruction in instructions], dtype=np.float64)
    return waited.get(reason, issued)


def _waited(instructions: Sequence[Instruction], schedule: Schedule) -> dict[str, Reals]:
    """Cycles that the warp waits before each instruction, by reason, (instructions,) each."""
    names = (*dict.fromkeys(OF_SPACE.values()), "wait", "barrier")
    cycles = {name: np.zeros(len(instructions)) for name in names}
    behind = -1
    for position, index in enumerate(schedule.stream):
        producer = schedule.producer[position]
        held_by = instructions[schedule.stream[producer]] if producer >= 0 else None
        cycles[_reason(held_by)][index] += schedule.waited[position]
        if position:
            gap = schedule.issue[position] - schedule.issue[position - 1] - schedule.waited[position] - 1.0
            name = "barrier" if instructions[behind].traits.is_block_barrier else "wait"
            cycles[name][index] += max(0.0, gap)
        behind = index
    return {name: each for name, each in cycles.items() if each.any()}


def _reason(held_by: Instruction | None) -> str:
    if held_by is None:
        return "wait"
    if held_by.traits.is_block_barrier:
        return "barrier"
    return next((OF_SPACE[space] for space in held_by.traits.spaces if space in OF_SPACE), "wait")
