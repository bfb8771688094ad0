"""Memory accesses that the code alone tells: how many sectors or wavefronts one request takes, and why."""

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from warpbound.analysis.entries import Entry
from warpbound.report.charts import Fitting
from warpbound.report.words import amount

_CLOSE = 1.01  # counts whose ratio is below are the same


def accesses(entry: Entry) -> RenderableType:
    """One row per source line, kind of access and cost; the ones that waste most first."""
    groups: dict[tuple[object, ...], list[Entry]] = {}
    for row in entry["accesses"]:
        groups.setdefault(_kind(row), []).append(row)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    for name in ("line", "access", "in code", "per request", "without waste", ""):
        table.add_column(name, justify="left" if name in ("access", "") else "right", no_wrap=bool(name))
    for rows in sorted(groups.values(), key=lambda rows: -_waste(rows[0])):
        one = rows[0]
        taken, ideal = _counts(one)
        unit = "sectors" if one["space"] == "global" else "wavefronts"
        table.add_row(
            str(one["line"] or f"{one['address']:#x}"),
            f"{one['text'].split()[_opcode(one)].split('.')[0]} {one['bytes_per_lane']} B",
            str(len(rows)),
            f"{amount(taken)} {unit.removesuffix('s') if taken == 1 else unit}" if taken is not None else "?",
            amount(ideal) if ideal is not None else "?",
            Text(said(one)),
            style="bold" if _waste(one) > _CLOSE else "",
        )
    note = "Per execution by a full warp; a sector is 32 bytes, a wavefront one pass."
    return Group(Fitting(table), Text(note, "dim"))


def said(row: Entry) -> str:
    """Why an access costs what it costs."""
    if row["depends_on"]:
        return f"taken as coalesced: the address depends on {row['depends_on']}"
    stride, size = row["stride_bytes"], row["bytes_per_lane"]
    if stride == 0:
        return "one address for all lanes"
    if _waste(row) <= _CLOSE:
        return "coalesced" if row["space"] == "global" else "no conflict"
    if stride == size:
        return "off its alignment"
    step = f"lanes stand {abs(stride)} B apart" if stride and abs(stride) < 1 << 20 else "lanes are scattered"
    return step if row["space"] == "global" else f"bank conflict: {step}"


def _counts(row: Entry) -> tuple[float | None, float | None]:
    unit = "sectors" if row["space"] == "global" else "wavefronts"
    return row[unit], row[f"ideal_{unit}"]


def _waste(row: Entry) -> float:
    taken, ideal = _counts(row)
    return taken / ideal if taken and ideal else 0.0


def _kind(row: Entry) -> tuple[object, ...]:
    opcode = row["text"].split()[_opcode(row)]
    return row["line"], opcode.split(".")[0], row["bytes_per_lane"], *_counts(row), row["depends_on"], said(row)


def _opcode(row: Entry) -> int:
    return 1 if row["text"].startswith("@") else 0

