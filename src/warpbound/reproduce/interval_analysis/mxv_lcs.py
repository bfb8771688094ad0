"""MXV-LCS: latency in closed form, which equals the scoreboard on the assumed code."""

import numpy as np

from warpbound.bounds import Real
from warpbound.models.interval_analysis import Inputs, chip_bandwidth, enough_threads, mxv
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """Latencies on two machines, the formula outside its conditions, bandwidths of whole chips."""
    best = mxv.size_needing_fewest_threads(given["load_latency"])
    return {
        "L, 16 x 16, CC 5.x": mxv.load_compute_store(_kernel(given, given["size"], given["size"])),
        "L, 16 x 16, CC 7.5": mxv.load_compute_store(
            mxv.Kernel(
                given["size"], given["size"], given["load_latency"], given["fp_latency_75"],
                fma_cycles=given["fma_cycles_75"],
            )
        ),
        "L, 4 x 16": mxv.load_compute_store(_kernel(given, **given["short"])),
        "L, 16 x 128": mxv.load_compute_store(_kernel(given, **given["wide"])),
        "size with fewest threads": best,
        "P at that size": _threads(given, best),
        "Theta_IM of GP100": chip_bandwidth(**given["gp100"]),
        "Theta_IM of GP104": chip_bandwidth(**given["gp104_memory"]),
        "Theta_IF of GP104": chip_bandwidth(**given["gp104_fp"]),
        "Theta_IF of CC 7.5": chip_bandwidth(**given["cc75_fp"]),
    }  # fmt: skip


def figures(given: Given) -> tuple[Figure, ...]:
    """P against the size of square matrices."""
    sizes = np.array(given["sizes"])
    return (
        Figure(
            "Threads that use up off-chip bandwidth, MXV-LCS",
            Axis("matrix size N", "1"),
            Axis("P", "thread"),
            (series("L_M 400 cycles, 1 TB/s, 1 GHz", sizes, _threads(given, sizes), "both"),),
            "Interval analysis, Matrix size minimizing number of threads",
        ),
    )


def _kernel(given: Given, rows: Real, columns: Real) -> mxv.Kernel:
    return mxv.Kernel(rows, columns, given["load_latency"], given["fp_latency"])


def _threads(given: Given, size: Real) -> Real:
    x = _kernel(given, size, size)
    interval = Inputs(
        1.0, 1.0, mxv.load_compute_store(x), given["clock_GHz"] * 1e9, {"memory": mxv.data(x)},
        {"memory": given["memory_TBs"] * 1e12}, {}, {},
    )  # fmt: skip
    return enough_threads(interval).limits["memory"]
