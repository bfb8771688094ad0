"""What Figures 4.6 and 7.14 share: warps that reach a share of one of the peaks, against arithmetic intensity."""

from collections.abc import Mapping

from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.item import Given
from warpbound.reproduce.synthetic.comparison import alphas, needed
from warpbound.reproduce.synthetic.predictors import Throughput
from warpbound.reproduce.volkov_2016.machines import machines


def needed_figures(given: Given, models: Mapping[str, Throughput], title: str, source: str) -> tuple[Figure, ...]:
    """One for each machine, whose name ends the title, with a line for each model."""
    at = alphas(given["steps"])
    return tuple(
        Figure(
            f"{title} {machine.name}",
            Axis("arithmetic intensity alpha", "1", "log"),
            Axis("warps needed", "warp/SM"),
            tuple(series(name, at, needed(model, machine, at, given["share"]).warps) for name, model in models.items()),
            source,
        )
        for machine in machines(given).values()
    )
