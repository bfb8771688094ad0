"""The roofline of a launch on a board, or of a few numbers."""

from warpbound.l2_clock import l2_rate
from warpbound.model_inputs.roofline_2009 import peak
from warpbound.page.quick_prediction import can_time, quick_seconds
from warpbound.page.sliders import Control, real_slider
from warpbound.page.subject import Subject
from warpbound.page.views.view import Values, ViewOutput
from warpbound.report import figures
from warpbound.report.formatting import amount, flops
from warpbound.workload.files.lanes import pipe_cycles

WARP = 32.0
SECTOR_B = 32.0


def roofline_controls(subject: Subject) -> list[Control]:
    if subject.facts is not None or subject.entry is not None:
        return []
    board = subject.gpu
    return [
        real_slider("roof.peak", "Peak", "Gflop/s", _peak(subject) / 1e9),
        real_slider("roof.vendor", "DRAM bandwidth, vendor's", "GB/s", board.value("dram_bandwidth") / 1e9),
        real_slider(
            "roof.bandwidth", "DRAM bandwidth, achievable", "GB/s", board.value("dram_achievable_bandwidth") / 1e9
        ),
        Control("roof.intensity", "Operational intensity", "flop/B", 4.0, 0.05, 100.0),
    ]


def _peak(subject: Subject) -> float:
    """Single precision, FMA = 2, flop/s."""
    rules, board = subject.gpu.limits, subject.gpu
    cycles = pipe_cycles(board, "fma")
    if not cycles:
        return 0.0
    return 2.0 * WARP * rules.sub_cores / cycles * board.value("sm_count") * board.value("boost_clock")


def roofline(subject: Subject, values: Values) -> ViewOutput:
    if subject.facts is None and subject.entry is None:
        controls = roofline_controls(subject)
        return _bare_roof({control.key: values.get(control.key, control.value) for control in controls})
    x = subject.facts
    flop = {kind: count for kind, count in x.work.flop.items() if count} if x else {}
    if x is None or not flop or x.work.warps is None or not can_time(subject):
        return ViewOutput(words=("The roofline needs a launch with arguments, and floating-point work.",))
    memory, board = x.work.memory, subject.gpu
    traffic = {
        "DRAM": memory.dram_bytes_read + memory.dram_bytes_written,
        "L2": SECTOR_B * (memory.l2_sectors_read + memory.l2_sectors_written),
        "L1": SECTOR_B * (memory.l1_sectors_load + memory.l1_sectors_store),
    }
    total = sum(flop.values())
    known_roofs = {
        "L1": _times(board.get("l1_bandwidth"), x.clock_hz * board.value("sm_count")),
        "L2": l2_rate(board),
        "DRAM, vendor": board.value("dram_bandwidth"),
        "DRAM, achievable": board.value("dram_achievable_bandwidth"),
    }
    roofs = figures.Roofs(
        {f"{kind} peak": peak(board, kind, x.clock_hz, x.work.tensor) for kind in flop},
        {name: rate for name, rate in known_roofs.items() if rate},
        frozenset(("DRAM, achievable", "L2")),
    )
    reached = total * x.work.warps / quick_seconds(subject)
    spot = figures.Spot(subject.name, {level: total / size for level, size in traffic.items() if size > 0}, reached)
    share = 100 * reached / max(roofs.compute.values())
    words = (f"{flops(reached)} predicted, {amount(share)} % of the peak.",)
    return ViewOutput(figures.roofline(roofs, [spot]), words)


def _times(rate: float | None, factor: float) -> float | None:
    return None if rate is None else rate * factor


def _bare_roof(own: Values) -> ViewOutput:
    if min(own.values()) <= 0:
        return ViewOutput(words=("A roofline needs a peak, bandwidths and an intensity above 0.",))
    peak_flops, bandwidth = 1e9 * own["roof.peak"], 1e9 * own["roof.bandwidth"]
    intensity = own["roof.intensity"]
    attained = min(peak_flops, bandwidth * intensity)
    roofs = figures.Roofs(
        {"peak": peak_flops},
        {"DRAM, vendor": 1e9 * own["roof.vendor"], "DRAM, achievable": bandwidth},
        frozenset(("DRAM, achievable",)),
    )
    binds = "Memory" if bandwidth * intensity < peak_flops else "Arithmetic"
    words = (f"{binds} binds: {flops(attained)} can be attained at {intensity:.3g} flop per byte.",)
    return ViewOutput(figures.roofline(roofs, [figures.Spot("these sliders", {"DRAM": intensity}, attained)]), words)
