"""Throughput against occupancy, occupancy needed against intensity, latency against throughput.

Source   V. Volkov, EECS-2016-143: the figures of chapters 4 and 6, for any machine and kernel.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from warpbound.bounds import Bounds
from warpbound.models.volkov_2016 import contention, mixes
from warpbound.quick_dataclasses import dataclass
from warpbound.report.figures.picture import Axis, Curve, Numbers, Picture, Points, Rule, Style, numbers
from warpbound.report.figures.theme import HERE, PREDICTION

WARPS = Axis("resident warps", "warps per SM")
FEW_POINTS = 32
VOLKOV = "V. Volkov, Understanding Latency Hiding on GPUs, EECS-2016-143"


@dataclass(frozen=True)
class Here:
    """The analysed kernel: its place in a figure and its label."""

    x: float
    y: float
    name: str = "this launch"


def throughput_against_occupancy(
    warps: Numbers,
    limits: Bounds,
    predictions: Mapping[str, tuple[Numbers, Numbers]],
    here: Here | None = None,
    source: str = VOLKOV + ", sections 3.6, 3.7 and 4.1",
) -> Picture:
    """Every bound and what the chosen models predict, over resident warps.

    limits : bounds over `warps`, shape (n,), in any unit of rate. predictions : model -> warps and rate in that unit.
    """
    top = 1.25 * _highest(limits, [rate for _, rate in predictions.values()])
    bounded = tuple(
        Curve(BOUND_WORDS.get(name, name), warps, np.where(numbers(limit) <= top, limit, np.nan))
        for name, limit in _shown(limits, top).items()
    )
    curves = tuple(
        Curve(name, at, rate, replace(PREDICTION, dash=_DASHES[i % len(_DASHES)]), _marks(at))
        for i, (name, (at, rate)) in enumerate(predictions.items())
    )
    mark = (Points(here.name, [here.x], [here.y], (), HERE),) if here else ()
    return Picture(
        title="Throughput against occupancy",
        x=replace(WARPS, span=(0.0, 1.03 * float(numbers(warps).max()))),
        y=Axis("throughput", limits.unit, span=(0.0, top)),
        layers=(*bounded, *curves, *mark),
        source=source,
        caption="Rising with the warps: what the latency of one warp allows. Flat: what each resource allows. "
        "The lowest line bounds; where the rising one crosses it, latency is hidden.",
    )


_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
BOUND_WORDS = {
    "latency": "bound: latency",
    "issue": "bound: instruction issue",
    "fetch": "bound: instruction fetch",
    "alu": "bound: ALU pipe",
    "fma": "bound: FMA pipe",
    "fp64": "bound: FP64 pipe",
    "xu": "bound: XU pipe",
    "tensor": "bound: tensor pipe",
    "tmem": "bound: tensor memory",
    "uniform": "bound: uniform pipe",
    "lsu": "bound: load/store unit",
    "shared": "bound: shared memory",
    "l1": "bound: L1 data path",
    "l2": "bound: L2 bandwidth",
    "dram": "bound: DRAM bandwidth",
    "launch": "bound: launching",
    "memory": "bound: memory",
    "arithmetic": "bound: arithmetic",
}


def _marks(at: Numbers) -> str:
    """Markers for few points: occupancy comes in whole blocks."""
    return "circle" if numbers(at).size <= FEW_POINTS else "none"


def _highest(limits: Bounds, predictions: Sequence[Numbers]) -> float:
    """The highest throughput reached; bounds are drawn to a little above it."""
    reached = [float(np.nanmax(numbers(rate))) for rate in (limits.rate, *predictions)]
    second = np.sort([float(numbers(limit).min()) for name, limit in limits.limits.items() if name != "latency"])
    near = [float(value) for value in second[:3] if np.isfinite(value) and value <= 3.0 * max(reached)]
    return max(*reached, *near) if near else max(reached)


def _shown(limits: Bounds, top: float) -> Mapping[str, Numbers]:
    return {name: limit for name, limit in limits.limits.items() if float(numbers(limit).min()) <= top}


def warps_needed_against_intensity(kinds: Mapping[str, mixes.Mix], intensity: Numbers, most: float = 64.0) -> Picture:
    """Occupancy that hides latency over arithmetic per memory instruction: the cusp, for machines or kinds of op.

    kinds : name -> its latencies and throughputs, alpha aside. most : warps an SM holds.
    """
    alpha = numbers(intensity)
    least_warps = {
        name: numbers(mixes.warps_needed(replace(mix, alu_per_op=alpha)).total) for name, mix in kinds.items()
    }
    curves = tuple(Curve(name, alpha, warps) for name, warps in least_warps.items())
    tops = [(float(alpha[warps.argmax()]), float(warps.max())) for warps in least_warps.values()]
    words = tuple(f"{y:.0f} warps at {x:.3g}" for x, y in tops)
    sides = tuple("top left" if n % 2 else "top right" for n in range(len(tops))) if len(tops) > 1 else "top center"
    cusps = Points("cusp", [x for x, _ in tops], [y for _, y in tops], words, Style("ink", symbol="circle-open"), sides)
    highest = max(y for _, y in tops)
    fits = (Rule(most, f"{most:g} warps fit an SM", along="x", share=0.12),) if most <= 2 * highest else ()
    return Picture(
        title="Warps needed against arithmetic intensity",
        x=Axis("arithmetic intensity", "instructions per memory access", "log", (alpha.min(), alpha.max())),
        y=Axis("occupancy needed", "warps per SM", span=(0.0, 1.18 * max(highest, min(most, 2 * highest)))),
        layers=(*curves, cusps, *fits),
        source=VOLKOV + ", sections 4.4 and 4.5",
        caption="Most warps are needed where memory and arithmetic saturate together, not where memory alone binds: "
        "the cusp.",
    )


def latency_against_throughput(
    memories: Mapping[str, contention.Memory],
    measurements: Mapping[str, tuple[Numbers, Numbers]],
    unit: str = "B/cycle/SM",
    source: str = VOLKOV + ", section 6.4",
) -> Picture:
    """Memory latency over throughput: fitted curves up to their ceilings, and measured (throughput, latency)."""
    curves, rules, highest, unloaded = [], [], 0.0, 1.0
    for name, memory in memories.items():
        ceiling = float(np.min(numbers(list(memory.ceiling)))) if memory.ceiling else 1.0  # type: ignore[arg-type]
        x = ceiling * np.linspace(0.0, 0.985, 200)
        y = contention.loaded_latency(memory, x)
        curves.append(Curve(name, x, y))
        rules.append(Rule(ceiling, f"ceiling of {name}"))
        highest, unloaded = max(highest, ceiling), max(unloaded, float(numbers(y)[0]))
    dots = [
        Points(f"{name}, measured", x, y, (), Style(_MEASURED[i % len(_MEASURED)], symbol="circle-open"))
        for i, (name, (x, y)) in enumerate(measurements.items())
    ]
    reached = [float(np.nanmax(numbers(x))) for x, _ in measurements.values()]
    slowest = [float(np.nanmax(numbers(y))) for _, y in measurements.values()]
    return Picture(
        title="Memory latency against throughput",
        x=Axis("throughput", unit, span=(0.0, 1.06 * max([highest, *reached]))),
        y=Axis("mean latency", "cycles", span=(0.0, max([4.0 * unloaded, *(1.1 * y for y in slowest)]))),
        layers=(*curves, *dots, *rules),
        source=source,
        caption="Latency is flat at low load and grows without limit as throughput nears what memory sustains.",
    )


_MEASURED = ("blue", "vermilion", "green", "purple")
