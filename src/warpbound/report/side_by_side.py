"""Several answers side by side: one row each, what differs from the first row marked, and how much faster it is."""

import math
from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from warpbound.report.charts import Fitting
from warpbound.report.formatting import amount, kernel_labels, seconds
from warpbound.report.refusals import by_reason
from warpbound.result.kernel import KernelResult
from warpbound.result.refusal import Refusal

COLUMNS = ("time", "binds", "warps", "needed", "latency", "regs")
OF_COMPILERS = ("time", "binds", "warps", "regs", "spills", "instructions")  # where compilers are compared
MEANINGS = {
    "latency": "latency: least cycles of one warp",
    "spills": "spills: bytes stored + loaded per thread",
    "instructions": "instructions: of the code, not executed",
}
MARK = "*"
PROXY = "~"


def side_by_side(results: Sequence[KernelResult | Refusal]) -> RenderableType:
    """A table of all results; a mark follows what differs from the first row that does the same on that GPU.

    Kernels of one name do the same; so do the kernels of several files that hold one each. What all rows share, the
    kernel or the GPU, stands above the table.
    """
    answers = [entry for entry in results if not isinstance(entry, Refusal)]
    heading, names = _names(answers)
    compilers = [_compiler(entry) for entry in answers]
    columns = {"on": [_machine(entry) for entry in answers], "by": compilers, heading: names}
    varying = {title: words for title, words in columns.items() if len(set(words)) > 1}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim", padding=(0, 0))
    for title in reversed(varying):
        table.add_column(title, overflow="fold", no_wrap=title in ("on", "by"))
    shown_columns = OF_COMPILERS if "by" in varying else COLUMNS
    for column in shown_columns:
        table.add_column(column, justify="left" if column == "binds" else "right", no_wrap=True)
    firsts = _firsts(answers)
    with_ratio = len({id(first) for first in firsts}) < len(answers)
    if with_ratio:
        table.add_column("speedup", justify="right", no_wrap=True)
    for row, (entry, first) in enumerate(zip(answers, firsts, strict=True)):
        cells, before = _cells(entry), _cells(first)
        own = (varying[title][row] for title in reversed(varying))
        gain = [_speedup(first, entry)] if with_ratio else []
        table.add_row(*own, *(_marked(cells[c], before[c]) for c in shown_columns), *gain)
    shared = [{entry.kernel for entry in answers}, set(columns["on"])]
    title = " on ".join(next(iter(words)) for words in shared if len(words) == 1)
    parts: list[RenderableType] = [Text(title, "bold cyan")] if title else []
    notes = _notes(answers, with_ratio, shown_columns)
    return Group(*parts, Fitting(table), *notes, *_refused(results))


def _firsts(answers: Sequence[KernelResult]) -> list[KernelResult]:
    """For each answer the first one that does the same on the same GPU."""
    files: dict[str, set[str]] = {}
    for entry in answers:
        files.setdefault(entry.program.source, set()).add(entry.kernel)
    one_each = len(files) > 1 and all(len(kernels) == 1 for kernels in files.values())
    firsts: dict[tuple[str, str], KernelResult] = {}
    return [firsts.setdefault(("" if one_each else entry.kernel, entry.gpu), entry) for entry in answers]


def _speedup(first: KernelResult, entry: KernelResult) -> str:
    if entry is first or not first.time_s or not entry.time_s:
        return "-"
    return f"{first.time_s / entry.time_s:.2f}x"


def _notes(answers: Sequence[KernelResult], with_ratio: bool, columns: Sequence[str]) -> list[Text]:  # noqa: FBT001
    """What the marks and the columns mean."""
    legend = [f"{MARK} differs from the first row of that GPU; speedup is relative to that row"] if with_ratio else []
    legend += [meaning for column, meaning in MEANINGS.items() if column in columns]
    notes = [Text(f"{'; '.join(legend)}.", "dim")]
    proxies = sorted({entry.confidence.proxy_isa for entry in answers if entry.confidence.proxy_isa})
    if proxies:
        words = f"{PROXY} analyzed with code of {', '.join(proxies)}: no compiler here generates the GPU's own code."
        notes.append(Text(words, "dim"))
    return notes


def _machine(entry: KernelResult) -> str:
    return f"{entry.gpu}{f' {PROXY}' if entry.confidence.proxy_isa else ''}"


def _compiler(entry: KernelResult) -> str:
    return f"{entry.compiler.name} {entry.compiler.release}" if entry.compiler else "-"


def _refused(results: Sequence[KernelResult | Refusal]) -> list[Text]:
    """One line per reason, with the GPUs it is about."""
    groups = {reason: dict.fromkeys(entry.gpu for entry in group) for reason, group in by_reason(results).items()}
    return [Text(f"{', '.join(gpus)}: {reason}", "red") for reason, gpus in groups.items()]


def _names(answers: Sequence[KernelResult]) -> tuple[str, list[str]]:
    """Labels that distinguish the rows: a heading and each row's kernel, file or both; folders only where needed."""
    kernels, files = kernel_labels([entry.kernel for entry in answers]), [entry.program.source for entry in answers]
    short = [file.rpartition("/")[2] for file in files]
    files = short if len(set(short)) == len(set(files)) else files
    if len(set(files)) <= 1:
        return "kernel", kernels
    if len(set(kernels)) == 1:
        return "file", files
    if len(set(kernels)) == len(set(zip(kernels, files, strict=True))):
        return "kernel", kernels
    return "kernel", [f"{kernel} ({file})" for kernel, file in zip(kernels, files, strict=True)]


def _marked(cell: str, first: str) -> Text:
    return Text(cell) if cell == first else Text(cell + MARK, style="bold yellow")


def _cells(entry: KernelResult) -> dict[str, str]:
    occupancy, program = entry.occupancy, entry.program
    least = entry.warps_needed
    return {
        "time": seconds(entry.time_s),
        "binds": entry.bottleneck or "-",
        "warps": f"{occupancy.warps_per_sm}/{occupancy.max_warps_per_sm}",
        "needed": amount(math.ceil(least)) if least is not None else "-",
        "latency": f"{entry.latency.cycles:.0f}" if entry.latency else "-",
        "regs": str(program.registers),
        "spills": f"{program.spill_bytes_stored} + {program.spill_bytes_loaded}",
        "instructions": str(program.instructions),
    }
