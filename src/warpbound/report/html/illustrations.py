"""The figures of each part of the report, made from an entry's own numbers."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import msgspec
import numpy as np

from warpbound import machine
from warpbound.bounds import Bounds
from warpbound.errors import WarpboundError
from warpbound.models import hong_kim_2009, x_model_2016
from warpbound.report.figures import (
    accesses,
    camping,
    execution,
    occupancy,
    parallelism,
    rooflines,
    simulated,
    throughput,
    x_graphs,
)
from warpbound.report.figures.picture import Drawable, Picture, Points, Style
from warpbound.result.figures import FigureData, SimulationFigures, ThroughputCurve
from warpbound.result.kernel import Bound, KernelResult
from warpbound.result.refusal import Refusal
from warpbound.result.simulation import SimulatedKernel
from warpbound.result.workload import WorkloadResult

Draw = Callable[[KernelResult, FigureData], Drawable | None]
OURS = "the analysis of this report"
WARPS_WRITTEN = 64  # warps that an SM may hold, for a workload that does not state them
THOUSAND = 1000.0


def latency_stack(entries: Sequence[KernelResult]) -> Drawable | None:
    """One bar per answer that knows the latency of a warp."""
    parts = {_name(entry, entries): entry.latency.parts for entry in entries if entry.latency}
    return execution.latency_stack(parts, f"{OURS}: one warp alone, unloaded latencies") if parts else None


def written(entry: WorkloadResult) -> list[Drawable]:
    """Of a hand-written workload: where its latency goes, and its bounds over the warps of an SM."""
    if not entry.latency:
        return []
    source = entry.source or "the workload as written"
    name = f"{entry.kernel}, {entry.gpu}"
    stack = execution.latency_stack({name: entry.latency.parts}, source)
    warps = np.arange(1.0, WARPS_WRITTEN + 1.0)
    limits = {"latency": THOUSAND * warps / entry.latency.cycles}
    for bound in entry.bounds:
        if bound.resource != "latency" and bound.cycles_per_warp > 0:
            limits[bound.resource] = np.full(warps.shape, THOUSAND / bound.cycles_per_warp)
    every = Bounds("warps per 1000 SM cycles", limits)
    return [stack, throughput.throughput_against_occupancy(warps, every, {"the lowest": (warps, every.rate)})]


def _name(entry: KernelResult, entries: Sequence[KernelResult]) -> str:
    """Kernel and GPU; of several answers what tells them apart, the file where nothing else does."""
    labels = [label for label in (_kernel, _board) if len({label(other) for other in entries}) > 1] or [_kernel, _board]
    if len({tuple(label(other) for label in labels) for other in entries}) < len(entries):
        labels.append(_file)
    return ", ".join(label(entry) for label in labels)


def _kernel(entry: KernelResult) -> str:
    return str(entry.kernel)


def _board(entry: KernelResult) -> str:
    return str(entry.gpu)


def _file(entry: KernelResult) -> str:
    return str(entry.program.source).rpartition("/")[2]


def _throughput(entry: KernelResult, own: FigureData) -> Picture | None:
    return _curve_picture(own.curve, entry.bounds, entry.occupancy.warps_per_sm) if own.curve else None


def _curve_picture(curve: ThroughputCurve, bounds: Sequence[Bound], resident: int) -> Picture:
    limits = Bounds(curve.unit, _limits(curve, bounds, resident))
    at, rate = next(iter(curve.predicted.values()))
    here = throughput.Here(curve.here, float(np.interp(curve.here, at, rate)))
    source = f"{OURS}; after {throughput.VOLKOV}, sections 3.6, 3.7 and 4.1"
    return throughput.throughput_against_occupancy(curve.warps_per_sm, limits, curve.predicted, here, source)


def _limits(
    curve: ThroughputCurve, bounds: Sequence[Bound], resident: int
) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """The bounds that the report's table lists, over the warps of an SM: all but latency are flat."""
    warps = np.array(curve.warps_per_sm)
    limits = {}
    for bound in bounds:
        if bound.cycles_per_warp > 0:
            rate = THOUSAND / bound.cycles_per_warp
            share = warps / max(1, resident) if bound.resource == "latency" else np.ones(len(warps))
            limits[bound.resource] = rate * share
    return limits


