"""Memory accesses one by one: how many sectors or wavefronts a request takes, and why."""

from collections.abc import Sequence
from math import fsum

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from warpbound.report.charts import Fitting
from warpbound.report.formatting import amount
from warpbound.result.code import Access
from warpbound.result.kernel import KernelResult

_CLOSE = 1.01  # counts whose ratio is below this are equal


def accesses(entry: KernelResult) -> RenderableType:
    """One row per source line, kind of access and reason, counts averaged; the ones that waste most first."""
    groups: dict[tuple[object, ...], list[Access]] = {}
    for row in entry.accesses:
        groups.setdefault((row.line or row.address, _opcode(row), row.bytes_per_lane, said(row)), []).append(row)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim", padding=(0, 1, 0, 0))
    for name in ("line", "access", "in code", "per request", "without waste", ""):
        table.add_column(name, justify="left" if name in ("access", "") else "right", no_wrap=bool(name))
    for rows in sorted(groups.values(), key=lambda rows: -_waste(rows)):
        first = rows[0]
        cost, ideal = _mean(rows)
        unit = "sectors" if first.space == "global" else "wavefronts"
        table.add_row(
            str(first.line or f"{first.address:#x}"),
            f"{_opcode(first)} {first.bytes_per_lane} B",
            str(len(rows)),
            f"{amount(cost)} {unit.removesuffix('s') if cost == 1 else unit}" if cost is not None else "?",
            amount(ideal) if ideal is not None else "?",
            Text(said(first)),
            style="bold" if _waste(rows) > _CLOSE else "",
        )
    note = "Means over all executions. A sector is 32 bytes, a wavefront one pass through the data path."
    return Group(Fitting(table), Text(note, "dim"))


def said(row: Access) -> str:
    """The reason for an access's cost, in words."""
    if row.depends_on:
        assumed = "counts as coalesced: " if row.wavefronts is None else ""
        return f"{assumed}the address depends on {row.depends_on}"
    stride, inside, size = row.stride_bytes, row.row_stride_bytes, row.bytes_per_lane
    if stride == 0:
        return "one address for all lanes"
    if _waste([row]) <= _CLOSE:
        return "coalesced" if row.space == "global" else "no conflict"
    if stride == size:
        return "misaligned"
    step = f"lanes are {abs(inside)} B apart" if inside and abs(inside) < 1 << 20 else "lanes are scattered"
    if inside and abs(inside) == size:
        step = "contiguous only within small groups of lanes"
    return step if row.space == "global" else f"bank conflict: {step}"


def _mean(rows: Sequence[Access]) -> tuple[float | None, float | None]:
    """Sectors or wavefronts of one request, and the minimum; None where not known."""
    if rows[0].space == "global":
        counts = [(row.sectors, row.ideal_sectors) for row in rows]
    else:
        counts = [(row.wavefronts, row.ideal_wavefronts) for row in rows]
    pairs = [(cost, ideal) for cost, ideal in counts if cost is not None and ideal is not None]
    if len(pairs) < len(counts):
        return None, None
    return fsum(cost for cost, _ in pairs) / len(pairs), fsum(ideal for _, ideal in pairs) / len(pairs)


def _waste(rows: Sequence[Access]) -> float:
    cost, ideal = _mean(rows)
    return cost / ideal if cost and ideal else 0.0


def _opcode(row: Access) -> str:
    """Without guard and modifiers."""
    words: list[str] = row.text.split()
    return words[1 if words[0].startswith("@") else 0].split(".")[0]
