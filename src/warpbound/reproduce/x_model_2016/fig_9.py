"""Figure 9: several states of one machine."""

from dataclasses import replace

import numpy as np

from warpbound.models.x_model_2016 import Inputs, degradation, equilibrium, reached
from warpbound.report.figure_series import Figure
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.x_model_2016.graphs import x_graph

NAMES = ("sigma'", "sigma", "sigma''")


def numbers(given: Given) -> Numbers:
    """All intersections, where threads end up, and the drops."""
    x = Inputs(**given["cached"])
    met, drops = equilibrium.intersections(x), degradation.drops(x)
    rising = replace(x, **given["rising_branch"])
    ceiling = x.lanes / x.intensity - x.ms_throughput
    rows: dict[str, object] = {"intersections": int(met.count)}
    for i, name in enumerate(NAMES):
        rows |= {
            f"threads in MS at {name}": met.fewest_ms_threads[i],
            f"MS throughput at {name}": met.ms_throughput[i],
            f"{name} is": str(met.stability[i]),
        }
    return {
        **rows,
        "a launch reaches": reached(x),
        "a congested machine rests at": equilibrium.congested(x),
        "on a rising branch": _word(equilibrium.is_stable(rising, reached(rising))),
        "on a rising branch, by Equation 6 as printed": _word(
            equilibrium.is_stable_as_published(rising, reached(rising))
        ),
        "intersections at n 1000": int(equilibrium.intersections(replace(x, threads=given["many"])).count),
        "n at tangency": drops.threads_at_tangency,
        "drop at tangency": drops.at_tangency,
        "n of the largest drop": drops.threads_at_valley,
        "largest drop": drops.at_valley,
        "largest drop is M/Z - R": bool(np.isclose(drops.at_valley, ceiling, rtol=1e-2)),
        "drop at infinity, no valley": degradation.drop(replace(x, threads=1e6, **given["plain_fall"])),
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """One, three and after the last drop, as A, B and C."""
    source = "Li and others 2016, Figure 9, a machine of ours"
    return tuple(x_graph(title, {f"n {case.threads:g}": case}, source) for title, case in cases(given).items())


def cases(given: Given) -> dict[str, Inputs]:
    """The same machine with few threads, with more, and with many."""
    x = Inputs(**given["cached"])
    few, many = replace(x, **given["rising_branch"]), replace(x, threads=given["many"] / 2)
    return {"A, one intersection": few, "B, three intersections": x, "C, many threads": many}


def _word(stable: object) -> str:
    return "stable" if bool(np.asarray(stable)) else "unstable"
