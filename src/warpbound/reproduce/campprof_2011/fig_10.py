"""Figure 10: the degree of camping of each application, in the paper's words."""

from warpbound.camping.prediction import FREE, FULL
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.campprof_2011.fig_9 import validated
from warpbound.reproduce.item import Given, Numbers

APPLICATIONS = ("GEM", "clique counter", "transpose, coalesced", "transpose, diagonal")


def numbers(given: Given) -> Numbers:
    """Words, and the degrees behind them."""
    degrees = {name: float(validated(given["gpu"])[name].degrees[-1]) for name in APPLICATIONS}
    return {name: _word(degree) for name, degree in degrees.items()} | {
        f"{name}, degree": degree for name, degree in degrees.items()
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """The band of each, and its times."""
    return tuple(
        Figure(
            f"{name}: band and times",
            Axis("active warps per SM", "warp/SM"),
            Axis("time", "s"),
            (
                series("worst", one.known.warps, one.band.worst),
                series("simulated", one.known.warps, one.times, "both"),
                series("best", one.known.warps, one.band.best),
            ),
            "CampProf, Figure 10: simulated",
        )
        for name, one in ((name, validated(given["gpu"])[name]) for name in APPLICATIONS)
    )


def _word(degree: float) -> str:
    return "free" if degree < FREE else "moderate" if degree < FULL else "full"
