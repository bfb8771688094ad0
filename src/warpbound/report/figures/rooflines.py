"""The roofline: flat roofs of arithmetic, slanted ones of each memory level, the kernel under them.

Source   S. Williams, A. Waterman, D. Patterson, CACM 52(4), 2009.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from warpbound.quick_dataclasses import dataclass
from warpbound.report.figures.picture import Axis, Curve, Layer, Picture, Points, Style

SOURCE = "S. Williams, A. Waterman, D. Patterson, Roofline, CACM 52(4), 2009"
POINTS = 200
APART = 1.6  # factor between intensities below which two marks would cover each other


@dataclass(frozen=True)
class Roofs:
    """compute : name -> flop/s. bandwidth : name -> B/s, vendor's and achievable ones, DRAM, L2, L1.

    achievable : names of the roofs, of either kind, that are measured; the others are the vendor's.
    """

    compute: Mapping[str, float]
    bandwidth: Mapping[str, float]
    achievable: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Spot:
    """A kernel: level of memory -> flop per byte moved there, and the flop/s it reaches."""

    name: str
    intensity: Mapping[str, float]
    flops: float


def roofline(roofs: Roofs, spots: Sequence[Spot] = (), source: str = SOURCE) -> Picture:
    """Attainable flop/s over operational intensity, with one mark per kernel and memory level."""
    low, high = _span(roofs, spots)
    ridges = [flops / bandwidth for flops in roofs.compute.values() for bandwidth in roofs.bandwidth.values()]
    x = np.unique(np.concatenate([np.logspace(np.log10(low), np.log10(high), POINTS), ridges]))
    top = max(roofs.compute.values())
    layers: list[Layer] = []
    for i, (name, bandwidth) in enumerate(roofs.bandwidth.items()):
        y = np.where(bandwidth * x <= top * 1.0001, bandwidth * x, np.nan)
        layers.append(Curve(name, x, y, _style(name, roofs, _SLANTED[i % len(_SLANTED)])))
    fastest = max(roofs.bandwidth.values())
    for i, (name, flops) in enumerate(roofs.compute.items()):
        y = np.where(x >= 0.999999 * flops / fastest, flops, np.nan)
        layers.append(Curve(name, x, y, _style(name, roofs, _FLAT[i % len(_FLAT)])))
    for spot, symbol in zip(spots, _SYMBOLS * len(spots), strict=False):
        at, texts = _levels(spot.intensity)
        layers.append(Points(spot.name, at, [spot.flops] * len(at), texts, Style("ink", symbol=symbol), "bottom right"))
    lowest = min([low * min(roofs.bandwidth.values()), *(0.5 * spot.flops for spot in spots if spot.flops > 0)])
    return Picture(
        title="Roofline",
        x=Axis("operational intensity", "flop per byte", "log", (low, high)),
        y=Axis("performance", "flop/s", "log", (lowest, 2.0 * top)),
        layers=tuple(layers),
        source=source,
        caption="A kernel lies below the slanted roof of the memory level its traffic is counted at and below the "
        "flat roof of its arithmetic. Thick: the vendor's peak; thin: what measurements reach.",
    )


def _levels(intensity: Mapping[str, float]) -> tuple[list[float], tuple[str, ...]]:
    """Marks of the kernel; memory levels with nearly equal traffic share one."""
    groups: list[tuple[float, list[str]]] = []
    for level, value in sorted(intensity.items(), key=lambda pair: pair[1]):
        if groups and value < APART * groups[-1][0]:
            groups[-1][1].append(level)
        else:
            groups.append((value, [level]))
    return [value for value, _ in groups], tuple(", ".join(names) for _, names in groups)


def _span(roofs: Roofs, spots: Sequence[Spot]) -> tuple[float, float]:
    ridges = [f / b for f in roofs.compute.values() for b in roofs.bandwidth.values()]
    at = [value for spot in spots for value in spot.intensity.values() if 0 < value < float("inf")]
    low = min([min(ridges) / 10.0, *(value / 3.0 for value in at)])
    high = max([max(ridges) * 10.0, *(value * 10.0 for value in at)])
    return float(10 ** np.floor(np.log10(low))), float(10 ** np.ceil(np.log10(high)))


def _style(name: str, roofs: Roofs, own: tuple[str, str]) -> Style:
    return Style(*own, width=1.5 if name in roofs.achievable else 2.8)


_SLANTED = (("blue", "solid"), ("sky", "dash"), ("green", "dashdot"), ("purple", "dot"))
_FLAT = (("vermilion", "longdash"), ("orange", "8px,3px"), ("muted", "5px,2px,1px,2px"), ("purple", "2px,2px"))
_SYMBOLS = ("star", "diamond", "square", "cross")
