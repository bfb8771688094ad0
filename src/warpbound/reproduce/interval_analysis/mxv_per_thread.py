"""mxv_o_per_thd: multiply-adds in a chain."""

from warpbound.models.interval_analysis import mxv, warps_per_sm
from warpbound.reproduce.interval_analysis.solutions import solved
from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """Latency, data and threads."""
    x = mxv.Kernel(
        given["size"], given["size"], given["load_latency"], given["fp_latency"], store_cycles=given["store_cycles"]
    )
    cycles, data = float(mxv.per_thread(x)), float(mxv.data_per_thread(x))
    insts = {kind: float(count) for kind, count in mxv.insts_per_thread(x).items()}
    found, other = (
        solved({**given, "memory_GBs": given[which]}, cycles, data, insts) for which in ("device_GBs", "printed_GBs")
    )
    return {
        "L": cycles,
        "L in time": found.latency_ns,
        "data": data,
        "P": found.threads,
        "P, of 320.8 GB/s": other.threads,
        "P per SM": found.threads_per_sm,
        "warps per SM": warps_per_sm(found.threads, given["sms"]),
    }
