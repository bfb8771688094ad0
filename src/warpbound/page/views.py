"""The views: which numbers each lets one set, and what it draws from a subject and these numbers.

Every figure and every number comes from the functions that the report and Python callers use.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from warpbound.adapt.answers import inputs_of
from warpbound.adapt.roofline_2009 import peak
from warpbound.bounds import Bounds
from warpbound.camping.prediction import Measured, benchmarks_of
from warpbound.camping.prediction import predicted as camped
from warpbound.errors import WarpboundError
from warpbound.headline.launch import steady
from warpbound.headline.parameters import known
from warpbound.headline.stations import Launched as Stationed
from warpbound.isa.limits import limits
from warpbound.machine import gpu as board_of
from warpbound.models import hong_kim_2009, x_model_2016
from warpbound.models.volkov_2016 import mixes
from warpbound.page.controls import Control, around, between, of_inputs
from warpbound.page.subject import Subject, busy_sms
from warpbound.predict import Place, throughput
from warpbound.report import figures
from warpbound.report.figures.picture import Drawable
from warpbound.report.words import RESOURCE_WORDS, amount, seconds
from warpbound.residency import occupancy
from warpbound.workload.files.lanes import pipe_cycles

Values = Mapping[str, float]
THOUSAND = 1000.0
WARP = 32.0
SECTOR_B = 32.0
# Maxwell as Volkov's Table 4.1 has it, 4 adds per memory access
BARE_MIX = mixes.Mix(32.0, 4.0, 368.0, 6.0, 0.0814, 4.0, 4.0)
BARE_X = x_model_2016.Inputs(105.0, 1.0, 128.0, 96.0, 600.0, 0.6, 10.0, 16384.0, 6.0, 819.2)
BARE_MWP = hong_kim_2009.Inputs(
    1.0e9, 80.0e9, 420.0, 10.0, 4.0, 128.0, 80.0, 16.0, 5.0, 27.0, 0.0, 6.0, 6.0, 1.0, 128.0
)
BARE_COUNTERS = {"gld_64": 1.0e6, "gst_64": 1.0e6}
CAMPING_BOARD = "gtx280"


@dataclass(frozen=True)
class Drawn:
    """Pictures, and sentences that stand above them."""

    pictures: tuple[Drawable, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class View:
    """exact : parts of the report that stand below, from the whole analysis. gpu : whether a board's numbers act."""

    title: str
    draw: Callable[[Subject, Values], Drawn]
    controls: Callable[[Subject], list[Control]] = lambda _: []
    exact: tuple[str, ...] = ()
    gpu: str = "acts"


def inputs(prefix: str, given: Any, values: Values) -> Any:
    """A model's Inputs with the numbers set by hand in their places."""
    names = {f.name for f in fields(given)}
    own = {key.removeprefix(prefix + "."): value for key, value in values.items() if key.startswith(prefix + ".")}
    return replace(given, **{name: value for name, value in own.items() if name in names})


def _model(name: str, subject: Subject, bare: Any) -> Any:
    """A model's Inputs of the subject; `bare` for sliders alone; a sentence where the model cannot speak."""
    if subject.launched is None:
        return bare if subject.entry is None else f"{name} needs a launch with arguments: fill in the fields."
    return inputs_of(name, subject.launched)


# ---------------------------------------------------------------- verdict


def verdict(subject: Subject, values: Values) -> Drawn:
    if subject.entry is None:
        return hiding(subject, values)
    words = []
    if subject.estimated and subject.launched is not None:
        words.append(f"About {seconds(quick_seconds(subject))}, an estimate while you move; the analysis follows.")
    parts = subject.launched.work.parts if subject.launched else (subject.entry.get("latency") or {}).get("parts")
    stack = (figures.latency_stack({subject.name: parts}, "the schedule of one warp alone"),) if parts else ()
    return Drawn(stack, tuple(words))


def quick_seconds(subject: Subject) -> float:
    """Time of the launch by the headline prediction, its interval left out."""
    from warpbound.headline.launch import launch_time

    x = subject.launched
    assert x is not None
    assert x.blocks
    parameters = known(subject.gpu).values
    active = min(subject.gpu.value("sm_count"), float(x.blocks))
    stationed = Stationed(x.work, subject.gpu, x.clock_hz, float(_block_warps(subject)), active)
    per_sm = x.blocks / active
    full = steady(stationed, parameters, min(float(max(1, subject.fitting)), per_sm))
    return float(np.ravel(launch_time(stationed, parameters, full, per_sm))[0])


