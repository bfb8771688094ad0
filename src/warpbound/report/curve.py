"""Throughput against occupancy, for reading in a terminal."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from warpbound.analysis.entries import Entry
from warpbound.report.words import amount, seconds

BAR = 20  # columns of a full bar


def pages(results: Sequence[Entry]) -> Iterator[RenderableType]:
    """One table per kernel and GPU."""
    for entry in results:
        if "error" in entry:
            yield Text(f"{entry['gpu']}: {entry['error']['reason']} {entry['error']['hint']}", "red")
        else:
            yield Text(f"{entry['kernel']} on {entry['gpu']}, {entry['mode']}, {entry['scope']}", "bold cyan")
            yield _table(entry)


def _table(entry: Entry) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim", padding=(0, 1))
    for name in ("warps", "blocks", "time", "units/s", "DRAM GB/s", "binds"):
        table.add_column(name, justify="left" if name == "binds" else "right", no_wrap=True)
    table.add_column("", no_wrap=True)
    most = max(entry["warp_throughput_per_s"])
    for i, warps in enumerate(entry["warps_per_sm"]):
        rate, time = entry["warp_throughput_per_s"][i], entry["time_s"][i]
        table.add_row(
            str(warps),
            str(entry["blocks_per_sm"][i]),
            "-" if time is None else seconds(time),
            amount(rate),
            amount(entry["gbytes_per_s"][i]),
            entry["bottleneck"][i],
            Text("█" * max(1, round(BAR * rate / most)), style="yellow"),
        )
    unit = "iterations of that loop by a warp" if entry["scope"].startswith("loop") else "warps"
    return Group(table, Text(f"A unit is one of the {unit}.", "dim"))