def _occupancy(entry: KernelResult, own: FigureData) -> Drawable | None:
    block = occupancy.Block(*msgspec.structs.astuple(own.block))
    try:
        board = machine.override(machine.gpu(entry.gpu), own.limits)
        return occupancy.occupancy_against_limits(board, block)
    except WarpboundError:  # a board from a file that is not in the catalogue
        return None


def _roofline(entry: KernelResult, own: FigureData) -> Drawable | None:
    plot = own.roofline
    if plot is None or not plot.intensity:
        return None
    roofs = rooflines.Roofs(plot.compute, plot.bandwidth, frozenset(plot.achievable))
    return rooflines.roofline(roofs, [rooflines.Spot(entry.kernel, plot.intensity, plot.flops)])


def _partitions(entry: KernelResult, _: FigureData) -> Drawable | None:
    traffic = entry.execution.partitions if entry.execution else None
    return camping.partition_shares(np.array(traffic.segments, np.int64), OURS) if traffic else None


def _partition_map(entry: KernelResult, _: FigureData) -> Drawable | None:
    traffic = entry.execution.partitions if entry.execution else None
    if not traffic or not any(traffic.map.partition):
        return None
    at = np.array(traffic.map.partition, np.int64)
    return camping.sampled_at_partitions(at, traffic.map.blocks, OURS)


def _x_graph(_: KernelResult, own: FigureData) -> Drawable | None:
    symbols = own.inputs["x_model_2016"]
    return x_graphs.x_graph(x_model_2016.Inputs(**symbols), each="warps") if symbols else None


def _mwp(entry: KernelResult, own: FigureData) -> Drawable | None:
    symbols = own.inputs["hong_kim_2009"]
    if not symbols:
        return None
    most = float(entry.occupancy.max_warps_per_sm)
    return parallelism.mwp_and_cwp(hong_kim_2009.Inputs(**symbols), np.arange(1.0, most + 1.0))


def one_warp_in_time(own: FigureData) -> Drawable | None:
    """What one warp does first, in words; None where it is not known."""
    events = [execution.Event(0, start, end, WAITED.get(kind, kind)) for start, end, kind in own.timeline]
    if not events:
        return None
    title = f"One warp in time: its first {events[-1].end:.0f} cycles"
    return execution.timeline(events, title, f"{OURS}: control words and unloaded latencies")


def _graph(_: KernelResult, figures: FigureData) -> Drawable | None:
    own = figures.graph
    if not own.names:
        return None
    edges = [execution.Edge(*edge) for edge in own.edges]
    source = f"{OURS}; after {execution.VOLKOV}, Figure 3.5"
    picture = execution.execution_graph(own.names, own.issue, edges, source)
    if len(own.names) == own.of:
        return picture
    which = f"instructions {own.first + 1} to {own.first + len(own.names)} of {own.of}"
    return replace(picture, title=f"{picture.title}: {which}", caption=f"{picture.caption} Of a longer warp, {MOST}.")


MOST = "the part that waits longest"
_ARITHMETIC = dict.fromkeys(
    (f"waits for {pipe}" for pipe in ("alu", "fma", "fp64", "xu", "tensor", "tmem", "uniform")), "waits for arithmetic"
)
WAITED = _ARITHMETIC | {
    "waits for lsu": "waits for memory",
    "waits for tex": "waits for memory",
    "waits for adu": "waits for special registers or constants",
    "waits for cbu": "waits for branches or barriers",
}


