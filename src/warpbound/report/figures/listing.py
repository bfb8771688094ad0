"""Annotated SASS as rows for a table: control word, pipe, wait and its cause, source line, critical path."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from warpbound.report.formatting import count
from warpbound.result.code import SassLine, SourceLine


class Row(NamedTuple):
    """One instruction; empty texts where there is nothing to show.

    cycle : of issue along the path of one warp. wait : scoreboards awaited. waits_for : cycles and the instruction.
    """

    address: str
    text: str
    pipe: str
    cycle: str
    stall: str
    write: str
    read: str
    wait: str
    waits_for: str
    line: str
    source: str
    critical: bool
    reached: bool


def listing(rows: Sequence[SassLine], lines: Sequence[SourceLine]) -> list[Row]:
    """Rows of `sass` of an entry; `lines` has the texts of source lines. A line is named where it changes."""
    texts: dict[int | None, str] = {line.line: line.text.strip() for line in lines if line.text}
    by_address = {row.address: row.text for row in rows}
    result, last = [], None
    for row in rows:
        new = row.line != last
        last = row.line
        result.append(_row(row, by_address, texts.get(row.line, "") if new else ""))
    return result


def _row(row: SassLine, by_address: Mapping[int, str], source: str) -> Row:
    word = row.control
    return Row(
        address=f"{row.address:04x}",
        text=row.text,
        pipe=row.pipe,
        cycle="" if row.issue is None else str(math.floor(row.issue)),
        stall=_number(word.stall) if word else "",
        write=_number(word.write_scoreboard) if word else "",
        read=_number(word.read_scoreboard) if word else "",
        wait=" ".join(str(board) for board in word.wait) if word else "",
        waits_for=_waits_for(row, by_address),
        line=_number(row.line),
        source=source,
        critical=bool(row.critical),
        reached=row.issue is not None,
    )


def _waits_for(row: SassLine, by_address: Mapping[int, str]) -> str:
    if not row.waited:
        return ""
    cycles = count(round(row.waited), "cycle")
    if row.waits_for is None:
        return cycles
    opcode = by_address.get(row.waits_for, "").split(" ")
    name = next((part for part in opcode if part and not part.startswith("@")), "")
    return f"{cycles} for {name} at {row.waits_for:04x}"


def _number(value: int | None) -> str:
    return "" if value is None else str(value)
