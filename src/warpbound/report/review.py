"""Differences of answers: text, and the comment of a pull request."""

from collections.abc import Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from warpbound.result.review import Diff, KernelChange, KernelState, MetricChange

STYLES = {"slower": "red", "broken": "red", "faster": "green", "repaired": "green"}
UNITS = {"time_s": "time", "cycles_per_warp": "cycles per warp and iteration", "spill_bytes": "spills [bytes]",
         "shared_bytes": "shared memory [bytes]", "warps_per_sm": "warps per SM", "instructions": "instructions",
         "warp_instructions": "warp instructions", "dram_bytes": "DRAM bytes", "l2_sectors": "L2 sectors",
         "registers": "registers", "bottleneck": "what binds", "mode": "mode"}  # fmt: skip


def text(diff: Diff) -> RenderableType:
    """What changed by more than the model resolves, each with its numbers; one sentence for the rest."""
    parts: list[RenderableType] = []
    for kernel in diff.kernels:
        if kernel.significant:
            title = Text.assemble((kernel.name, "bold"), f" on {kernel.gpu}: ")
            parts += [title.append(kernel.direction, STYLES.get(kernel.direction, "")), Text(f"  {kernel.reason}")]
            parts += [_table(kernel)] if kernel.changes else [Text()]
    return Group(*parts, Text(verdict(diff)))


def verdict(diff: Diff) -> str:
    """How many kernels changed, and whether the gate fails."""
    counts: dict[str, int] = {}
    for kernel in diff.kernels:
        counts[kernel.direction] = counts.get(kernel.direction, 0) + 1
    words = ", ".join(f"{count} {direction}" for direction, count in sorted(counts.items()))
    sentence = f"{len(diff.kernels)} kernel{'s' * (len(diff.kernels) != 1)} compared: {words or 'nothing'}."
    if diff.fail_above is None:
        return sentence
    state = "fails" if diff.failed else "passes"
    return f"{sentence} The gate at {diff.fail_above:g} % {state}."


def _table(kernel: KernelChange) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim", show_edge=False)
    for column in ("", "before", "after", "change"):
        table.add_column(column, justify="left" if not column else "right", overflow="fold")
    for change in kernel.changes:
        table.add_row(*_cells(change))
    table.add_row("", "", "", "")
    return table


def _cells(change: MetricChange) -> tuple[str, str, str, str]:
    relative = "" if change.relative is None else f"{100 * change.relative:+.1f} %"
    return UNITS[change.metric], _shown(change.metric, change.before), _shown(change.metric, change.after), relative


def _shown(metric: str, value: float | str | None) -> str:
    if value is None or isinstance(value, str):
        return value or "-"
    return duration(value) if metric == "time_s" else f"{value:,.4g}" if value < 1e4 else f"{value:,.0f}"


def duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"


def markdown(diff: Diff) -> str:
    """A comment for a pull request: a table of what changed, the numbers of each folded."""
    lines = [f"### Predicted kernel times: {verdict(diff)}", ""]
    changed = [kernel for kernel in diff.kernels if kernel.significant]
    if changed:
        lines += ["| kernel | GPU | before | after | change | why |", "|---|---|---|---|---|---|"]
        lines += [_row(kernel) for kernel in changed]
        lines.append("")
    for kernel in changed:
        lines += _folded(kernel)
    alike = len(diff.kernels) - len(changed)
    if alike:
        lines += [f"{alike} kernel{'s' * (alike != 1)} did not change by more than the model resolves.", ""]
    return "\n".join(lines)


def _row(kernel: KernelChange) -> str:
    before, after = _size(kernel.before), _size(kernel.after)
    size = "time_s" if kernel.before and kernel.before.time_s else "cycles_per_warp"
    relative = next((change.relative for change in kernel.changes if change.metric == size), None)
    number = "" if relative is None else f"{100 * relative:+.1f} %"
    mark = " **(gate)**" if kernel.fails else ""
    cells = (f"`{kernel.name}`", kernel.gpu, before, after, f"{number or kernel.direction}{mark}", kernel.reason)
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _size(state: KernelState | None) -> str:
    if state is None or state.error:
        return "-"
    if state.time_s is not None:
        return duration(state.time_s)
    return f"{state.cycles_per_warp:.4g} cycles" if state.cycles_per_warp is not None else "-"


def _folded(kernel: KernelChange) -> Iterator[str]:
    if not kernel.changes:
        return
    yield from (f"<details><summary><code>{kernel.name}</code> on {kernel.gpu}</summary>", "")
    yield from ("| | before | after | change |", "|---|---|---|---|")
    yield from (f"| {' | '.join(_cells(change))} |" for change in kernel.changes)
    yield from ("", "</details>", "")