def _requests(space: str) -> Draw:
    """The request that wastes most, of those to global or to shared memory."""

    def draw(_: KernelResult, figures: FigureData) -> Drawable | None:
        own = figures.requests.get(space)
        if not own:
            return None
        addresses = np.array(own.addresses, np.uint64)
        where = f"line {own.line}" if own.line else f"{own.address:#x}"
        title = f"{own.opcode}, {where}"
        if space == "global":
            return accesses.sector_map(addresses, own.bytes_per_lane, f"{title}: sectors of its first request")
        return accesses.bank_map(addresses, f"{title}: banks of its first request")

    return draw


def simulated_kernel(entry: SimulatedKernel | Refusal) -> list[Drawable]:
    """Of a kernel run event by event: its warps in time, how many there are, what memory takes, its throughput."""
    if isinstance(entry, Refusal) or not entry.figures:
        return []
    own, policy = entry.figures, entry.policy.replace("_", " ")
    source = f"{simulated.SIMULATION}, {policy}"
    pictures: list[Drawable | None] = [_simulated_throughput(entry, own)]
    if own.warps:
        last = max(end for _, _, end, _ in own.warps)
        title = f"Warps of an SM in time: the first {last:.0f} cycles"
        pictures.append(simulated.warps_in_time(own.warps, title, source))
    at, warps = (np.array(part) for part in own.resident)
    pictures.append(simulated.occupancy_in_time({"resident warps": (at, warps)}, "Warps on the SM in time", source))
    latencies = np.array(own.latencies)
    if len(latencies) >= FEWEST and np.ptp(latencies) > 0:
        title = f"What memory takes: the first {len(latencies)} transactions"
        pictures.append(simulated.latencies({"transactions": latencies}, title, source))
    return [picture for picture in pictures if picture is not None]


def _simulated_throughput(entry: SimulatedKernel, own: SimulationFigures) -> Drawable | None:
    """The bounds and the predicted time over the warps of an SM, and the point that was simulated."""
    if own.curve is None or not entry.bounds or not entry.occupancy:
        return None
    picture = _curve_picture(own.curve, entry.bounds, entry.occupancy.warps_per_sm)
    warps, rate = own.at
    top = max(picture.y.span[1] if picture.y.span else 0.0, 1.1 * rate)
    mark = Points("simulated", [warps], [rate], (), SIMULATED)
    return replace(
        picture,
        y=replace(picture.y, span=(0.0, top)),
        layers=(*picture.layers, mark),
        source=f"the headline prediction and {simulated.SIMULATION}; after {throughput.VOLKOV}, sections 3.6, 3.7, 4.1",
        caption=f"{picture.caption} The diamond is what the simulated SM does once its first blocks are over.",
    )


FEWEST = 20  # transactions of which a distribution is drawn
SIMULATED = Style("green", symbol="diamond")


def _warps(_: KernelResult, own: FigureData) -> Drawable | None:
    if not own.warps:
        return None
    last = max(end for _, _, end, _ in own.warps)
    title = f"All warps of an SM in time: the first {last:.0f} cycles"
    return simulated.warps_in_time(own.warps, title, f"{simulated.SIMULATION}, greedy then oldest")


BESIDE: dict[str, tuple[Draw, ...]] = {
    "latency": (lambda entry, _: latency_stack([entry]),),
    "bounds": (_throughput,),
    "occupancy": (_occupancy,),
    "memory": (_roofline, _partitions, _partition_map),
    "accesses": (_requests("global"), _requests("shared")),
    "stalls": (_warps,),
    "sass": (lambda _, own: one_warp_in_time(own), _graph),
    "models": (_x_graph, _mwp),
}


def figures_of_view(view: str, entry: KernelResult) -> list[Drawable]:
    """The figures that go with one view of an entry."""
    own = entry.figures
    if not own:
        return []
    return [picture for draw in BESIDE.get(view, ()) if (picture := draw(entry, own)) is not None]
