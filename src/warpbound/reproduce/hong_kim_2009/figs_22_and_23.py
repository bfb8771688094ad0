"""Figures 22 and 23: why more warps help one version of SVM and not the other."""

import numpy as np

from warpbound.models.hong_kim_2009 import Inputs, cpi, terms
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.hong_kim_2009.machines import on, warps_to
from warpbound.reproduce.item import Given, Numbers

VERSIONS = ("optimised", "naive")


def numbers(given: Given) -> Numbers:
    """Limits of MWP, whether the number of warps matters, and how much faster coalescing alone is."""
    fast, slow = (terms(inputs(given, version, float(given["most_warps"]))) for version in VERSIONS)
    n = warps_to(given["most_warps"])
    naive = np.asarray(cpi(inputs(given, "naive", n)))
    ratio = cpi(inputs(given, "naive", n[-1])) / cpi(inputs(given, "optimised", n[-1]))
    return {
        "optimised": {
            "MWP_peak_BW": fast.mwp_peak_bw,
            "MWP_peak_BW, second time": fast.mwp_peak_bw,
            "MWP_Without_BW": fast.mwp_full,
            "MWP": fast.mwp,
            "CWP": fast.cwp,
        },
        "naive": {"MWP_Without_BW": slow.mwp_full, "MWP": slow.mwp, "CWP": slow.cwp},
        "N helps the naive version": "no" if naive[3:].max() < naive[3:].min() * 1.05 else "yes",
        "speed-up": float(ratio),
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """Both limits of MWP, MWP, CWP and N against the warps."""
    return tuple(_figure(given, version) for version in VERSIONS)


def _figure(given: Given, version: str) -> Figure:
    n = warps_to(given["most_warps"])
    t = terms(inputs(given, version, n))
    lines = {
        "N": n,
        "MWP_Without_BW": t.mwp_full,
        "MWP_peak_BW": t.mwp_peak_bw,
        "MWP": t.mwp,
        "CWP": t.cwp,
    }
    return Figure(
        f"MWP and CWP, {version} SVM on {given['gpu']}",
        Axis("warps N", "warp/SM"),
        Axis("warps", "warp/SM"),
        tuple(series(name, n, value) for name, value in lines.items()),
        "Hong and Kim 2009, Figures 22 and 23: the model",
    )


def inputs(given: Given, version: str, warps: float | np.ndarray[tuple[int], np.dtype[np.float64]]) -> Inputs:
    """A version of SVM with so many warps on each SM."""
    loads = given["mem_insts"]
    return on(
        given,
        given["gpu"],
        blocks=np.multiply(warps, given["machines"][given["gpu"]]["sms"]),
        active_blocks=warps,
        comp_insts=given["comp_insts"],
        coal_mem_insts=loads if version == "optimised" else 0.0,
        uncoal_mem_insts=loads if version == "naive" else 0.0,
    )
