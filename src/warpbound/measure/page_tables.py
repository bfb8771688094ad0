"""Markdown tables, and what a page's sections ask of a summary."""

from collections.abc import Iterable, Sequence
from typing import Any

from warpbound.measure.board_profile import Summary

LINE = 128
Rows = Iterable[Sequence[object]]


def table(head: Sequence[str], rows: Rows) -> str:
    """Markdown; floats with five digits, nothing for None."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(map(_word, row))} |" for row in rows]
    return "\n".join(lines) + "\n"


def _word(value: object) -> str:
    return f"{value:.5g}" if isinstance(value, float) else "" if value is None else str(value)


def figure(summary: Summary, name: str) -> Any:
    return summary.figures.get(name) or {}


def clock(summary: Summary) -> float:
    """Hz: the one that latencies were measured at."""
    rows = summary.found.get("latency_clock")
    return 1e6 * rows[0][1].value if rows else summary.facts.clock


def peak(summary: Summary, chased: float) -> float:
    """GB/s: the best of any kernel, for a chain of loads may not reach it."""
    rows = summary.found.get("dram_achievable_bandwidth")
    return max(chased, rows[0][1].value) if rows else chased
