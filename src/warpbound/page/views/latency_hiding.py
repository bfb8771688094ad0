"""Latency hiding: every bound over the warps, of a kernel or of Volkov's mix; the cusp.

Source   V. Volkov, EECS-2016-143: Table 4.1 for the mix that sliders begin with, Maxwell with 4 adds per access.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from warpbound.bounds import Bounds, Real
from warpbound.models.volkov_2016 import mixes
from warpbound.page.quick_prediction import THOUSAND, can_time, quick_bounds, quick_curve
from warpbound.page.sliders import Control, counting, input_controls
from warpbound.page.subject import Subject, busy_sms
from warpbound.page.views.view import Values, ViewOutput, inputs
from warpbound.predict import Place, throughput
from warpbound.report import figures
from warpbound.report.figures.picture import Drawable
from warpbound.report.figures.throughput import VOLKOV
from warpbound.report.formatting import RESOURCE_WORDS, amount

BARE_MIX = mixes.Mix(24.0, 4.0, 368.0, 6.0, 0.0814, 4.0, 4.0)
UNIT = "warps per 1000 SM cycles"
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
    return input_controls("mix", BARE_MIX, MIX_WORDS) if subject.focus is None else []


def latency_hiding_view(subject: Subject, values: Values) -> ViewOutput:
    return _mix_bounds(inputs("mix", BARE_MIX, values)) if subject.focus is None else _kernel_bounds(subject)


def _mix_bounds(mix: mixes.Mix) -> ViewOutput:
    """Volkov's mix: bounds over the warps."""
    warps = counting(max(64.0, 1.2 * float(mix.warps)))
    bounds, here = mixes.predict(replace(mix, warps=warps)), mixes.predict(mix)
    most_needed = float(np.ravel(mixes.warps_needed(mix).total)[0])
    rate, binds = float(here.rate), str(here.bottleneck)
    words = (
        f"{RESOURCE_WORDS.get(binds, binds).capitalize()} binds at {mix.warps:.0f} warps: {rate:.4g} memory accesses "
        f"per cycle and SM. {most_needed:.1f} warps would hide the latency.",
    )
    curve = {"volkov_2016": (warps, bounds.rate)}
    at = figures.Here(float(mix.warps), rate, "these sliders")
    return ViewOutput(figures.throughput_against_occupancy(warps, bounds, curve, at), words)


def cusp(subject: Subject, values: Values) -> Drawable | None:
    """Warps needed over the intensity, for sliders alone."""
    if subject.focus is not None:
        return None
    mix = {"this machine": inputs("mix", BARE_MIX, values)}
    return figures.warps_needed_against_intensity(mix, np.logspace(-1, 3, 120))


def _kernel_bounds(subject: Subject) -> ViewOutput:
    """The kernel's bounds over the warps, and both predictions."""
    x, work = subject.facts, subject.focus
    assert work is not None
    if x is None or x.warps_per_sm is None or not work.latency:
        own = subject.figures.curve if subject.figures else None
        if own is None:
            return ViewOutput(words=("The latency of a warp is not known for this workload.",))
        limited = Bounds(own.unit, {name: np.array(limit) for name, limit in own.limits.items()})
        return ViewOutput(figures.throughput_against_occupancy(own.warps_per_sm, limited, own.predicted))
    most = float(subject.gpu.limits.max_warps_per_sm)
    warps = np.arange(1.0, most + 1.0)
    own_bounds = throughput(work, Place(subject.gpu, x.clock_hz, x.warps_per_sm, busy_sms(x)), warps)
    limits = {name: limit for name, limit in own_bounds.limits.items() if np.isfinite(limit).all()}
    scaled: dict[str, Real] = {name: THOUSAND * limit for name, limit in limits.items()}
    source = f"{VOLKOV}, sections 3.6, 3.7 and 4.1"
    curves: dict[str, tuple[Any, Any]] = {"volkov_2016": (warps, THOUSAND * np.asarray(own_bounds.rate))}
    if can_time(subject):
        scaled = _as_listed(quick_bounds(subject), warps / x.warps_per_sm)
        curves = {"warpbound": quick_curve(subject)} | curves
        source += "; the bounds as warpbound's own prediction charges them"
    bounds = Bounds(UNIT, {name: np.broadcast_to(limit, warps.shape) for name, limit in scaled.items()})
    at, rate = next(iter(curves.values()))
    here = figures.Here(float(x.warps_per_sm), float(np.interp(x.warps_per_sm, at, rate)))
    binds = str(bounds.bottleneck[min(len(warps), max(1, round(x.warps_per_sm))) - 1])
    words = (
        f"{x.warps_per_sm:.0f} of {most:.0f} warps per SM reach {amount(here.y)} warps per 1000 cycles and SM; "
        f"of the bounds {RESOURCE_WORDS.get(binds, binds)} is the tightest.",
    )
    return ViewOutput(figures.throughput_against_occupancy(warps, bounds, curves, here, source), words)


def _as_listed(cycles: Mapping[str, float], share: Real) -> dict[str, Real]:
    """The rates that the bounds of the table allow; that of latency grows with the share of the resident warps."""
    return {name: np.multiply(THOUSAND / cost, share if name == "latency" else 1.0) for name, cost in cycles.items()}
