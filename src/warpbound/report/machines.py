"""What the catalogue, the models and the installation hold, for `gpus`, `models`, `occupancy` and `doctor`."""

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from warpbound.analysis.entries import Entry
from warpbound.machine import PARAMETERS, Gpu
from warpbound.report.words import amount
from warpbound.residency import Residency


def gpu_entry(gpu: Gpu) -> Entry:
    """A board with every value, unit, source and how it became known."""
    return {
        "name": gpu.key,
        "title": gpu.name,
        "compute_capability": gpu.compute_capability,
        "aliases": list(gpu.aliases),
        "parameters": {
            name: {
                "value": q.value, "unit": q.unit, "source": q.source, "how": q.how, "note": q.note,
                "others": [{"value": o.value, "source": o.source, "note": o.note} for o in q.others],
            }
            for name, q in gpu.parameters.items()
        },
    }  # fmt: skip


def catalogue(gpus: Sequence[Gpu]) -> RenderableType:
    """One row a board."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    for column in ("name", "cc", "SMs", "boost MHz", "DRAM GB/s", "L2 MiB", "assumed"):
        table.add_column(column, justify="left" if column == "name" else "right", no_wrap=True)
    for gpu in gpus:
        table.add_row(
            gpu.key, gpu.compute_capability,
            f"{gpu.get('sm_count') or 0:.0f}", f"{(gpu.get('boost_clock') or 0) / 1e6:.0f}",
            f"{(gpu.get('dram_bandwidth') or 0) / 1e9:.0f}", f"{(gpu.get('l2_size') or 0) / 2**20:.0f}",
            f"{len(gpu.assumed)} of {len(gpu.parameters)}",
        )  # fmt: skip
    return table


def board(gpu: Gpu) -> RenderableType:
    """Every parameter of one board."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    for column in ("parameter", "value", "unit", "how", "meaning and source"):
        table.add_column(column, justify="right" if column == "value" else "left", no_wrap=column == "parameter")
    for name, quantity in gpu.parameters.items():
        said = Text.assemble(PARAMETERS[name].meaning, (f" [{quantity.source}]", "dim"))
        if quantity.note:
            said.append(f" {quantity.note}", "italic")
        for other in quantity.others:
            said.append(f" Also {other.value:g} [{other.source}].", "dim")
        style = "yellow" if quantity.how == "assumed" else ""
        table.add_row(name, f"{quantity.value:g}", quantity.unit, Text(quantity.how, style), said)
    return Group(Text(f"{gpu.name}, compute capability {gpu.compute_capability}", "bold"), table)


def residency_entry(gpu: Gpu, residency: Residency) -> Entry:
    """The occupancy of one launch as JSON."""
    return {
        "gpu": gpu.key,
        "blocks_per_sm": residency.blocks_per_sm,
        "warps_per_sm": residency.warps_per_sm,
        "max_warps_per_sm": residency.max_warps_per_sm,
        "occupancy": residency.occupancy,
        "limiters": list(residency.limiters),
        "block_limits": {name: n for name, n in residency.block_limits.items() if n < 2**31 - 1},
        "next_step": [step.sentence for step in residency.next_step],
    }


def residency_text(gpu: Gpu, entry: Entry) -> RenderableType:
    """The same for reading."""
    lines = [
        Text.assemble(
            (f"{entry['blocks_per_sm']} blocks per SM, {entry['warps_per_sm']} of {entry['max_warps_per_sm']} warps "
             f"({100 * entry['occupancy']:.0f} %)", "bold"),
            f" on {gpu.name}, limited by {' and '.join(entry['limiters'])}.",
        ),
        Text("Blocks each limit admits: " + ", ".join(f"{k} {amount(v)}" for k, v in entry["block_limits"].items())),
    ]  # fmt: skip
    return Group(*lines, *(Text(sentence) for sentence in entry["next_step"]))
