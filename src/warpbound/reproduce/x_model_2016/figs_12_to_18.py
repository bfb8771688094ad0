"""Figures 12 to 18: operations on a machine whose cache thrashes."""

from warpbound.models.x_model_2016 import Inputs, curves, equilibrium, extraction, shape
from warpbound.models.x_model_2016.operations import (
    Effect,
    best_threads,
    largest_gain,
    operate,
    relative_gain,
    when_congested,
)
from warpbound.report.figure_series import Figure
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.x_model_2016.graphs import x_graph

THREADS = 32.0


def numbers(given: Given) -> Numbers:
    """What each operation gains, and the principle that says so."""
    x = Inputs(**given["thrashing"])
    k = equilibrium.congested(x)
    found = {name: when_congested(x, after) for name, after in _operations(given).items()}
    bigger = _operations(given)["larger cache"]
    small, measured = given["small"], given["measured"]
    return {
        "blocks of gesummv": extraction.resident_blocks(given["slots"], given["warps_per_block"]),
        "threads of a block": given["warps_per_block"] * THREADS,
        "falls where it crosses": bool(curves.supply_slope(x, k) < 0),
        "larger cache: peak higher": bool(
            curves.supply(bigger, shape.peak(bigger)) > curves.supply(x, shape.peak(x))
        ),
        **{f"{name}: principle": int(effect.principle) for name, effect in found.items()},
        **{f"{name}: MS gain": float(effect.ms_gain) for name, effect in found.items()},
        **{f"{name}: MS and CS rise": _both(found[name]) for name in ("throttling", "bypassing", "less E")},
        "more Z: CS rises, MS hardly": bool(
            found["more Z"].cs_gain > 1 and 1 < found["more Z"].ms_gain < 1 + small
        ),
        "best number of threads": best_threads(x),
        "most that throttling gains": largest_gain(x, k),
        "measured, throttled over 48 KB": relative_gain(measured["throttled, 48 KB"], measured["48 KB"]),
        "measured, bypassed over 48 KB": relative_gain(measured["bypassed, 48 KB"], measured["48 KB"]),
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """Each operation beside the thrashing state."""
    before = Inputs(**given["thrashing"])
    source = "Li and others 2016, Figures 12 to 17, a machine of ours"
    return tuple(
        x_graph(name, {"before": before, "after": after}, source) for name, after in _operations(given).items()
    )


def _operations(given: Given) -> dict[str, Inputs]:
    x = Inputs(**given["thrashing"])
    return {
        "larger cache": operate(x, "8B", given["cache"]),
        "throttling": operate(x, "4F", given["threads"]),
        "bypassing": operate(x, "4A", given["bypass"]),
        "more Z": operate(x, "4D", given["intensity"]),
        "less E": operate(x, "4E", given["ilp"]),
    }


def _both(effect: Effect) -> bool:
    return bool(effect.ms_gain > 1 and effect.cs_gain > 1)
