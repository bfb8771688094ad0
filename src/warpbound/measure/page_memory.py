"""Memory sections of a board's page: Volkov's Tables 6.2 to 6.7 for one GPU, near and far L2, address translation."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from warpbound.measure.board_profile import Summary
from warpbound.measure.case import SHARES
from warpbound.measure.chains import LEVELS, SECTOR, SECTORS
from warpbound.measure.contention import needed_of
from warpbound.models.volkov_2016.one_warp import latency_per_transaction

FIT_TEXT = """\
Latency under a load of X is a + b X / (c - X). c is the plateau that several loads of a warp at once reach; a and b are
fitted to the points below 80 % of it. Without a plateau, all three are fitted to all points. Standard errors follow a
and b. If few loads are in flight, these wait for each other and never meet as many others as independent loads would,
so the fitted b is too low; the next column gives the range in which b lies. The warps are those that reach a share of
the best rate of any kernel; the cell is empty if one load per warp never reaches it.
"""


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Floats have five digits, None is an empty cell."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(map(_cell, row))} |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    return f"{value:.5g}" if isinstance(value, float) else "" if value is None else str(value)


def section(title: str, head: Sequence[str], rows: Iterable[Sequence[object]], text: str = "") -> str:
    """Heading, text and table; empty without rows."""
    rows = list(rows)
    return f"## {title}\n\n{text}" + markdown_table(head, rows) if rows else ""


def sections(summary: Summary) -> list[str]:
    """The sections for which there are measurements."""
    makers = (_memory, _chains, _percentiles, _loaded, _diverging, _halves, _pages)
    return [text for make in makers if (text := make(summary))]


def _curves(summary: Summary) -> dict[tuple[str, str], Any]:
    return {
        (level, pattern): curve for level in reversed(LEVELS) for pattern in SECTORS
        if (curve := summary.figure(f"loaded_latency: {level} {pattern}"))
    }  # fmt: skip


def _memory(summary: Summary) -> str:
    head = ("pattern", "latency [cycle]", "peak [GB/s]", "warps by Little's law", "warps for 90 %", "for 95 %",
            "a [cycle]", "b [cycle]", "b lies in", "c [GB/s]", "points", "error of the fit")  # fmt: skip
    rows = [_memory_row(summary, *place, curve) for place, curve in _curves(summary).items()]
    return section("Memory: latency, throughput, needed warps, contention", head, rows, FIT_TEXT + "\n")


def _memory_row(summary: Summary, level: str, pattern: str, curve: Any) -> Sequence[object]:
    fit, best = curve["fit"], summary.dram_peak(curve["peak GB/s"]) if level == "dram" else curve["peak GB/s"]
    linear = curve["latency"] * best * 1e9 / (SECTOR * SECTORS[pattern] * summary.clock * summary.facts.sm_count)
    points = np.array(curve["curve [warps, cycles, GB/s]"])
    warps_at_share = [needed_of(points[:, 0], points[:, 2], best, share) for share in (0.9, 0.95)]
    return (f"{level} {pattern}", curve["latency"], curve["peak GB/s"], linear, *warps_at_share, _with_error(fit, "a"),
            _with_error(fit, "b"), f"{fit['b from']:.3g} to {fit['b to']:.3g}", fit["c GB/s"], fit["points"],
            f"{100 * fit['error']:.1f} %")  # fmt: skip


def _with_error(fit: Any, name: str) -> str:
    """A value with its standard error."""
    error = fit[f"standard error of {name}"]
    return f"{fit[name]:.5g} ± {100 * error:.1f} %" if error is not None else f"{fit[name]:.5g}, open"


def _chains(summary: Summary) -> str:
    """Effect of several loads of a warp at once."""
    rows = [
        (f"{level} {pattern}", ilp, rate, warps_at_share["90 %"], warps_at_share["95 %"])
        for (level, pattern), curve in _curves(summary).items() for ilp, rate in curve["peak GB/s by chains"].items()
        if (warps_at_share := curve["needed warps by chains"][ilp])
    ]  # fmt: skip
    head = ("pattern", "loads of a warp at once", "peak [GB/s]", "warps for 90 % of the highest", "for 95 %")
    text = section("Memory: several loads of a warp at once", head, rows)
    swept = summary.figure("loaded_latency: random by array size [B, GB/s]")
    if swept:
        text += "\nRandom chains by the size of the array:\n\n"
        text += markdown_table(("array [MiB]", "GB/s"), [(size / 2**20, rate) for size, rate in swept])
    return text


def _percentiles(summary: Summary) -> str:
    head = ("array in", "least", "5 %", "25 %", "50 %", "75 %", "95 %", "most")
    rows = [(where, *values) for where, values in summary.figure("pointer_chase: single").items()]
    return section("Single accesses [cycle, the cost of timing included]", head, rows)


def _loaded(summary: Summary) -> str:
    """Table 6.6."""
    rows = [
        (f"{level} {pattern}", *row) for level in LEVELS for pattern in SECTORS
        for row in summary.figure(f"latency_distribution: {level} {pattern}")
    ]  # fmt: skip
    shares = ["least", *(f"{100 * share:g} %" for share in SHARES[1:-1]), "most"]
    title = "Single accesses under load [cycle, the cost of timing included]"
    return section(title, ("pattern", "warps", "GB/s", "mean", *shares), rows)


def _diverging(summary: Summary) -> str:
    """Table 6.7 and departure delays."""
    rows = [
        (name.removeprefix("one_block: "), curve.get("cycles for each transaction more"),
         curve.get("latency of one warp alone"), curve.get("cycles between warps"), curve.get("for each sector"))
        for name, curve in summary.figures.items() if name.startswith("one_block: ") and isinstance(curve, dict)
    ]  # fmt: skip
    if not rows:
        return ""
    head = ("one block on the device", "each transaction more [cycle]", "one warp alone [cycle]",
            "between warps [cycle]", "for each sector")  # fmt: skip
    text, curves = section("Diverging accesses and departure delays", head, rows), _curves(summary)
    if {("l2", "random"), ("l2", "stream")} <= set(curves):
        random, stream = (curves["l2", pattern]["latency"] for pattern in ("random", "stream"))
        each = float(latency_per_transaction(random, stream, SECTORS["stream"]))
        text += f"\nBy Volkov's method, from L2 with all SMs at work: {each:.2f} cycles for each sector more.\n"
    return text


def _halves(summary: Summary) -> str:
    """Near and far L2."""
    curves = {kind: curve for kind in ("near", "far") if (curve := summary.figure(f"l2_partitions: {kind}"))}
    mapped = summary.figure("l2_partitions: map")
    if not (curves or mapped):
        return ""
    text = "## Near and far L2\n\n"
    if mapped:
        groups = ", ".join(f"{count} {name}" for name, count in mapped["groups"].items())
        share = mapped["share of near lines"]
        text += f"SMs by which lines are near to them: {groups}. Share of near lines: {share}.\n\n"
    rows = [
        (kind, c["latency"], c["peak GB/s"], c["needed warps 90 %"], c["needed warps 95 %"], _with_error(c["fit"], "a"),
         _with_error(c["fit"], "b"), c["fit"]["c GB/s"], f"{100 * c['fit']['error']:.1f} %")
        for kind, c in curves.items()
    ]  # fmt: skip
    head = ("half", "latency [cycle]", "peak [GB/s]", "warps for 90 %", "for 95 %", "a [cycle]", "b [cycle]",
            "c [GB/s]", "error of the fit")  # fmt: skip
    return text + markdown_table(head, rows)


def _pages(summary: Summary) -> str:
    rows = [
        (name.removeprefix("pointer_chase: pages of "), curve["spanned without delay [B]"] / 2**20,
         curve["delayed from [B]"] / 2**20 if curve["delayed from [B]"] else None, curve["curve [B, cycles]"][0][1],
         curve["curve [B, cycles]"][-1][1])
        for name, curve in summary.figures.items()
        if name.startswith("pointer_chase: pages") and isinstance(curve, dict)
    ]  # fmt: skip
    head = ("one line each", "spanned without delay [MiB]", "delayed from [MiB]", "first [cycle]", "last [cycle]")
    return section("Address translation", head, rows)
