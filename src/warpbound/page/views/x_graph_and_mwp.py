"""The papers' graphs: supply and demand of the X-model, memory and computation warp parallelism.

Source   what sliders begin with: A. Li et al., 2016, a machine with a cache; S. Hong, H. Kim, ISCA 2009, the machine
         of the examples, with 6 accesses and 27 other instructions.
"""

from dataclasses import replace

import numpy as np

from warpbound.models import hong_kim_2009, x_model_2016
from warpbound.page.sliders import SCALES, Control, counting, input_controls
from warpbound.page.subject import Subject
from warpbound.page.views.view import Values, ViewOutput, inputs, model
from warpbound.report import figures
from warpbound.report.figures.picture import Drawable

BARE_X = x_model_2016.Inputs(105.0, 1.0, 128.0, 96.0, 600.0, 0.6, 10.0, 16384.0, 6.0, 819.2)
BARE_MWP = hong_kim_2009.Inputs(
    1.0e9, 80.0e9, 420.0, 10.0, 4.0, 128.0, 80.0, 16.0, 5.0, 27.0, 0.0, 6.0, 6.0, 1.0, 128.0
)

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


def symbols(values: Values) -> dict[str, dict[str, float]]:
    """Model -> its symbols that are set by hand, as it takes them."""
    by_model = {}
    for model_name, prefix, words in (("x_model_2016", "x", X_WORDS), ("hong_kim_2009", "mwp", MWP_WORDS)):
        own = {key.removeprefix(f"{prefix}."): value for key, value in values.items() if key.startswith(f"{prefix}.")}
        by_model[model_name] = {
            name: value * SCALES.get(words[name][1], 1.0) for name, value in own.items() if name in words
        }
    return {name: own for name, own in by_model.items() if own}


def x_controls(subject: Subject) -> list[Control]:
    x = model("x_model_2016", subject, BARE_X)
    if isinstance(x, str):
        return []
    controls = [
        replace(control, low=1.0) if control.key == "x.alpha" else control  # less than 1 is no locality
        for control in input_controls("x", x, X_WORDS)
    ]
    return [*controls, Control(WHATIF, "What-ifs: factor of each change", "", 1.5, 1.0, 4.0)]


def x_graph(subject: Subject, values: Values) -> ViewOutput:
    own = model("x_model_2016", subject, BARE_X)
    if isinstance(own, str):
        return ViewOutput(words=(own,))
    x = inputs("x", own, values)
    before = float(x_model_2016.reached(x))
    words = (f"The launch settles at k = {before:.3g} of {float(x.threads):.3g} warps in the memory system.",)
    return ViewOutput(figures.x_graph(x, each="warps"), words)


def operations(subject: Subject, values: Values) -> Drawable | None:
    """The nine what-ifs, by the factor that is set."""
    x = model("x_model_2016", subject, BARE_X)
    if isinstance(x, str):
        return None
    return figures.nine_operations(inputs("x", x, values), _factor(values), "warps")


def _factor(values: Values) -> float:
    return max(1.0, values.get(WHATIF, 1.5))


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
    "freq": ("Clock", "MHz"),
}


CASES = {  # equation of the time -> when it is taken
    22.0: "too few warps for either limit, so that memory and computation add up",
    23.0: "memory dominates",
    24.0: "computation dominates",
}


def mwp_controls(subject: Subject) -> list[Control]:
    x = model("hong_kim_2009", subject, BARE_MWP)
    return [] if isinstance(x, str) else input_controls("mwp", x, MWP_WORDS)


def mwp(subject: Subject, values: Values) -> ViewOutput:
    own = model("hong_kim_2009", subject, BARE_MWP)
    if isinstance(own, str):
        return ViewOutput(words=(own,))
    x = inputs("mwp", own, values, MWP_WORDS)
    terms = hong_kim_2009.terms(x)
    n, m, c = float(terms.warps), float(terms.mwp), float(terms.cwp)
    if not (np.isfinite(m) and np.isfinite(c)):
        return ViewOutput(words=("Without an access to memory there is no MWP.",))
    words = (f"N = {n:.3g}, MWP = {m:.3g}, CWP = {c:.3g}: {CASES[float(hong_kim_2009.equation_taken(x))]}.",)
    warps = counting(max(subject.gpu.limits.max_warps_per_sm, n))
    return ViewOutput(figures.mwp_and_cwp(x, warps), words)
