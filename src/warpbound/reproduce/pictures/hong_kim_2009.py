"""Hong and Kim: Figures 5 to 8, 11 and 24 in time, by simulation; 17 to 19 by benchmark; 22 and 23 over warps."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from warpbound.bounds import Real
from warpbound.models.hong_kim_2009 import terms
from warpbound.report import figures
from warpbound.report.figures.picture import Axis, Bars, Curve, Drawable, Panels, Picture, Style
from warpbound.report.figures.records import recorded
from warpbound.report.figures.theme import CYCLE
from warpbound.reproduce.hong_kim_2009.merge_benchmarks import Point, mean_of, points, table_5_figures
from warpbound.reproduce.hong_kim_2009.microbenchmarks import (
    COALESCED,
    UNCOALESCED,
    VERSIONS,
    figs_22_and_23_figures,
    on,
    svm,
)
from warpbound.reproduce.item import ItemInputs
from warpbound.reproduce.scenarios import warp_timeline

PAPER = "hong_kim_2009"
OF = "Hong and Kim 2009"
DRAWN = 4  # warps


def figs_5_to_8(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figures 5 to 8: each case warp by warp."""
    cases = {
        5: (["fig-5a", "fig-5b"], "CWP greater than MWP"), 6: (["fig-6a", "fig-6b"], "MWP greater than CWP"),
        7: (["fig-7"], "Computation longer than memory"), 8: (["fig-8a", "fig-8b"], "Too few warps"),
    }  # fmt: skip
    return tuple(_timelines(scenarios, title, f"Figure {number}") for number, (scenarios, title) in cases.items())


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
    """Figures 15 and 16 from their series; 17 to 20: CPI, CWP, MWP, occupancy of every benchmark, GPU by GPU."""
    times = [recorded(figure) for figure in table_5_figures(inputs)]
    launches = {name: points(inputs, workload) for name, workload in inputs["workloads"].items()}
    bars = [
        _by_benchmark(launches, list(inputs["gpus"]), key, axis, f"Figure {number}")
        for key, axis, number in (
            ("CPI", Axis("CPI, mean over block sizes", "cycle/inst"), 17),
            ("CWP", Axis("CWP, mean over block sizes", "warps per SM"), 18),
            ("MWP", Axis("MWP, mean over block sizes", "warps per SM"), 19),
            ("occupancy", Axis("occupancy, mean over block sizes", "1"), 20),
        )
    ]
    return (*times, *bars)


def _by_benchmark(
    launches: dict[str, dict[str, list[Point]]], gpus: list[str], key: str, axis: Axis, place: str
) -> Picture:
    lines = []
    for number, gpu in enumerate(gpus):
        means = [mean_of(own[gpu])[key] for own in launches.values()]
        style = CYCLE[number]
        lines.append(Curve(gpu, np.arange(len(launches)), means, style, style.symbol))
    return Picture(
        title=f"{key[0].upper()}{key[1:]} on the Merge benchmarks",
        x=Axis("benchmark", names=tuple(launches)),
        y=axis,
        layers=tuple(lines),
        source=f"{OF}, {place}: the model, with counts of Table 5",
        caption="Lines join the benchmarks of one GPU; between two of them there is nothing.",
    )


def figs_9_and_10(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figure 9b and both parts of Figure 10: transactions of warps that leave the SM one after the other."""
    coalesced = _departures(inputs, "coalesced", COALESCED, "9b")
    uncoalesced = _departures(inputs, "uncoalesced", UNCOALESCED, "10a")
    both = (uncoalesced, replace(coalesced, source=coalesced.source.replace("9b", "10b")))
    title = f"Departures of memory warps, {inputs['gpu']}"
    return coalesced, Panels(title, both, f"{OF}, Figure 10: computed from Table 6", coalesced.caption, columns=1)


def _departures(inputs: ItemInputs, words: str, kind: Mapping[str, Real], number: str) -> Picture:
    x = on(inputs, inputs["gpu"], **kind)
    t = terms(x)
    start = float(t.departure_delay) * np.arange(DRAWN)
    bars = Bars("in memory", np.arange(DRAWN), start, np.full(DRAWN, float(t.mem_l)))
    leaving = Bars("its transactions leave", np.arange(DRAWN), start, np.full(DRAWN, float(t.departure_delay)))
    return Picture(
        title=f"{words.capitalize()} memory warps of {inputs['gpu']}",
        x=Axis("time", "cycle"),
        y=Axis("warp", span=(DRAWN - 0.5, -0.5)),
        layers=(bars, replace(leaving, style=Style("vermilion", "solid"))),
        source=f"{OF}, Figure {number}: computed from Table 6",
        caption="The departure delay decides how many warps memory serves at a time: MWP without bandwidth.",
    )


def figs_22_and_23(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figures 22 and 23, and the times of Figure 3."""
    warps = np.arange(1.0, inputs["most_warps"] + 1)
    times = [recorded(figure) for figure in figs_22_and_23_figures(inputs)][-1:]
    both = tuple(
        replace(
            figures.mwp_and_cwp(svm(inputs, version, inputs["most_warps"] + 1.0), warps),
            title=f"MWP and CWP, {version} SVM on {inputs['gpu']}",
            source=f"{OF}, Figure {number}: the model",
        )
        for version, number in zip(VERSIONS, (22, 23), strict=True)
    )
    return (*both, *times)
