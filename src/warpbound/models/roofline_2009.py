"""Roofline: the peak rate of arithmetic against what the memory can feed.

Source   S. Williams, A. Waterman, D. Patterson, "Roofline: An Insightful Visual
         Performance Model for Multicore Architectures", CACM 52(4), 2009.  The
         article numbers no equation; "eq. p. N" is page N of that issue, checked
         for pages 67, 68 and 72.
Models   one kernel on a whole chip: flop done, bytes moved between cache and
         DRAM, and per machine one flat roof, one slanted roof, and any number of
         ceilings that stand until the optimisation they are named after is made.
Omits    latency, occupancy, time that arithmetic and traffic do not share, cache
         levels other than the last, anything that is not a flop or a DRAM byte.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Bounds, Real, bounds
from warpbound.quick_dataclasses import dataclass


@dataclass(frozen=True)
class Inputs:
    """One kernel, one machine; the article has words where others have symbols."""

    intensity: Real       # operational intensity            [flop/B]
    peak_flops: Real      # peak floating-point performance  [flop/s]
    peak_bandwidth: Real  # peak memory bandwidth, sustained [B/s]


def predict(x: Inputs) -> Bounds:
    """Attainable flop/s under the two roofs."""
    return bounds(
        "flop/s",
        compute=x.peak_flops,                       # eq. p. 67
        memory=x.peak_bandwidth * x.intensity,      # eq. p. 67
    )


def predict_under_ceilings(
    x: Inputs, compute: Mapping[str, Real], bandwidth: Mapping[str, Real]
) -> Bounds:
    """Attainable flop/s as long as the optimisation behind each named ceiling is missing.

    compute : ceiling -> flop/s;  bandwidth : ceiling -> B/s.
    """
    _refuse_clash(compute, bandwidth)
    flat = {name: ceiling for name, ceiling in compute.items()}                   # eq. p. 68
    slanted = {name: ceiling * x.intensity for name, ceiling in bandwidth.items()}  # eq. p. 68
    return bounds("flop/s", **predict(x).limits, **flat, **slanted)


def ridge(peak_flops: Real, peak_bandwidth: Real) -> Real:
    """Least intensity, flop/B, that reaches a flat line from a slanted one."""
    with np.errstate(divide="ignore"):
        return np.divide(peak_flops, peak_bandwidth)  # eq. p. 67


def in_the_way(
    x: Inputs, compute: Mapping[str, Real], bandwidth: Mapping[str, Real]
) -> dict[str, NDArray[np.bool_]]:
    """Ceiling -> whether it lies below both roofs at this intensity, so that breaking it can pay."""
    roof = predict(x).rate
    lines = predict_under_ceilings(x, compute, bandwidth).limits
    return {name: np.asarray(lines[name] < roof) for name in (*compute, *bandwidth)}  # eq. p. 68


def _refuse_clash(compute: Mapping[str, Real], bandwidth: Mapping[str, Real]) -> None:
    names = ["compute", "memory", *compute, *bandwidth]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"a line of the roofline is named twice: {', '.join(twice)}")
