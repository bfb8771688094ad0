"""A goal as text: the least change or the certificate that forbids it, the gap, shares and slack of resources,
pairs."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from warpbound.report.formatting import resource_words, seconds
from warpbound.report.tables import open_table
from warpbound.result.goal import Goal, LeastChange
from warpbound.result.kernel import KernelResult

MOST_CHANGES = 4
MOST_LINES = 4
MOST_RESOURCES = 5
MOST_TIMES = 100
WORTH = 0.01  # share of the time below which parts and shares are left out


def goal(entry: KernelResult) -> RenderableType:
    """The goal of an answer that has one."""
    own = entry.goal
    assert isinstance(own, Goal)
    now_s = entry.time_s or 0.0
    return Group(*_verdict(own, now_s), Text(), *_certificate(own), Text(), *_levers(own, now_s))


def _verdict(own: Goal, now_s: float) -> Iterator[RenderableType]:
    words = f"Goal {own.target}: {seconds(own.target_s)}; now {seconds(now_s)}."
    if own.forbidden:
        yield Text(f"{words} No kernel that moves these bytes and does these operations on this board reaches it.")
    elif own.reached:
        yield Text(f"{words} It is reached.")
    elif own.changes:
        yield Text(f"{words} The least change that reaches it{', of two demands at once' * _paired(own)}:")
        yield _changes_table(own.changes[:MOST_CHANGES])
    else:
        yield Text(f"{words} No smaller demand on one resource or on two reaches it; the parts of the gap are below.")


def _paired(own: Goal) -> bool:
    return len(own.changes[0].resources) > 1


def _changes_table(rows: list[LeastChange]) -> Table:
    table = Table.grid(padding=(0, 1))
    for row in rows:
        names = " and ".join(resource_words(name) for name in row.resources)
        table.add_row(f"{100 * (1 - row.left):.0f} % less", f"of {names}", f"({seconds(row.time_s)})")
    return table


def _certificate(own: Goal) -> Iterator[RenderableType]:
    least = own.certificate
    if least.time_s <= 0:
        yield Text(f"Certificate: none; {least.why}.")
    else:
        share = f"the prediction is at {100 * own.share_of_certificate:.0f} % of that"
        yield Text(f"Certificate: at least {seconds(least.time_s)}, because {least.why}; {share}.")
    total = sum(part.time_s for part in own.gap)
    rows = [part for part in own.gap if part.time_s >= WORTH * total]
    if rows:
        yield Text("Beyond it, in the order of removal:")
        table = Table.grid(padding=(0, 1))
        table.add_column(justify="right")
        for part in rows:
            table.add_row(seconds(part.time_s), part.cause)
        yield table


def _levers(own: Goal, now_s: float) -> Iterator[RenderableType]:
    columns = ("resource", "share of the time", "slack")
    table = open_table(columns, words=("resource",), folded=columns)
    for row in [row for row in own.shares if abs(row.time_s) >= WORTH * now_s][:MOST_RESOURCES]:
        slack = "over 10x" if row.slack is None else f"{row.slack:.2f}x"
        free = "-" if row.resource == "launch" else slack
        table.add_row(resource_words(row.resource), f"{100 * row.time_s / now_s:.0f} %", free)
    yield table
    if own.lines:
        yield Text()
        yield _slack_table(own)
    own_cycles = ", or a line's own cycles," if own.lines else ""
    yield Text(f"Slack: factor by which a demand{own_cycles} may grow before the time is 1 % longer.", "dim")
    for pair in own.interactions:
        a, b = pair.alone
        yield Text(f"{pair.together:.2f}x together, {a:.2f}x and {b:.2f}x alone: {'; with '.join(pair.changes)}.")
    if own.critical_line:
        yield Text(f"Critical line: {own.critical_line}.")


def _slack_table(own: Goal) -> Table:
    """Lines with their slack, and below each the dearest of its instructions."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1))
    for name in ("line", "warp cycles", "slack", "instruction"):
        is_text = name == "instruction"
        table.add_column(name, justify="left" if is_text else "right", no_wrap=is_text, overflow="ellipsis")
    for row in own.lines[:MOST_LINES]:
        inside = [each for each in own.instructions if each.line == row.line][:1]
        dearest = f"{inside[0].text} ({inside[0].cycles:.0f} cycles, {_times(inside[0].slack)})" if inside else ""
        table.add_row(str(row.line), f"{row.cycles:.0f}", _times(row.slack), Text(dearest))
    return table


def _times(slack: float | None) -> str:
    """A slack in words."""
    return "no end" if slack is None else "over 100x" if slack > MOST_TIMES else f"{slack:.2f}x"
