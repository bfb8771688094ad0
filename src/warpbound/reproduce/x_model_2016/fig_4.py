"""Figure 4: what each parameter moves."""

from warpbound.models.x_model_2016 import Inputs, predict
from warpbound.models.x_model_2016.operations import operate
from warpbound.report.figure_series import Figure
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.x_model_2016.graphs import x_graph


def numbers(given: Given) -> Numbers:
    """Throughput of memory after each operation, and what binds."""
    return {
        "before": _row(Inputs(**given["plain"])),
        **{name: _row(x) for name, x in _changed(given).items()},
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """Each beside the graph before it."""
    before = Inputs(**given["plain"])
    source = "Li and others 2016, Figure 4, a machine of ours"
    return tuple(x_graph(name, {"before": before, "after": x}, source) for name, x in _changed(given).items())


def _changed(given: Given) -> dict[str, Inputs]:
    x = Inputs(**given["plain"])
    steps = [(given["doubled"], 2.0), (given["halved"], 0.5)]
    found = {
        f"{name} {'doubled' if factor > 1 else 'halved'}": operate(x, operation, factor)
        for table, factor in steps
        for name, operation in table.items()
    }
    return dict(sorted(found.items()))


def _row(x: Inputs) -> dict[str, float | str]:
    found = predict(x)
    return {"MS throughput": float(found.rate), "binds": str(found.bottleneck)}
