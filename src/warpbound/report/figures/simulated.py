"""Figures of one simulated SM: warps over time, occupancy, memory latency, and the models' errors against it.

Source   V. Volkov, EECS-2016-143, Figures 3.3, 5.1 and 6.5, sections 7.9 and 7.10 for the kinds of picture.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from warpbound.report.figures.execution import timeline
from warpbound.report.figures.picture import (
    Axis,
    Band,
    Curve,
    Layer,
    Numbers,
    Panels,
    Picture,
    Points,
    Rule,
    Style,
    numbers,
)
from warpbound.report.figures.theme import CYCLE, nth
from warpbound.result.simulation import FamilyEvaluation, FamilyPoint

Reals = NDArray[np.float64]
SIMULATION = "event simulation of one SM"
SIMULATED = "simulated"  # key of what the simulation itself needs
BINS = 60
SMALLEST_RATIO, LARGEST_RATIO = 0.02, 20.0


def warps_in_time(
    spans: Iterable[tuple[int, float, float, str]], title: str, source: str = SIMULATION
) -> Picture:
    """The spans of `simulate.views.spans`: a row for each warp, a colour for issue, memory and other waits."""
    kinds_with_issues_on_top = sorted(spans, key=lambda span: span[3], reverse=True)
    return timeline(kinds_with_issues_on_top, title, source)


def occupancy_in_time(
    runs: Mapping[str, tuple[Reals, NDArray[np.int64]]], title: str, source: str = SIMULATION
) -> Picture:
    """Run -> cycles at which the number of resident warps changes, and that number from there on."""
    lines, most, longest = [], 0, 0.0
    for name, (at, warps) in runs.items():
        lines.append(Curve(name, np.repeat(at, 2)[1:], np.repeat(warps, 2)[:-1]))
        most, longest = max(most, int(warps.max())), max(longest, float(at[-1]))
    return Picture(
        title=title,
        x=Axis("time", "cycles", span=(0.0, longest)),
        y=Axis("resident warps", "warps per SM", span=(0.0, 1.1 * most)),
        layers=tuple(lines),
        source=source,
        caption="Warps that end leave room until the next block starts: what a launch reaches is less than what fits.",
    )


def lifetimes(
    started: Reals, ended: Reals, window: tuple[float, float], title: str, source: str = SIMULATION
) -> Picture:
    """A line for each warp that was resident within the window, from its start to its end, in the order of starts.

    started, ended : cycles, shape (warps,), NaN where a warp did not; window : first and last cycle that is shown.
    """
    begin, end = window
    here = (started < end) & ~(ended < begin)
    first = np.sort(started[here])
    last = ended[here][np.argsort(started[here], kind="stable")]
    x, rows = np.stack([first, np.where(np.isnan(last), end, last), last * np.nan], 1), np.arange(len(first))
    style = Style("blue", "solid", width=1.0)
    lines = Curve("", np.clip(x, begin, end).ravel(), np.repeat(rows, 3).astype(float), style)
    return Picture(
        title=title,
        x=Axis("time", "cycles", span=window),
        y=Axis("warp, by start", span=(len(first) + 0.5, -1.5)),
        layers=(lines,),
        source=source,
        caption="The length of a line is a warp's latency; the lines that a moment crosses are its occupancy.",
    )


def latencies(cycles: Mapping[str, Reals], title: str, source: str = SIMULATION) -> Picture:
    """Run -> cycles that its memory transactions took, waiting included: the share of them by latency."""
    edges = np.linspace(
        min(float(own.min()) for own in cycles.values()),
        max(float(np.percentile(own, 99.5)) for own in cycles.values()),
        BINS + 1,
    )  # fmt: skip
    shares = {name: 100 * np.histogram(own, edges)[0] / len(own) for name, own in cycles.items()}
    highest = max(float(share.max()) for share in shares.values())
    lines = [Curve(name, np.repeat(edges, 2)[1:-1], np.repeat(share, 2)) for name, share in shares.items()]
    return Picture(
        title=title,
        x=Axis("latency of one transaction", "cycles", span=(float(edges[0]), float(edges[-1]))),
        y=Axis(f"share within {edges[1] - edges[0]:.3g} cycles", "%", span=(0.0, 1.1 * highest)),
        layers=tuple(lines),
        source=source,
        caption="The more transactions are under way, the longer they take and the wider they scatter.",
    )


# ---------------------------------------------------------------- the synthetic family


def family(rows: Sequence[FamilyPoint], title: str) -> Picture:
    """Rows of `reproduce.synthetic.simulated`: loads per cycle against warps, simulated and by the model, by alpha."""
    layers: list[Curve | Points] = []
    for n, alpha in enumerate(dict.fromkeys(row.alpha for row in rows)):
        own, style = [row for row in rows if row.alpha == alpha], CYCLE[n % len(CYCLE)]
        warps = [row.warps_per_sm for row in own]
        modelled, simulated = [row.model_loads_per_cycle for row in own], [row.loads_per_cycle for row in own]
        layers.append(Curve(f"min() model, alpha {alpha:g}", warps, modelled, style))
        layers.append(Points(f"simulated, alpha {alpha:g}", warps, simulated, (), style))
    return Picture(
        title=title,
        x=Axis("resident warps", "warps per SM"),
        y=Axis("throughput", "loads/cycle/SM"),
        layers=tuple(layers),
        source=f"{SIMULATION}; model: V. Volkov, EECS-2016-143, section 4.1",
        caption="Marks: simulated; lines: the least of three limits. The model is an upper bound.",
    )


Extremes = Mapping[str, tuple[Numbers, Numbers]]


def models_over_reference(machine: str, alpha: Numbers, extremes: Extremes, reference: str) -> Panels:
    """Model -> least and most of its throughput over the reference's, over all occupancies, shape (alphas,) each."""
    beyond_cusp = numbers(alpha) >= 1
    every = np.concatenate([numbers(own)[beyond_cusp] for pair in extremes.values() for own in pair])
    low, high = max(SMALLEST_RATIO, float(np.nanmin(every))), min(LARGEST_RATIO, float(np.nanmax(every)))
    span = (0.8 * min(low, 0.9), 1.25 * max(high, 1.1))
    x = Axis("alpha", "additions per access", "log", (1.0, float(numbers(alpha).max())))
    y = Axis("over the reference", "", "log", span)
    plots = tuple(
        Picture(
            name,
            x,
            y,
            _extremes(numbers(alpha)[beyond_cusp], numbers(least)[beyond_cusp], numbers(most)[beyond_cusp], span),
            "",
        )
        for name, (least, most) in extremes.items()
    )
    return Panels(
        title=f"Models over the {reference}, {machine}",
        pictures=plots,
        source=f"{SIMULATION} on the synthetic family; V. Volkov, EECS-2016-143, section 7.9",
        caption=f"Throughput of each model over that of the {reference}: the band has all occupancies. Above 1 a model "
        "promises too much. What lies outside of the plot is drawn at its edge.",
    )


