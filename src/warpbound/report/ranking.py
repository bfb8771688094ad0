"""Ranked tunings of a kernel as text: the fastest and the slowest, why, and the tunings without a time."""

from collections.abc import Iterator, Sequence

from msgspec import UnsetType
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from warpbound.report.formatting import count, resource_words, seconds
from warpbound.report.refusals import by_reason
from warpbound.report.tables import ruled_table
from warpbound.result.kernel import KernelResult
from warpbound.result.refusal import Refusal

HELPS = 3  # changes named for the best and the worst


def pages(results: Sequence[KernelResult | Refusal], top: int) -> Iterator[RenderableType]:
    """A heading, the `top` fastest and the slowest in a table, both explained, and those without a time by reason."""
    answers = [entry for entry in results if not isinstance(entry, Refusal)]
    best, worst = answers[0], answers[-1]
    missing = len(results) - len(answers)
    without = f", {missing} without a time" if missing else ""
    yield Text(f"{best.kernel} on {best.gpu_name}: {count(len(answers), 'tuning')} ranked{without}", "bold cyan")
    yield _table(answers, top)
    yield _explained("Fastest", best)
    if len(answers) > 1:
        yield _explained("Slowest", worst)
    yield from _refused(results)


def name(entry: KernelResult | Refusal) -> str:
    """The macros and their values."""
    return " ".join(f"{macro}={value}" for macro, value in _macros(entry).items())


def _macros(entry: KernelResult | Refusal) -> dict[str, str]:
    return {} if isinstance(entry.defines, UnsetType) else entry.defines


def _table(answers: Sequence[KernelResult], top: int) -> Table:
    place = ("#", *_macros(answers[0]))
    columns = (*place, "time", "of best", "warps", "regs", "binds")
    table = ruled_table(columns, words=("binds",), folded=(*place, "binds"))
    places = [*range(min(top, len(answers)))]
    if len(answers) > top:
        places.append(len(answers) - 1)
    for place in places:
        entry = answers[place]
        if place > top:
            table.add_row(*["..."] * len(table.columns), style="dim")
        table.add_row(
            str(place + 1), *_macros(entry).values(), seconds(entry.time_s),
            f"{entry.time_s / answers[0].time_s:.2f}x", f"{entry.occupancy.warps_per_sm:.0f}",
            str(entry.program.registers), entry.bottleneck,
        )  # fmt: skip
    return table


def _explained(title: str, entry: KernelResult) -> RenderableType:
    """What binds one tuning, what would help it, and its hot code against the instruction caches."""
    low, high = entry.time_interval_s or (None, None)
    binds = [resource_words(name) for name in (entry.bottleneck, entry.runner_up)]
    head = Text.assemble(
        (f"{title}: ", "bold"),
        f"{name(entry) or 'no macros'}, {seconds(entry.time_s)}, probably between {seconds(low)} and {seconds(high)}",
    )
    lines = [Text(f"bound by {binds[0]}, then {binds[1]}")]
    for way in entry.whatifs[:HELPS]:
        lines.append(Text(f"{way.speedup:.2f}x faster with {way.change}: {way.why}"))
    if entry.execution:
        code = entry.execution.code
        place = f"in the {code.held_by} instruction cache" if code.held_by else "in no known instruction cache"
        lines.append(Text(f"{code.hot} of {code.hot_bytes} B, {place}", "dim"))
    return Group(head, *(Padding(line, (0, 0, 0, 2)) for line in lines), Text(""))


def _refused(results: Sequence[KernelResult | Refusal]) -> Iterator[Text]:
    """One line per reason, with the tunings that it is about."""
    for reason, group in by_reason(results).items():
        more = f" and {len(group) - 1} more" if len(group) > 1 else ""
        yield Text(f"No time for {name(group[0])}{more}: {reason}", "red")
