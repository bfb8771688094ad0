"""The synthetic family on the board as it is set: every model over the warps, latency under load, a simulated SM.

Source   V. Volkov, EECS-2016-143, sections 4.1, 6.4, 7.9 and 5.8; the growth of latency with load is chosen where
         nobody measured it: a tenth of the unloaded latency, as on the GTX 680 of Table 6.5.
"""

from dataclasses import replace

import numpy as np

from warpbound.model_inputs.accesses import accesses
from warpbound.models.volkov_2016 import contention
from warpbound.page.sliders import Control, counting, real_slider, whole_slider
from warpbound.page.subject import Subject
from warpbound.page.views.view import Values, ViewOutput
from warpbound.report import figures
from warpbound.report.figures.picture import Axis, Curve, Drawable, Picture, Points, Rule, Style
from warpbound.report.figures.throughput import VOLKOV
from warpbound.simulate import timelines
from warpbound.simulate.experiment import Experiment, Launch, Stream
from warpbound.simulate.synthetic_family import Setting, chain, machine, steps
from warpbound.simulate.warp_simulation import Outcome, run_short
from warpbound.synthetic_family.comparison import alphas, ratios
from warpbound.synthetic_family.machine import LINE, Machine, on_board
from warpbound.synthetic_family.predictors import PREDICTORS, refined

ALPHA, WARPS, GROWTH = "family.alpha", "family.warps", "family.growth"
TURNS, BLOCK, BLOCKS, POLICY, SEED = "sm.turns", "sm.block", "sm.blocks", "sm.policy", "sm.seed"
BARE_ALPHA = 32.0
MOST_ALPHA, LEAST_ALPHA = 512.0, 0.1
GROWS = 32.0 / 301.0        # b over a of Table 6.5, Kepler
REFERENCE = "volkov_2016, contention"
STEPS = 7                   # intensities of an envelope, a factor of 2 sqrt(2) apart
POLICIES = ("round_robin", "greedy_then_oldest", "greedy_then_youngest", "oldest")
SCHEDULER = "Scheduler: 0 round robin, 1 greedy then oldest, 2 greedy then youngest, 3 oldest"
INSTRUCTIONS = 12_000       # most instructions that a simulation may issue: plain Python takes some 30 us for each
SHOWN, MOST_SPANS = 4000.0, 1000  # cycles of the timeline, and what it holds at most


def alpha_of(subject: Subject) -> float:
    """Instructions of a warp for each access of the kernel; that of Figure 7.1 without one."""
    work = subject.focus
    count = accesses(subject.facts).count if subject.facts else 0.0
    if work is None or not count:
        return BARE_ALPHA
    return min(MOST_ALPHA, max(0.0, work.warp_instructions / count - 1.0))


