"""X-graphs of Figures 2 to 10 and 12 to 18: f(k), and g(n - k)/Z over the same axis; Table II."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from warpbound.bounds import Real
from warpbound.isa.limits import limits
from warpbound.machine import gpu
from warpbound.models import transit_2015
from warpbound.models.x_model_2016 import Inputs, curves, degradation, equilibrium, extraction, predict, reached, shape
from warpbound.models.x_model_2016.operations import (
    Effect,
    best_threads,
    largest_gain,
    operate,
    relative_gain,
    when_congested,
)
from warpbound.report.figure_series import Axis, Figure, Series, series, series_over
from warpbound.reproduce.item import ItemInputs, Numbers

POINTS = 400
OURS = "a machine of ours"
THREADS_IN_MEMORY, THROUGHPUT = Axis("threads in memory k", "thread"), Axis("throughput of memory", "request/cycle")
STABILITY = {True: "stable", False: "unstable"}
NAMES = ("sigma'", "sigma", "sigma''")
THREADS = 32.0
PRECISIONS = ("single", "double")


def x_graph(title: str, cases: Mapping[str, Inputs], source: str) -> Figure:
    """Supply, demand and the intersections of each case, over threads in memory."""
    lines: list[Series] = []
    for name, x in cases.items():
        k = np.linspace(0.0, float(x.threads), POINTS)
        crossings = equilibrium.intersections(x)
        lines += [
            series(f"f(k), {name}", k, curves.supply(x, k)),
            series(f"g(n-k)/Z, {name}", k, curves.demand(x, np.subtract(x.threads, k))),
            series(f"intersections, {name}", crossings.fewest_ms_threads, crossings.ms_throughput, "points"),
        ]
    return Figure(title, THREADS_IN_MEMORY, THROUGHPUT, tuple(lines), f"Li and others 2016, {source}")


def figs_2_to_5(inputs: ItemInputs) -> Numbers:
    """Figures 2 to 5, supply meets demand: the plain machine in Transit's terms, then the balanced one."""
    plain, balanced = _transit(inputs["plain"]), _transit(inputs["balanced"])
    full, idle = transit_2015.state(plain), transit_2015.state(balanced)
    demand, supply = transit_2015.parallelism(plain), transit_2015.parallelism(balanced)
    return {
        "transit": {
            "delta": transit_2015.ms_transition(plain),
            "pi": transit_2015.cs_transition(plain),
            "MS throughput": full.ms_throughput,
            "CS throughput": full.cs_throughput,
            "CS throughput is Z f(k)": _balances(plain, plain.intensity),
            "CS throughput is Z f(k), as printed": _balances(plain, 1.0),
            "f = kR/L saturates at RL": bool(np.isclose(_saturates_at(plain), transit_2015.ms_transition(plain))),
            "TLP of the machine": demand.machine_tlp,
            "MLP of the machine": demand.machine_mlp,
            "DLP of the machine": demand.machine_dlp,
            "bound": str(transit_2015.bound_class(plain)),
        },
        "balance": {
            "bound": str(transit_2015.bound_class(balanced)),
            "fewest threads in MS": idle.fewest_ms_threads,
            "most threads in MS": idle.most_ms_threads,
            "DLP of workload equals the machine's": bool(np.isclose(supply.workload_dlp, supply.machine_dlp)),
        },
    }


