"""X-graphs: supply of memory against demand of computation, over the threads in each.

Source   A. Li et al., "X", 2016: Figures 1 to 8 for the graph and its operations, Figure 10 for machines.
"""

from collections.abc import Callable, Sequence
from dataclasses import astuple, replace
from functools import lru_cache
from itertools import cycle

import numpy as np

from warpbound.bounds import Real
from warpbound.machine import Gpu, clock
from warpbound.models.x_model_2016 import Inputs, curves, equilibrium, extraction, operations, reached, shape
from warpbound.quick_dataclasses import dataclass
from warpbound.report.figures.labels import NARROW, USUAL, Plot, all_lifted, labelled
from warpbound.report.figures.picture import Axis, Curve, Layer, Panels, Picture, Points, Rule, Style, numbers
from warpbound.workload.files import levels
from warpbound.workload.files.lanes import pipe_cycles

SOURCE = "A. Li et al., X: A Comprehensive Analytic Model for Parallel Machines, 2016"
POINTS = 400
HIGHEST_DEMAND = 4.0  # times the most supply: a plateau of demand above that is not shown
OPERATION_WORDS = {
    "4A": "A  memory throughput R",
    "4B": "B  memory latency L",
    "4C": "C  lanes M",
    "4D": "D  intensity Z",
    "4E": "E  ILP E",
    "4F": "F  threads n",
    "8A": "A  locality alpha",
    "8B": "B  cache capacity S",
    "8C": "C  cache latency",
}
COUNTED = {  # what a thread of the model is -> those in memory, those in computation, their unit
    "threads": ("threads in the memory system, k", "threads in computation, x = n - k", "threads"),
    "warps": ("in the memory system, k", "in computation, x = n - k", "warps per SM"),
}
_SUPPLY = Style("blue", "solid", width=2.6)
_DEMAND = Style("vermilion", "dash", width=2.6)
_OLD_SUPPLY = Style("sky", "solid", width=1.4)
_OLD_DEMAND = Style("orange", "dash", width=1.4)


def x_graph(x: Inputs, source: str = SOURCE, each: str = "threads") -> Picture:
    """f(k) and g(n-k)/Z with every intersection, delta, pi, psi, valley and plateau. Inputs are scalars.

    Below: threads in MS, above: threads in CS, reversed. Left: MS throughput, right: CS throughput, Z times that.
    each : what a thread of the model is: the paper's own word, or the warps of an SM.
    """
    in_memory, computing, unit = COUNTED[each]
    x = _plain(x)
    n, intensity = float(x.threads), float(x.intensity)
    top = _top(x)
    both, rules = _curves(x, n), _marks(x, n, top)
    marks = _intersections(x)
    plots = (Plot.of((0.0, n), (0.0, top), both, rules, size) for size in (USUAL, NARROW))
    usual, narrow = (_labelled_layers(marks, (both, rules), plot) for plot in plots)
    return Picture(
        title="X-graph",
        x=Axis(in_memory, unit, span=(0.0, n)),
        y=Axis("MS throughput", "requests/cycle", span=(0.0, top)),
        layers=usual,
        narrow=narrow,
        source=source,
        caption=f"Where supply f(k) and demand g(x)/Z cross, as many {each} enter memory as leave it. A full mark is "
        "stable, an open one is not; a launch starts at the left and reaches the first stable one.",
        right=Axis("CS throughput", "instructions/cycle", span=(0.0, top * intensity)),
        top=Axis(computing, unit, span=(n, 0.0)),
    )


def _labelled_layers(
    marks: Sequence[Points], lines: tuple[Sequence[Curve], Sequence[Rule]], plot: Plot
) -> tuple[Layer, ...]:
    """Curves, marks and rules with their labels placed for a plot of that size."""
    labelled_marks, occupied = all_lifted(lines[1], plot)
    words = [layer for mark in marks for layer in labelled(mark, plot, occupied)]
    return (*lines[0], *words, *labelled_marks)


def _plain(x: Inputs) -> Inputs:
    """The same Inputs with Python floats, which are hashable."""
    return Inputs(*(float(value) for value in astuple(x)))


@lru_cache(maxsize=64)
def _turns(x: Inputs) -> tuple[float, float]:
    """psi and the valley, from `shape.peak` and `shape.valley`, cached: slow and needed several times."""
    turns = shape.turning_points(x, 0.0)
    psi = float(turns.first_fall)
    return psi if np.isfinite(psi) else float(shape.crest(x)), float(turns.first_rise)


