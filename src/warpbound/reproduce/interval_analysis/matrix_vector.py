"""The notes' matrix-vector kernels: latency, P by off-chip bandwidth, Q by issue."""

from collections.abc import Iterator
from dataclasses import replace

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
from warpbound.quick_dataclasses import dataclass
from warpbound.report.figure_series import Axis, Figure, series_over
from warpbound.reproduce.item import ItemInputs, Numbers


@dataclass(frozen=True)
class Solution:
    """One kernel on one machine."""

    latency_ns: float
    threads: float         # P, on the chip
    threads_per_sm: float  # the same
    issue_cycles: float    # of one thread's instructions
    by_issue: float        # Q, threads per SM


def solution(inputs: ItemInputs, cycles: Real, data: Real, insts: dict[str, Real]) -> Solution:
    """P by off-chip bandwidth and Q by issue, for a latency in cycles, bytes and instructions of a thread."""
    clock = inputs["clock_GHz"] * 1e9
    bandwidth = {"memory": inputs["memory_GBs"] * 1e9}
    enough = enough_threads(Inputs(1.0, 1.0, cycles, clock, {"memory": data}, bandwidth, {}, {}))
    threads = float(enough.limits["memory"])
    per_sm = dict(inputs["per_sm"])
    return Solution(
        latency_ns=float(seconds(cycles, clock)) * 1e9,
        threads=threads,
        threads_per_sm=float(threads_per_sm(threads, inputs["sms"])),
        issue_cycles=float(issue_time(insts, per_sm)),
        by_issue=float(enough_threads_per_sm(cycles, insts, per_sm)),
    )


def mxv_lcs(inputs: ItemInputs) -> Numbers:
    """MXV-LCS: latency by the formula on two machines and where it does not hold; bandwidth of whole chips."""
    best = mxv.size_needing_fewest_threads(inputs["load_latency"])
    square = _kernel(inputs, inputs["size"], inputs["size"])
    turing = replace(square, fp_latency=inputs["fp_latency_75"], fma_cycles=inputs["fma_cycles_75"])
    return {
        "L, 16 x 16, CC 5.x": mxv.load_compute_store(square),
        "L, 16 x 16, CC 7.5": mxv.load_compute_store(turing),
        "L, 4 x 16": mxv.load_compute_store(_kernel(inputs, **inputs["short"])),
        "L, 16 x 128": mxv.load_compute_store(_kernel(inputs, **inputs["wide"])),
        "size with fewest threads": best,
        "P at that size": _threads(inputs, best),
        "Theta_IM of GP100": chip_bandwidth(**inputs["gp100"]),
        "Theta_IM of GP104": chip_bandwidth(**inputs["gp104_memory"]),
        "Theta_IF of GP104": chip_bandwidth(**inputs["gp104_fp"]),
        "Theta_IF of CC 7.5": chip_bandwidth(**inputs["cc75_fp"]),
    }


def mxv_lcs_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """P against the size of square matrices."""
    sizes = np.array(inputs["sizes"])
    lines = {"L_M 400 cycles, 1 TB/s, 1 GHz": _threads(inputs, sizes)}
    title, source = "Threads that use up off-chip bandwidth, MXV-LCS", "Matrix size minimizing number of threads"
    x, y = Axis("matrix size N", "1"), Axis("P", "thread")
    yield Figure(title, x, y, series_over(sizes, lines, "both"), f"Interval analysis, {source}")


def _kernel(inputs: ItemInputs, rows: Real, columns: Real, **other: Real) -> mxv.Kernel:
    return mxv.Kernel(rows, columns, inputs["load_latency"], inputs["fp_latency"], **other)


def _threads(inputs: ItemInputs, size: Real) -> Real:
    x = _kernel(inputs, size, size)
    interval = Inputs(
        1.0, 1.0, mxv.load_compute_store(x), inputs["clock_GHz"] * 1e9, {"memory": mxv.data(x)},
        {"memory": inputs["memory_TBs"] * 1e12}, {}, {},
    )  # fmt: skip
    return enough_threads(interval).limits["memory"]


