"""The notes' matrix-vector kernels: latency, P by off-chip bandwidth, Q by issue."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from warpbound.bounds import Real
from warpbound.models.interval_analysis import (
    Inputs,
    chip_bandwidth,
    enough_threads,
    enough_threads_per_sm,
    issue_time,
    mxv,
    seconds,
    threads_per_sm,
    warps_per_sm,
)
from warpbound.report.figure_series import Axis, Figure, series_over
from warpbound.reproduce.item import Given, Numbers


@dataclass(frozen=True)
class Solution:
    """One kernel on one machine."""

    latency_ns: float
    threads: float         # P, on the chip
    threads_per_sm: float  # the same
    issue_cycles: float    # of one thread's instructions
    by_issue: float        # Q, threads per SM


def solution(given: Given, cycles: Real, data: Real, insts: dict[str, Real]) -> Solution:
    """P by off-chip bandwidth and Q by issue, for a latency in cycles, bytes and instructions of a thread."""
    clock = given["clock_GHz"] * 1e9
    bandwidth = {"memory": given["memory_GBs"] * 1e9}
    enough = enough_threads(Inputs(1.0, 1.0, cycles, clock, {"memory": data}, bandwidth, {}, {}))
    threads = float(enough.limits["memory"])
    per_sm = dict(given["per_sm"])
    return Solution(
        latency_ns=float(seconds(cycles, clock)) * 1e9,
        threads=threads,
        threads_per_sm=float(threads_per_sm(threads, given["sms"])),
        issue_cycles=float(issue_time(insts, per_sm)),
        by_issue=float(enough_threads_per_sm(cycles, insts, per_sm)),
    )


def mxv_lcs(given: Given) -> Numbers:
    """MXV-LCS: latencies in closed form on two machines and outside its conditions, bandwidths of whole chips."""
    best = mxv.size_needing_fewest_threads(given["load_latency"])
    square = _kernel(given, given["size"], given["size"])
    turing = replace(square, fp_latency=given["fp_latency_75"], fma_cycles=given["fma_cycles_75"])
    return {
        "L, 16 x 16, CC 5.x": mxv.load_compute_store(square),
        "L, 16 x 16, CC 7.5": mxv.load_compute_store(turing),
        "L, 4 x 16": mxv.load_compute_store(_kernel(given, **given["short"])),
        "L, 16 x 128": mxv.load_compute_store(_kernel(given, **given["wide"])),
        "size with fewest threads": best,
        "P at that size": _threads(given, best),
        "Theta_IM of GP100": chip_bandwidth(**given["gp100"]),
        "Theta_IM of GP104": chip_bandwidth(**given["gp104_memory"]),
        "Theta_IF of GP104": chip_bandwidth(**given["gp104_fp"]),
        "Theta_IF of CC 7.5": chip_bandwidth(**given["cc75_fp"]),
    }


def mxv_lcs_figures(given: Given) -> Iterator[Figure]:
    """P against the size of square matrices."""
    sizes = np.array(given["sizes"])
    lines = {"L_M 400 cycles, 1 TB/s, 1 GHz": _threads(given, sizes)}
    title, source = "Threads that use up off-chip bandwidth, MXV-LCS", "Matrix size minimizing number of threads"
    x, y = Axis("matrix size N", "1"), Axis("P", "thread")
    yield Figure(title, x, y, series_over(sizes, lines, "both"), f"Interval analysis, {source}")


def _kernel(given: Given, rows: Real, columns: Real, **other: Real) -> mxv.Kernel:
    return mxv.Kernel(rows, columns, given["load_latency"], given["fp_latency"], **other)


def _threads(given: Given, size: Real) -> Real:
    x = _kernel(given, size, size)
    interval = Inputs(
        1.0, 1.0, mxv.load_compute_store(x), given["clock_GHz"] * 1e9, {"memory": mxv.data(x)},
        {"memory": given["memory_TBs"] * 1e12}, {}, {},
    )  # fmt: skip
    return enough_threads(interval).limits["memory"]


def comparison_gtx1080(given: Given) -> Numbers:
    """GTX 1080: the solution as printed, with stores of two cycles, and with every instruction counted."""
    plain = _kernel(given, given["size"], given["size"], store_cycles=given["store_cycles"])
    correct = replace(plain, store_cycles=given["correct_store_cycles"])
    whole = replace(plain, extra=float(round(float(mxv.extra_insts(given["insts_per_fma"], plain)))))
    bare, full = _solution(given, plain), _solution(given, whole)
    slide = {**given, "per_sm": given["per_sm_of_slide"]}
    return {
        "plain": _lines(bare, plain),
        "correct stores": {
            "L": mxv.load_compute_store(correct),
            "L in time": _solution(given, correct).latency_ns,
        },
        "with all instructions": {"extra instructions": whole.extra, **_lines(full, whole)},
        "peak between P and Q": bare.threads_per_sm < given["peak_at"] < bare.by_issue,
        "32 load and store units, as on the slide": {"Q": _solution(slide, plain).by_issue},
    }


def _solution(given: Given, x: mxv.Kernel) -> Solution:
    return solution(given, mxv.load_compute_store(x), mxv.data(x), mxv.insts(x))


def _lines(result: Solution, x: mxv.Kernel) -> Numbers:
    return {
        "L": mxv.load_compute_store(x),
        "L in time": result.latency_ns,
        "P": result.threads,
        "P per SM": result.threads_per_sm,
        "issue time": result.issue_cycles,
        "Q": result.by_issue,
    }


def comparison_k20(given: Given) -> Numbers:
    """K20c: the same kernel, with all instructions counted in two ways."""
    cycles, insts = given["cycles"], given["insts"]
    bare = solution(given, cycles, given["bytes"], insts)
    more = solution(given, cycles, given["bytes"], {**insts, "fp": insts["fp"] + given["extra"]})
    few = given["extra_less_accesses"]
    alike = solution(given, cycles + few, given["bytes"], {**insts, "fp": insts["fp"] + few})
    return {
        "L in time": bare.latency_ns,
        "P": bare.threads,
        "P per SM": bare.threads_per_sm,
        "issue time": bare.issue_cycles,
        "Q": bare.by_issue,
        "issue time, 1.2 instructions": more.issue_cycles,
        "Q, 1.2 instructions": more.by_issue,
        "Q, 1.2 instructions, as for the GTX 1080": alike.by_issue,
    }


def mxv_lc_s(given: Given) -> Numbers:
    """MXV-(LC)*S, a load, its multiply-adds, the next load: with both bandwidths that the notes have for a board."""
    x = _kernel(given, given["size"], given["size"], l2_latency=given["l2_latency"], store_cycles=given["store_cycles"])
    cycles = mxv.load_compute_repeated_store(x)
    printed, device = (
        solution({**given, "memory_GBs": given[name]}, cycles, mxv.data(x), mxv.insts(x))
        for name in ("printed_GBs", "device_GBs")
    )
    return {
        "L": cycles,
        "P": printed.threads,
        "P, of 320.3 GB/s": device.threads,
        "P per SM": printed.threads_per_sm,
        "warps per SM": warps_per_sm(printed.threads, given["sms"]),
    }


def mxv_per_thread(given: Given) -> Numbers:
    """mxv_o_per_thd, multiply-adds in a chain: latency, data and threads."""
    x = _kernel(given, given["size"], given["size"], store_cycles=given["store_cycles"])
    cycles, data = mxv.per_thread(x), mxv.data_per_thread(x)
    device, printed = (
        solution({**given, "memory_GBs": given[name]}, cycles, data, mxv.insts_per_thread(x))
        for name in ("device_GBs", "printed_GBs")
    )
    return {
        "L": cycles,
        "L in time": device.latency_ns,
        "data": data,
        "P": device.threads,
        "P, of 320.8 GB/s": printed.threads,
        "P per SM": device.threads_per_sm,
        "warps per SM": warps_per_sm(device.threads, given["sms"]),
    }
