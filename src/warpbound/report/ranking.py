"""Tunings of a kernel as a person reads them: the fastest and the slowest, why they are, and what had no time."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from warpbound.analysis.entries import Entry
from warpbound.report.formatting import RESOURCE_WORDS, count, seconds

HELPS = 3  # changes named for the best and the worst


def pages(results: Sequence[Entry], top: int) -> Iterator[RenderableType]:
    """A heading, the `top` fastest and the slowest in a table, both explained, and those without a time by reason."""
    ranked = [entry for entry in results if "error" not in entry]
    best, worst = ranked[0], ranked[-1]
    missing = len(results) - len(ranked)
    without = f", {missing} without a time" if missing else ""
    yield Text(f"{best['kernel']} on {best['gpu_name']}: {count(len(ranked), 'tuning')} ranked{without}", "bold cyan")
    yield _table(ranked, top)
    yield _explained("Fastest", best)
    if len(ranked) > 1:
        yield _explained("Slowest", worst)
    yield from _refused(results)


def name(entry: Entry) -> str:
    """The macros as they were given."""
    return " ".join(f"{macro}={value}" for macro, value in entry["defines"].items())


def _table(ranked: Sequence[Entry], top: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim", padding=(0, 1))
    table.add_column("#", justify="right")
    for macro in ranked[0]["defines"]:
        table.add_column(macro, justify="right")
    for column in ("time", "of best", "warps", "regs"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("binds")
    shown = [*range(min(top, len(ranked)))]
    if len(ranked) > top:
        shown.append(len(ranked) - 1)
    for place in shown:
        entry = ranked[place]
        if place > top:
            table.add_row(*["..."] * len(table.columns), style="dim")
        table.add_row(
            str(place + 1), *entry["defines"].values(), seconds(entry["time_s"]),
            f"{entry['time_s'] / ranked[0]['time_s']:.2f}x", f"{entry['occupancy']['warps_per_sm']:.0f}",
            str(entry["program"]["registers"]), entry["bottleneck"],
        )  # fmt: skip
    return table


def _explained(title: str, entry: Entry) -> RenderableType:
    """What binds one tuning, what would help it, and its hot code against the instruction caches."""
    low, high = entry["time_interval_s"]
    binds = (RESOURCE_WORDS.get(entry[each], entry[each]) for each in ("bottleneck", "runner_up"))
    head = Text.assemble(
        (f"{title}: ", "bold"),
        f"{name(entry)}, {seconds(entry['time_s'])}, probably between {seconds(low)} and {seconds(high)}",
    )
    lines = [Text(f"bound by {next(binds)}, then {next(binds)}")]
    for way in entry["whatifs"][:HELPS]:
        lines.append(Text(f"{way['speedup']:.2f}x faster with {way['change']}: {way['why']}"))
    code = (entry["execution"] or {}).get("code")
    if code:
        place = f"in the {code['held_by']} instruction cache" if code["held_by"] else "in no known instruction cache"
        lines.append(Text(f"{code['hot']} of {code['hot_bytes']} B, {place}", "dim"))
    return Group(head, *(Padding(line, (0, 0, 0, 2)) for line in lines), Text(""))


def _refused(results: Sequence[Entry]) -> Iterator[Text]:
    """One line per reason, with the tunings that it is about."""
    reasons: dict[str, list[str]] = {}
    for entry in results:
        if "error" in entry:
            said = f"{entry['error']['reason'].rstrip()} {entry['error']['hint']}"
            reasons.setdefault(said, []).append(name(entry))
    for said, names in reasons.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield Text(f"No time for {names[0]}{more}: {said}", "red")