def _warps_of(subject: Subject) -> float:
    own = subject.facts.warps_per_sm if subject.facts else None
    return float(own or max(1, subject.gpu.limits.max_warps_per_sm // 2))


def family_controls(subject: Subject) -> list[Control]:
    """Additions per access, warps and the growth of latency; all else are numbers of the GPU."""
    alpha, most = alpha_of(subject), subject.gpu.limits.max_warps_per_sm
    latency = on_board(subject.gpu).memory_latency
    return [
        Control(ALPHA, "Arithmetic intensity, alpha", "adds per access", alpha, 0.0, max(MOST_ALPHA / 4, alpha)),
        whole_slider(WARPS, "Resident warps", "warps per SM", round(_warps_of(subject)), (1, most)),
        real_slider(GROWTH, "Growth of latency with load, b", "cycle", GROWS * latency),
    ]


def _whose(subject: Subject) -> str:
    """What alpha is where a kernel stands behind it."""
    return f"Alpha is the instructions of {subject.name} for each of its accesses." if subject.facts else ""


def _set(subject: Subject, values: Values) -> tuple[Machine, float, float]:
    """The board as a machine of the family, alpha and warps as set."""
    control_values = {control.key: values.get(control.key, control.value) for control in family_controls(subject)}
    bare = on_board(subject.gpu)
    memory = contention.Memory(bare.memory_latency, (control_values[GROWTH],), (bare.memory_throughput,))
    return replace(bare, contention=memory), control_values[ALPHA], max(1.0, control_values[WARPS])


# ---------------------------------------------------------------- model against model


def models_compared(subject: Subject, values: Values) -> ViewOutput:
    """Throughput of every model over the warps, at the intensity that is set."""
    sm, alpha, warps = _set(subject, values)
    at = counting(sm.max_warps)
    lines = {name: np.broadcast_to(model(sm, at, max(alpha, 1e-3)), at.shape) for name, model in PREDICTORS.items()}
    here = {name: float(np.interp(warps, at, line)) for name, line in lines.items()}
    own = here[REFERENCE]
    others = {name: rate / own for name, rate in here.items() if name != REFERENCE}
    low, high = min(others, key=lambda name: others[name]), max(others, key=lambda name: others[name])
    words = (
        f"At {warps:.0f} warps and {alpha:.3g} additions per access the reference, Volkov's model with contention, "
        f"gives {own:.4g} accesses per cycle and SM; the lowest is {low} with {others[low]:.2f} of that, the highest "
        f"{high} with {others[high]:.2f}. {_whose(subject)}".strip(),
    )
    top = 1.6 * float(np.max(lines[REFERENCE]))
    curves = [
        Curve(name, at, np.where((line <= top) & (line >= 0), line, np.nan), _style(name))
        for name, line in lines.items()
    ]
    picture = Picture(
        title="Every model on one kernel",
        x=Axis("resident warps", "warps per SM", span=(0.0, float(sm.max_warps))),
        y=Axis("throughput", "accesses/cycle/SM", span=(0.0, top)),
        layers=(*curves, Rule(warps, f"{warps:.0f} warps")),
        source=f"{VOLKOV}, chapter 7",
        caption="One access and alpha additions that wait for each other, repeated. The broad line is the reference; "
        "what lies outside of the plot is left out.",
        height=560,
    )
    return ViewOutput(picture, words)


def _style(name: str) -> Style | None:
    return Style("ink", width=3.6) if name == REFERENCE else None


def envelopes(subject: Subject, values: Values) -> Drawable | None:
    """Least and most of every model's throughput over the reference's, over all occupancies, by intensity."""
    sm, _, _ = _set(subject, values)
    alpha = alphas(3 * STEPS - 2)[::3]
    all_ratios = {name: ratios(model, refined, sm, alpha) for name, model in PREDICTORS.items() if name != REFERENCE}
    extremes = {name: (ratio.least, ratio.most) for name, ratio in all_ratios.items()}
    picture = figures.models_over_reference(subject.gpu.name, alpha, extremes, "model with contention")
    plots = tuple(replace(plot, x=replace(plot.x, unit="")) for plot in picture.pictures)  # no room for two lines
    return replace(picture, pictures=plots, source=f"{VOLKOV}, section 7.9, with a model in place of measurements")


# ---------------------------------------------------------------- latency under load


def load(subject: Subject, values: Values) -> ViewOutput:
    """Latency of memory over its throughput, and where the warps settle."""
    sm, alpha, warps = _set(subject, values)
    assert sm.contention is not None
    per_s = LINE * sm.sm_count * sm.clock_Hz / 1e9  # GB/s of one access per cycle and SM
    prediction = contention.predict(sm.mix(warps, alpha), sm.contention)
    rate = float(prediction.rate)
    latency = float(contention.loaded_latency(sm.contention, rate))
    least = float(sm.mix(warps, alpha).op_latency)
    words = (
        f"{warps:.0f} warps with {alpha:.3g} additions per access get {rate * per_s:.4g} GB/s at a mean latency of "
        f"{latency:.4g} cycles, {latency - least:.3g} of them waiting; without waiting they would get "
        f"{float(PREDICTORS['volkov_2016'](sm, warps, alpha)) * per_s:.4g} GB/s. {_whose(subject)}".strip(),
    )
    memory = contention.Memory(sm.contention.unloaded, sm.contention.growth, (sm.memory_throughput * per_s,))
    picture = figures.latency_against_throughput({subject.gpu.name: memory}, {}, "GB/s", f"{VOLKOV}, section 6.4")
    here = Points("these warps", [rate * per_s], [latency], (), Style("vermilion"))
    return ViewOutput(replace(picture, layers=(*picture.layers, here)), words)


def load_over_warps(subject: Subject, values: Values) -> Drawable | None:
    """Throughput over the warps with waiting and without."""
    sm, alpha, warps = _set(subject, values)
    assert sm.contention is not None
    at = counting(sm.max_warps)
    per_s = LINE * sm.sm_count * sm.clock_Hz / 1e9
    with_waiting = contention.predict(sm.mix(at, alpha), sm.contention).rate * per_s
    without = PREDICTORS["volkov_2016"](sm, at, alpha) * per_s
    return Picture(
        title="What waiting costs",
        x=Axis("resident warps", "warps per SM", span=(0.0, float(sm.max_warps))),
        y=Axis("throughput", "GB/s", span=(0.0, 1.1 * float(np.max(without)))),
        layers=(
            Curve("constant latency", at, without, Style("muted", "dash")),
            Curve("latency that grows with load", at, with_waiting, Style("ink", width=3.2)),
            Rule(warps, f"{warps:.0f} warps"),
        ),
        source=f"{VOLKOV}, section 6.5",
        caption="Memory saturates gradually: near its peak, most warps more only wait longer.",
    )


# ---------------------------------------------------------------- a simulated SM


def simulator_controls(subject: Subject) -> list[Control]:
    most = subject.gpu.limits.max_warps_per_sm
    alpha = family_controls(subject)[0]
    return [
        replace(alpha, value=min(alpha.value, 64.0), high=64.0),
        whole_slider(WARPS, "Resident warps", "warps per SM", min(16, most), (1, most)),
        whole_slider(BLOCK, "Warps of a block", "", 4, (1, 16)),
        whole_slider(BLOCKS, "Times the resident blocks", "", 3, (1, 6)),
        whole_slider(TURNS, "Accesses of a warp", "", 6, (1, 20)),
        whole_slider(POLICY, SCHEDULER, "", 1, (0, 3)),
        whole_slider(SEED, "Seed of the random latencies", "", 1, (1, 9)),
    ]


def _experiment(subject: Subject, values: Values) -> Experiment:
    numbers = {
        control.key: min(control.high, max(control.low, values.get(control.key, control.value)))
        for control in simulator_controls(subject)
    }
    alpha, block = numbers.pop(ALPHA), round(numbers[BLOCK])
    sm, path = on_board(subject.gpu), chain(alpha if alpha >= LEAST_ALPHA else 0.0)
    resident = max(1, round(numbers[WARPS]) // block)
    setting = Setting("exponential", POLICIES[round(numbers[POLICY])], seed=round(numbers[SEED]))
    blocks = resident * round(numbers[BLOCKS])
    turns = max(1, min(round(numbers[TURNS]), INSTRUCTIONS // (blocks * block * len(path))))
    return Experiment(
        machine=machine(sm, setting),
        steps=steps(sm, setting),
        streams=(Stream(path, turns),),
        launch=Launch(((0,) * block,), resident=resident, blocks=blocks, block_start=0.5 * sm.memory_latency),
        seed=setting.seed,
        log_rows=40_000,
    )


def _played(subject: Subject, values: Values) -> tuple[Experiment, Outcome]:
    x = _experiment(subject, values)
    return x, run_short(x)


def simulated_sm(subject: Subject, values: Values) -> ViewOutput:
    """What every warp does, from a simulation that runs at each movement."""
    x, outcome = _played(subject, values)
    spans = list(timelines.spans(x, outcome, min(SHOWN, outcome.cycles)))
    if len(spans) > MOST_SPANS:
        last = sorted(start for _, start, _, _ in spans)[MOST_SPANS]
        spans = [(warp, start, min(end, last), what) for warp, start, end, what in spans if start < last]
    per_load = outcome.request_latency
    words = (
        f"{x.launch.blocks} blocks of {len(x.launch.warps[0])} warps, {x.launch.resident} at a time, take "
        f"{outcome.cycles:.4g} cycles: {outcome.occupancy:.3g} warps resident on average, "
        f"{float(outcome.rates.sum()):.3g} instructions per cycle, "
        f"{per_load:.4g} cycles per access, {outcome.request_waiting:.3g} of them waiting.",
        f"A block starts half a memory latency after the one that it replaces. {_whose(subject)}".strip(),
    )
    return ViewOutput(figures.warps_in_time(spans, "What each warp does"), words)


def simulated_occupancy(subject: Subject, values: Values) -> Drawable | None:
    """Resident warps over the whole run."""
    _, outcome = _played(subject, values)
    return figures.occupancy_in_time({"resident warps": outcome.occupancy_over_time()}, "Occupancy over time")
