"""Threads that suffice: P for off-chip data and Q for issue, of a kernel's loops or of a matrix-vector product.

Source   lecture notes "Interval Analysis": matrix size that needs fewest threads; the GTX 1080 of its solutions.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.models.interval_analysis import Inputs, enough_threads, enough_threads_per_sm, mxv, threads_per_sm
from warpbound.page.sliders import Control, real_slider, whole_slider
from warpbound.page.subject import Subject
from warpbound.page.views.view import Values, ViewOutput
from warpbound.report.figures.picture import Axis, Bars, Curve, Picture, Rule, Style

NOTES = 'Lecture notes "Interval Analysis"'
WORDS = {  # key -> label, unit, value
    "load_latency": ("Memory latency, L_M", "cycle", 400.0),
    "l2_latency": ("L2 latency, L_2", "cycle", 200.0),
    "fp_latency": ("Latency of arithmetic, L_F", "cycle", 6.0),
    "load_cycles": ("Issue of a load", "cycle", 4.0),
    "store_cycles": ("Issue of a store", "cycle", 4.0),
    "clock": ("Clock", "MHz", 1730.0),
    "bandwidth": ("Off-chip bandwidth", "GB/s", 320.3),
    "fp_rate": ("Arithmetic issue", "inst/cycle/SM", 128.0),
    "memory_rate": ("Issue of loads and stores", "inst/cycle/SM", 64.0),
}
SIZE, SMS = "mxv.size", "mxv.sms"
LARGEST = 128
Reals = NDArray[np.float64]


def threads_controls(subject: Subject) -> list[Control]:
    if subject.entry is not None:
        return []
    return [
        whole_slider(SIZE, "Rows and columns, N", "", 16, (1, LARGEST)),
        *(real_slider(f"mxv.{name}", *words) for name, words in WORDS.items()),
        whole_slider(SMS, "SMs", "", 20, (1, 160)),
    ]


def threads_needed(subject: Subject, values: Values) -> ViewOutput:
    return _of_loops(subject) if subject.entry is not None else _of_product(subject, values)


def _of_product(subject: Subject, values: Values) -> ViewOutput:
    """P and Q per SM over N: all loads first, each load used at once, a row to a thread."""
    control_values = {control.key: values.get(control.key, control.value) for control in threads_controls(subject)}
    number = {name: control_values[f"mxv.{name}"] for name in WORDS}
    size, sms = min(8.0 * LARGEST, max(1.0, control_values[SIZE])), max(1.0, control_values[SMS])
    at = np.arange(1.0, max(LARGEST, size) + 1.0)
    lines: dict[str, tuple[Reals, Reals]] = {}
    for name, latency, data, insts in (
        ("all loads first", mxv.load_compute_store, mxv.data, mxv.insts),
        ("each load used at once", mxv.load_compute_repeated_store, mxv.data, mxv.insts),
        ("a row to a thread", mxv.per_thread, mxv.data_per_thread, mxv.insts_per_thread),
    ):
        own = {key: number[key] for key in ("load_latency", "l2_latency", "fp_latency", "load_cycles", "store_cycles")}
        x = mxv.Kernel(at, at, **own)
        cycles = latency(x)
        bandwidth: dict[str, Real] = {"memory": 1e9 * number["bandwidth"]}
        clock = 1e6 * number["clock"]
        enough = enough_threads(Inputs(1.0, 1.0, cycles, clock, {"memory": data(x)}, bandwidth, {}, {}))
        by_issue = enough_threads_per_sm(cycles, insts(x), {"fp": number["fp_rate"], "memory": number["memory_rate"]})
        p = np.asarray(threads_per_sm(enough.limits["memory"], sms))
        lines[name] = (np.broadcast_to(p, at.shape), np.broadcast_to(by_issue, at.shape))
    here = int(size) - 1
    words = tuple(
        f"{name.capitalize()}: P = {p[here]:.4g} threads per SM use up the off-chip bandwidth, Q = {q[here]:.4g} the "
        f"issue slots; fewest P at N = {at[int(np.argmin(p))]:.0f}."
        for name, (p, q) in lines.items()
    )
    return ViewOutput(_curves(at, lines, size), words)


def _curves(at: Reals, lines: dict[str, tuple[Reals, Reals]], size: float) -> Picture:
    colours = ("blue", "vermilion", "green")
    layers = [
        Curve(f"{kind}, {name}", at, line, Style(colour, dash))
        for (name, pair), colour in zip(lines.items(), colours, strict=True)
        for kind, line, dash in zip("PQ", pair, ("solid", "dash"), strict=True)
    ]
    top = 4.0 * float(np.median([line[len(line) // 8] for pair in lines.values() for line in pair]))
    return Picture(
        title="Threads that suffice, matrix times vector",
        x=Axis("rows and columns, N", "", "log", (1.0, float(at[-1]))),
        y=Axis("threads", "per SM", span=(0.0, top)),
        layers=(*layers, Rule(size, f"N = {size:g}")),
        source=f"{NOTES}: Matrix size minimizing number of threads",
        caption="More threads than the smaller of P (off-chip data) and Q (issue) gain nothing.",
    )


def _of_loops(subject: Subject) -> ViewOutput:
    """P and Q of the loops of compiled code."""
    loops = subject.kernel.loops if subject.kernel else []
    complete_loops = [(loop, loop.P, loop.Q) for loop in loops if loop.P and loop.Q]
    if not complete_loops:
        return ViewOutput(words=("No loop here has a known latency and traffic: P and Q stay unknown.",))
    sms = subject.gpu.value("sm_count")
    names = tuple(
        f"lines {'-'.join(map(str, loop.lines))}" if loop.lines else "a loop" for loop, _, _ in complete_loops
    )
    resident = 32.0 * subject.facts.warps_per_sm if subject.facts and subject.facts.warps_per_sm else 0.0
    words = tuple(
        f"{name.capitalize()}: P = {p / sms:.4g} threads per SM use up DRAM, Q = {q:.4g} the issue slots."
        for name, (_, p, q) in zip(names, complete_loops, strict=True)
    )
    rows = np.arange(len(complete_loops), dtype=np.float64)
    p, q = (
        np.array(numbers, dtype=np.float64)
        for numbers in zip(*((p / sms, q) for _, p, q in complete_loops), strict=True)
    )
    rule = (Rule(resident, f"{resident:.0f} resident"),) if resident else ()
    picture = Picture(
        title="Threads that suffice, loop by loop",
        x=Axis("threads", "per SM", span=(0.0, 1.1 * max(float(p.max()), float(q.max()), resident))),
        y=Axis("loop", names=names, span=(len(complete_loops) - 0.4, -0.6)),
        layers=(
            Bars("P, for DRAM", rows - 0.2, rows * 0.0, p, tuple(f"{threads:.4g}" for threads in p), Style("blue")),
            Bars("Q, for issue", rows + 0.2, rows * 0.0, q, tuple(f"{threads:.4g}" for threads in q), Style("orange")),
            *rule,
        ),
        source=f"{NOTES}; latency, traffic and issue of the compiled loop",
        caption="More threads than the smaller of P and Q gain nothing in this loop.",
        height=200 + 60 * len(complete_loops),
    )
    return ViewOutput(picture, words)
