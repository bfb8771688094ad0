"""X-graphs as data: f(k), and g(n - k)/Z over the same axis."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from warpbound.models.x_model_2016 import Inputs, curves, equilibrium
from warpbound.report.figure_series import Axis, Figure, Series, series

POINTS = 400


def x_graph(title: str, cases: Mapping[str, Inputs], source: str) -> Figure:
    """Supply, demand and the intersections of each case, over threads in memory."""
    lines: list[Series] = []
    for name, x in cases.items():
        k = np.linspace(0.0, float(x.threads), POINTS)
        met = equilibrium.intersections(x)
        lines += [
            series(f"f(k), {name}", k, curves.supply(x, k)),
            series(f"g(n-k)/Z, {name}", k, curves.demand(x, np.subtract(x.threads, k))),
            series(f"intersections, {name}", met.fewest_ms_threads, met.ms_throughput, "points"),
        ]
    return Figure(title, Axis("threads in memory k", "thread"), THROUGHPUT, tuple(lines), source)


def supply_graph(title: str, cases: Mapping[str, Inputs], k: NDArray[np.float64], source: str) -> Figure:
    """f(k) of each case."""
    lines = tuple(series(name, k, curves.supply(x, k)) for name, x in cases.items())
    return Figure(title, Axis("threads in memory k", "thread"), THROUGHPUT, lines, source)


THROUGHPUT = Axis("throughput of memory", "request/cycle")
