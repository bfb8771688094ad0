"""The page's section on hardware counters: counted, emulated, and what warps waited for."""

from collections.abc import Mapping, Sequence

from warpbound.measure.counters import Compared, Counts, agreement
from warpbound.measure.page_tables import table

WORST_STALLS = 3


def section(counted: Mapping[str, Counts], rows: Sequence[Compared]) -> str:
    """Empty where nothing was counted; the first table is left out where nothing was emulated."""
    if not counted:
        return ""
    text = "## Hardware counters and the emulator\n\n"
    if rows:
        text += f"Each kernel launched once with cold caches. {agreement(rows)}\n\n"
        head = ("kernel", "count", "counted", "emulated", "difference", "")
        text += table(head, [
            (row.kernel, row.count.replace("_", " "), f"{row.counted:.0f}", f"{row.emulated:.0f}",
             f"{100 * row.off:+.1f} %", "" if row.agrees else "differs") for row in rows
        ]) + "\n"  # fmt: skip
    waits = [(kernel, counts.get("achieved_occupancy_percent"), _stalls(counts)) for kernel, counts in counted.items()]
    return text + table(("kernel", "achieved occupancy [%]", "most frequent stalls [warps for each issue]"), waits)


def _stalls(counts: Counts) -> str:
    found = {name.removeprefix("stall_"): value for name, value in counts.items() if name.startswith("stall_")}
    most = sorted(found.items(), key=lambda row: -row[1])[:WORST_STALLS]
    return ", ".join(f"{name.replace('_', ' ')} {value:.2f}" for name, value in most)
