"""Figure 6.3: a + b X / (c - X)."""

import numpy as np

from warpbound.bounds import Real
from warpbound.models.volkov_2016.contention import Memory, loaded_latency
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """Mean latency of the fit where Table 6.6 lists the distribution; half of the peak for the others."""
    kepler = {f"{x:g} GB/s": _latency(given, "Kepler", x) for x in given["kepler_GBs"]}
    halves = {name: _latency(given, name, given["machines"][name]["peak_GBs"] / 2) for name in given["gpus"]}
    return {"Kepler, median": kepler, "at half of the peak": halves}


def figures(given: Given) -> tuple[Figure, ...]:
    """Latency up to the attained peak."""
    share = np.linspace(0.0, given["largest_share"], given["points"])
    return (
        Figure(
            "Memory latency under load",
            Axis("throughput", "GB/s"),
            Axis("mean latency", "cycle"),
            tuple(
                series(name, share * _top(given, name), _latency(given, name, share * _top(given, name)))
                for name in given["gpus"]
            ),
            "Volkov 2016, Table 6.5; two terms for the G80",
        ),
    )


def _latency(given: Given, name: str, gbytes: Real) -> Real:
    m = given["machines"][name]
    return loaded_latency(Memory(m["a"], tuple(m["b"]), tuple(m["c_GBs"])), gbytes)


def _top(given: Given, name: str) -> float:
    m = given["machines"][name]
    return float(min(m["peak_GBs"], *m["c_GBs"]))