def figs_2_to_5_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Figures 3 and 5."""
    for number, title, name in ((3, "Transit figure", "plain"), (5, "Machine balance", "balanced")):
        yield x_graph(title, {name: Inputs(**inputs[name])}, f"Figure {number}, {OURS}")


def _transit(table: ItemInputs) -> transit_2015.Inputs:
    x = Inputs(**table)
    return transit_2015.Inputs(x.threads, x.intensity, x.lanes, x.latency, x.ms_throughput)


def _balances(x: transit_2015.Inputs, divisor: Real) -> bool:
    """Whether what CS computes is Z times what MS serves, when f(k) = g(n - k) / divisor is the balance."""
    k = np.linspace(0.0, float(x.threads), 100001)
    supply = np.asarray(transit_2015.supply(k, x.latency, x.ms_throughput))
    rate = np.asarray(transit_2015.computation(x.threads - k, x.lanes))
    at = np.argmin(np.abs(supply - rate / divisor))
    return bool(np.isclose(rate[at], x.intensity * supply[at], rtol=1e-2))


def _saturates_at(x: transit_2015.Inputs) -> float:
    """Least whole k at which the printed supply is R."""
    k = np.arange(0.0, 2 * float(x.latency))
    return float(k[np.argmax(transit_2015.supply_as_published(k, x.latency, x.ms_throughput) >= x.ms_throughput)])


def fig_4(inputs: ItemInputs) -> Numbers:
    """Figure 4: throughput of memory before and after each operation, and what binds."""
    cases = {"before": Inputs(**inputs["plain"])}
    for name, factor, before, after in operated(inputs):
        words = inputs["words"][name]
        cases |= {f"{words}, before": before} if words in inputs["starts"] else {}
        cases[f"{words} {'doubled' if factor > 1 else 'halved'}"] = after
    return {name: _throughput(x) for name, x in cases.items()}


def fig_4_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """The graphs before and after each operation."""
    for name, _, before, after in operated(inputs):
        yield x_graph(inputs["words"][name], {"before": before, "after": after}, f"Figure 4, {OURS}")


def operated(inputs: ItemInputs) -> Iterator[tuple[str, float, Inputs, Inputs]]:
    """Operation, factor, the plain machine with what its panel starts from, and the same after the operation."""
    for name, words in sorted(inputs["words"].items()):
        x = Inputs(**{**inputs["plain"], **inputs["starts"].get(words, {})})
        factor = inputs["factors"][name]
        yield name, factor, x, operate(x, name, factor)


def _throughput(x: Inputs) -> dict[str, float | str]:
    prediction = predict(x)
    return {"MS throughput": float(prediction.rate), "binds": str(prediction.bottleneck)}


def figs_7_and_8(inputs: ItemInputs) -> Numbers:
    """Figures 7 and 8: landmarks of f(k) with a shared cache, its peak by L_$, and statements of the text."""
    x = Inputs(**inputs["cached"])
    psi, dip, delta = shape.peak(x), shape.valley(x), curves.ms_transition(x)
    peaks = {f"peak, L_$ {ls:g}": float(shape.peak(replace(x, cache_latency=ls))) for ls in inputs["cache_latencies"]}
    twice = operate(x, "8B", 2.0)
    return {
        "peak": psi,
        "f at the peak": curves.supply(x, psi),
        "valley": dip,
        "f in the valley": curves.supply(x, dip),
        "f at delta": curves.supply(x, delta),
        "plateau R": shape.plateau(x),
        "largest L_$ / (L - L_$) with a peak": shape.slowest_cache_with_a_peak(x.alpha),
        "f stays at R from delta on": np.isclose(curves.supply(x, delta), x.ms_throughput, rtol=1e-3),
        "a faster cache moves neither peak nor valley": max(peaks.values()) < 1.01 * min(peaks.values()),
        "no locality is no cache": _is_plain(replace(x, alpha=1.0)),
        "twice the cache, twice the peak and its place": np.allclose(
            [shape.peak(twice), curves.supply(twice, 2 * psi)], [2 * psi, 2 * curves.supply(x, psi)]
        ),
        **peaks,
    }


def figs_7_and_8_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Figures 7 and 8: f(k) of each case."""
    x, k = Inputs(**inputs["cached"]), np.geomspace(0.5, inputs["most_threads"], 300)
    families = {
        "f(k) with a cache": {"cache": x},
        "Locality": {f"alpha {a:g}": replace(x, alpha=a) for a in inputs["alphas"]},
        "Cache capacity": {f"S_$ {s / 1024:g} KiB": replace(x, cache_capacity=s) for s in inputs["capacities"]},
        "Cache latency": {f"L_$ {ls:g}": replace(x, cache_latency=ls) for ls in inputs["cache_latencies"]},
    }
    for title, cases in families.items():
        number = 7 if len(cases) == 1 else 8
        lines = series_over(k, {name: curves.supply(case, k) for name, case in cases.items()})
        yield Figure(title, THREADS_IN_MEMORY, THROUGHPUT, lines, f"Li and others 2016, Figure {number}, {OURS}")


