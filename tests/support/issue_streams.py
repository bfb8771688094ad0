"""Streams of instructions with waits, for the schedule of one warp."""

from collections.abc import Sequence

from hypothesis import strategies as st

from warpbound.program.instruction import Control, Instruction, Operand
from warpbound.schedule import Wait

DRAM = (("dram", 1.0),)
WAITS = {  # round numbers, so that sums can be done in the head
    "LDG": Wait(500, 11, DRAM, "global", loads=True),
    "LDGSTS": Wait(400, 13, DRAM, "async", loads=True),
    "LDGDEPBAR": Wait(2, 2, queue="async"),
    "STG": Wait(0, 14),
    "LDS": Wait(24, 9, (("shared", 1.0),), "shared"),
    "MUFU": Wait(20, 11, queue="xu"),
    "DADD": Wait(48, 11, queue="fp64"),
    "DSETP": Wait(40, 11, queue="fp64"),
    "HGMMA": Wait(128, 0, queue="tensor", busy=128),
    "BAR": Wait(22, 0, (("barrier", 1.0),), "barrier", hold=22),
}


def waits_of(instructions: Sequence[Instruction]) -> list[Wait]:
    return [WAITS.get(one.opcode, Wait(4, 0)) for one in instructions]


BOARDS = 3


@st.composite
def streams(draw: st.DrawFn) -> tuple[list[Instruction], list[Wait]]:
    """Instructions with random stalls, scoreboards, waits and latencies; some are DEPBARs."""
    boards = st.none() | st.integers(0, BOARDS - 1)
    masks = st.sets(st.integers(0, BOARDS - 1), max_size=2).map(lambda found: tuple(sorted(found)))
    instructions, waits = [], []
    for index in range(draw(st.integers(1, 14))):
        control = Control(draw(st.integers(0, 6)), draw(st.booleans()), draw(boards), draw(boards), draw(masks), 0)
        operands: tuple[Operand, ...] = ()
        opcode = draw(st.sampled_from(["FADD", "FADD", "FADD", "DEPBAR"]))
        if opcode == "DEPBAR":
            board, left = draw(st.integers(0, BOARDS - 1)), draw(st.integers(0, 3))
            operands = (Operand("scoreboard", f"SB{board}", index=board), Operand("immediate", str(left), value=left))
        queue = draw(st.sampled_from(["", "", "a", "b"]))
        instructions.append(Instruction(16 * index, opcode, (), operands, "", control=control))
        waits.append(
            Wait(
                write=draw(st.integers(2, 60)),
                source_wait=draw(st.integers(2, 30)),
                queue=queue,
                busy=draw(st.sampled_from([0, 0, 9])) if queue else 0,
                hold=draw(st.sampled_from([0, 0, 0, 7])),
            )
        )
    return instructions, waits




def nonzero(parts: dict[str, float]) -> dict[str, float]:
    return {cause: cycles for cause, cycles in parts.items() if cycles}
