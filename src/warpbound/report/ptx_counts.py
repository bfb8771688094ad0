"""Counts of PTX instructions: plain values, a table, and a workload file for `predict`."""

import json
from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from warpbound.program.ptx_counts import Counted, Mix
from warpbound.report.tables import ruled_table

SECTORS = {"coalesced": 4, "uncoalesced": 32}  # sectors of a warp's 32-bit access: a line, or a sector for each lane
NOTE = (
    "Loops: lines, then one iteration without inner loops. Computation includes barriers and shared memory, as Hong "
    "and Kim count; a loop without --trips counts once; both sides of branches count."
)


def counts_entry(counts: Counted) -> dict[str, Any]:
    """One kernel, or one piece without a name."""
    return {
        "kernel": counts.name or None,
        "total": _mix(counts.total),
        "in_loops": _mix(counts.in_loops),
        "loops": [
            {"label": loop.label, "lines": [loop.first, loop.last], "trips": loop.trips, **_mix(loop.iteration)}
            for loop in counts.loops
        ],
    }


def _mix(mix: Mix) -> dict[str, float]:
    return {
        "computation": mix.computation,
        "coalesced_memory": mix.coalesced,
        "uncoalesced_memory": mix.uncoalesced,
        "synchronisation": mix.synchronisation,
    }


def counts_table(counts: Sequence[Counted]) -> RenderableType:
    """Rows by loop, in all loops, and in all."""
    columns = ("", "trips", "computation", "coalesced", "uncoalesced", "barriers")
    table = ruled_table(columns, words=("",), folded=columns)
    for kernel in counts:
        if kernel.name:
            table.add_row(Text(kernel.name, "bold"))
        for loop in kernel.loops:
            trips = "?" if loop.trips is None else f"{loop.trips:g}"
            table.add_row(f"{loop.label}, {loop.first}-{loop.last}", trips, *_cells(loop.iteration))
        table.add_row("all loops", "", *_cells(kernel.in_loops))
        table.add_row("all", "", *_cells(kernel.total), style="bold")
    return Group(table, Text(NOTE, "dim"))


def _cells(mix: Mix) -> list[str]:
    return [f"{value:g}" for value in _mix(mix).values()]


def workload_text(counts: Sequence[Counted], source: str) -> str:
    """A workload file of the first kernel, for `warpbound predict` once its launch is written in."""
    first = counts[0]
    title = json.dumps(f"{first.name or 'piece of PTX'}, counted from {source}", ensure_ascii=False)
    lines = [f"title = {title}", "", "[launch]  # write in the launch: blocks, threads_per_block, blocks_per_sm", ""]
    lines += ["[counts]", 'per = "warp"', f"instructions = {first.total.computation + first.total.memory:g}"]
    lines += [f"barriers = {first.total.synchronisation:g}"]
    for kind, sectors in SECTORS.items():
        count = getattr(first.total, kind)
        if count:
            lines += ["", f"[[access]]  # {kind}; loads and stores together", 'kind = "load"', 'per = "warp"']
            lines += [f"count = {count:g}", f"sectors = {sectors}"]
    return "\n".join(lines) + "\n"