def _is_plain(x: Inputs) -> bool:
    k = np.linspace(1.0, 1000.0, 50)
    return bool(np.allclose(curves.supply(x, k), np.minimum(k / x.latency, x.ms_throughput)))


def fig_9(inputs: ItemInputs) -> Numbers:
    """Figure 9: all intersections of one machine, where its threads end up, and the drops of throughput."""
    x = Inputs(**inputs["cached"])
    crossings, drops = equilibrium.intersections(x), degradation.drops(x)
    rising = replace(x, **inputs["rising_branch"])
    k = reached(rising)
    ceiling = x.lanes / x.intensity - x.ms_throughput
    rows: dict[str, object] = {"intersections": int(crossings.count)}
    for i, name in enumerate(NAMES):
        rows |= {
            f"threads in MS at {name}": crossings.fewest_ms_threads[i],
            f"MS throughput at {name}": crossings.ms_throughput[i],
            f"{name} is": str(crossings.stability[i]),
        }
    return {
        **rows,
        "a launch reaches": reached(x),
        "a congested machine rests at": equilibrium.congested(x),
        "on a rising branch": STABILITY[bool(equilibrium.is_stable(rising, k))],
        "on a rising branch, by Equation 6 as printed": STABILITY[bool(equilibrium.is_stable_as_published(rising, k))],
        "intersections at n 1000": int(equilibrium.intersections(replace(x, threads=inputs["many"])).count),
        "n at tangency": drops.threads_at_tangency,
        "drop at tangency": drops.at_tangency,
        "n of the largest drop": drops.threads_at_valley,
        "largest drop": drops.at_valley,
        "largest drop is M/Z - R": np.isclose(drops.at_valley, ceiling, rtol=1e-2),
        "drop at infinity, no valley": degradation.drop(replace(x, threads=1e6, **inputs["plain_fall"])),
    }


def fig_9_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """One, three and after the last drop, as A, B and C."""
    source = f"Figure 9, {OURS}"
    return (x_graph(title, {f"n {case.threads:g}": case}, source) for title, case in fig_9_cases(inputs).items())


def fig_9_cases(inputs: ItemInputs) -> dict[str, Inputs]:
    """The same machine with few threads, with more, and with many."""
    x = Inputs(**inputs["cached"])
    few, many = replace(x, **inputs["rising_branch"]), replace(x, threads=inputs["many"] / 2)
    return {"A, one intersection": few, "B, three intersections": x, "C, many threads": many}


def figs_12_to_18(inputs: ItemInputs) -> Numbers:
    """Figures 12 to 18: what operations gain on a machine whose cache thrashes, and the principle behind each."""
    x = Inputs(**inputs["thrashing"])
    k = equilibrium.congested(x)
    effects = {name: when_congested(x, after) for name, after in thrashing_remedies(inputs).items()}
    more_z, bigger = effects["more Z"], thrashing_remedies(inputs)["larger cache"]
    small, points = inputs["small"], inputs["measured"]
    return {
        "blocks of gesummv": extraction.resident_blocks(inputs["slots"], inputs["warps_per_block"]),
        "threads of a block": inputs["warps_per_block"] * THREADS,
        "falls where it crosses": bool(curves.supply_slope(x, k) < 0),
        "larger cache: peak higher": curves.supply(bigger, shape.peak(bigger)) > curves.supply(x, shape.peak(x)),
        **{f"{name}: principle": int(effect.principle) for name, effect in effects.items()},
        **{f"{name}: MS gain": float(effect.ms_gain) for name, effect in effects.items()},
        **{f"{name}: MS and CS rise": _both(effects[name]) for name in ("throttling", "bypassing", "less E")},
        "more Z: CS rises, MS hardly": bool(more_z.cs_gain > 1 and 1 < more_z.ms_gain < 1 + small),
        "best number of threads": best_threads(x),
        "most that throttling gains": largest_gain(x, k),
        "measured, throttled over 48 KB": relative_gain(points["throttled, 48 KB"], points["48 KB"]),
        "measured, bypassed over 48 KB": relative_gain(points["bypassed, 48 KB"], points["48 KB"]),
    }


