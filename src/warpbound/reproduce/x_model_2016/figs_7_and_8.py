"""Figures 7 and 8: the shape of f(k) with a shared cache."""

from dataclasses import replace

import numpy as np

from warpbound.models.x_model_2016 import Inputs, curves, shape
from warpbound.models.x_model_2016.operations import operate
from warpbound.report.figure_series import Figure
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.x_model_2016.graphs import supply_graph


def numbers(given: Given) -> Numbers:
    """Landmarks of f, where L_$ puts the peak, and statements of the text."""
    x = Inputs(**given["cached"])
    psi, dip, delta = shape.peak(x), shape.valley(x), curves.ms_transition(x)
    peaks = {f"peak, L_$ {ls:g}": float(shape.peak(replace(x, cache_latency=ls))) for ls in given["cache_latencies"]}
    twice = operate(x, "8B", 2.0)
    return {
        "peak": psi,
        "f at the peak": curves.supply(x, psi),
        "valley": dip,
        "f in the valley": curves.supply(x, dip),
        "f at delta": curves.supply(x, delta),
        "plateau R": shape.plateau(x),
        "largest L_$ / (L - L_$) with a peak": shape.slowest_cache_with_a_peak(x.alpha),
        "f stays at R from delta on": bool(np.isclose(curves.supply(x, delta), x.ms_throughput, rtol=1e-3)),
        "a faster cache moves neither peak nor valley": max(peaks.values()) < 1.01 * min(peaks.values()),
        "no locality is no cache": _is_plain(replace(x, alpha=1.0)),
        "twice the cache, twice the peak and its place": bool(
            np.allclose([shape.peak(twice), curves.supply(twice, 2 * psi)], [2 * psi, 2 * curves.supply(x, psi)])
        ),
        **peaks,
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """Figures 7 and 8."""
    x = Inputs(**given["cached"])
    k = np.geomspace(0.5, given["most_threads"], 300)
    source = "Li and others 2016, Figures 7 and 8, a machine of ours"
    families = {
        "f(k) with a cache": {"cache": x},
        "Locality": {f"alpha {a:g}": replace(x, alpha=a) for a in given["alphas"]},
        "Cache capacity": {f"S_$ {s / 1024:g} KiB": replace(x, cache_capacity=s) for s in given["capacities"]},
        "Cache latency": {f"L_$ {ls:g}": replace(x, cache_latency=ls) for ls in given["cache_latencies"]},
    }
    return tuple(supply_graph(title, cases, k, source) for title, cases in families.items())


def _is_plain(x: Inputs) -> bool:
    k = np.linspace(1.0, 1000.0, 50)
    return bool(np.allclose(curves.supply(x, k), np.minimum(k / x.latency, x.ms_throughput)))