def _extremes(alpha: Reals, least: Reals, most: Reals, span: tuple[float, float]) -> tuple[Layer, ...]:
    low, high = np.clip(least, *span), np.clip(most, *span)
    return (
        Band("least to most over the occupancies", alpha, low, high, Style("blue", "solid")),
        Rule(1.0, "", along="x", style=Style("ink", "dash", width=1.2)),
    )


def models_over_simulation(entry: FamilyEvaluation) -> Panels:
    """An evaluation of one machine, as `simulate evaluation` gives it."""
    extremes = {name: (ratio.least, ratio.most) for name, ratio in entry.ratios.items()}
    return models_over_reference(entry.machine, entry.alpha, extremes, "simulated SM")


def needed_warps(entry: FamilyEvaluation) -> Picture:
    """An evaluation of one machine: warps per SM for 90 % of the tightest limit, simulated and by each model."""
    alpha = np.maximum(np.array(entry.alpha), 0.5)
    others = [name for name in entry.needed if name != SIMULATED]
    lines = [Curve(SIMULATED, alpha, entry.needed[SIMULATED], Style("ink", width=3.2), "circle")]
    lines += [Curve(name, alpha, entry.needed[name], *nth(number)) for number, name in enumerate(others)]
    return Picture(
        title=f"Warps needed, {entry.machine}",
        x=Axis("alpha (0 at the left end)", "additions per load", "log", (0.5, float(alpha.max()))),
        y=Axis("warps needed", "warps per SM"),
        layers=tuple(lines),
        source=f"{SIMULATION} on the synthetic family; V. Volkov, EECS-2016-143, section 7.10",
        caption="Warps that reach 90 % of the tightest limit. Where a line is interrupted, no occupancy does.",
        height=600,
    )
