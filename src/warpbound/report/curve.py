"""Throughput against occupancy, as text."""

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from warpbound.quick_dataclasses import dataclass
from warpbound.report.charts import Bar, Fitting
from warpbound.report.formatting import amount, seconds
from warpbound.report.refusals import refusal_line
from warpbound.report.tables import ruled_table
from warpbound.result.curve import OccupancyCurve
from warpbound.result.refusal import Refusal

BAR = 20  # columns of a full bar
COLUMNS = ("warps", "blocks", "time", "units/s", "DRAM GB/s", "binds")
NARROW = ("warps", "units/s", "binds")  # columns of the table in a window that is narrower than WIDE
WIDE = 64
RANGES = {
    "l1": "L1",
    "l2": "L2",
    "estimate": "estimate",
    "dram": "DRAM",
    "side_by_side": "overlap",
    "one_by_one": "no overlap",
}
POINTS = 5  # numbers of warps for which the papers' models are shown


def pages(results: Sequence[OccupancyCurve | Refusal]) -> Iterator[RenderableType]:
    """One table per kernel and GPU."""
    for entry in results:
        if isinstance(entry, Refusal):
            yield refusal_line(entry)
        else:
            yield Text(f"{entry.kernel} on {entry.gpu}, {entry.mode}, {entry.scope}", "bold cyan")
            yield Curve(entry)


@dataclass(frozen=True)
class Curve:
    """One row per number of resident blocks, with a bar for the throughput; fewer columns in a narrow window."""

    entry: OccupancyCurve

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield table(self.entry, COLUMNS if options.max_width >= WIDE else NARROW)
        unit = "iterations of that loop by a warp" if self.entry.scope.startswith("loop") else "warps"
        timed = " Rates are those of full SMs; the time includes the launch, its start and its end."
        yield Text(f"units/s: {unit}.{timed if self.entry.mode == 'dynamic' else ''}", "dim")
        if self.entry.models:
            yield by_model(self.entry, POINTS if options.max_width >= WIDE else 1)


def by_model(entry: OccupancyCurve, points: int) -> Table:
    """The times of the papers' models at `points` numbers of warps, the largest among them."""
    warps = entry.warps_per_sm
    rows = sorted({len(warps) - 1 - round(i * (len(warps) - 1) / max(1, points - 1)) for i in range(points)})
    columns = ("model", *(f"{warps[i]} warps" for i in rows))
    table = ruled_table(columns, words=("model",), folded=("model",))
    for name, answer in entry.models.items():
        times = [answer.time_s[i] for i in rows]
        table.add_row(name, *(seconds(time) for time in times))
    return table


def table(entry: OccupancyCurve, columns: Sequence[str]) -> Table:
    """The requested columns, and a bar for the throughput."""
    rows = ruled_table((*columns, ""), words=("binds", ""))
    most = max(entry.warp_throughput_per_s)
    for i, rate in enumerate(entry.warp_throughput_per_s):
        cells = _cells(entry, i)
        rows.add_row(*(cells[name] for name in columns), Bar(rate / most, BAR))
    return rows


def _cells(entry: OccupancyCurve, i: int) -> dict[str, str]:
    return {
        "warps": str(entry.warps_per_sm[i]),
        "blocks": str(entry.blocks_per_sm[i]),
        "time": seconds(entry.time_s[i]),
        "units/s": amount(entry.warp_throughput_per_s[i]),
        "DRAM GB/s": amount(entry.gbytes_per_s[i]),
        "binds": entry.bottleneck[i],
    }


def range_pages(results: Sequence[OccupancyCurve | Refusal]) -> Iterator[RenderableType]:
    """The range of the time at every occupancy: one table per kernel and GPU."""
    for entry in results:
        if isinstance(entry, Refusal):
            yield refusal_line(entry)
        else:
            yield Text(f"{entry.kernel} on {entry.gpu}: time of the launch", "bold cyan")
            yield _range_table(entry)


def _range_table(entry: OccupancyCurve) -> RenderableType:
    table = ruled_table(("warps", "blocks", *RANGES.values()))
    for row, warps in enumerate(entry.warps_per_sm):
        times = (getattr(entry.range, name)[row] for name in RANGES)
        blocks = str(entry.blocks_per_sm[row])
        table.add_row(str(warps), blocks, *(seconds(time) for time in times))
    note = "Loads served by one level alone; pipes and latency alone, with memory as it is."
    return Group(Fitting(table), Text(note, "dim"))
