"""Figure 21: warps that wait for memory together, against warps there are."""

from collections.abc import Mapping

import numpy as np

from warpbound.bounds import Real
from warpbound.models.hong_kim_2009 import mwp_limits
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.hong_kim_2009.machines import on, warps_to
from warpbound.reproduce.item import Given, Numbers

COALESCED: Mapping[str, Real] = {"coal_mem_insts": 1.0, "uncoal_mem_insts": 0.0}
UNCOALESCED: Mapping[str, Real] = {"coal_mem_insts": 0.0, "uncoal_mem_insts": 1.0}


def numbers(given: Given) -> Numbers:
    """Where MWP levels off; departure and bandwidth by themselves."""
    gpu, plenty = given["gpu"], 1e6
    alone = {
        f"{name}, coalesced, {words}": float(mwp_limits(on(given, name, **COALESCED)).limits[limit])
        for name in given["gpus"]
        for limit, words in (("departure", "departures"), ("bandwidth", "bandwidth"))
    }
    levels = {
        f"{gpu}, uncoalesced, {n:g} transactions": float(
            mwp_limits(on(given, gpu, active_blocks=plenty, uncoal_per_mw=n, **UNCOALESCED)).rate
        )
        for n in given["transactions"]
    }
    return {
        f"{gpu}, coalesced": float(mwp_limits(on(given, gpu, active_blocks=plenty, **COALESCED)).rate),
        **levels,
        "uncoalesced never fills the bus": _never_full(given),
        **alone,
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """MWP against warps."""
    n = warps_to(given["most_warps"])
    cases = [("coalesced", on(given, given["gpu"], active_blocks=n, **COALESCED))]
    for count in given["transactions"][1:4]:
        x = on(given, given["gpu"], active_blocks=n, uncoal_per_mw=count, **UNCOALESCED)
        cases.append((f"uncoalesced, {count:g} transactions", x))
    return (
        Figure(
            f"MWP on {given['gpu']}",
            Axis("warps", "warp/SM"),
            Axis("MWP", "warp/SM"),
            tuple(series(name, n, mwp_limits(x).rate) for name, x in cases),
            "Hong and Kim 2009, Figure 21: the model",
        ),
    )


def _never_full(given: Given) -> bool:
    """Whether departures bound MWP before bandwidth does, from 2 transactions on."""
    n = np.arange(2.0, 33.0)
    found = mwp_limits(on(given, given["gpu"], uncoal_per_mw=n, **UNCOALESCED)).limits
    return bool((found["departure"] < found["bandwidth"]).all())
