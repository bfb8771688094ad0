"""The X-model: X-graphs with both axes, the operations before and after, the architectures of Table II."""

from collections.abc import Mapping
from dataclasses import replace

from warpbound.models.x_model_2016 import Inputs
from warpbound.models.x_model_2016.operations import operate
from warpbound.report import figures
from warpbound.report.figures.picture import Drawable, Panels, Picture, Points, Rule
from warpbound.report.figures.records import recorded
from warpbound.report.figures.x_graphs import OPERATION_WORDS
from warpbound.reproduce.item import ItemInputs
from warpbound.reproduce.x_model_2016.applications import counts, with_cache, without_cache
from warpbound.reproduce.x_model_2016.x_graphs import PRECISIONS, fig_9_cases, figs_7_and_8_figures, symbols

OF = "Li and others 2016"
OURS = "a machine of ours"


def figs_2_to_5(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figures 3 and 5."""
    machines = (("Transit figure", "plain", 3), ("Machine balance", "balanced", 5))
    return tuple(
        _named(Inputs(**inputs[name]), title, f"Figure {number}, {OURS}") for title, name, number in machines
    )


def fig_4(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Each operation, before and after."""
    x = Inputs(**inputs["plain"])
    factors = dict.fromkeys(inputs["doubled"].values(), 2.0) | dict.fromkeys(inputs["halved"].values(), 0.5)
    return (_operated(x, dict(sorted(factors.items())), "Figure 4"),)


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
    return recorded(shape), _operated(x, {"8A": 1.5, "8B": 1.5, "8C": 0.5}, "Figure 8")


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
    return (replace(figures.architectures(machines), source=f"{OF}, Table II and Figure 10; E = 1"),)


def applications(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figure 11 board by board, Figures 12 and 13 with both sizes of L1."""
    boards = [
        _small(f"The twelve applications on {board}", {name: without_cache(of) for name, of in table.items()})
        for board, table in counts()["applications"].items()
    ]
    study = [
        _named(with_cache(of), f"gesummv on {board}, L1 of {size}", "Figures 12 and 13, a kernel of ours")
        for board, sizes in counts()["gesummv"].items()
        for size, of in sizes.items()
    ]
    return (*boards, *study)


def _small(title: str, every: Mapping[str, Inputs]) -> Panels:
    """X-graphs beside each other, with one pair of axes each and no marks."""
    plots = tuple(_bare(figures.x_graph(x), name) for name, x in every.items())
    return Panels(title, plots, f"{OF}, Figure 11, kernels of ours", plots[0].caption)


def _named(x: Inputs, title: str, place: str) -> Picture:
    return replace(figures.x_graph(x, f"{OF}, {place}"), title=title)


def _bare(graph: Picture, name: str) -> Picture:
    named = (x for x in graph.layers if not isinstance(x, Rule) and x.name)  # nor lines that lead to words
    layers = tuple(replace(x, texts=()) if isinstance(x, Points) else x for x in named)
    return replace(graph, title=name, layers=layers, right=None, top=None, x=replace(graph.x, label="k"))
