"""The X-model's graph: supply and demand, and the nine changes.

Source   what sliders begin with: A. Li et al., 2016, a machine with a cache.
"""

from dataclasses import replace

from warpbound.models import x_model_2016
from warpbound.page.sliders import SCALES, Control, input_controls
from warpbound.page.subject import Subject
from warpbound.page.views.mwp_and_cwp import MWP_WORDS
from warpbound.page.views.view import Values, ViewOutput, inputs, model
from warpbound.report import figures
from warpbound.report.figures.picture import Drawable

BARE_X = x_model_2016.Inputs(105.0, 1.0, 128.0, 96.0, 600.0, 0.6, 10.0, 16384.0, 6.0, 819.2)

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
    return figures.nine_operations(inputs("x", x, values), max(1.0, values.get(WHATIF, 1.5)), "warps")
