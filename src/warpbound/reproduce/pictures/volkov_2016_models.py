"""Volkov, chapters 4 and 7: models beside each other, one picture for each figure of the thesis."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.report import figures
from warpbound.report.figure_series import Figure
from warpbound.report.figures.picture import Axis, Curve, Drawable, Panels, Picture, Points, Style
from warpbound.report.figures.records import recorded
from warpbound.report.figures.theme import CYCLE
from warpbound.reproduce.item import ItemInputs
from warpbound.reproduce.volkov_2016 import chapter_4
from warpbound.reproduce.volkov_2016.machines import ENDLESS, adds_plot, loads_plot, machines
from warpbound.reproduce.volkov_2016.sections_7_9_and_7_10 import errors
from warpbound.synthetic_family.comparison import alphas, needed
from warpbound.synthetic_family.machine import Machine
from warpbound.synthetic_family.predictors import PREDICTORS, Throughput, basic, refined

OF = "Volkov 2016"
MODEL = Style("muted", "solid", width=5.0)  # a thick grey line, as in the thesis
REFERENCE = Style("ink", symbol="circle")
REFINED = "refined model, for measurements"
ON_ITS_MACHINE = {"baghsorkhi_2010": "G80", "zhang_owens_2011": "GT200", "sim_2012": "Fermi"}
OVERLAPPED, ADDED, BASIC = "overlapped", "added", "basic model"


def table_4_2(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figure 4.1, additions alone and loads alone on Maxwell; the family on every machine."""
    maxwell, models = machines(inputs)["Maxwell"], {"basic model": basic, REFINED: refined}
    pair = (
        adds_plot("Additions alone", maxwell, ENDLESS, models, "Figure 4.1"),
        loads_plot("Loads alone", maxwell, models, "Figure 4.1"),
    )
    plots = tuple(_as_in_the_thesis(figure) for figure in pair)
    title, source = "Hiding arithmetic and memory latency on Maxwell", f"{OF}, Figure 4.1: the models"
    hiding = Panels(title, plots, source, columns=2)
    return hiding, *(recorded(figure) for figure in chapter_4.table_4_2_figures(inputs))