def _block_warps(subject: Subject) -> int:
    return -(-subject.block.threads // 32)


# ---------------------------------------------------------------- occupancy


def occupancy_controls(subject: Subject) -> list[Control]:
    rules = limits(subject.gpu.compute_capability)
    return [
        between("block.threads", "Threads per block", "", subject.block.threads, (1, rules.max_threads_per_block)),
        between(
            "block.registers", "Registers per thread", "", subject.block.registers, (1, rules.max_registers_per_thread)
        ),
        between(
            "block.shared_bytes", "Shared memory per block", "B", subject.block.shared_bytes,
            (0, rules.max_shared_per_block),
        ),
    ]  # fmt: skip


def set_block(subject: Subject, values: Values) -> figures.Block:
    """The block with the numbers as set, whole."""
    found: figures.Block = inputs("block", subject.block, values)
    return figures.Block(round(found.threads), round(found.registers), round(found.shared_bytes))


def occupied(subject: Subject, values: Values) -> Drawn:
    block = set_block(subject, values)
    found = occupancy(subject.gpu, block.threads, block.registers, block.shared_bytes)
    words = [
        f"{found.blocks_per_sm} blocks and {found.warps_per_sm} of {found.max_warps_per_sm} warps per SM, "
        f"limited by {', '.join(found.limiters)}."
    ]
    words += [step.sentence for step in found.next_step]
    return Drawn((figures.occupancy_against_limits(subject.gpu, block),), tuple(words))


# ---------------------------------------------------------------- latency hiding

MIX_WORDS = {
    "warps": ("Resident warps", "warps per SM"),
    "alu_per_op": ("Arithmetic intensity, alpha", "adds per access"),
    "op_latency": ("Memory latency", "cycle"),
    "alu_latency": ("Latency of an add", "cycle"),
    "op_throughput": ("Memory throughput", "inst/cycle/SM"),
    "alu_throughput": ("Arithmetic throughput", "inst/cycle/SM"),
    "issue_throughput": ("Issue throughput", "inst/cycle/SM"),
}


def hiding_controls(subject: Subject) -> list[Control]:
    return of_inputs("mix", BARE_MIX, MIX_WORDS) if subject.focus is None else []


def hiding(subject: Subject, values: Values) -> Drawn:
    return _mixed(inputs("mix", BARE_MIX, values)) if subject.focus is None else _hidden(subject)


def _mixed(mix: mixes.Mix) -> Drawn:
    """Volkov's mix: bounds over the warps, and the cusp."""
    most = max(64.0, float(np.ceil(1.2 * mix.warps)))
    warps = np.arange(1.0, most + 1.0)
    found, here = mixes.predict(replace(mix, warps=warps)), mixes.predict(mix)
    alpha = np.logspace(-1, 3, 120)
    needed = float(np.ravel(mixes.warps_needed(mix).total)[0])
    rate, binds = float(here.rate), str(here.bottleneck)
    words = (
        f"{RESOURCE_WORDS.get(binds, binds).capitalize()} binds at {mix.warps:.0f} warps: {rate:.4g} memory accesses "
        f"per cycle and SM. {needed:.1f} warps would hide the latency.",
    )
    curve = {"volkov_2016": (warps, found.rate)}
    at = figures.Here(float(mix.warps), rate, "these sliders")
    return Drawn(
        (
            figures.throughput_against_occupancy(warps, found, curve, at),
            figures.warps_needed_against_intensity({"this machine": mix}, alpha),
        ),
        words,
    )


def _hidden(subject: Subject) -> Drawn:
    """The kernel's own bounds over the warps, and what both predictions make of them."""
    x, work = subject.launched, subject.focus
    assert work is not None
    if x is None or x.warps_per_sm is None or not work.latency:
        own = (subject.entry or {}).get("figures", {}).get("curve")
        if not own:
            return Drawn(words=("The latency of a warp is not known for this one.",))
        limited = Bounds(own["unit"], {name: np.array(limit) for name, limit in own["limits"].items()})
        return Drawn((figures.throughput_against_occupancy(own["warps_per_sm"], limited, own["predicted"]),))
    most = float(limits(subject.gpu.compute_capability).max_warps_per_sm)
    warps = np.arange(1.0, most + 1.0)
    found = throughput(work, Place(subject.gpu, x.clock_hz, x.warps_per_sm, busy_sms(x)), warps)
    scaled = {name: THOUSAND * limit for name, limit in found.limits.items() if np.isfinite(limit).all()}
    shaped = {name: np.broadcast_to(limit, warps.shape) for name, limit in scaled.items()}
    bounds = Bounds("warps per 1000 cycles and SM", shaped)
    curves: dict[str, tuple[Any, Any]] = {"volkov_2016": (warps, bounds.rate)}
    if x.blocks and subject.fitting:
        curves = {"warpbound": _ours(subject)} | curves
    at, rate = next(iter(curves.values()))
    here = figures.Here(float(x.warps_per_sm), float(np.interp(x.warps_per_sm, at, rate)))
    binds = str(bounds.bottleneck[min(len(warps), max(1, round(x.warps_per_sm))) - 1])
    words = (
        f"{x.warps_per_sm:.0f} of {most:.0f} warps per SM reach {amount(here.y)} warps per 1000 cycles and SM; "
        f"of the bounds {RESOURCE_WORDS.get(binds, binds)} is the tightest.",
    )
    return Drawn((figures.throughput_against_occupancy(warps, bounds, curves, here),), words)


def _ours(subject: Subject) -> tuple[Any, Any]:
    """Warps per SM and their throughput by the headline prediction, at each number of resident blocks."""
    x = subject.launched
    assert x is not None
    assert x.blocks
    per_block, active = _block_warps(subject), min(subject.gpu.value("sm_count"), float(x.blocks))
    blocks = np.arange(1.0, subject.fitting + 1.0)
    stationed = Stationed(x.work, subject.gpu, x.clock_hz, float(per_block), active)
    full = steady(stationed, known(subject.gpu).values, np.minimum(blocks, x.blocks / active))
    rate = np.broadcast_to(np.asarray(full.balance.rate), blocks.shape)
    return blocks * per_block, THOUSAND * rate * per_block / x.clock_hz


# ---------------------------------------------------------------- X-graph

X_WORDS = {
    "threads": ("Warps, n", "per SM"),
    "ilp": ("ILP, E", "inst/cycle/warp"),
    "intensity": ("Intensity, Z", "inst/request"),
    "lanes": ("Lanes, M", "inst/cycle"),
    "latency": ("Memory latency, L", "cycle"),
    "ms_throughput": ("Memory throughput, R", "request/cycle"),
    "cache_latency": ("Cache latency", "cycle"),
    "cache_capacity": ("Cache capacity, S", "B"),
    "alpha": ("Locality, alpha", ""),
    "beta": ("Working set, beta", "B"),
}
WHATIF = "whatif.factor"


def x_controls(subject: Subject) -> list[Control]:
    found = _model("x_model_2016", subject, BARE_X)
    if isinstance(found, str):
        return []
    own = of_inputs("x", found, X_WORDS)
    own = [replace(one, low=1.0) if one.key == "x.alpha" else one for one in own]  # less than 1 is no locality
    return [*own, Control(WHATIF, "What-ifs: factor of each change", "", 1.5, 1.0, 4.0)]


def x_graph(subject: Subject, values: Values) -> Drawn:
    found = _model("x_model_2016", subject, BARE_X)
    if isinstance(found, str):
        return Drawn(words=(found,))
    x = inputs("x", found, values)
    before = float(x_model_2016.reached(x))
    words = (f"The launch settles at k = {before:.3g} of {float(x.threads):.3g} warps in the memory system.",)
    return Drawn((figures.x_graph(x), figures.nine_operations(x, values.get(WHATIF, 1.5))), words)


# ---------------------------------------------------------------- camping

CAMPING_WORDS = {
    "gld_32": "Loads of 32 B", "gld_64": "Loads of 64 B", "gld_128": "Loads of 128 B",
    "gst_32": "Stores of 32 B", "gst_64": "Stores of 64 B", "gst_128": "Stores of 128 B",
}  # fmt: skip


def camping_controls(subject: Subject) -> list[Control]:
    counted = [
        Control(f"camp.{name}", words, "transactions", BARE_COUNTERS.get(name, 0.0), 0.0, 4.0e6)
        for name, words in CAMPING_WORDS.items()
    ]
    return [
        *counted,
        between("camp.grid", "Blocks of the grid", "", 1024, (1, 8192)),
        between("camp.block", "Threads per block", "", 256, (32, 512)),
        between("camp.warps", "Active warps", "per SM", 16, (1, 32)),
        Control("camp.time_ms", "Measured time, 0 for none", "ms", 0.0, 0.0, 50.0),
    ]


def camping(subject: Subject, values: Values) -> Drawn:
    set_by_hand = {one.key: values.get(one.key, one.value) for one in camping_controls(subject)}
    counters = {name: set_by_hand[f"camp.{name}"] for name in CAMPING_WORDS}
    time = set_by_hand["camp.time_ms"] / THOUSAND or None
    grid, block, warps = (round(set_by_hand[f"camp.{name}"]) for name in ("grid", "block", "warps"))
    board = board_of(CAMPING_BOARD)
    found = camped(Measured(counters, grid, block, warps, time), board, benchmarks_of(board))
    picture = figures.camping_band(
        found["warps_per_sm"], found["best_s"], found["worst_s"], found["application_s"] or []
    )
    words = (found["advice"], f"Camping is known of {board.name} and its kind; the counters are those of the sliders.")
    return Drawn((picture,), words)


# ---------------------------------------------------------------- MWP and CWP

MWP_WORDS = {
    "active_blocks": ("Active blocks", "per SM"),
    "threads_per_block": ("Threads per block", ""),
    "mem_latency": ("Memory latency", "cycle"),
    "mem_bandwidth": ("Memory bandwidth", "B/s"),
    "departure_coal": ("Departure delay, coalesced", "cycle"),
    "departure_uncoal": ("Departure delay, uncoalesced", "cycle"),
    "comp_insts": ("Computation", "inst/warp"),
    "coal_mem_insts": ("Coalesced accesses", "inst/warp"),
    "uncoal_mem_insts": ("Uncoalesced accesses", "inst/warp"),
    "uncoal_per_mw": ("Transactions of each uncoalesced one", ""),
    "load_bytes": ("Bytes of an access", "B"),
    "issue_cycles": ("Issue", "cycle/inst"),
    "active_sms": ("Active SMs", ""),
    "freq": ("Clock", "Hz"),
}


def mwp_controls(subject: Subject) -> list[Control]:
    found = _model("hong_kim_2009", subject, BARE_MWP)
    return [] if isinstance(found, str) else of_inputs("mwp", found, MWP_WORDS)


def mwp(subject: Subject, values: Values) -> Drawn:
    found = _model("hong_kim_2009", subject, BARE_MWP)
    if isinstance(found, str):
        return Drawn(words=(found,))
    x = inputs("mwp", found, values)
    terms = hong_kim_2009.terms(x)
    n, m, c = float(terms.warps), float(terms.mwp), float(terms.cwp)
    if not (np.isfinite(m) and np.isfinite(c)):
        return Drawn(words=("Without an access to memory there is no MWP.",))
    dominates = "memory" if c > m else "computation"
    words = (f"N = {n:.3g}, MWP = {m:.3g}, CWP = {c:.3g}: {dominates} dominates.",)
    warps = np.arange(1.0, max(limits(subject.gpu.compute_capability).max_warps_per_sm, n) + 1.0)
    return Drawn((figures.mwp_and_cwp(x, warps),), words)


# ---------------------------------------------------------------- roofline


def roofline_controls(subject: Subject) -> list[Control]:
    if subject.launched is not None or subject.entry is not None:
        return []
    board = subject.gpu
    return [
        around("roof.peak", "Peak", "Gflop/s", _peak(subject) / 1e9),
        around("roof.vendor", "DRAM bandwidth, vendor's", "GB/s", board.value("dram_bandwidth") / 1e9),
        around("roof.bandwidth", "DRAM bandwidth, achievable", "GB/s", board.value("dram_achievable_bandwidth") / 1e9),
        Control("roof.intensity", "Operational intensity", "flop/B", 4.0, 0.05, 100.0),
    ]


def _peak(subject: Subject) -> float:
    """Single precision, FMA = 2, flop/s."""
    rules, board = limits(subject.gpu.compute_capability), subject.gpu
    held = pipe_cycles(board, "fma")
    return 2.0 * WARP * rules.sub_cores / held * board.value("sm_count") * board.value("boost_clock") if held else 0.0


def roofline(subject: Subject, values: Values) -> Drawn:
    if subject.launched is None and subject.entry is None:
        return _bare_roof({one.key: values.get(one.key, one.value) for one in roofline_controls(subject)})
    x = subject.launched
    flop = {kind: count for kind, count in x.work.flop.items() if count} if x else {}
    if x is None or not flop or x.work.warps is None or not x.blocks:
        return Drawn(words=("The roofline needs a launch with arguments, and floating-point work.",))
    memory, board = x.work.memory, subject.gpu
    moved = {
        "DRAM": memory.dram_bytes_read + memory.dram_bytes_written,
        "L2": SECTOR_B * (memory.l2_sectors_read + memory.l2_sectors_written),
        "L1": SECTOR_B * (memory.l1_sectors_load + memory.l1_sectors_store),
    }
    total = sum(flop.values())
    known_roofs = {
        "L1": _times(board.get("l1_bandwidth"), x.clock_hz * board.value("sm_count")),
        "L2": board.get("l2_bandwidth"),
        "DRAM, vendor": board.value("dram_bandwidth"),
        "DRAM, achievable": board.value("dram_achievable_bandwidth"),
    }
    roofs = figures.Roofs(
        {f"{kind} peak": peak(board, kind, x.clock_hz, x.work) for kind in flop},
        {name: rate for name, rate in known_roofs.items() if rate},
        frozenset(("DRAM, achievable", "L2")),
    )
    reached = total * x.work.warps / quick_seconds(subject)
    spot = figures.Spot(subject.name, {level: total / size for level, size in moved.items() if size > 0}, reached)
    share = 100 * reached / max(roofs.compute.values())
    words = (f"{amount(reached / 1e9)} Gflop/s predicted, {amount(share)} % of the peak.",)
    return Drawn((figures.roofline(roofs, [spot]),), words)


def _times(rate: float | None, factor: float) -> float | None:
    return None if rate is None else rate * factor


def _bare_roof(own: Values) -> Drawn:
    peak_flops, bandwidth = 1e9 * own["roof.peak"], 1e9 * own["roof.bandwidth"]
    intensity = own["roof.intensity"]
    attained = min(peak_flops, bandwidth * intensity)
    roofs = figures.Roofs(
        {"peak": peak_flops},
        {"DRAM, vendor": 1e9 * own["roof.vendor"], "DRAM, achievable": bandwidth},
        frozenset(("DRAM, achievable",)),
    )
    binds = "Memory" if bandwidth * intensity < peak_flops else "Arithmetic"
    words = (f"{binds} binds: {amount(attained / 1e9)} Gflop/s can be attained at {intensity:.3g} flop per byte.",)
    return Drawn((figures.roofline(roofs, [figures.Spot("these sliders", {"DRAM": intensity}, attained)]),), words)


# ---------------------------------------------------------------- timeline and SASS


def timeline(subject: Subject, values: Values) -> Drawn:
    own = ((subject.entry or {}).get("figures") or {}).get("timeline")
    if not own:
        return Drawn(words=("A timeline needs a kernel's own code: choose an example or paste CUDA.",))
    events = [figures.Event(0, *event) for event in own]
    title = f"One warp in time: its first {events[-1].end:.0f} cycles"
    return Drawn((figures.timeline(events, title, "control words and unloaded latencies"),), _if_moving(subject))


def sass(subject: Subject, values: Values) -> Drawn:
    if not (subject.entry or {}).get("sass"):
        return Drawn(words=("There is no machine code here: choose an example or paste CUDA.",))
    return Drawn(words=_if_moving(subject))


def _if_moving(subject: Subject) -> tuple[str, ...]:
    return ("As it was before the last change; the analysis follows when you let go.",) if subject.estimated else ()


VIEWS: dict[str, View] = {
    "verdict": View("Verdict", verdict, hiding_controls, ("verdict", "whatifs", "bounds", "stalls", "confidence")),
    "occupancy": View("Occupancy", occupied, occupancy_controls, ("occupancy", "kernel"), gpu=""),
    "hiding": View("Latency hiding", hiding, hiding_controls, ("latency", "loops")),
    "x": View("X-graph", x_graph, x_controls),
    "camping": View("Camping band", camping, camping_controls, gpu=""),
    "mwp": View("MWP/CWP", mwp, mwp_controls, ("models",)),
    "roofline": View("Roofline", roofline, roofline_controls, ("memory", "accesses")),
    "timeline": View("Timeline", timeline),
    "sass": View("SASS", sass),
}


def drawn(view: str, subject: Subject, values: Values) -> Drawn:
    """What a view shows; a sentence where it cannot speak of the subject."""
    try:
        return VIEWS[view].draw(subject, values)
    except WarpboundError as error:
        return Drawn(words=(str(error),))
