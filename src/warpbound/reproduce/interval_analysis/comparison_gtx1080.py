"""GTX 1080: does the analysis explain a peak at 4 warps per SM?"""

from warpbound.models.interval_analysis import mxv
from warpbound.reproduce.interval_analysis.solutions import Solution, solved
from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """The solution's lines: bare, with stores that take two cycles, with every instruction counted."""
    plain, whole = _kernel(given, given["store_cycles"]), _kernel(given, given["store_cycles"], counted=True)
    bare, full = _solution(given, plain), _solution(given, whole)
    correct = _kernel(given, given["correct_store_cycles"])
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


def _kernel(given: Given, store_cycles: float, *, counted: bool = False) -> mxv.Kernel:
    """`counted`: with the instructions that a profiler finds beside loads, stores and multiply-adds, in whole ones."""
    bare = mxv.Kernel(
        given["size"], given["size"], given["load_latency"], given["fp_latency"], store_cycles=store_cycles
    )
    extra = round(float(mxv.extra_insts(given["insts_per_fma"], bare))) if counted else 0
    return mxv.Kernel(**{**bare.__dict__, "extra": float(extra)})


def _solution(given: Given, x: mxv.Kernel) -> Solution:
    insts = {kind: float(count) for kind, count in mxv.insts(x).items()}
    return solved(given, float(mxv.load_compute_store(x)), float(mxv.data(x)), insts)


def _lines(found: Solution, x: mxv.Kernel) -> Numbers:
    return {
        "L": mxv.load_compute_store(x),
        "L in time": found.latency_ns,
        "P": found.threads,
        "P per SM": found.threads_per_sm,
        "issue time": found.issue_cycles,
        "Q": found.by_issue,
    }
