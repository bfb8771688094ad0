"""The X-model: X-graphs with both axes, the operations before and after, the architectures of Table II."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from warpbound.models.x_model_2016 import Inputs, curves
from warpbound.models.x_model_2016.operations import operate, when_congested
from warpbound.report import figures
from warpbound.report.figures.picture import Axis, Curve, Drawable, Panels, Picture, Points, Rule
from warpbound.report.figures.records import recorded
from warpbound.report.figures.theme import CYCLE
from warpbound.report.figures.x_graphs import OPERATION_WORDS
from warpbound.reproduce.item import ItemInputs
from warpbound.reproduce.x_model_2016.applications import (
    DEFAULT,
    LARGER,
    bypassed,
    counts,
    remedies,
    smaller_steps,
    studied,
    throttled,
    with_cache,
    without_cache,
)
from warpbound.reproduce.x_model_2016.x_graphs import (
    PRECISIONS,
    fig_9_cases,
    figs_7_and_8_figures,
    operated,
    symbols,
    thrashing_remedies,
)

OF = "Li and others 2016"
OURS = "a machine of ours"
POINTS = 200
ILPS = (1.0, 1.5, 2.0)
CASE_STUDY = "gtx570"
FIGURE_OF = {DEFAULT: 12, LARGER: 13}


def figs_2_to_5(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figure 2, both functions alone; Figure 3, both over one axis; Figure 5, balance without and with idle threads."""
    plain, balanced = Inputs(**inputs["plain"]), Inputs(**inputs["balanced"])
    transit = _named(plain, "Transit figure", f"Figure 3, {OURS}")
    fewest = replace(balanced, threads=curves.ms_transition(balanced) + curves.cs_transition(balanced))
    both = {"no thread idle": fewest, "idle threads": balanced}
    plots = tuple(_bare(figures.x_graph(x), f"{name}, n = {float(x.threads):g}") for name, x in both.items())
    source = f"{OF}, Figure 5, {OURS}"
    return _alone(plain), transit, Panels("Machine balance", plots, source, plots[0].caption, columns=2)


def _alone(x: Inputs) -> Panels:
    """Figure 2: A, supply over threads in memory; B, demand over threads in computation, which grow to the left."""
    n = 1.5 * max(float(curves.ms_transition(x)), float(x.threads))
    k, m = np.linspace(0.0, n, POINTS), 3.0 * float(curves.cs_transition(x))
    t = np.linspace(0.0, m, POINTS)
    supply, demand = (np.asarray(y, dtype=np.float64) for y in (curves.supply(x, k), curves.demand(x, t)))
    unit, source = "requests/cycle", f"{OF}, Figure 2, {OURS}"
    plots = (
        Picture(
            "A, MS supply", Axis("k, threads in memory"), Axis("f(k)", unit, span=(0.0, 1.3 * float(supply.max()))),
            (Curve("f(k)", k, supply), Rule(float(curves.ms_transition(x)), "delta")), source,
        ),
        Picture(
            "B, CS demand", Axis("x, threads in computation", span=(m, 0.0)),
            Axis("g(x)/Z", unit, span=(0.0, 1.3 * float(demand.max()))),
            (Curve("g(x)/Z", t, demand), Rule(float(curves.cs_transition(x)), "pi", side="left")), source,
        ),
    )  # fmt: skip
    return Panels("Supply and demand alone", plots, source, "The axis of B is reversed, so that both can share one.", 2)


