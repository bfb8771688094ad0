"""Issue rules without control words: every register is a scoreboard of its own.

Source   V. Volkov, EECS-2016-143, section 3.7: an instruction issues when the ILP latency of the one before has passed
         and the registers that it reads are ready, a register dependency latency after the issue of what wrote them;
         pairs go together. The interval notes' tables follow from the same rules.
Omits    registers that are still being read or written (WAR, WAW).
"""

from collections.abc import Sequence

from warpbound.program.instruction import Instruction
from warpbound.program.registers import reads, writes
from warpbound.schedule.records import Wait
from warpbound.schedule.warp_state import Step

_ISSUE = (("issue", 1.0),)
_LOADS = frozenset({"load", "constant", "texture"})  # kinds of which two never issue together
_ALONE = frozenset({"branch", "call", "exit", "return", "target"})  # kinds that issue alone, as BAR does


def step(instruction: Instruction, wait: Wait) -> Step:
    """Read once from operands and tables."""
    outputs = () if instruction.skipped else writes(instruction)
    return Step(
        gaps=tuple(max(gap, wait.hold) for gap in wait.gaps),
        issuing=wait.gaps[0],
        cause_cycles=max(0.0, wait.hold - wait.gaps[0]),
        end=max(wait.gaps[0], wait.hold),
        awaited=tuple((register, 0) for register in (() if instruction.skipped else reads(instruction))),
        writes=outputs,
        forgets=outputs,
        branch_gap=wait.branch_gap,
        varies=len(wait.gaps) > 1 or wait.branch_gap is not None,
        idle=wait.causes if wait.loads or wait.hold else _ISSUE,
    )


def greedy_pairs(instructions: Sequence[Instruction]) -> frozenset[int]:
    """Instructions that issue together with the next one, paired in program order: no dependence, no two loads.

    The rule that section 3.8 of the thesis assumes for Kepler.
    """
    pairs: set[int] = set()
    index = 0
    while index + 1 < len(instructions):
        if _pair(instructions[index], instructions[index + 1]):
            pairs.add(index)
            index += 1
        index += 1
    return frozenset(pairs)


def _pair(first: Instruction, second: Instruction) -> bool:
    kinds = first.traits.kind, second.traits.kind
    if kinds[0] in _ALONE or first.traits.is_block_barrier or _LOADS.issuperset(kinds):
        return False
    return not set(writes(first)) & set(reads(second))
