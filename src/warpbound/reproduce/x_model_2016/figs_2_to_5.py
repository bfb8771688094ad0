"""Figures 2 to 5: supply meets demand."""

import numpy as np

from warpbound.bounds import Real
from warpbound.models import transit_2015
from warpbound.models.x_model_2016 import Inputs
from warpbound.report.figure_series import Figure
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.x_model_2016.graphs import x_graph


def numbers(given: Given) -> Numbers:
    """The plain machine in Transit's terms, then the balanced one."""
    plain, balanced = _transit(given["plain"]), _transit(given["balanced"])
    found, idle = transit_2015.state(plain), transit_2015.state(balanced)
    wants, has = transit_2015.parallelism(plain), transit_2015.parallelism(balanced)
    return {
        "transit": {
            "delta": transit_2015.ms_transition(plain),
            "pi": transit_2015.cs_transition(plain),
            "MS throughput": found.ms_throughput,
            "CS throughput": found.cs_throughput,
            "CS throughput is Z f(k)": _balances(plain, plain.intensity),
            "CS throughput is Z f(k), as printed": _balances(plain, 1.0),
            "f = kR/L saturates at RL": bool(np.isclose(_saturates_at(plain), transit_2015.ms_transition(plain))),
            "TLP of the machine": wants.machine_tlp,
            "MLP of the machine": wants.machine_mlp,
            "DLP of the machine": wants.machine_dlp,
            "bound": str(transit_2015.bound_class(plain)),
        },
        "balance": {
            "bound": str(transit_2015.bound_class(balanced)),
            "fewest threads in MS": idle.fewest_ms_threads,
            "most threads in MS": idle.most_ms_threads,
            "DLP of workload equals the machine's": bool(np.isclose(has.workload_dlp, has.machine_dlp)),
        },
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """Figures 3 and 5."""
    cases = (("Transit figure", "plain"), ("Machine balance", "balanced"))
    source = "Li and others 2016, Figures 3 and 5, a machine of ours"
    return tuple(x_graph(title, {name: Inputs(**given[name])}, source) for title, name in cases)


def _transit(table: Given) -> transit_2015.Inputs:
    x = Inputs(**table)
    return transit_2015.Inputs(x.threads, x.intensity, x.lanes, x.latency, x.ms_throughput)


def _balances(x: transit_2015.Inputs, divisor: Real) -> bool:
    """Whether what CS computes is Z times what MS serves, when f(k) = g(n - k) / divisor is the balance."""
    k = np.linspace(0.0, float(x.threads), 100001)
    served = np.asarray(transit_2015.supply(k, x.latency, x.ms_throughput))
    computed = np.asarray(transit_2015.computation(x.threads - k, x.lanes))
    at = np.argmin(np.abs(served - computed / divisor))
    return bool(np.isclose(computed[at], x.intensity * served[at], rtol=1e-2))


def _saturates_at(x: transit_2015.Inputs) -> float:
    """Least whole k at which the printed supply is R."""
    k = np.arange(0.0, 2 * float(x.latency))
    return float(k[np.argmax(transit_2015.supply_as_published(k, x.latency, x.ms_throughput) >= x.ms_throughput)])
