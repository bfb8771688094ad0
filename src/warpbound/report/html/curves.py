"""The contents of the HTML report of throughput against occupancy."""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from warpbound.report.curve import COLUMNS, table
from warpbound.report.figures.picture import Axis, Curve, Picture
from warpbound.report.figures.theme import CYCLE
from warpbound.report.html.contents import WORDS, Add, Column, Section
from warpbound.report.html.elements import as_html
from warpbound.report.refusals import why
from warpbound.result.curve import OccupancyCurve
from warpbound.result.refusal import Refusal

SOURCE = "the same launch predicted again with one resident block per SM, two, and so on to the most that fit"
HOW_TO_READ = (
    "A warp is 32 threads that run together; an SM, one of the GPU's processors, holds many of them at once. While "
    "throughput grows with the resident warps, more of them would help; where it is flat, another bound binds. "
    "The numbers are predictions from the compiled code and the launch; no GPU was involved."
)


def contents(results: Sequence[OccupancyCurve | Refusal], add: Add) -> dict[str, Any]:
    """What the template fills in; `add` numbers a figure of the page."""
    answers = [entry for entry in results if not isinstance(entry, Refusal)]
    together = Section("all", "Throughput against occupancy", HOW_TO_READ, Markup(""), (add(picture(answers)),))
    each = tuple(_section(number, entry) for number, entry in enumerate(answers, 1))
    refused = tuple(_refused(number, entry) for number, entry in enumerate(results, 1) if isinstance(entry, Refusal))
    title = _name(answers[0]) if len(answers) == 1 else "Throughput against occupancy"
    subline = f"{answers[0].mode}, {answers[0].scope}" if len(answers) == 1 else ""
    column = Column("curve", title, subline, (together,), (*each, *refused))
    return {"title": title, "how_to_read": "", "comparison": None, "together": (), "columns": [column], "words": WORDS}


def picture(entries: Sequence[OccupancyCurve]) -> Picture:
    """One line per kernel and GPU: throughput of the chip over the warps resident on an SM."""
    lines = []
    for number, entry in enumerate(entries):
        style = CYCLE[number % len(CYCLE)]
        rate = entry.warp_throughput_per_s
        lines.append(Curve(_name(entry), entry.warps_per_sm, rate, style, style.symbol))
    unit = "iterations/s" if any(entry.scope.startswith("loop") for entry in entries) else "warps/s"
    most = max(max(entry.warp_throughput_per_s) for entry in entries)
    widest = max(max(entry.warps_per_sm) for entry in entries)
    return Picture(
        title="Throughput against occupancy",
        x=Axis("resident warps", "warps per SM", span=(0.0, 1.03 * widest)),
        y=Axis("throughput of the chip", unit, span=(0.0, 1.1 * most)),
        layers=tuple(lines),
        source=SOURCE,
        caption="Rising: more resident warps would help. Flat: something other than latency binds.",
    )


def _section(number: int, entry: OccupancyCurve) -> Section:
    return Section(f"curve-{number}", f"{_name(entry)}, {entry.scope}", "", as_html(table(entry, COLUMNS)), ())


def _refused(number: int, entry: Refusal) -> Section:
    return Section(f"refused-{number}", f"{entry.kernel or '-'} on {entry.gpu}", why(entry), Markup(""), ())


def _name(entry: OccupancyCurve) -> str:
    return f"{entry.kernel} on {entry.gpu}"
