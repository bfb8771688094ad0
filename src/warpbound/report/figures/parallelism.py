"""MWP, CWP and what limits them, over the warps of an SM.

Source   S. Hong, H. Kim, ISCA 2009 and its extended version: Figures 21 to 23.
"""

from dataclasses import replace

import numpy as np

from warpbound.models import hong_kim_2009
from warpbound.models.hong_kim_2009 import Inputs
from warpbound.report.figures.labels import Plot, lifted
from warpbound.report.figures.picture import Axis, Curve, Numbers, Picture, Rule, Style, numbers

SOURCE = "S. Hong, H. Kim, extended version of ISCA 2009, Figures 21 to 23"
THREADS_PER_WARP = 32.0


def mwp_and_cwp(x: Inputs, warps: Numbers, source: str = SOURCE) -> Picture:
    """N, MWP and its two limits, CWP over `warps`, shape (n,), warps per SM; the rest of the launch as in `x`."""
    n = numbers(warps)
    t = hong_kim_2009.terms(replace(x, threads_per_block=THREADS_PER_WARP, active_blocks=n))
    own = float(hong_kim_2009.terms(x).warps)
    shapes = {name: np.broadcast_to(numbers(value), n.shape) for name, value in _lines(t, n).items()}
    top = 1.15 * max(float(shapes["MWP"].max()), float(shapes["CWP"].max()), 4.0)
    curves = tuple(Curve(name, n, np.where(y <= top, y, np.nan), _STYLES[name]) for name, y in shapes.items())
    plot = Plot.of((0.0, float(n.max())), (0.0, top), curves, ())
    here = (lifted(Rule(own, f"launch: N = {own:g}"), plot),) if own <= float(n.max()) else ()
    return Picture(
        title="Memory and computation warp parallelism",
        x=Axis("running warps, N", "warps per SM", span=(0.0, float(n.max()))),
        y=Axis("warps", "warps per SM", span=(0.0, top)),
        layers=(*curves, *here),
        source=source,
        caption="MWP counts the warps whose memory requests overlap, and independent requests of one warp too: it "
        "grows with N up to its two limits. Where CWP lies above MWP, memory dominates the time, below, computation; "
        "where both still grow with N, there are too few warps and both times add up.",
    )


def cycles_over_warps(x: Inputs, warps: Numbers, source: str = SOURCE) -> Picture:
    """Cycles of the launch by part over `warps`, shape (n,), warps per SM; the number of blocks stays."""
    n = numbers(warps)
    per_block = np.ceil(np.divide(x.threads_per_block, THREADS_PER_WARP))
    prediction = hong_kim_2009.predict(replace(x, active_blocks=n / per_block))
    parts = {name: np.broadcast_to(numbers(part), n.shape) for name, part in prediction.parts.items()}
    total = np.broadcast_to(numbers(prediction.total), n.shape)
    own = float(hong_kim_2009.terms(x).warps)
    curves = (Curve("whole launch", n, total, _STYLES["MWP"]),) + tuple(
        Curve(_PARTS[name], n, part) for name, part in parts.items() if part.any()
    )
    top = 1.1 * float(np.nanmax(total[n >= min(2.0, float(n.max()))]))
    here = (Rule(own, f"launch: N = {own:g}"),) if own <= float(n.max()) else ()
    return Picture(
        title="Cycles of the launch",
        x=Axis("running warps, N", "warps per SM", span=(0.0, float(n.max()))),
        y=Axis("time", "cycles", span=(0.0, top)),
        layers=(*curves, *here),
        source=source,
        caption="The same blocks by the warps that run together, fractions of a block too. Waiting shrinks while "
        "requests overlap; barriers and computation do not.",
    )


_PARTS = {"memory": "waiting for memory", "computation": "computing", "barrier": "waiting at barriers"}


def _lines(t: hong_kim_2009.Terms, n: Numbers) -> dict[str, Numbers]:
    return {
        "N": n,
        "MWP without bandwidth limit": numbers(t.mwp_full),
        "MWP at peak bandwidth": numbers(t.mwp_peak_bw),
        "MWP": numbers(t.mwp),
        "CWP": numbers(t.cwp),
    }


_STYLES = {
    "N": Style("muted", "dot", width=1.6),
    "MWP without bandwidth limit": Style("blue", "dash"),
    "MWP at peak bandwidth": Style("green", "dashdot"),
    "MWP": Style("ink", "solid", width=3.2),
    "CWP": Style("vermilion", "longdash", width=2.6),
}
