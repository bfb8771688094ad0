"""Tried changes as text: faster ones with the same results, their cost, how to apply them; changes without a gain."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from warpbound.report.formatting import count, resource_words, seconds
from warpbound.report.refusals import why
from warpbound.report.tables import open_table
from warpbound.result.advice import Cost, Promise, TriedChange, TriedKernel
from warpbound.result.refusal import Refusal

TITLE = "bold cyan"
WORTH = 1.005     # gains below this are not named
MOST_DIFFS = 3    # changes whose difference of the source is printed
MOST_PROMISES = 5
PROMISED_WORTH = 1.02


def pages(results: Sequence[TriedKernel | Refusal]) -> Iterator[RenderableType]:
    """A heading, the gains, how to apply the best of them, promises beside gains, and the rest in a line each."""
    for entry in results:
        if isinstance(entry, Refusal):
            yield Text.assemble((f"{entry.kernel or '-'} on {entry.gpu}: ", "bold"), why(entry))
            continue
        yield Text(f"{entry.kernel} on {entry.gpu_name}", TITLE)
        yield Padding(Group(*_heading(entry)), (0, 0, 1, 2))
        for title, body in _sections(entry):
            yield Text(title, TITLE)
            yield Padding(body, (0, 0, 1, 2))


def _heading(entry: TriedKernel) -> Iterator[Text]:
    low, high = entry.time_interval_s
    between = f"probably between {seconds(low)} and {seconds(high)}"
    yield Text(f"Time {seconds(entry.time_s)}, {between}; {resource_words(entry.bottleneck)} binds.")
    faster = len(gains(entry))
    blocks = count(entry.compared.blocks, "block")
    yield Text(
        f"{count(len(entry.tried), 'change')} compiled and predicted; {faster} faster, executed in {blocks} with "
        "results as stated."
    )


def gains(entry: TriedKernel) -> list[TriedChange]:
    """Faster changes with sound results, the best first."""
    return [row for row in entry.tried if row.outcome in ("equal", "rounding") and (row.speedup or 0.0) >= WORTH]


def _sections(entry: TriedKernel) -> Iterator[tuple[str, RenderableType]]:
    best = gains(entry)
    yield "Faster", _gains_table(entry, best) if best else Text("None of the tried changes gains half a per cent.")
    for row in best[:MOST_DIFFS]:
        yield f"How: {row.change}", Text(row.apply.rstrip("\n"), overflow="fold")
    promised = [row for row in entry.promises if row.speedup >= PROMISED_WORTH and "clock" not in row.change]
    if promised:
        table = _promises_table(promised[:MOST_PROMISES])
        yield "Gain promised by a what-if, and gain obtained by a tried change", table
    others = [row for row in entry.tried if row not in best]
    if others:
        yield "No gain", Group(*(Text(_in_a_line(row)) for row in others))


def _gains_table(entry: TriedKernel, rows: Sequence[TriedChange]) -> Table:
    words = ("change", "results", "cost")
    table = open_table(("gain", "time", *words), words, folded=words)
    for row in rows:
        where = f" (line {row.line})" if row.line else ""
        results = "equal" if row.outcome == "equal" else f"off by {row.error:.1g}"
        cells = f"{row.speedup:.2f}x", seconds(row.time_s), Text(f"{row.change}{where}"), results
        table.add_row(*cells, _cost(entry.cost, row.cost))
    return table


def _cost(before: Cost, after: Cost | None) -> str:
    if after is None:
        return ""
    words = {"registers": "registers", "shared_bytes": "B shared", "spill_bytes": "B spills", "warps_per_sm": "warps"}
    changes = [(getattr(before, name), getattr(after, name), text) for name, text in words.items()]
    return ", ".join(f"{new - old:+d} {text}" for old, new, text in changes if new != old) or "none"


def _promises_table(rows: Sequence[Promise]) -> Table:
    table = open_table(("promised", "obtained", "by"), words=("by",), folded=("by",))
    for row in rows:
        obtained = "-" if row.obtained is None else f"{row.obtained:.2f}x"
        table.add_row(f"{row.speedup:.2f}x", obtained, Text(f"{row.change}: {row.by or 'no such change was tried'}"))
    return table


def _in_a_line(row: TriedChange) -> str:
    where = f" (line {row.line})" if row.line else ""
    if row.outcome == "untested":
        return f"{row.speedup:.2f}x  {row.change}{where}"
    return f"-      {row.change}{where}: {(row.reason or row.outcome).splitlines()[0].split('; ')[0].rstrip('.')}."
