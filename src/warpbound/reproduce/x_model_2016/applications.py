"""Section V and Figures 12 to 18 with kernels of our own: the model's answers for twelve applications, and gesummv.

What `applications_from_source` counted is data here, so that no compiler is needed.
"""

import tomllib
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from warpbound.models.x_model_2016 import Inputs, bound_class, curves, reached, shape, state
from warpbound.models.x_model_2016.operations import Effect, after_launch, operate
from warpbound.report.figure_series import Figure
from warpbound.reproduce.item import ItemInputs, Numbers
from warpbound.reproduce.x_model_2016.x_graphs import x_graph

COUNTS = "applications_counts.toml"
SYMBOLS = ("threads", "ilp", "intensity", "lanes", "latency", "ms_throughput")
DEFAULT, LARGER = "16 KB", "48 KB"
RESIDUAL = "residual"
SOURCE = "sections V and VI, kernels of our own"


@cache
def counts() -> dict[str, Any]:
    """[board][application] of the twelve, and gesummv[board][size of the cache]."""
    path = files("warpbound.reproduce.x_model_2016") / COUNTS
    return tomllib.loads(path.read_text(encoding="utf-8"))


def applications(inputs: ItemInputs) -> Numbers:
    """Each application on each board; then gesummv's case study."""
    launch_counts = counts()
    twelve = {
        board: {name: application(of) for name, of in table.items()}
        for board, table in launch_counts["applications"].items()
    }
    study = {board: case_study(board, inputs) for board in launch_counts["gesummv"]}
    return twelve | {"gesummv": study}


def applications_figures(_: ItemInputs) -> tuple[Figure, ...]:
    """Figure 11 board by board, Figures 12 and 13."""
    launch_counts = counts()
    eleventh = [
        x_graph(f"{name} on {board}", {name: without_cache(of)}, SOURCE)
        for board, table in launch_counts["applications"].items()
        for name, of in table.items()
    ]
    study = [
        x_graph(f"gesummv on {board} by size of L1", {name: with_cache(of) for name, of in sizes.items()}, SOURCE)
        for board, sizes in launch_counts["gesummv"].items()
    ]
    return (*eleventh, *study)


def without_cache(of: ItemInputs) -> Inputs:
    """Without a cache."""
    return Inputs(**{symbol: of[symbol] for symbol in SYMBOLS})


def with_cache(of: ItemInputs) -> Inputs:
    """With the cache that the counts name."""
    return Inputs(**{symbol: value for symbol, value in of.items() if symbol != RESIDUAL})


def studied(board: str) -> dict[str, Inputs]:
    """gesummv by size of the cache."""
    return {size: with_cache(of) for size, of in counts()["gesummv"][board].items()}


def application(of: ItemInputs) -> Numbers:
    """One application on one board."""
    x = without_cache(of)
    equilibrium_state = state(x)
    return {
        "E": x.ilp,
        "Z": x.intensity,
        "n": x.threads,
        "binds": str(bound_class(x)),
        "MS": float(equilibrium_state.ms_throughput),
        "CS": float(equilibrium_state.cs_throughput),
        "X-model": of["model_s"],
        "headline": of["headline_s"],
    }


def case_study(board: str, inputs: ItemInputs) -> Numbers:
    """gesummv with both sizes of L1: where it thrashes, what each remedy gains."""
    sizes = studied(board)
    x, y = sizes[DEFAULT], sizes[LARGER]
    ways = remedies(x, y)
    gains = {name: float(effect.ms_gain) for name, effect in ways.items()}
    effects = {name: after_launch(x, after) for name, after in smaller_steps(x, inputs).items()}
    return {
        "n": x.threads,
        "alpha": x.alpha,
        "beta": x.beta,
        "residual of the fit": counts()["gesummv"][board][DEFAULT][RESIDUAL],
        **{f"{name}: falls where it crosses": _falls(of) for name, of in sizes.items()},
        **{f"{name}: first maximum of f": float(shape.peak(of)) for name, of in sizes.items()},
        **{f"{name}: best n": best(of)[0] for name, of in sizes.items()},
        "48 KB: peak higher": best(y)[1] > best(x)[1],
        "throttling: MS and CS rise": _both(ways["throttling, 16 KB"]) and _both(ways["throttling, 48 KB"]),
        "bypassing: MS and CS rise": _both(ways["bypassing, 16 KB"]) and _both(ways["bypassing, 48 KB"]),
        "more Z: CS rises, MS hardly": bool(
            effects["more Z"].cs_gain > 1 and 1 < effects["more Z"].ms_gain < 1 + inputs["small"]
        ),
        "less E: MS and CS rise": _both(effects["less E"]),
        "more Z: MS": float(effects["more Z"].ms_gain),
        "more Z: CS": float(effects["more Z"].cs_gain),
        "less E: MS": float(effects["less E"].ms_gain),
        "gain": gains,
        "order of gains": ", ".join(name.replace(", ", " ") for name in sorted(gains, key=lambda name: -gains[name])),
    }


def remedies(default: Inputs, larger: Inputs) -> dict[str, Effect]:
    """Gains over the default: with the best number of warps, and with R raised to the throughput of a bypass."""
    launch_counts = {LARGER: after_launch(default, larger)}
    for name, x in {DEFAULT: default, LARGER: larger}.items():
        launch_counts |= {
            f"throttling, {name}": after_launch(default, throttled(x)),
            f"bypassing, {name}": after_launch(default, bypassed(x)),
        }
    return launch_counts


def throttled(x: Inputs) -> Inputs:
    """With the best number of warps."""
    return operate(x, "4F", np.divide(best(x)[0], x.threads))


def bypassed(x: Inputs) -> Inputs:
    """With R raised to the best throughput."""
    return operate(x, "4A", np.divide(best(x)[1], x.ms_throughput))


def smaller_steps(x: Inputs, inputs: ItemInputs) -> dict[str, Inputs]:
    """Figures 16 and 17."""
    return {"more Z": operate(x, "4D", inputs["intensity"]), "less E": operate(x, "4E", inputs["ilp"])}


def best(x: Inputs) -> tuple[float, float]:
    """Whole number of warps with the most MS throughput, and that throughput."""
    n = np.arange(1.0, float(np.floor(x.threads)) + 1)
    rates = curves.supply(x, reached(replace(x, threads=n)))
    most = int(np.argmax(rates))
    return float(n[most]), float(rates[most])


def _falls(x: Inputs) -> bool:
    return bool(curves.supply_slope(x, reached(x)) < 0)


def _both(effect: Effect) -> bool:
    return bool(np.all((effect.ms_gain > 1) & (effect.cs_gain > 1)))
