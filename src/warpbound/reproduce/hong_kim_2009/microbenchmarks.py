"""Micro-benchmarks, MWP, CWP, independent loads and barriers: Figures 9, 10, 14, 21 to 26, 30 and 31, Table 6."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.models.hong_kim_2009 import Inputs, cpi, issue_floor, mwp_limits, predict, synch_cost, terms
from warpbound.models.hong_kim_2009.paths import parallel_warps, parallel_warps_as_published
from warpbound.report.figure_series import Axis, Figure, series_over
from warpbound.reproduce.hong_kim_2009.simulated_cpi import errors
from warpbound.reproduce.item import ItemInputs, Numbers

PAPER = "Hong and Kim 2009"
LINE = 128.0
THREADS = 32.0
KINDS = ("C", "UC")  # of loads: coalesced, uncoalesced
HIDDEN = 1.01  # times the CPI of issue alone
COALESCED: Mapping[str, Real] = {"coal_mem_insts": 1.0, "uncoal_mem_insts": 0.0}
UNCOALESCED: Mapping[str, Real] = {"coal_mem_insts": 0.0, "uncoal_mem_insts": 1.0}
VERSIONS = ("optimised", "naive")
FLAT = 1.05   # times the time of one warp
ALIKE = 1.05  # ratio of two times that are about the same
WARPS = Axis("warps", "warp/SM")


def on(inputs: ItemInputs, gpu: str, **kernel: Real) -> Inputs:
    """A kernel on one of the four GPUs; by default, one warp on each SM makes one coalesced load."""
    m = inputs["machines"][gpu]
    alone = Inputs(
        freq=m["freq_GHz"] * 1e9, mem_bandwidth=m["bandwidth_GBs"] * 1e9, mem_latency=m["mem_latency"],
        departure_uncoal=m["departure_uncoal"], departure_coal=m["departure_coal"], threads_per_block=THREADS,
        blocks=float(m["sms"]), active_sms=float(m["sms"]), active_blocks=1.0, comp_insts=1.0, uncoal_mem_insts=0.0,
        coal_mem_insts=1.0, synch_insts=0.0, uncoal_per_mw=m["uncoal_per_mw"], load_bytes=LINE,
    )  # fmt: skip
    return replace(alone, **kernel)


def _warps(inputs: ItemInputs) -> NDArray[np.float64]:
    """Numbers of warps: 1, 2, 3, ..."""
    return np.arange(1.0, inputs["most_warps"] + 1)


def figs_9_and_10(inputs: ItemInputs) -> Numbers:
    """Figures 9 and 10, for both kinds of loads: delay between two warps, latency of one, warps that memory holds."""
    rows = {}
    for words, kind in (("uncoalesced", UNCOALESCED), ("coalesced", COALESCED)):
        t = terms(on(inputs, inputs["gpu"], active_blocks=inputs["most_warps"], **kind))
        rows[words] = {"Departure_delay": t.departure_delay, "Mem_L": t.mem_l, "MWP_Without_BW_full": t.mwp_full}
    return rows


def table_6(inputs: ItemInputs) -> Numbers:
    """Table 6: the range of each parameter of memory that gives the same CPIs as the table's value.

    The CPIs are the model's. They count as the same if they differ by at most `tolerance`.
    """
    rows: dict[str, dict[str, Numbers]] = {}
    for gpu in inputs["searched"]:
        own = {name: inputs["machines"][gpu][name] for name in inputs["grid"]}
        target = _micro_cpis(inputs, gpu, own)
        rows[gpu] = {}
        for name, values in inputs["grid"].items():
            fits = [v for v in values if _near(_micro_cpis(inputs, gpu, own | {name: v}), target, inputs["tolerance"])]
            rows[gpu][name] = {"used": own[name], "least that fits": min(fits), "most that fits": max(fits)}
    return rows


def _micro_cpis(inputs: ItemInputs, gpu: str, parameters: Mapping[str, float]) -> NDArray[np.float64]:
    kinds = [(name, kind) for name in inputs["memory"] for kind in KINDS]
    return np.array([float(cpi(replace(_micro(inputs, gpu, *kind), **parameters))) for kind in kinds])


def _near(values: NDArray[np.float64], target: NDArray[np.float64], tolerance: float) -> bool:
    return bool((np.abs(values / target - 1.0) <= tolerance).all())


def fig_14(inputs: ItemInputs) -> Numbers:
    """Figure 14: CPI of the micro-benchmarks that fitted the memory, and the statements of section 5.1."""
    loading = [name for name, loads in inputs["memory"].items() if loads]
    kernels = [_micro(inputs, inputs["gpu"], name, kind) for name in loading for kind in KINDS]
    rows = {f"{name}_{kind}": _cpi(inputs, name, kind) for name in inputs["memory"] for kind in KINDS}
    coalesced = [rows[f"{name}_C"] for name in inputs["memory"]]
    per_load = {inputs["memory"][name] / inputs["computation"][name]: rows[f"{name}_UC"] for name in inputs["memory"]}
    return {
        **rows,
        "coalesced loads almost hidden": max(coalesced) < HIDDEN * float(issue_floor(on(inputs, inputs["gpu"]))),
        "uncoalesced grows with loads": (np.diff([value for _, value in sorted(per_load.items())]) > 0).all(),
        "error, geometric mean": 100.0 * float(np.exp(np.mean(np.log(errors(kernels))))),
    }


def fig_14_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """CPI of each benchmark; the axis counts Mb1 to Mb7."""
    names = list(inputs["memory"])
    kinds = {"coalesced": "C", "uncoalesced": "UC"}
    lines = {words: [_cpi(inputs, name, kind) for name in names] for words, kind in kinds.items()}
    x, y = Axis("micro-benchmark, Mb1 to Mb7", "1"), Axis("CPI", "cycle/inst")
    points = series_over(np.arange(1.0, len(names) + 1.0), lines, "points")
    yield Figure("CPI of the micro-benchmarks", x, y, points, f"{PAPER}, Figure 14: the model")


def _cpi(inputs: ItemInputs, name: str, kind: str) -> float:
    return float(cpi(_micro(inputs, inputs["gpu"], name, kind)))


def _micro(inputs: ItemInputs, gpu: str, name: str, kind: str) -> Inputs:
    """A micro-benchmark of Table 4 with coalesced (C) or uncoalesced (UC) loads."""
    loads, turns = inputs["turns"] * inputs["memory"][name], inputs["turns"]
    return on(
        inputs,
        gpu,
        threads_per_block=inputs["threads_per_block"],
        blocks=inputs["blocks"],
        active_blocks=inputs["active_blocks"],
        comp_insts=turns * inputs["computation"][name],
        uncoal_mem_insts=loads if kind == "UC" else 0.0,
        coal_mem_insts=loads if kind == "C" else 0.0,
    )


def fig_21(inputs: ItemInputs) -> Numbers:
    """Figure 21: where MWP levels off: uncoalesced loads of several transactions; departure or bandwidth alone."""
    gpu, plenty = inputs["gpu"], 1e6
    levels = {
        f"{gpu}, uncoalesced, {n:g} transactions": mwp_limits(
            on(inputs, gpu, active_blocks=plenty, uncoal_per_mw=n, **UNCOALESCED)
        ).rate
        for n in inputs["transactions"]
    }
    limits = mwp_limits(on(inputs, gpu, uncoal_per_mw=np.arange(2.0, 33.0), **UNCOALESCED)).limits
    return {
        f"{gpu}, coalesced": mwp_limits(on(inputs, gpu, active_blocks=plenty, **COALESCED)).rate,
        **levels,
        "uncoalesced never fills the bus": (limits["departure"] < limits["bandwidth"]).all(),
        **{
            f"{name}, coalesced, {words}": mwp_limits(on(inputs, name, **COALESCED)).limits[limit]
            for name in inputs["gpus"]
            for limit, words in (("departure", "departures"), ("bandwidth", "bandwidth"))
        },
    }


def fig_21_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """MWP against warps."""
    gpu, n = inputs["gpu"], _warps(inputs)
    cases = {"coalesced": on(inputs, gpu, active_blocks=n, **COALESCED)} | {
        f"uncoalesced, {count:g} transactions": on(inputs, gpu, active_blocks=n, uncoal_per_mw=count, **UNCOALESCED)
        for count in inputs["transactions"][1:4]
    }
    lines = series_over(n, {name: mwp_limits(x).rate for name, x in cases.items()})
    yield Figure(f"MWP on {gpu}", WARPS, Axis("MWP", "warp/SM"), lines, f"{PAPER}, Figure 21: the model")


def figs_22_and_23(inputs: ItemInputs) -> Numbers:
    """Figures 22 and 23: limits of MWP, whether more warps help the naive SVM, the speed-up by coalescing."""
    fast, slow = (terms(svm(inputs, version, float(inputs["most_warps"]))) for version in VERSIONS)
    fast_cpi, slow_cpi = (np.asarray(cpi(svm(inputs, version, _warps(inputs)))) for version in VERSIONS)
    return {
        "optimised": {
            "MWP_peak_BW": fast.mwp_peak_bw,
            "MWP_peak_BW, second time": fast.mwp_peak_bw,
            "MWP_Without_BW": fast.mwp_full,
            "MWP": fast.mwp,
            "CWP": fast.cwp,
        },
        "naive": {"MWP_Without_BW": slow.mwp_full, "MWP": slow.mwp, "CWP": slow.cwp},
        "N helps the naive version": "no" if slow_cpi[3:].max() < slow_cpi[3:].min() * 1.05 else "yes",
        "speed-up": slow_cpi[-1] / fast_cpi[-1],
    }


def figs_22_and_23_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """MWP, both its limits, CWP and N against the number of warps; the time of one instruction of both versions."""
    n = _warps(inputs)
    for version in VERSIONS:
        t = terms(svm(inputs, version, n))
        lines = {"N": n, "MWP_Without_BW": t.mwp_full, "MWP_peak_BW": t.mwp_peak_bw, "MWP": t.mwp, "CWP": t.cwp}
        number = 22 + VERSIONS.index(version)
        title, source = f"MWP and CWP, {version} SVM on {inputs['gpu']}", f"{PAPER}, Figure {number}: the model"
        yield Figure(title, Axis("warps N", "warp/SM"), WARPS, series_over(n, lines), source)
    work = {version: np.asarray(cpi(svm(inputs, version, n))) for version in VERSIONS}  # times of the same work
    title, y = f"Naive and optimised SVM on {inputs['gpu']}", Axis("time of an instruction", "cycle/inst", "log")
    yield Figure(title, WARPS, y, series_over(n, work), f"{PAPER}, Figure 3: the model, over warps")


def svm(inputs: ItemInputs, version: str, warps: Real) -> Inputs:
    """A version of SVM with this many warps on each SM."""
    loads = inputs["mem_insts"]
    optimised = version == "optimised"
    return _everywhere(inputs, warps, coal_mem_insts=loads * optimised, uncoal_mem_insts=loads * (not optimised))


def _everywhere(inputs: ItemInputs, warps: Real, **kernel: Real) -> Inputs:
    """The item's kernel with this many warps on each SM."""
    blocks = np.multiply(warps, inputs["machines"][inputs["gpu"]]["sms"])
    return on(inputs, inputs["gpu"], blocks=blocks, active_blocks=warps, comp_insts=inputs["comp_insts"], **kernel)