def section_4_3(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figure 4.2: occupancies by year, of the model and of Tables 6.3 and 6.4; Figure 4.3: two patterns."""
    years = [inputs["year"][name] for name in inputs["gpus"]]
    warps = chapter_4.occupancies(inputs)
    styles = dict(zip(warps, (CYCLE[0], CYCLE[1], CYCLE[0], CYCLE[1], CYCLE[2]), strict=True))
    lines = tuple(
        Points(name, years, own, (), replace(styles[name], symbol="circle-open"))
        if "Table" in name
        else Curve(name, years, own, styles[name], styles[name].symbol)
        for name, own in warps.items()
    )
    top = 1.15 * max(max(own) for own in warps.values())
    by_year = Picture(
        "Warps that hide arithmetic and memory latency", Axis("year", span=(2005.5, 2014.5)),
        Axis("occupancy needed", "warps per SM", span=(0.0, top)), lines,
        f"{OF}, Figure 4.2: the model, and the measurements of Tables 6.3 and 6.4",
        "Lines: latency times throughput. Open marks: what the thesis measured. The names of the GPUs: "
        + ", ".join(f"{name} {year}" for name, year in zip(inputs["gpus"], years, strict=True)) + ".",
    )  # fmt: skip
    return by_year, *(recorded(figure) for figure in chapter_4.fig_4_3_figures(inputs))


def table_4_3(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figure 4.10: the guide's estimate, the corrected one, the model's."""
    rows = {name: row for name, row in chapter_4.table_4_3(inputs).items() if name in inputs["gpus"]}
    at = np.arange(len(rows))
    lines = tuple(
        Points(kind, at, [float(row[kind]) for row in rows.values()], (), CYCLE[number])
        for number, kind in enumerate(("guide", "corrected", "model"))
    )
    names = tuple(f"{name}, alpha {inputs['alphas'][name]:g}" for name in rows)
    top = 1.1 * max(float(row[kind]) for row in rows.values() for kind in row)
    return (
        Picture(
            "Warps that hide latency, by three estimates", Axis("machine", names=names),
            Axis("occupancy needed", "warps per SM", span=(0.0, top)), lines, f"{OF}, Figure 4.10: computed",
            "The vendor's guide leaves arithmetic latency out and needs fewer warps than the model.",
        ),
    )  # fmt: skip


def sections_4_10_to_4_12(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figures 4.11 to 4.13: times that overlap, times that add, the basic model, each beside the refined model."""
    every = {name: figure for name, figure in zip(inputs["gpus"], chapter_4.schemes_figures(inputs), strict=True)}
    titles = {
        "4.11": (OVERLAPPED, "Times that overlap"), "4.12": (ADDED, "Times that add"),
        "4.13": (BASIC, "The basic model"),
    }  # fmt: skip
    return tuple(
        Panels(
            f"{title}, machine by machine", tuple(_only(figure, scheme) for figure in every.values()),
            f"{OF}, Figure {number}: the models", "Thick: the scheme. Points: the refined model, for measurements.",
        )
        for number, (scheme, title) in titles.items()
    )  # fmt: skip


def _only(figure: Figure, scheme: str) -> Picture:
    lines = tuple(line for line in figure.series if line.name in (scheme, REFINED))
    title = figure.title.removeprefix(f"{chapter_4.APART}, ")
    return _as_in_the_thesis(replace(figure, series=lines, title=title))


def _as_in_the_thesis(figure: Figure) -> Picture:
    """The model as a thick grey line, the reference as points at whole warps per scheduler."""
    plot = recorded(figure)
    layers = []
    for line in figure.series:
        few = slice(3, None, 4) if len(line.x) > 40 else slice(1, None, 2)
        reference = Points(line.name, line.x[few], line.y[few], (), REFERENCE)
        layers.append(reference if line.name == REFINED else Curve(line.name, line.x, line.y, MODEL))
    return replace(plot, layers=tuple(layers))


def section_7_9(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figures 7.11 to 7.13, a plot for each model and machine that they have; then all models, machine by machine."""
    at, thesis = alphas(inputs["steps"]), machines(inputs)
    every = {name: errors(machine, at) for name, machine in thesis.items()}
    extremes = {name: {model: (x.least, x.most) for model, x in own.items()} for name, own in every.items()}
    own = [(machine, model) for model, machine in ON_ITS_MACHINE.items()]
    rounds, greedy = "huang_2014, round robin", "huang_2014, greedy"
    bars = {
        "7.11": [pair for machine, model in own for pair in ((machine, model), (machine, "volkov_2016"))],
        "7.12": [("Kepler", "volkov_2016"), ("Maxwell", "volkov_2016")],
        "7.13": [(machine, model) for machine in ("Fermi", "Kepler", "Maxwell") for model in (rounds, greedy)],
    }
    plots: list[Drawable] = []
    for number, pairs in bars.items():
        selection = {f"{machine}, {model}": extremes[machine][model] for machine, model in pairs}
        title = {"7.11": "each on its machine", "7.12": "newer machines", "7.13": "Huang and others"}[number]
        panels = figures.models_over_reference(title, at, selection, "refined model")
        plots.append(replace(panels, source=f"{OF}, Figure {number}, the refined model for measurements", columns=2))
    for name, of_all in extremes.items():
        panels = figures.models_over_reference(name, at, of_all, "refined model")
        plots.append(replace(panels, source=f"{OF}, section 7.9: every model, the refined one for measurements"))
    return tuple(plots)


def section_7_10(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figure 7.14: three models on the machines of their papers; then every model, its five machines as lines."""
    at, thesis = alphas(inputs["steps"]), machines(inputs)
    share, words = inputs["share"], f"Warps for {inputs['share']:.0%} of a peak"
    three = tuple(
        _needed(f"{model} on {machine}", {model: PREDICTORS[model]}, thesis[machine], share)
        for model, machine in ON_ITS_MACHINE.items()
    )
    every = []
    for model, predictor in PREDICTORS.items():
        warps = {name: needed(predictor, machine, at, share).warps for name, machine in thesis.items()}
        if any(np.isfinite(own).any() for own in warps.values()):
            lines = tuple(Curve(name, at, own, CYCLE[n]) for n, (name, own) in enumerate(warps.items()))
            every.append(_warps_over_intensity(model, lines, at, 64.0))
    return (
        Panels(
            f"{words}, three models", three, f"{OF}, Figure 7.14: the models",
            "Thick: the model. Points: the refined model, for measurements; it has a cusp, the three have none.",
        ),
        Panels(
            f"{words}, every model", tuple(every), f"{OF}, section 7.10: the models",
            "A line for each machine; it ends where no occupancy reaches the share.",
        ),
    )  # fmt: skip


def _needed(title: str, model: Mapping[str, Throughput], machine: Machine, share: float) -> Picture:
    at = alphas()
    (name, predictor), *_ = model.items()
    reached = machine.schedulers * np.ceil(needed(refined, machine, at, share).warps / machine.schedulers)
    lines = (
        Curve(name, at, needed(predictor, machine, at, share).warps, MODEL),
        Points(REFINED, at, reached, (), REFERENCE),
    )
    return _warps_over_intensity(title, lines, at, float(machine.max_warps))


def _warps_over_intensity(title: str, lines: Sequence[Curve | Points], at: NDArray[np.float64], most: float) -> Picture:
    x = Axis("alpha", scale="log", span=(1.0, float(at.max())))
    y = Axis("warps", "warps per SM", span=(0.0, 1.05 * most))
    return Picture(title, x, y, tuple(lines), f"{OF}, section 7.10")
