"""Occupancy: one launch with the gain of each change, or a whole sweep, as JSON and for reading."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import UNSET
from rich.console import Group, RenderableType
from rich.text import Text

from warpbound.machine import Gpu
from warpbound.occupancy_thresholds import Rung
from warpbound.report.charts import Fitting
from warpbound.report.formatting import amount, count
from warpbound.report.tables import ruled_table
from warpbound.residency import Residency, ResidencySweep
from warpbound.result.occupancy import LaunchOccupancy, OccupancyRow, OccupancyRung
from warpbound.result.refusal import Refusal

NO_LIMIT = 2**31 - 1  # limit of blocks by a property that the launch does not use
MOST_SIZES = 8  # block sizes shown; JSON has all
_TITLES = {
    "registers": "registers per thread, at most",
    "shared": "shared bytes per block, at most",
    "threads": "threads per block",
}


def launch_occupancy(gpu: Gpu, residency: Residency, ladders: Mapping[str, Sequence[Rung]]) -> LaunchOccupancy:
    """One launch, with every threshold of each property."""
    return LaunchOccupancy(
        gpu=gpu.key,
        blocks_per_sm=residency.blocks_per_sm,
        warps_per_sm=residency.warps_per_sm,
        max_warps_per_sm=residency.max_warps_per_sm,
        occupancy=residency.occupancy,
        limiters=list(residency.limiters),
        block_limits={name: n for name, n in residency.block_limits.items() if n < NO_LIMIT},
        next_step=[step.sentence for step in residency.next_step],
        ladders={change: [_rung(change, rung) for rung in rungs] for change, rungs in ladders.items()},
    )


def _rung(change: str, rung: Rung) -> OccupancyRung:
    return OccupancyRung(
        at_most=UNSET if change == "threads" else rung.at_most,
        threads=rung.at_most if change == "threads" else UNSET,
        blocks_per_sm=rung.blocks_per_sm,
        warps_per_sm=rung.warps_per_sm,
        occupancy=rung.occupancy,
        limiters=list(rung.limiters),
        now=rung.now,
    )


def launch_text(gpu: Gpu, answer: LaunchOccupancy) -> RenderableType:
    """The same for reading."""
    lines = [
        Text.assemble(
            (f"{count(answer.blocks_per_sm, 'block')} per SM, {answer.warps_per_sm} of "
             f"{answer.max_warps_per_sm} warps ({100 * answer.occupancy:.0f} %)", "bold"),
            f" on {gpu.name}, limited by {' and '.join(answer.limiters)}.",
        ),
        Text("Blocks each limit admits: " + ", ".join(f"{k} {amount(v)}" for k, v in answer.block_limits.items())),
    ]  # fmt: skip
    steps = [Text(sentence) for sentence in answer.next_step]
    return Group(*lines, *steps, *(_ladder(change, rungs) for change, rungs in answer.ladders.items() if rungs))


def _ladder(change: str, rungs: Sequence[OccupancyRung]) -> RenderableType:
    """One property: how many blocks fit up to which value."""
    columns = (_TITLES[change], "blocks", "warps", "in use", "limited by")
    table = ruled_table(columns, words=("limited by",), folded=("limited by",))
    shown_rungs = [rung for i, rung in enumerate(rungs) if change != "threads" or i < MOST_SIZES or rung.now]
    for rung in shown_rungs:
        table.add_row(
            f"{rung.value}{' <' if rung.now else '  '}", str(rung.blocks_per_sm), str(rung.warps_per_sm),
            f"{100 * rung.occupancy:.0f} %", ", ".join(rung.limiters), style="bold" if rung.now else "",
        )  # fmt: skip
    return Fitting(table)


class Axes(NamedTuple):
    """Values of each property of a block, in the order of a sweep's axes."""

    block: tuple[int, ...]
    registers: tuple[int, ...]
    smem: tuple[int, ...]


def sweep_rows(gpu: Gpu, axes: Axes, sweep: ResidencySweep) -> list[OccupancyRow]:
    """One row per combination."""
    blocks, registers, shared = axes
    return [
        OccupancyRow(
            gpu=gpu.key,
            block=block,
            registers=register,
            smem=size,
            blocks_per_sm=int(sweep.blocks_per_sm[i, j, k]),
            warps_per_sm=int(sweep.warps_per_sm[i, j, k]),
            max_warps_per_sm=sweep.max_warps_per_sm,
            occupancy=float(sweep.occupancy[i, j, k]),
            limiters=[name for name, mask in sweep.binds.items() if mask[i, j, k]],
        )
        for i, block in enumerate(blocks) for j, register in enumerate(registers) for k, size in enumerate(shared)
    ]  # fmt: skip


def sweep_text(rows: Sequence[OccupancyRow | Refusal]) -> RenderableType:
    """A table of the sweep; what is the same in all rows stands above it, what cannot be below it."""
    valid = [row for row in rows if isinstance(row, OccupancyRow)]
    axes = [name for name in ("gpu", "block", "registers", "smem") if len({getattr(row, name) for row in valid}) > 1]
    fixed = [f"{name} {getattr(valid[0], name)}" for name in ("gpu", "block", "registers", "smem") if name not in axes]
    columns = (*axes, "blocks", "warps", "in use", "limited by")
    table = ruled_table(columns, words=("gpu", "limited by"), folded=("limited by",))
    for row in valid:
        table.add_row(
            *(str(getattr(row, name)) for name in axes), str(row.blocks_per_sm),
            f"{row.warps_per_sm}/{row.max_warps_per_sm}", f"{100 * row.occupancy:.0f} %", ", ".join(row.limiters),
        )  # fmt: skip
    reasons: dict[str, list[str]] = {}
    for refusal in (row for row in rows if isinstance(row, Refusal)):
        reasons.setdefault(refusal.error.reason, []).append(refusal.gpu)
    refused = [Text(f"{', '.join(gpus)}: {reason}", "red") for reason, gpus in reasons.items()]
    return Group(Text(", ".join(fixed), "bold"), Fitting(table), *refused)