def figs_25_and_26(inputs: ItemInputs) -> Numbers:
    """Figures 25 and 26: section 6.1's observations on independent requests, and Equation 29 in both readings."""
    few, many, loads = inputs["few"], float(inputs["most_warps"]), inputs["mem_insts"]
    dep = {n: float(_cycles(inputs, n, 0.0)) for n in (1.0, few, many)}
    indep = {n: float(_cycles(inputs, n, inputs["independent"])) for n in (few, many)}
    return {
        "flat for few warps": dep[few] < FLAT * dep[1.0],
        "dependent is slower for few warps": dep[few] > ALIKE * indep[few],
        "alike for many warps": dep[many] < ALIKE * indep[many],
        "time of 8 warps over that of 1": dep[few] / dep[1.0],
        "dependent, 8 warps": dep[few],
        "independent, 8 warps": indep[few],
        "Equation 29 as printed is N without independent requests": np.isclose(
            parallel_warps_as_published(few, loads, 0.0), few
        ),
        "Equation 29 as adopted, no independent request": parallel_warps(few, loads, 0.0),
        "Equation 29 as adopted, half independent": parallel_warps(few, loads, inputs["independent"]),
    }


def figs_25_and_26_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Cycles against warps; every warp does the same work."""
    few, n, y = np.arange(1.0, inputs["few"] + 1.0), _warps(inputs), Axis("time", "cycle")
    models = {
        "MODEL_NOPW, independent": _cycles(inputs, few, 0.0),  # which does not know of independent requests
        "MODEL_PW, independent": _cycles(inputs, few, inputs["independent"]),
        "MODEL_PW, dependent": _cycles(inputs, few, 0.0),
    }
    lines = {"dependent": _cycles(inputs, n, 0.0), "independent": _cycles(inputs, n, inputs["independent"])}
    loads = f"Dependent and independent loads on {inputs['gpu']}"
    yield Figure(f"{loads}, few warps", WARPS, y, series_over(few, models, "both"), f"{PAPER}, Figure 25: the model")
    yield Figure(loads, WARPS, y, series_over(n, lines), f"{PAPER}, Figure 26: the model")


def _cycles(inputs: ItemInputs, warps: Real, independent: float) -> NDArray[np.float64]:
    x = _everywhere(inputs, warps, coal_mem_insts=inputs["mem_insts"], ind_mem_req=independent)
    return np.asarray(predict(x).total)


def figs_30_and_31(inputs: ItemInputs) -> Numbers:
    """Figures 30 and 31: cycles of the launch spent at its barriers."""
    alone = {f"{warps:g} warp{'s' if warps > 1 else ''}": _cost(inputs, warps, 1.0) for warps in inputs["warps"]}
    full = {name: _cost(inputs, inputs["warps_of_blocks"], blocks) for name, blocks in inputs["blocks"].items()}
    costs = list(alone.values())
    return {
        **alone,
        "grows with warps": costs == sorted(costs) and costs[0] < costs[-1],
        **full,
        "grows with blocks": full["BL2"] < full["BL4"],
    }


def figs_30_and_31_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Figure 30: one block on one SM. Figure 31: two and four blocks on every SM."""
    x, y, title = Axis("warps of a block", "warp"), Axis("cost", "cycle"), f"Cost of a barrier on {inputs['gpu']}"
    alone = {"one block": [_cost(inputs, warps, 1.0) for warps in inputs["warps"]]}
    most = max(inputs["blocks"].values())
    few = [warps for warps in inputs["warps"] if warps * most <= inputs["most_warps"]]
    full = {name: [_cost(inputs, warps, n) for warps in few] for name, n in inputs["blocks"].items()}
    yield Figure(title, x, y, series_over(inputs["warps"], alone, "both"), f"{PAPER}, Figure 30: the model")
    blocks = f"{title}, two and four blocks"
    yield Figure(blocks, x, y, series_over(few, full, "both"), f"{PAPER}, Figure 31: the model")


def _cost(inputs: ItemInputs, warps: float, blocks: float) -> float:
    x = on(
        inputs,
        inputs["gpu"],
        threads_per_block=warps * THREADS,
        blocks=blocks,
        active_sms=1.0,
        active_blocks=blocks,
        comp_insts=inputs["comp_insts"],
        coal_mem_insts=inputs["mem_insts"],
        synch_insts=inputs["barriers"],
    )
    return float(synch_cost(x, terms(x)))