def _curves(x: Inputs, most: float) -> tuple[Curve, Curve]:
    k = _threads(x, most)
    inside = np.where(k <= float(x.threads), k, np.nan)
    return (
        Curve("supply f(k)", k, numbers(curves.supply(x, k)), _SUPPLY),
        Curve("demand g(x)/Z", k, numbers(curves.demand(x, np.subtract(x.threads, inside))), _DEMAND),
    )


def _threads(x: Inputs, most: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Evenly spaced thread counts, plus the exact corners of both curves."""
    corners = [float(curves.ms_transition(x)), float(x.threads) - float(curves.cs_transition(x)), float(x.threads)]
    corners += [value for value in _turns(x) if np.isfinite(value)]
    even = np.linspace(0.0, most, POINTS)
    return np.unique(np.concatenate([even, [c for c in corners if 0 <= c <= most]]))


def _intersections(x: Inputs) -> list[Points]:
    points = equilibrium.intersections(x)
    k, rate = numbers(points.fewest_ms_threads), numbers(points.ms_throughput)
    words = np.asarray(points.stability).reshape(-1)
    first = float(np.nanmin(k)) if np.isfinite(k).any() else np.nan
    layers: list[Points] = []
    for kind, symbol in (("stable", "circle"), ("unstable", "circle-open"), ("neutral", "diamond")):
        here = (words == kind) & np.isfinite(k)
        if not here.any():
            continue
        texts = tuple(f"k = {value:.3g}{', reached' if value == first else ''}" for value in k[here])
        sides = tuple("top left" if value > 0.8 * float(x.threads) else "top right" for value in k[here])
        layers.append(Points(f"{kind} intersection", k[here], rate[here], texts, Style("ink", symbol=symbol), sides))
    return layers


def _marks(x: Inputs, n: float, top: float) -> list[Rule]:
    psi, valley = _turns(x)
    marks = [
        ("delta = R L", float(curves.ms_transition(x)), "y"),
        ("pi = M/E", n - float(curves.cs_transition(x)), "y"),
        ("psi, cache peak", psi, "y"),
        ("valley", valley, "y"),
        ("plateau R", float(shape.plateau(x)), "x"),
    ]
    ends = {"y": n, "x": top}
    return [Rule(at, text, along) for text, at, along in marks if np.isfinite(at) and 0 < at < ends[along]]


def _top(*states: Inputs) -> float:
    most = 0.0
    for x in states:
        k = np.linspace(0.0, float(x.threads), POINTS)
        supply, demand = numbers(curves.supply(x, k)), numbers(curves.demand(x, np.subtract(x.threads, k)))
        high, top_demand = float(supply.max()), float(demand.max())
        most = max(most, min(high, 2.0 * top_demand), min(top_demand, HIGHEST_DEMAND * high))
    return 1.2 * most


def operation(before: Inputs, name: str, factor: float, each: str = "threads") -> Picture:
    """One of the nine operations: both curves before (thin) and after (thick), with the state reached in each."""
    after = operations.operate(before, name, factor)
    words = OPERATION_WORDS[name].replace("threads", each)
    return changed(before, after, f"{words} x{factor:.3g}", f"{SOURCE}, Figure {name}", each)


def changed(before: Inputs, after: Inputs, title: str, source: str, each: str = "threads") -> Picture:
    """The same for any change. Inputs are scalars."""
    before, after = _plain(before), _plain(after)
    most = max(float(before.threads), float(after.threads))
    old, new = _curves(before, most), _curves(after, most)
    thin = tuple(replace(line, name=f"{line.name} before", style=style) for line, style in zip(old, _OLD, strict=True))
    thick = tuple(replace(curve, name=f"{curve.name} after") for curve in new)
    return Picture(
        title=title,
        x=Axis("k", each, span=(0.0, most)),
        y=Axis("MS throughput", "requests/cycle", span=(0.0, _top(before, after))),
        layers=(*thin, *thick, *_marked(before, after, reached, "reached")),
        source=source,
        caption="Thin: before; thick: after; marks: the state that a launch reaches.",
    )


def changed_under_load(before: Inputs, after: Inputs, title: str, source: str) -> Picture:
    """A change with the states marked in which a congested machine rests, not those that a launch reaches."""
    picture = changed(before, after, title, source)
    marks = _marked(_plain(before), _plain(after), equilibrium.congested, "congested")
    caption = "Thin: before; thick: after; marks: the state in which a congested machine rests."
    return replace(picture, layers=(*picture.layers[: -len(marks)], *marks), caption=caption)


_OLD = (_OLD_SUPPLY, _OLD_DEMAND)


def _marked(before: Inputs, after: Inputs, state: Callable[[Inputs], Real], word: str) -> tuple[Points, ...]:
    """The threads in memory that `state` gives, before (open) and after (full)."""
    points = (("before", before, "circle-open"), ("after", after, "circle"))
    return tuple(
        Points(f"{word} {when}", [float(state(x))], [float(curves.supply(x, state(x)))], (), Style("ink", symbol=mark))
        for when, x, mark in points
    )


def nine_operations(before: Inputs, factor: float = 1.5, each: str = "threads") -> Panels:
    """All nine ways to move the curves, by one factor each (latencies by its inverse: an improvement)."""
    inverse = ("4B", "8C")
    return Panels(
        title="Nine ways to move the curves",
        pictures=tuple(
            operation(before, name, 1.0 / factor if name in inverse else factor, each) for name in OPERATION_WORDS
        ),
        source=f"{SOURCE}, Figures 4 and 8",
        caption="Thin: before; thick: after; marks: the state that a launch reaches.",
    )


@dataclass(frozen=True)
class Machine:
    """A machine's half of the inputs for one type of operand, per SM: M, R and L."""

    name: str
    lanes: float          # M  [inst/cycle]
    ms_throughput: float  # R  [request/cycle]
    latency: float        # L  [cycle]


def machines_of(board: Gpu) -> tuple[Machine, ...]:
    """A board of the catalogue at its boost clock, in single and, where it has lanes for it, in double precision.

    M from its lanes, R from the bandwidth that it achieves, L the unloaded latency of its DRAM, none of them profiled
    as the paper does.
    """
    clock_hz = clock(board, "boost")
    cycles = levels(board, clock_hz)["dram"]
    sub_cores = board.limits.sub_cores
    machines = []
    for name, pipe, size in (("SP", "fma", 4.0), ("DP", "fp64", 8.0)):
        port_cycles = pipe_cycles(board, pipe)
        if port_cycles:
            bandwidth, sms = board.value("dram_achievable_bandwidth"), board.value("sm_count")
            rate = float(extraction.ms_throughput(bandwidth, sms, clock_hz, size))
            machines.append(Machine(f"{board.name}, {name}", sub_cores / port_cycles, rate, cycles))
    return tuple(machines)


def architectures(machines: Sequence[Machine], columns: int = 2, ilps: Sequence[float] = (1.0,)) -> Panels:
    """Architectural X-graphs: f(k) from the left and g(x) from the right, each with its own axis, per machine.

    ilps : a g(x) for each of these E, at least one.
    """
    return Panels(
        title="Architectural X-graphs",
        pictures=tuple(_architecture(machine, ilps) for machine in machines),
        source=f"{SOURCE}, Table II and Figure 10; E = {', '.join(f'{e:g}' for e in ilps)}",
        caption="Supply of memory (left axis) and computation (right axis) of one SM; delta and pi are the warps that "
        "saturate each.",
        columns=columns,
    )


def _architecture(machine: Machine, ilps: Sequence[float]) -> Picture:
    delta, pi = machine.ms_throughput * machine.latency, machine.lanes / min(ilps)
    most = float(np.ceil(1.5 * (delta + pi)))
    plain = Inputs(most, min(ilps), 1.0, machine.lanes, machine.latency, machine.ms_throughput)
    k = np.union1d(_threads(plain, most), [most - machine.lanes / e for e in ilps])
    demands = {f"computation g(x), E = {e:g}" if len(ilps) > 1 else "computation g(x)": e for e in sorted(ilps)}
    styles = [replace(_DEMAND, dash=dash) for dash in ("dash", "dashdot", "dot", "longdash")]
    scale = machine.ms_throughput / machine.lanes  # both plateaus at one height, so that two units share the plot
    return Picture(
        title=machine.name,
        x=Axis("k", "warps", span=(0.0, most)),
        y=Axis("f(k)", "requests/cycle", span=(0.0, 1.35 * machine.ms_throughput)),
        layers=(
            Curve("memory f(k)", k, numbers(curves.supply(plain, k)), _SUPPLY),
            *(
                Curve(name, k, scale * numbers(curves.computation(replace(plain, ilp=e), most - k)), style)
                for (name, e), style in zip(demands.items(), cycle(styles), strict=False)
            ),
            Rule(delta, f"delta {delta:.3g}"),
            Rule(most - pi, f"pi {pi:.3g}"),
        ),
        source=SOURCE,
        right=Axis("g(x)", "inst/cycle", span=(0.0, 1.35 * machine.lanes)),
    )
