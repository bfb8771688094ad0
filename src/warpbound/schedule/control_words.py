"""Issue rules from control words: stall counts, yields, scoreboards.

Source   Control words as the hardware of Volta and later obeys them: stall counts, yield, scoreboards,
         wait masks (Huerta et al., MICRO 2025, sections 4 and 5, and what ptxas emits for sm_75 to sm_120).
         Those of Maxwell and Pascal have the same fields (S. Gray, maxas, "Control Codes").
"""

import re
from collections.abc import Callable, Sequence

from warpbound.program.instruction import Instruction, Operand
from warpbound.program.registers import reads, writes
from warpbound.schedule.records import Wait
from warpbound.schedule.warp_state import Step

_GROUPS = 6  # after SB0 to SB5: gsb0


def step(instruction: Instruction, wait: Wait) -> Step:
    """Read once from control word and operands."""
    control = instruction.control
    asynchronous = instruction.traits.kind == "warpgroup_matrix" and any(_is_group(x) for x in instruction.operands)
    write = _GROUPS if asynchronous else control.write_scoreboard if control else None
    stall = _stall(instruction)
    return Step(
        gaps=(max(stall, wait.hold),),
        issuing=min(stall, 1.0),
        cause_cycles=max(0.0, wait.hold - stall),
        end=1.0,
        awaited=_awaited(instruction),
        writes=() if write is None else (write,),
        source_board=control.read_scoreboard if control else None,
    )


def watched(instruction: Instruction, wait: Wait) -> Step:
    """The same for boards with a longer latency than the control words assume: registers become scoreboards too.

    Models   hardware that stalls an instruction until the registers that it reads are ready.
    """
    plain = step(instruction, wait)
    needs = tuple((register, 0) for register in (() if instruction.skipped else reads(instruction)))
    outputs = () if instruction.skipped else writes(instruction)
    late = outputs if wait.late else ()
    return plain._replace(awaited=(*plain.awaited, *needs), writes=(*plain.writes, *late), forgets=outputs)


def reading(waits: Sequence[Wait]) -> Callable[[Instruction, Wait], Step]:
    """The function that reads control words of a program with these waits."""
    return watched if any(wait.late for wait in waits) else step


def _is_group(operand: Operand) -> bool:
    """gsb0, the scoreboard of a warpgroup's matrix products."""
    return operand.kind == "scoreboard" and operand.text.startswith("gsb")


def _counts(instruction: Instruction) -> bool:
    """Whether it waits until at most a given number of raises of a scoreboard are left."""
    return instruction.opcode == "DEPBAR" or "DEPBAR" in instruction.modifiers


def _awaited(instruction: Instruction) -> tuple[tuple[int, int], ...]:
    """(scoreboard, raises that may stay) this instruction waits for, from its mask and as a DEPBAR."""
    awaited = dict.fromkeys(instruction.control.wait, 0) if instruction.control and instruction.control.wait else {}
    if _counts(instruction):
        counts = [int(x.value) for x in instruction.operands if x.kind == "immediate"]
        for operand in instruction.operands:
            if operand.kind == "scoreboard":
                board = _GROUPS if _is_group(operand) else operand.index
                awaited.setdefault(board, counts[0] if counts else 0)
            elif operand.kind == "set":
                awaited |= dict.fromkeys(map(int, re.findall(r"\d+", operand.text)), 0)
    return tuple(awaited.items())


def _stall(instruction: Instruction) -> float:
    """Cycles before the same warp may issue again, by the control word alone."""
    if instruction.control is None:
        return 1.0
    if instruction.pairs and instruction.control.stall == 0:
        return 0.0
    return (
        2.0
        if instruction.control.yields and instruction.control.stall <= 1
        else float(max(1, instruction.control.stall))
    )
