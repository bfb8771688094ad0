"""Predicted against measured times of all judged launches as one picture."""

import numpy as np

from warpbound.report.figures.picture import Axis, Band, Curve, Layer, Picture, Points, Style
from warpbound.validate.interval_calibration import is_judged
from warpbound.validate.judged_row import Result
from warpbound.validate.results import Validation
from warpbound.validate.row_prediction import HEADLINE

CLASSES = {  # class of the prediction's form error -> name, colour and symbol in the picture
    "launch": ("the launch itself", Style("muted", symbol="pentagon", width=0)),
    "dram": ("DRAM", Style("blue", symbol="circle", width=0)),
    "l2": ("L2", Style("green", symbol="diamond", width=0)),
    "across L2": ("L2", Style("green", symbol="diamond", width=0)),
    "edge of L2": ("L2", Style("green", symbol="diamond", width=0)),
    "l1": ("L1", Style("orange", symbol="square", width=0)),
    "edge of L1": ("L1", Style("orange", symbol="square", width=0)),
    "latency": ("latency", Style("purple", symbol="triangle-up", width=0)),
    "in step": ("warps that wait together", Style("ink", symbol="star", width=0)),
    "sm": ("pipes, shared memory and issue", Style("vermilion", symbol="x", width=0)),
}
NEAR = 0.2            # per unit of the measured time: the band in the picture
PLACES_A_DECADE = 100  # launches closer than this are drawn as a single point


def picture(validation: Validation) -> Picture:
    """Judged launches, times in us; one layer for each resource that binds by the prediction."""
    rows = [r for r in validation.results if is_judged(r)]
    times = np.array([(1e6 * r.measured, 1e6 * (r.seconds[HEADLINE] or np.nan)) for r in rows])
    first, last = 0.7 * float(times.min()), 1.4 * float(times.max())
    ends = np.array([first, last])
    layers: list[Layer] = [
        Band(f"within {100 * NEAR:.0f} %", ends, (1 - NEAR) * ends, (1 + NEAR) * ends, Style("muted")),
        Curve("predicted = measured", ends, ends, Style("ink", width=1.0)),
    ]
    for name, style in dict(CLASSES.values()).items():
        places = _places([r for r in rows if CLASSES[r.binds][0] == name])
        layers.append(Points(name, places[:, 0], places[:, 1], style=style))
    return Picture(
        title="Predicted against measured time of a launch",
        x=Axis("measured", "us", "log", (first, last)),
        y=Axis("predicted", "us", "log", (first, last)),
        layers=tuple(layers),
        source=f"{len(rows)} judged launches of {len(validation.corpora)} corpora, by `warpbound validate --write`.",
        caption="Colours name the resource that binds according to the prediction. Points on the line are exact.",
        height=620,
    )


def _places(rows: list[Result]) -> np.ndarray:
    """(measured, predicted) in us, shape (n, 2), without points that would hide each other."""
    times = np.log10([(1e6 * r.measured, 1e6 * (r.seconds[HEADLINE] or np.nan)) for r in rows])
    places: np.ndarray = 10 ** (np.unique(np.round(times * PLACES_A_DECADE), axis=0) / PLACES_A_DECADE)
    return places
