"""Hong and Kim: Figures 5 to 8, 11 and 24 in time, by simulation; 17 to 19 by benchmark; 22 and 23 over warps."""

from dataclasses import replace

import numpy as np

from warpbound.report import figures
from warpbound.report.figures.picture import Axis, Curve, Drawable, Panels, Picture
from warpbound.report.figures.records import recorded
from warpbound.report.figures.theme import CYCLE
from warpbound.reproduce.hong_kim_2009.merge_benchmarks import Point, points, table_5_figures
from warpbound.reproduce.hong_kim_2009.microbenchmarks import VERSIONS, svm
from warpbound.reproduce.item import ItemInputs
from warpbound.reproduce.scenarios import warp_timeline

PAPER = "hong_kim_2009"
OF = "Hong and Kim 2009"


def figs_5_to_8(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figures 5 to 8: each case warp by warp."""
    cases = ("5a", "5b", "6a", "6b", "7", "8a", "8b")
    return (_timelines([f"fig-{case}" for case in cases], "Periods of computation and memory", "Figures 5 to 8"),)


def simulated(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figures 11 and 24 in time."""
    return (
        _timelines(["fig-11a", "fig-11b"], "Without and with a barrier", "Figure 11"),
        _timelines(["fig-24-dependent", "fig-24-independent"], "Requests that wait for each other or not", "Figure 24"),
    )


def _timelines(scenarios: list[str], title: str, place: str) -> Panels:
    plots = tuple(warp_timeline(PAPER, scenario) for scenario in scenarios)
    return Panels(title, plots, f"{OF}, {place}: simulated", plots[0].caption, columns=2)


def table_5(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figures 15 and 16 from their series; 17, 18 and 19: CPI, CWP and MWP of every benchmark, GPU by GPU."""
    times = [recorded(figure) for figure in table_5_figures(inputs)]
    launches = {name: points(inputs, workload) for name, workload in inputs["workloads"].items()}
    bars = [
        _by_benchmark(launches, list(inputs["gpus"]), key, axis, f"Figure {number}")
        for key, axis, number in (
            ("cpi", Axis("CPI, mean over block sizes", "cycle/inst"), 17),
            ("cwp", Axis("CWP, mean over block sizes", "warps per SM"), 18),
            ("mwp", Axis("MWP, mean over block sizes", "warps per SM"), 19),
        )
    ]
    return (*times, *bars)


def _by_benchmark(
    launches: dict[str, dict[str, list[Point]]], gpus: list[str], key: str, axis: Axis, place: str
) -> Picture:
    lines = []
    for number, gpu in enumerate(gpus):
        means = [float(np.mean([getattr(point, key) for point in own[gpu]])) for own in launches.values()]
        look = CYCLE[number]
        lines.append(Curve(gpu, np.arange(len(launches)), means, look, look.symbol))
    return Picture(
        title=f"{key.upper()} on the Merge benchmarks",
        x=Axis("benchmark", names=tuple(launches)),
        y=axis,
        layers=tuple(lines),
        source=f"{OF}, {place}: the model, with counts of Table 5",
        caption="Lines join the benchmarks of one GPU; between two of them there is nothing.",
    )


def figs_22_and_23(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figures 22 and 23."""
    warps = np.arange(1.0, inputs["most_warps"] + 1)
    return tuple(
        replace(
            figures.mwp_and_cwp(svm(inputs, version, inputs["most_warps"] + 1.0), warps),
            title=f"MWP and CWP, {version} SVM on {inputs['gpu']}",
            source=f"{OF}, Figure {number}: the model",
        )
        for version, number in zip(VERSIONS, (22, 23), strict=True)
    )
