"""Predictions of hand-written workloads as text: the bounds, then every model's prediction beside ours."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from warpbound.report.formatting import CAUSE_WORDS, amount, capital, resource_words, seconds
from warpbound.report.refusals import why
from warpbound.report.tables import ruled_table
from warpbound.result.kernel import ModelAnswer
from warpbound.result.refusal import Refusal
from warpbound.result.workload import WarpLatency, WorkloadResult

SIDE_BY_SIDE = 3  # answers in one table
OURS = "warpbound"


def pages(results: Sequence[WorkloadResult | Refusal]) -> Iterator[RenderableType]:
    """One result in full; several as tables of a row per model."""
    if len(results) == 1 and not isinstance(results[0], Refusal):
        yield _whole(results[0])
        return
    answers = [entry for entry in results if not isinstance(entry, Refusal)]
    for start in range(0, len(answers), SIDE_BY_SIDE):
        yield _beside(answers[start : start + SIDE_BY_SIDE])
    for name, reason in _silent(answers).items():
        yield Text.assemble((f"{name}: ", "bold"), (f"{reason}.", "yellow"))
    for entry in results:
        if isinstance(entry, Refusal):
            yield Text(f"{entry.kernel} on {entry.gpu}: {why(entry)}", "red")


def _whole(entry: WorkloadResult) -> RenderableType:
    return Group(Text(f"{entry.kernel} on {entry.gpu_name}", style="bold cyan"), details(entry))


def details(entry: WorkloadResult) -> RenderableType:
    """One result without its heading."""
    parts: list[RenderableType] = [
        Padding(Text(_subline(entry), style="dim"), (0, 0, 1, 2)),
        Padding(_verdict(entry), (0, 0, 1, 2)),
    ]
    if entry.latency:
        parts += [_title("Latency of one warp"), Padding(_latency(entry.latency), (0, 0, 1, 2))]
    if entry.bounds:
        parts += [_title("What each resource allows"), Padding(_bounds(entry), (0, 0, 0, 2))]
    parts += [_title("The models of the papers"), Padding(_answers(entry), (0, 0, 0, 2))]
    parts += [Padding(Text(f"- assumed: {note}", "dim"), (0, 0, 0, 2)) for note in entry.assumed]
    return Group(*parts)


def _title(words: str) -> Text:
    return Text(words, style="bold cyan")


def _subline(entry: WorkloadResult) -> str:
    launch, occupancy = entry.launch, entry.occupancy
    words = [entry.source] if entry.source else []
    if launch.blocks:
        words.append(f"{launch.blocks} blocks")
    if launch.threads_per_block:
        words.append(f"{launch.threads_per_block} threads per block")
    if occupancy.warps_per_sm:
        words.append(f"{amount(occupancy.warps_per_sm)} warps per SM")
    return ", ".join([*words, f"{entry.clock_MHz:.0f} MHz"])


def _verdict(entry: WorkloadResult) -> RenderableType:
    lines = []
    if entry.time_s is not None:
        lines.append(Text(f"Time {seconds(entry.time_s)}{_between(entry)}.", "bold"))
    if entry.bottleneck is None:
        return Text("No counts are given, so there are no bounds.")
    binds = f"{capital(resource_words(entry.bottleneck))} binds"
    if entry.runner_up != entry.bottleneck:
        binds += f"; next {resource_words(entry.runner_up)}"
    lines.append(Text(f"{binds}."))
    if entry.warps_needed is not None:
        lines.append(Text(f"{amount(entry.warps_needed)} warps per SM would hide the latency."))
    return Group(*lines)


def _between(entry: WorkloadResult) -> str:
    if entry.time_interval_s is None:
        return ""
    low, high = entry.time_interval_s
    return f" (between {seconds(low)} and {seconds(high)})"


def _latency(latency: WarpLatency) -> RenderableType:
    parts = sorted(latency.parts.items(), key=lambda part: -part[1])
    words = ", ".join(f"{amount(cycles)} {CAUSE_WORDS[cause]}" for cause, cycles in parts)
    return Text(f"{amount(latency.cycles)} cycles: {words}.")


def _bounds(entry: WorkloadResult) -> RenderableType:
    columns = ("resource", "SM cycles per warp", "in use")
    table = ruled_table(columns, words=("resource",), folded=columns)
    for bound in entry.bounds:
        share = f"{100 * bound.utilization:.0f} %"
        table.add_row(resource_words(bound.resource), amount(bound.cycles_per_warp), share)
    return table


def _answers(entry: WorkloadResult) -> RenderableType:
    table = ruled_table(("model", "time", "rate", "binds"), words=("model", "binds"), folded=("binds",))
    notes: list[RenderableType] = []
    for name, answer in entry.models.items():
        if answer.reason:
            style = "dim" if answer.rate is not None else "yellow"
            notes.append(Text.assemble((f"{name}: ", "bold"), (f"{answer.reason}.", style)))
        if answer.rate is None and answer.time_s is None:
            continue
        table.add_row(name, seconds(answer.time_s), _rate(answer), answer.bottleneck or "-")
    return Group(table, *notes, Text()) if notes else table


def _rate(answer: ModelAnswer) -> str:
    """With its unit, to which a prefix is joined: 80 GB/s."""
    if answer.rate is None:
        return "-"
    number = amount(answer.rate)
    touches = number[-1].isalpha() and (answer.unit or " ")[0].isalpha()
    return f"{number}{answer.unit}" if touches else f"{number} {answer.unit}"


def _beside(entries: Sequence[WorkloadResult]) -> RenderableType:
    """Times of one launch each, or rates where no launch is known."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    table.add_column("", no_wrap=True)
    for entry in entries:
        table.add_column(f"{entry.kernel} on {entry.gpu}", justify="right", overflow="fold")
    table.add_row(OURS, *(seconds(entry.time_s) for entry in entries))
    for name in entries[0].models:
        table.add_row(name, *(_cell(entry.models[name]) for entry in entries))
    return table


def _silent(entries: Sequence[WorkloadResult]) -> dict[str, str]:
    """Models without a prediction for any entry, and the reason for the first entry."""
    names = list(entries[0].models) if entries else []
    mute = [name for name in names if all(entry.models[name].rate is None for entry in entries)]
    return {name: entries[0].models[name].reason or "" for name in mute}


def _cell(answer: ModelAnswer) -> str:
    if answer.time_s is not None or answer.rate is None:
        return seconds(answer.time_s)
    return _rate(answer)
