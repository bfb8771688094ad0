"""The page's sections on memory: Volkov's Tables 6.2 to 6.7 for one GPU, near and far L2, address translation."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from warpbound.measure.board_profile import Summary
from warpbound.measure.case import SHARES
from warpbound.measure.chains import LEVELS, SECTOR, SECTORS
from warpbound.measure.contention import needed_of
from warpbound.measure.page_tables import clock, figure, peak, table
from warpbound.models.volkov_2016.one_warp import latency_per_transaction


def sections(summary: Summary) -> list[str]:
    """Those for which something was measured."""
    made = (_memory, _chains, _percentiles, _loaded, _diverging, _halves, _pages)
    return [text for section in made if (text := section(summary))]


def _curves(summary: Summary) -> dict[tuple[str, str], Any]:
    return {
        (level, pattern): curve for level in reversed(LEVELS) for pattern in SECTORS
        if (curve := figure(summary, f"loaded_latency: {level} {pattern}"))
    }  # fmt: skip


def _memory(summary: Summary) -> str:
    found = _curves(summary)
    if not found:
        return ""
    head = ("pattern", "latency [cycle]", "peak [GB/s]", "warps by Little's law", "warps for 90 %", "for 95 %",
            "a [cycle]", "b [cycle]", "b lies in", "c [GB/s]", "points", "error of the fit")  # fmt: skip
    text = """## Memory: latency, throughput, needed warps, contention

Latency under a load of X is a + b X / (c - X). c is the plateau that several loads of a warp at once give, and a and b
are fitted to the points below 80 % of it; where there is no plateau, all three are fitted to all points. Behind a and b
their standard errors. Where few loads are in flight they wait for each other and never meet as many others as
independent ones would, so that the fit of b is too low: beside it stands what b lies in. Warps are those that reach a
share of the best rate of any kernel; none where one load per warp never does.