def fig_4(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Each operation, before and after, on a machine that it moves."""
    plots = tuple(
        figures.changed(before, after, f"{OPERATION_WORDS[name]} x{factor:g}", f"{OF}, Figure 4")
        for name, factor, before, after in operated(inputs)
    )
    return (Panels("Operations on the X-graph", plots, f"{OF}, Figure 4, {OURS}", plots[0].caption),)


def _operated(x: Inputs, factors: Mapping[str, float], place: str) -> Panels:
    """Operation -> factor, each before and after."""
    plots = tuple(
        figures.changed(x, operate(x, name, factor), f"{OPERATION_WORDS[name]} x{factor:g}", f"{OF}, {place}")
        for name, factor in factors.items()
    )
    return Panels("Operations on the X-graph", plots, f"{OF}, {place}, {OURS}", plots[0].caption)


def figs_7_and_8(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figure 7 and, before and after, Figure 8."""
    shape, *_ = figs_7_and_8_figures(inputs)
    x = Inputs(**inputs["cached"])
    curve = replace(recorded(shape), source=f"{OF}, Figure 7, {OURS}")
    return curve, _operated(x, {"8A": 1.5, "8B": 1.5, "8C": 0.5}, "Figure 8")


def fig_9(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """The machine with few, more and many threads."""
    return tuple(
        _named(x, f"{title}, n = {float(x.threads):g}", f"Figure 9, {OURS}")
        for title, x in fig_9_cases(inputs).items()
    )


def table_2(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figure 10: the architectures of Table II."""
    machines = [
        figures.Machine(f"{name}, {precision} precision", *symbols(table, precision))
        for name, table in inputs["gpus"].items()
        for precision in PRECISIONS
    ]
    panels = figures.architectures(machines, ilps=ILPS)
    return (replace(panels, source=f"{OF}, Table II and Figure 10; E as the paper has it, 1 to 2"),)


def figs_12_to_18(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figures 12 to 17 on a machine of ours: the thrashing state, a larger cache, four ways out; 18: their gains."""
    x, ways = Inputs(**inputs["thrashing"]), thrashing_remedies(inputs)
    start = _named(x, f"Thrashing cache, n = {float(x.threads):g}", f"Figure 12, {OURS}")
    effects = {name: float(when_congested(x, after).ms_gain) for name, after in ways.items()}
    changed = [
        figures.changed_under_load(x, after, name[0].upper() + name[1:], f"{OF}, Figure {number}, {OURS}")
        for number, (name, after) in enumerate(ways.items(), 13)
    ]
    return start, *changed, _gains({"a machine of ours": effects}, f"{OF}, Figure 18, {OURS}")


def _gains(gains: Mapping[str, Mapping[str, float]], source: str) -> Picture:
    """Throughput of memory over that of the default: who -> way -> factor."""
    names = list(dict.fromkeys(name for own in gains.values() for name in own))
    lines = tuple(
        Points(who, [names.index(name) for name in own], list(own.values()), (), CYCLE[number])
        for number, (who, own) in enumerate(gains.items())
    )
    top = 1.1 * max(max(own.values()) for own in gains.values())
    return Picture(
        "Gains over the default", Axis("way out", names=tuple(names)),
        Axis("throughput over the default's", span=(0.0, top)), (*lines, Rule(1.0, "", along="x")), source,
    )  # fmt: skip


def applications(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figure 11 board by board; Figures 12 and 13, both sizes of L1; 14 to 17, four ways out; 18, gains and bounds."""
    boards = [
        _small(f"The twelve applications on {board}", {name: without_cache(of) for name, of in table.items()})
        for board, table in counts()["applications"].items()
    ]
    study = [
        _named(with_cache(of), f"gesummv on {board}, L1 of {size}", f"Figure {FIGURE_OF[size]}, a kernel of ours")
        for board, sizes in counts()["gesummv"].items()
        for size, of in sizes.items()
    ]
    return (*boards, *study, *_ways_out(inputs))


def _ways_out(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figures 14 to 18 for gesummv on the paper's board."""
    sizes, place = studied(CASE_STUDY), "{}, Figure {}, a kernel of ours"
    before, larger = sizes[DEFAULT], sizes[LARGER]
    steps = {
        "Throttled to the best warps": throttled(larger), "Bypassed": bypassed(larger), **smaller_steps(before, inputs),
    }  # fmt: skip
    starts = (larger, larger, before, before)
    changed = [
        figures.changed(start, after, f"{name[0].upper()}{name[1:]}, {CASE_STUDY}", place.format(OF, number), "warps")
        for number, (start, (name, after)) in enumerate(zip(starts, steps.items(), strict=True), 14)
    ]
    bounds = {name: float(effect.ms_gain) for name, effect in remedies(before, larger).items()}
    paper_gains = {name: inputs["measured_gains"][name] for name in bounds}
    gains = _gains({"most that the model allows": bounds, "measured, the paper": paper_gains}, place.format(OF, 18))
    return (*changed, gains)


def _small(title: str, every: Mapping[str, Inputs]) -> Panels:
    """X-graphs beside each other, with one pair of axes each and no marks."""
    plots = tuple(_bare(figures.x_graph(x), name) for name, x in every.items())
    return Panels(title, plots, f"{OF}, Figure 11, kernels of ours", plots[0].caption)


def _named(x: Inputs, title: str, place: str) -> Picture:
    return replace(figures.x_graph(x, f"{OF}, {place}"), title=title)


def _bare(graph: Picture, name: str) -> Picture:
    lines = (x for x in graph.layers if not isinstance(x, Rule) and x.name)  # nor lines that lead to words
    layers = tuple(replace(x, texts=()) if isinstance(x, Points) else x for x in lines)
    return replace(graph, title=name, layers=layers, right=None, top=None, x=replace(graph.x, label="k"))
