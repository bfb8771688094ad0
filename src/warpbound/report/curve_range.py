"""How far time can move at every occupancy, for reading in a terminal."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from warpbound.report.charts import Fitting
from warpbound.report.formatting import seconds
from warpbound.report.refusals import refusal_line
from warpbound.result.curve import OccupancyCurve
from warpbound.result.refusal import Refusal

COLUMNS = {
    "l1": "L1",
    "l2": "L2",
    "estimate": "estimate",
    "dram": "DRAM",
    "side_by_side": "overlap",
    "one_by_one": "no overlap",
}


def pages(results: Sequence[OccupancyCurve | Refusal]) -> Iterator[RenderableType]:
    """One table per kernel and GPU."""
    for entry in results:
        if isinstance(entry, Refusal):
            yield refusal_line(entry)
        else:
            yield Text(f"{entry.kernel} on {entry.gpu}: time of the launch", "bold cyan")
            yield _table(entry)


def _table(entry: OccupancyCurve) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim", padding=(0, 1))
    for name in ("warps", "blocks", *COLUMNS.values()):
        table.add_column(name, justify="right", no_wrap=True)
    for row, warps in enumerate(entry.warps_per_sm):
        times = (getattr(entry.range, name)[row] for name in COLUMNS)
        blocks = str(entry.blocks_per_sm[row])
        table.add_row(str(warps), blocks, *(seconds(time) for time in times))
    note = "Loads served by one level alone; pipes and latency alone, with memory as it is."
    return Group(Fitting(table), Text(note, "dim"))