def figs_12_to_18_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """The thrashing state, and the state after each operation."""
    before = Inputs(**inputs["thrashing"])
    for number, (name, after) in enumerate(thrashing_remedies(inputs).items(), 13):
        yield x_graph(name, {"before": before, "after": after}, f"Figure {number}, {OURS}")


def thrashing_remedies(inputs: ItemInputs) -> dict[str, Inputs]:
    x = Inputs(**inputs["thrashing"])
    return {
        "larger cache": operate(x, "8B", inputs["cache"]),
        "throttling": operate(x, "4F", inputs["threads"]),
        "bypassing": operate(x, "4A", inputs["bypass"]),
        "more Z": operate(x, "4D", inputs["intensity"]),
        "less E": operate(x, "4E", inputs["ilp"]),
    }


def _both(effect: Effect) -> bool:
    return bool(effect.ms_gain > 1 and effect.cs_gain > 1)


def table_2(inputs: ItemInputs) -> Numbers:
    """Table II: M, R and L from measured plateaus; warps and schedulers from the data on the architecture."""
    rows = {name: _constants(table) for name, table in inputs["gpus"].items()}
    furthest = max(table["single"]["warps"] for table in inputs["gpus"].values())
    return {**rows, "x axis of Figure 10": furthest}


def table_2_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Figure 10: f(k) in GB/s."""
    x, y = Axis("warps in memory", "warp/SM"), Axis("throughput of memory", "GB/s")
    for name, table in inputs["gpus"].items():
        lines = tuple(_traffic(table, precision) for precision in PRECISIONS)
        yield Figure(f"Architectural X-graph of {name}", x, y, lines, "Li and others 2016, Table II and Figure 10")


def _constants(table: ItemInputs) -> dict[str, float]:
    sm = limits(gpu(table["board"]).compute_capability)
    row = {"M": float(extraction.lanes(table["cores"]))}
    for precision in PRECISIONS:
        rate = _rate(table, precision)
        row |= {
            f"R, {precision}": rate,
            f"L, {precision}": float(extraction.latency(table[precision]["warps"], rate)),
            f"share of the pins, {precision}": 100 * table[precision]["GBs"] / table["pins_GBs"],
        }
    return row | {"max warps": float(sm.max_warps_per_sm), "schedulers": float(sm.sub_cores)}


def _rate(table: ItemInputs, precision: str) -> float:
    rates = table[precision]
    clock = table["clock_GHz"] * 1e9
    return float(extraction.ms_throughput(rates["GBs"] * 1e9, table["sms"], clock, rates["bytes"]))


def symbols(table: ItemInputs, precision: str) -> tuple[float, float, float]:
    """M, R and L of one GPU."""
    rate = _rate(table, precision)
    return float(extraction.lanes(table["cores"])), rate, float(extraction.latency(table[precision]["warps"], rate))


def _traffic(table: ItemInputs, precision: str) -> Series:
    lanes, rate, latency = symbols(table, precision)
    x = Inputs(float(table["max_warps"]), 1.0, 1.0, lanes, latency, rate)
    k = np.arange(1.0, table["max_warps"] + 1)
    clock = table["clock_GHz"] * 1e9
    traffic = extraction.warp_bandwidth(curves.supply(x, k), table["sms"], clock, table[precision]["bytes"])
    return series(precision, k, np.divide(traffic, 1e9))