"""
    return text + table(head, [_memory_row(summary, *place, curve) for place, curve in found.items()])


def _chains(summary: Summary) -> str:
    """How many loads of a warp at once change it."""
    found = _curves(summary)
    rows = [
        (f"{level} {pattern}", ilp, rate, needed["90 %"], needed["95 %"])
        for (level, pattern), curve in found.items() for ilp, rate in curve["peak GB/s by chains"].items()
        if (needed := curve["needed warps by chains"][ilp])
    ]  # fmt: skip
    head = ("pattern", "loads of a warp at once", "peak [GB/s]", "warps for 90 % of the highest", "for 95 %")
    text = "## Memory: several loads of a warp at once\n\n" + table(head, rows) if rows else ""
    swept = figure(summary, "loaded_latency: random by array size [B, GB/s]")
    if swept:
        text += "\nRandom chains by the size of the array:\n\n"
        text += table(("array [MiB]", "GB/s"), [(size / 2**20, rate) for size, rate in swept])
    return text


def _memory_row(summary: Summary, level: str, pattern: str, curve: Any) -> Sequence[object]:
    fit, best = curve["fit"], peak(summary, curve["peak GB/s"]) if level == "dram" else curve["peak GB/s"]
    linear = curve["latency"] * best * 1e9 / (SECTOR * SECTORS[pattern] * clock(summary) * summary.facts.sm_count)
    points = np.array(curve["curve [warps, cycles, GB/s]"])
    needed = [needed_of(points[:, 0], points[:, 2], best, share) for share in (0.9, 0.95)]
    error = f"{100 * fit['error']:.1f} %"
    return (f"{level} {pattern}", curve["latency"], curve["peak GB/s"], linear, *needed, *map(_known, (fit, fit), "ab"),
            f"{fit['b from']:.3g} to {fit['b to']:.3g}", fit["c GB/s"], fit["points"], error)  # fmt: skip


def _known(fit: Any, name: str) -> str:
    """A value with its standard error."""
    error = fit[f"standard error of {name}"]
    return f"{fit[name]:.5g} ± {100 * error:.1f} %" if error is not None else f"{fit[name]:.5g}, open"


def _percentiles(summary: Summary) -> str:
    found = figure(summary, "pointer_chase: single")
    if not found:
        return ""
    head = ("array in", "least", "5 %", "25 %", "50 %", "75 %", "95 %", "most")
    return "## Single accesses [cycle, the cost of timing included]\n\n" + table(
        head, [(where, *values) for where, values in found.items()]
    )


def _loaded(summary: Summary) -> str:
    """Table 6.6."""
    rows = [
        (f"{level} {pattern}", *row) for level in LEVELS for pattern in SECTORS
        for row in figure(summary, f"latency_distribution: {level} {pattern}") or ()
    ]  # fmt: skip
    shares = ["least", *(f"{100 * share:g} %" for share in SHARES[1:-1]), "most"]
    head = ("pattern", "warps", "GB/s", "mean", *shares)
    return "## Single accesses under load [cycle, the cost of timing included]\n\n" + table(head, rows) if rows else ""


def _diverging(summary: Summary) -> str:
    """Table 6.7 and departure delays."""
    rows = [
        (place, found.get("cycles for each transaction more"), found.get("latency of one warp alone"),
         found.get("cycles between warps"), found.get("for each sector"))
        for name, found in summary.figures.items() if name.startswith("one_block: ") and isinstance(found, dict)
        if (place := name.removeprefix("one_block: "))
    ]  # fmt: skip
    if not rows:
        return ""
    head = ("one block on the device", "each transaction more [cycle]", "one warp alone [cycle]",
            "between warps [cycle]", "for each sector")  # fmt: skip
    text = "## Diverging accesses and departure delays\n\n" + table(head, rows)
    if (found := _curves(summary)) and {("l2", "random"), ("l2", "stream")} <= set(found):
        random, stream = (found["l2", pattern]["latency"] for pattern in ("random", "stream"))
        each = float(latency_per_transaction(random, stream, SECTORS["stream"]))
        text += f"\nBy Volkov's way, from L2 with all SMs at work: {each:.2f} cycles for each sector more.\n"
    return text


def _halves(summary: Summary) -> str:
    """Near and far L2."""
    curves = {kind: found for kind in ("near", "far") if (found := figure(summary, f"l2_partitions: {kind}"))}
    mapped = figure(summary, "l2_partitions: map")
    if not (curves or mapped):
        return ""
    text = "## Near and far L2\n\n"
    if mapped:
        groups = ", ".join(f"{count} {name}" for name, count in mapped["groups"].items())
        share = mapped["share of near lines"]
        text += f"SMs by which lines are near to them: {groups}. Share of near lines: {share}.\n\n"
    rows = [
        (kind, c["latency"], c["peak GB/s"], c["needed warps 90 %"], c["needed warps 95 %"], _known(c["fit"], "a"),
         _known(c["fit"], "b"), c["fit"]["c GB/s"], f"{100 * c['fit']['error']:.1f} %")
        for kind, c in curves.items()
    ]  # fmt: skip
    head = ("half", "latency [cycle]", "peak [GB/s]", "warps for 90 %", "for 95 %", "a [cycle]", "b [cycle]",
            "c [GB/s]", "error of the fit")  # fmt: skip
    return text + table(head, rows)


def _pages(summary: Summary) -> str:
    rows = [
        (name.removeprefix("pointer_chase: pages of "), found["spanned without delay [B]"] / 2**20,
         found["delayed from [B]"] / 2**20 if found["delayed from [B]"] else None, found["curve [B, cycles]"][0][1],
         found["curve [B, cycles]"][-1][1])
        for name, found in summary.figures.items()
        if name.startswith("pointer_chase: pages") and isinstance(found, dict)
    ]  # fmt: skip
    head = ("one line each", "spanned without delay [MiB]", "delayed from [MiB]", "first [cycle]", "last [cycle]")
    return "## Address translation\n\n" + table(head, rows) if rows else ""


