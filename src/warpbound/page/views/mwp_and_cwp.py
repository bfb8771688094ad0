"""Memory and computation warp parallelism over the warps, and the time that follows from them.

Source   what sliders begin with: S. Hong, H. Kim, ISCA 2009, the machine of the examples, with 6 accesses and 27 other
         instructions.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.models import hong_kim_2009
from warpbound.page.sliders import REACH, Control, counting, input_controls, whole_slider
from warpbound.page.subject import Subject
from warpbound.page.views.view import Values, ViewOutput, inputs, model
from warpbound.report import figures
from warpbound.report.figures.picture import Drawable
from warpbound.report.formatting import seconds

BARE_MWP = hong_kim_2009.Inputs(
    1.0e9, 80.0e9, 420.0, 10.0, 4.0, 128.0, 80.0, 16.0, 5.0, 27.0, 0.0, 6.0, 6.0, 1.0, 128.0
)
MOST_BARRIERS = 16.0  # end of the slider if the launch has no or few barriers
SLOWEST = 8.0         # mean cost of an instruction that the slider reaches

MWP_WORDS = {
    "active_blocks": ("Active blocks", "per SM"),
    "threads_per_block": ("Threads per block", ""),
    "mem_latency": ("Memory latency", "cycle"),
    "mem_bandwidth": ("Memory bandwidth", "GB/s"),
    "departure_coal": ("Departure delay, coalesced", "cycle"),
    "departure_uncoal": ("Departure delay, uncoalesced", "cycle"),
    "comp_insts": ("Computation", "inst/warp"),
    "coal_mem_insts": ("Coalesced accesses", "inst/warp"),
    "uncoal_mem_insts": ("Uncoalesced accesses", "inst/warp"),
    "uncoal_per_mw": ("Transactions of each uncoalesced one", ""),
    "load_bytes": ("Bytes of an access", "B"),
    "issue_cycles": ("Issue", "cycle/inst"),
    "active_sms": ("Active SMs", ""),
    "blocks": ("Blocks of the grid", ""),
    "synch_insts": ("Barriers in the model, Synch_insts", "per warp"),
    "ind_mem_req": ("Independent requests", "per warp"),
    "m_factor": ("Mean cost of an instruction, M_Factor", ""),
    "freq": ("Clock", "MHz"),
}


CASES = {  # equation of the time -> when it is taken
    22.0: "too few warps for either limit, so that memory and computation add up",
    23.0: "memory dominates",
    24.0: "computation dominates",
}


def mwp_controls(subject: Subject) -> list[Control]:
    x = model("hong_kim_2009", subject, BARE_MWP)
    return [] if isinstance(x, str) else [_ranged(control, x) for control in input_controls("mwp", x, MWP_WORDS)]


def _ranged(control: Control, x: hong_kim_2009.Inputs) -> Control:
    """Counts may be 0 and rise from there; a warp's last request always waits for one; no instruction is free."""
    match control.key:
        case "mwp.synch_insts":
            return whole_slider(control.key, control.label, control.unit, control.value,
                                (0, max(MOST_BARRIERS, REACH * control.value)))  # fmt: skip
        case "mwp.ind_mem_req":
            most = max(0.0, float(hong_kim_2009.mem_insts(x)) - 1.0)
            return replace(control, low=0.0, high=max(most, control.value, 1.0))
        case "mwp.m_factor":
            return replace(control, low=min(1.0, control.value), high=max(SLOWEST, control.value))
    return control


def _as_set(subject: Subject, values: Values) -> hong_kim_2009.Inputs | str:
    own = model("hong_kim_2009", subject, BARE_MWP)
    if isinstance(own, str):
        return own
    x: hong_kim_2009.Inputs = inputs("mwp", own, values, MWP_WORDS)
    return replace(x, ind_mem_req=min(float(x.ind_mem_req), max(0.0, float(hong_kim_2009.mem_insts(x)) - 1.0)))


def mwp(subject: Subject, values: Values) -> ViewOutput:
    x = _as_set(subject, values)
    if isinstance(x, str):
        return ViewOutput(words=(x,))
    terms = hong_kim_2009.terms(x)
    n, m, c = float(terms.warps), float(terms.mwp), float(terms.cwp)
    if not (np.isfinite(m) and np.isfinite(c)):
        return ViewOutput(words=("Without an access to memory there is no MWP.",))
    words = (f"N = {n:.3g}, MWP = {m:.3g}, CWP = {c:.3g}: {CASES[float(hong_kim_2009.equation_taken(x))]}.", _time(x))
    return ViewOutput(figures.mwp_and_cwp(x, _warps(subject, n)), words)


def time_over_warps(subject: Subject, values: Values) -> Drawable | None:
    """The launch's cycles by part, over the warps that an SM holds."""
    x = _as_set(subject, values)
    if isinstance(x, str):
        return None
    return figures.cycles_over_warps(x, _warps(subject, float(hong_kim_2009.terms(x).warps)))


def _warps(subject: Subject, n: float) -> NDArray[np.float64]:
    return counting(max(subject.gpu.limits.max_warps_per_sm, n))


def _time(x: hong_kim_2009.Inputs) -> str:
    prediction = hong_kim_2009.predict(x)
    total, barrier = float(prediction.total), float(prediction.parts["barrier"])
    waits = f", {barrier:.4g} of them at barriers" if barrier else ""
    turns = float(hong_kim_2009.terms(x).rep)
    return (
        f"{total:.4g} cycles{waits}: {seconds(total / float(x.freq))} for {float(x.blocks):.4g} blocks, "
        f"which fill the SMs {turns:.3g} times."
    )
