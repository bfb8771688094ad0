"""Several answers side by side: one row each, what differs from the first row marked."""

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from warpbound.analysis.entries import Entry
from warpbound.report.charts import Fitting
from warpbound.report.words import amount, seconds

COLUMNS = ("time", "binds", "warps", "needed", "latency", "regs")
MARK = "*"
PROXY = "~"


def side_by_side(results: Sequence[Entry]) -> RenderableType:
    """A table of all results; a mark follows what differs from the first row of the same kernel."""
    answered = [entry for entry in results if "error" not in entry]
    names = {_name(entry, answered) for entry in answered}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    if len(names) > 1:
        table.add_column("kernel", overflow="fold")
    table.add_column("on", no_wrap=True)
    for column in COLUMNS:
        table.add_column(column, justify="left" if column == "binds" else "right", no_wrap=True)
    firsts: dict[str, dict[str, str]] = {}
    for entry in answered:
        cells = _cells(entry)
        first = firsts.setdefault(entry["kernel"], cells)
        own = [_name(entry, answered)] if len(names) > 1 else []
        table.add_row(*own, _machine(entry), *(_marked(cells[c], first[c]) for c in COLUMNS))
    title = [Text(next(iter(names)), "bold cyan")] if len(names) == 1 else []
    notes = [Text(f"{MARK} differs from the first row of that kernel; latency: least cycles of one warp.", "dim")]
    stand_ins = sorted({entry["confidence"]["proxy_isa"] for entry in answered if entry["confidence"]["proxy_isa"]})
    if stand_ins:
        notes.append(Text(f"{PROXY} code of {', '.join(stand_ins)} stands in: no compiler at hand for its own.", "dim"))
    return Group(*title, Fitting(table), *notes, *_refused(results))


def _machine(entry: Entry) -> str:
    return f"{entry['gpu']}{f' {PROXY}' if entry['confidence']['proxy_isa'] else ''}"


def _refused(results: Sequence[Entry]) -> list[Text]:
    """One line per reason, with the GPUs it is about."""
    reasons: dict[str, list[str]] = {}
    for entry in results:
        if "error" in entry:
            said = f"{entry['error']['reason']} {entry['error']['hint']}"
            reasons.setdefault(said, []).append(entry["gpu"])
    return [Text(f"{', '.join(gpus)}: {said}", "red") for said, gpus in reasons.items()]


def _name(entry: Entry, answered: Sequence[Entry]) -> str:
    """The kernel, with its file where there are several: by name alone where that tells them apart."""
    files = {other["program"]["source"] for other in answered}
    if len(files) == 1:
        return str(entry["kernel"])
    short = {name.rpartition("/")[2] for name in files}
    file = entry["program"]["source"]
    return f"{entry['kernel']} ({file.rpartition('/')[2] if len(short) == len(files) else file})"


def _marked(cell: str, first: str) -> Text:
    return Text(cell) if cell == first else Text(cell + MARK, style="bold yellow")


def _cells(entry: Entry) -> dict[str, str]:
    occupancy, program = entry["occupancy"], entry["program"]
    needed = entry["warps_needed"]
    return {
        "time": seconds(entry["time_s"]) if entry["time_s"] is not None else "-",
        "binds": entry["bottleneck"] or "-",
        "warps": f"{occupancy['warps_per_sm']}/{occupancy['max_warps_per_sm']}",
        "needed": amount(needed) if needed is not None else "-",
        "latency": f"{entry['latency']['cycles']:.0f}" if entry["latency"] else "-",
        "regs": str(program["registers"]),
    }
