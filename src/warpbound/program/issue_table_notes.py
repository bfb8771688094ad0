"""Notes for code without control words: the issue table in use, and its omissions."""

from dataclasses import replace

from warpbound.isa.timings import Timing, timing
from warpbound.machine import Gpu
from warpbound.program.kernel import Program


def with_issue_table_notes(program: Program, machine: Gpu) -> Program:
    """The program with a note on its timing, where control words do not give it and a table does."""
    table = timing(machine.arch, machine.key)
    if table is None or any(instruction.control is not None for instruction in program.instructions):
        return program
    return replace(program, assumed=(*program.assumed, *_notes(table, program)))


def _notes(table: Timing, program: Program) -> list[str]:
    distances = ", ".join(f"{key.replace('_', ' ')} {_slashed(value)}" for key, value in table.cycles.items())
    notes = [f"cycles between instructions by the table of {table.name}: {distances}"]
    if table.get("pair") is not None and not any(instruction.pairs for instruction in program.instructions):
        notes.append("pairs are not marked: taken greedily in program order, never two loads")
    if table.assumed:
        notes.append(f"of that table, taken from a relative: {', '.join(table.assumed)}")
    return notes


def _slashed(cycles: tuple[float, ...]) -> str:
    return "/".join(f"{cycle:g}" for cycle in cycles)
