"""Pipelines in words: how many stages are under way, and what binds them."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from warpbound.report.formatting import count, listed
from warpbound.result.kernel import KernelResult
from warpbound.result.pipeline import Pipeline

PACES = {
    "copy engine": "the copy engine binds",
    "l2": "L2 bandwidth binds the copies",
    "dram": "DRAM bandwidth binds the copies",
    "latency of the copies": "their latency binds",
    "the warp that copies": "the warp that asks for copies binds",
    "tensor": "the tensor pipe binds",
    "shared memory": "shared memory binds the products",
    "the warps that compute": "the warps that compute bind, the copies keep up",
}


def sentences(entry: KernelResult) -> list[Text]:
    """One sentence or two for each pipeline."""
    return [Text(sentence(row)) for row in entry.pipelines]


def sentence(row: Pipeline) -> str:
    """How many stages are in flight, what binds, and whether fewer would do."""
    where = f"Copies of {_lines(row)}: " if row.lines else ""
    words = f"{where}{row.under_way:.1f} of {row.stages} stages are in flight; {PACES[row.binds]}."
    if row.enough_stages is not None and row.enough_stages < row.stages:
        saved = (row.stages - row.enough_stages) * row.stage_bytes / 1024
        words += f" {count(row.enough_stages, 'stage')} would do and free {saved:.4g} KiB."
    return f"{words} {_roles(row)}".rstrip()


def _roles(row: Pipeline) -> str:
    """Which warps request copies and which multiply; nothing if no warp does one of these."""
    if not row.asking or not row.multiplying:
        return ""
    asking, multiplying = count(row.asking, "warp"), row.multiplying
    do, starts = "asks" if row.asking == 1 else "ask", "multiplies" if multiplying == 1 else "multiply"
    if not row.both:
        return f"{asking} {do} for copies, {multiplying} {starts}."
    same = f"{row.both} {'does' if row.both == 1 else 'do'} both"
    return f"{asking} of the block {do} for copies, {multiplying} {starts}, {same}."


def _lines(row: Pipeline) -> str:
    numbers = list(map(str, row.lines))
    return f"line {numbers[0]}" if len(numbers) == 1 else f"lines {listed(numbers)}"


def pipelines(entry: KernelResult) -> RenderableType:
    """The states of each pipeline's stages, and how busy the units are that may bind them."""
    table = Table("copies", "stages", "in flight", "landed", "in use", "free", "waiting", "copying", "tensor", box=None,
                  pad_edge=False, header_style="dim")  # fmt: skip
    for row in entry.pipelines:
        table.add_row(*_cells(row))
    return Group(table, *sentences(entry))


def _cells(row: Pipeline) -> Iterator[str]:
    yield _lines(row) if row.lines else "-"
    yield f"{row.stages} x {row.stage_bytes / 1024:.4g} KiB"
    for mean in (row.under_way, row.landed, row.in_use, row.free):
        yield f"{mean:.1f}"
    for share in (row.waiting, row.copy_engine, row.tensor):
        yield f"{100 * share:.0f} %"
