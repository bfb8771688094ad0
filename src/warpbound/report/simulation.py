"""Results of a simulation, as text."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import UnsetType
from rich.console import RenderableType
from rich.text import Text

from warpbound.report.charts import Bar, Fitting, OverTime
from warpbound.report.formatting import amount, seconds
from warpbound.report.refusals import refusal_line
from warpbound.report.tables import ruled_table
from warpbound.result.refusal import Refusal
from warpbound.result.simulation import (
    FamilyEvaluation,
    FamilyPoint,
    SimulatedKernel,
    SimulatedScenario,
    SimulationOutcome,
)

BAR = 20  # columns of a full bar


def pages(results: Sequence[SimulatedScenario]) -> Iterator[RenderableType]:
    """One page for each run."""
    for entry in results:
        yield Text(f"{entry.title}, {entry.source}", "bold cyan")
        if entry.assumed:
            yield Text(f"chosen here: {entry.assumed}", "dim")
        yield from (Text(line, no_wrap=True, overflow="crop") for line in entry.timeline)
        yield Text(_sentence(entry.outcome))
        yield from _over_time(entry.outcome)
        yield _stalls(entry.outcome.stalls)


def _sentence(outcome: SimulationOutcome) -> str:
    memory = outcome.memory
    words = [f"{outcome.cycles:.7g} cycles", f"{outcome.instructions_per_cycle:.4g} instructions per cycle"]
    words.append(f"{outcome.occupancy:.3g} warps on average")
    if outcome.warp_latency.mean is not None:
        words.append(f"{outcome.warp_latency.mean:.5g} cycles a warp")
    if memory.transactions:
        words.append(f"{memory.latency:.4g} cycles in memory, {memory.waiting:.3g} of it waiting")
        if spread := memory.latency_percentiles:
            words.append(f"5 % of them under {spread['5']:.4g}, 5 % over {spread['95']:.4g}")
    return "; ".join(words) + "."


def _over_time(outcome: SimulationOutcome) -> Iterator[RenderableType]:
    """Resident warps over the run; nothing where their number never changes."""
    warps, step = outcome.occupancy_over_time.warps, outcome.occupancy_over_time.interval
    most, least = max(warps), min(warps)
    if most - least > 1e-9 * most:
        title = f"Resident warps over time, at most {most:.3g}; a column is the mean of {step:.4g} cycles"
        yield OverTime(tuple(warps), title, f"{outcome.cycles:.7g} cycles")


def _stalls(stalls: Mapping[str, float]) -> RenderableType:
    table = ruled_table(("a resident warp", "of its time", ""), words=("a resident warp", ""))
    for name, share in sorted(stalls.items(), key=lambda item: -item[1]):
        if share > 0:
            table.add_row(name.replace("_", " "), f"{100 * share:.1f} %", Bar(share, BAR))
    return Fitting(table)


def family_page(rows: Sequence[FamilyPoint], title: str) -> Iterator[RenderableType]:
    """Throughput of the synthetic family against occupancy, beside the model's."""
    yield Text(title, "bold cyan")
    table = ruled_table(("alpha", "warps", "adds/cycle", "loads/cycle", "min() model", "simulated over model"))
    for row in rows:
        table.add_row(
            f"{row.alpha:g}",
            f"{row.warps_per_sm}",
            amount(row.adds_per_cycle),
            f"{row.loads_per_cycle:.4f}",
            f"{row.model_loads_per_cycle:.4f}",
            f"{row.loads_per_cycle / row.model_loads_per_cycle:.3f}",
        )
    yield Fitting(table)
    yield Text("Per SM; the model is that of section 4.1 of the thesis, the least of three limits.", "dim")


def evaluation_pages(results: Sequence[FamilyEvaluation]) -> Iterator[RenderableType]:
    """For each machine the extremes of every model over the simulation, and the warps that 90 % of a peak need."""
    for entry in results:
        title = f"Models over the simulated SM, {entry.machine}, alpha from 1 to {entry.alpha[-1]:g}"
        yield Text(title, "bold cyan")
        yield _extremes(entry)
        yield Text("Warps per SM for 90 % of the tightest limit, by alpha:", "dim")
        yield _needed(entry)


def _extremes(entry: FamilyEvaluation) -> RenderableType:
    table = ruled_table(("model", "least", "at alpha", "most", "at alpha"), words=("model",))
    at = [i for i, alpha in enumerate(entry.alpha) if alpha >= 1]
    for name, ratio in entry.ratios.items():
        low, high = min(at, key=ratio.least.__getitem__), max(at, key=ratio.most.__getitem__)
        where = (f"{entry.alpha[low]:g}", f"{ratio.most[high]:.3f}", f"{entry.alpha[high]:g}")
        table.add_row(name, f"{ratio.least[low]:.3f}", *where)
    return Fitting(table)


def _needed(entry: FamilyEvaluation) -> RenderableType:
    columns = [name for name in ("simulated", "volkov_2016", "volkov_2016, contention") if name in entry.needed]
    table = ruled_table(("alpha", *columns))
    for i, alpha in enumerate(entry.alpha):
        row = (entry.needed[name][i] for name in columns)
        table.add_row(f"{alpha:g}", *("-" if math.isnan(warps) else f"{warps:g}" for warps in row))
    return Fitting(table)


def catalogue(titles: Mapping[str, str]) -> str:
    """Names of scenarios and what they are."""
    wide = max(map(len, titles))
    return "\n".join(f"{name:{wide}}  {title}" for name, title in titles.items())


def kernel_pages(results: Sequence[SimulatedKernel | Refusal]) -> Iterator[RenderableType]:
    """One page for each kernel and GPU: time beside the time model's, and both tables of stalls."""
    for entry in results:
        if isinstance(entry, Refusal):
            yield refusal_line(entry)
            continue
        yield Text(entry.title, "bold cyan")
        yield Text(f"{entry.source}; {entry.policy.replace('_', ' ')}", "dim")
        prediction_s = entry.headline_time_s
        against = f"; the analysis predicts {seconds(prediction_s)}" if prediction_s else ""
        over = f" (ratio {entry.simulated_over_headline:.3f})" if prediction_s else ""
        yield Text(f"Time {seconds(entry.time_s)}{against}{over}.")
        yield Text(_sentence(entry.outcome))
        yield from _over_time(entry.outcome)
        yield _stalls(entry.outcome.stalls)
        yield Text(entry.assumed, "dim")


def chrome_trace(results: Sequence[SimulatedKernel | Refusal]) -> dict[str, Any]:
    """What the first warps of an SM do, for Perfetto or chrome://tracing.

    A process for each kernel, a row for each warp. A microsecond of the trace is a cycle of the SM.
    """
    events: list[dict[str, Any]] = []
    entries = [entry for entry in results if not isinstance(entry, Refusal)]
    for process, entry in enumerate(entries):
        name = {"ph": "M", "name": "process_name", "pid": process, "args": {"name": f"{entry.kernel} on {entry.gpu}"}}
        spans = [] if isinstance(entry.figures, UnsetType) else entry.figures.warps
        events += [name, *(
            {"ph": "X", "name": what, "ts": start, "dur": end - start, "pid": process, "tid": warp}
            for warp, start, end, what in spans
        )]  # fmt: skip
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": {"microsecond": "SM cycle"}}
