"""MXV-(LC)*S: a load, its multiply-adds, the next load."""

from warpbound.models.interval_analysis import mxv, warps_per_sm
from warpbound.reproduce.interval_analysis.solutions import solved
from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """Latency and threads, with both bandwidths that the notes have for one board."""
    x = mxv.Kernel(
        given["size"], given["size"], given["load_latency"], given["fp_latency"], given["l2_latency"],
        store_cycles=given["store_cycles"],
    )  # fmt: skip
    cycles = float(mxv.load_compute_repeated_store(x))
    insts = {kind: float(count) for kind, count in mxv.insts(x).items()}
    found, other = (
        solved({**given, "memory_GBs": given[which]}, cycles, float(mxv.data(x)), insts)
        for which in ("printed_GBs", "device_GBs")
    )
    return {
        "L": cycles,
        "P": found.threads,
        "P, of 320.3 GB/s": other.threads,
        "P per SM": found.threads_per_sm,
        "warps per SM": warps_per_sm(found.threads, given["sms"]),
    }