def comparison_gtx1080(inputs: ItemInputs) -> Numbers:
    """GTX 1080: the solution as printed, with stores of two cycles, and with every instruction counted."""
    plain = _kernel(inputs, inputs["size"], inputs["size"], store_cycles=inputs["store_cycles"])
    correct = replace(plain, store_cycles=inputs["correct_store_cycles"])
    whole = replace(plain, extra=float(round(float(mxv.extra_insts(inputs["insts_per_fma"], plain)))))
    bare, full = _solution(inputs, plain), _solution(inputs, whole)
    slide = {**inputs, "per_sm": inputs["per_sm_of_slide"]}
    return {
        "plain": _lines(bare, plain),
        "correct stores": {
            "L": mxv.load_compute_store(correct),
            "L in time": _solution(inputs, correct).latency_ns,
        },
        "with all instructions": {"extra instructions": whole.extra, **_lines(full, whole)},
        "peak between P and Q": bare.threads_per_sm < inputs["peak_at"] < bare.by_issue,
        "32 load and store units, as on the slide": {"Q": _solution(slide, plain).by_issue},
    }


def _solution(inputs: ItemInputs, x: mxv.Kernel) -> Solution:
    return solution(inputs, mxv.load_compute_store(x), mxv.data(x), mxv.insts(x))


def _lines(result: Solution, x: mxv.Kernel) -> Numbers:
    return {
        "L": mxv.load_compute_store(x),
        "L in time": result.latency_ns,
        "P": result.threads,
        "P per SM": result.threads_per_sm,
        "issue time": result.issue_cycles,
        "Q": result.by_issue,
    }


def comparison_k20(inputs: ItemInputs) -> Numbers:
    """K20c: the same kernel, with all instructions counted in two ways."""
    cycles, insts = inputs["cycles"], inputs["insts"]
    bare = solution(inputs, cycles, inputs["bytes"], insts)
    more = solution(inputs, cycles, inputs["bytes"], {**insts, "fp": insts["fp"] + inputs["extra"]})
    few = inputs["extra_less_accesses"]
    alike = solution(inputs, cycles + few, inputs["bytes"], {**insts, "fp": insts["fp"] + few})
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


def mxv_lc_s(inputs: ItemInputs) -> Numbers:
    """MXV-(LC)*S (a load, its multiply-adds, the next load), with both bandwidths that the notes give for a board."""
    size, l2_latency = inputs["size"], inputs["l2_latency"]
    x = _kernel(inputs, size, size, l2_latency=l2_latency, store_cycles=inputs["store_cycles"])
    cycles = mxv.load_compute_repeated_store(x)
    papers, device = (
        solution({**inputs, "memory_GBs": inputs[name]}, cycles, mxv.data(x), mxv.insts(x))
        for name in ("printed_GBs", "device_GBs")
    )
    return {
        "L": cycles,
        "P": papers.threads,
        "P, of 320.3 GB/s": device.threads,
        "P per SM": papers.threads_per_sm,
        "warps per SM": warps_per_sm(papers.threads, inputs["sms"]),
    }


def mxv_per_thread(inputs: ItemInputs) -> Numbers:
    """mxv_o_per_thd, a chain of multiply-adds: latency, bytes and threads."""
    x = _kernel(inputs, inputs["size"], inputs["size"], store_cycles=inputs["store_cycles"])
    cycles, data = mxv.per_thread(x), mxv.data_per_thread(x)
    device, papers = (
        solution({**inputs, "memory_GBs": inputs[name]}, cycles, data, mxv.insts_per_thread(x))
        for name in ("device_GBs", "printed_GBs")
    )
    return {
        "L": cycles,
        "L in time": device.latency_ns,
        "data": data,
        "P": device.threads,
        "P, of 320.8 GB/s": papers.threads,
        "P per SM": device.threads_per_sm,
        "warps per SM": warps_per_sm(device.threads, inputs["sms"]),
    }
