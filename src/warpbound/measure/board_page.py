"""Markdown page of a measured GPU: the tables of Volkov's chapter 6, the cusp next to the models, CampProf's
regressions, Hong and Kim's delays, the X-model's traces, hardware counters."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from warpbound.errors import WarpboundError
from warpbound.measure import camping, page_memory, synthetic_family
from warpbound.measure.board_profile import Summary
from warpbound.measure.case import Record, column, matching
from warpbound.measure.contention import fewest_warps
from warpbound.measure.counters import Compared, Counts, agreement
from warpbound.measure.page_memory import markdown_table, section
from warpbound.measure.runner import RawFile
from warpbound.measure.synthetic_family import gradual_filling
from warpbound.model_inputs.partition_benchmarks import GROUPS, Benchmarks, fits
from warpbound.models.volkov_2016 import contention, mixes

SCHEDULERS = 4
LINE = 128
MODELS = ("basic", "refined", "gradual")
WORST_STALLS = 3
Point = tuple[int, int, float, float, float, float]


def page(summary: Summary, files: Sequence[RawFile], corpus_lines: Sequence[str] = (), counter_text: str = "") -> str:
    """Markdown, without the sections whose mechanism was not measured. corpus_lines : of `measure --judge`.
    counter_text : the section on hardware counters."""
    by_name = {file.mechanism: file for file in files}
    parts = [
        _head(summary, files), _instructions(summary), *page_memory.sections(summary), _cusp(summary, by_name),
        _over_time(by_name), _mixes(summary), _costs(summary), _camping(by_name), _hong_kim(summary), _traces(summary),
        _corpus(corpus_lines), counter_text, _parameters(summary),
    ]  # fmt: skip
    return "\n".join(part for part in parts if part)


def _head(summary: Summary, files: Sequence[RawFile]) -> str:
    records = [record for file in files for record in file.records]
    clocks = np.array([record.clock_Hz for record in records]) / 1e6
    facts = summary.facts
    spread = f"{clocks.min():.0f} to {clocks.max():.0f} MHz, median {np.median(clocks):.0f} MHz"
    unstable = sum(not record.stable for record in records)
    return f"""# {facts.name}, measured

Made by `warpbound measure --extract --page` from raw files of {summary.date}; driver {facts.driver}, compute capability
{facts.compute_capability}, {facts.sm_count} SMs. {len(records)} cases: {unstable} were unstable or ran at another
clock, {summary.left_out} did not reach their occupancy. SM clock: {spread}. Cycles are those of the SM.
"""


def _instructions(summary: Summary) -> str:
    head = ("instruction", "latency [cycle]", "instr/cycle/SM", "lanes/cycle/scheduler", "warps by Little's law",
            "warps for 99 %", "same, 2 chains", "same, 4 chains")  # fmt: skip
    text = section("Instructions: latency, throughput, needed warps", head, [
        (name, row["latency"], row["peak"], 32 * row["peak"] / SCHEDULERS, row["latency"] * row["peak"],
         *(row["needed warps"].get(str(ilp)) for ilp in (1, 2, 4)))
        for name, row in summary.figure("instruction_mix: instructions").items()
    ])  # fmt: skip
    conflicts, banks = summary.figure("instruction_mix: conflicts"), summary.figure("instruction_mix: banks")
    if text and conflicts:
        text += "\nShared memory by the lanes in one bank:\n\n"
        rows = [(lanes, *cycles) for lanes, cycles in conflicts.items()]
        text += markdown_table(("lanes per bank", "alone [cycle]", "saturated [cycle]"), rows)
    if text and banks:
        text += "\nRegister banks: FFMA a third of which have all sources in one bank, and none.\n\n"
        text += markdown_table(("", ""), banks.items())
    return text


def family(records: Sequence[Record], summary: Summary) -> list[Point]:
    """(alpha, warps, measured, then by each of MODELS) in loads per cycle per SM; empty without the measured
    latencies, peaks and contention that the models need."""
    curve = summary.figure("loaded_latency: dram stream")
    instructions = summary.figure("instruction_mix: instructions")
    if not (records and curve and "fadd" in instructions):
        return []
    per_GBs = 1e9 / (LINE * summary.clock * summary.facts.sm_count)
    fit, add = curve["fit"], instructions["fadd"]
    memory = contention.Memory(fit["a"], (fit["b"],), (fit["c GB/s"] * per_GBs,))
    alpha, warps = column(records, "alpha"), column(records, "warps")
    peak = summary.dram_peak(max(curve["peak GB/s by chains"].values())) * per_GBs
    mix = mixes.Mix(warps, alpha, fit["a"], add["latency"], peak, add["peak"], add["peak"])
    basic, refined = np.asarray(mixes.predict(mix).rate), np.asarray(contention.predict(mix, memory).rate)
    cusps = [synthetic_family.loads(r) for r in records]
    points = zip(alpha, warps, cusps, basic, refined, gradual_filling.predict(mix, memory), strict=True)
    return [(int(a), int(n), loads, float(b), float(x), float(g)) for a, n, loads, b, x, g in points]


def errors(rows: Sequence[Point]) -> Mapping[str, tuple[float, float]]:
    """Mean and largest relative error of each model."""
    _, _, measurements, *predictions = np.array(rows).T
    relative = {name: np.abs(rates / measurements - 1.0) for name, rates in zip(MODELS, predictions, strict=True)}
    return {name: (float(error.mean()), float(error.max())) for name, error in relative.items()}


def _cusp(summary: Summary, by_name: Mapping[str, RawFile]) -> str:
    if "synthetic_family" not in by_name:
        return ""
    records = list(by_name["synthetic_family"].records)
    points, cusps = family(records, summary), summary.figure("synthetic_family: alpha")
    rows = []
    for alpha in sorted({int(r.axes["alpha"]) for r in records}):
        same = [point for point in points if point[0] == alpha]
        rows.append((alpha, cusps[str(alpha)]["latency"], cusps[str(alpha)]["needed warps 90 %"],
                     *(_needed(same, points, 3 + at) for at in range(len(MODELS)) if same)))  # fmt: skip
    models = tuple(f"{name} model" for name in MODELS)
    head = ("additions per load", "latency [cycle]", "warps for 90 %", *(models * bool(points)))
    text = """## The cusp: additions and loads together

Warps that give 90 % of any one of the peaks. The basic and the refined model are Volkov's; the gradual one is the
refined one with adders that fill gradually: how many warps of a scheduler add at once is random.

"""
    text += markdown_table(head, rows)
    for name, (mean, worst) in errors(points).items() if points else ():
        text += f"\nThroughput by the {name} model: mean error {100 * mean:.1f} %, largest {100 * worst:.1f} %."
    return text + "\n"


def _needed(same: Sequence[Point], points: Sequence[Point], at: int) -> int | None:
    """Fewest of the measured warps with which the model gives SHARE of its best loads or of its best additions."""
    most_loads, most_adds = max(float(point[at]) for point in points), max(point[0] * point[at] for point in points)
    loads, adds = synthetic_family.SHARE * most_loads, synthetic_family.SHARE * most_adds
    return fewest_warps(*(point[1] for point in same if point[at] >= loads or point[0] * point[at] >= adds > 0))


def _over_time(by_name: Mapping[str, RawFile]) -> str:
    """Warps on an SM as the launch goes on, for the runs of the family with most warps; files of old runs lack them."""
    records = by_name["synthetic_family"].records if "synthetic_family" in by_name else ()
    stamped = [r for r in records if "over_time" in r.value]
    most = max((int(r.axes["warps"]) for r in stamped), default=0)
    tenths = [(r, np.reshape(r.value["over_time"], (10, -1)).mean(axis=1)) for r in matching(stamped, warps=most)]
    rows = [(r.axes["alpha"], *(float(warps) for warps in means)) for r, means in tenths]
    head = ("additions per load", *(f"to {10 * part} %" for part in range(1, 11)))
    intro = "Mean resident warps of an SM in each tenth of the time of the slowest SM.\n\n"
    return section(f"Occupancy over time, {most} warps requested", head, rows, intro)


def _mixes(summary: Summary) -> str:
    rows = [
        (name.removeprefix("mixes: "), share, row["latency"], row["needed warps 90 %"], row["best groups/cycle/SM"])
        for name, mix in summary.figures.items() if name.startswith("mixes: ") and isinstance(mix, dict)
        for share, row in mix["FADD : other"].items()
    ]  # fmt: skip
    head = ("kinds", "FADD : other", "latency of a group [cycle]", "warps for 90 %", "groups/cycle/SM")
    return section("Mixes of instructions", head, rows)


def benchmarks(records: Sequence[Record], sm_count: int) -> Benchmarks:
    """CampProf's table: transactions are accesses of a warp."""
    runs = [r for kind in ("read", "write") for r in matching(records, kernel=kind)]
    warps = column(runs, "warps")
    return Benchmarks(
        np.array([str(r.axes["kernel"]) for r in runs]), column(runs, "width"),
        np.array(["spread" if r.axes["spread"] else "camped" for r in runs]), warps,
        column(runs, "seconds"), warps * sm_count * camping.ITERATIONS / 16, ("measured",),
    )  # fmt: skip


def _camping(by_name: Mapping[str, RawFile]) -> str:
    if "camping" not in by_name or not by_name["camping"].records:
        return ""
    file, title = by_name["camping"], "CampProf's regressions"
    try:
        regressions = fits(benchmarks(file.records, file.device.sm_count))
    except WarpboundError as error:
        return f"## {title}\n\nNot possible: {error}\n"
    rows = [
        (name, predictor, float(fit.coefficients[at]), float(fit.standard_errors[at]), float(fit.p[at]), fit.r_squared)
        for name, fit in ((group, regressions[group]) for group in GROUPS) for at, predictor in enumerate(fit.names)
    ]  # fmt: skip
    head = ("runs", "predictor", "coefficient [s]", "standard error [s]", "p", "R^2")
    return section(title, head, rows, "Seconds of the twelve transaction benchmarks.\n\n")


def _hong_kim(summary: Summary) -> str:
    latency = summary.figures.get("hong_kim: Mem_LD")
    if latency is None:
        return ""
    delays = [(name, rows[0][1].value, rows[0][1].unit) for name, rows in summary.estimates.items()
              if name.startswith("departure")]  # fmt: skip
    remaining = summary.figure("hong_kim: relative error")
    text = section("Hong and Kim's delays", ("value", "", "unit"), [("Mem_LD", latency, "cycle"), *delays])
    worst = max(map(abs, remaining.values())) if remaining else 0.0
    return text + f"\nFitted to {len(remaining)} launches of Mb2 to Mb7; largest remaining error {100 * worst:.0f} %.\n"


def _traces(summary: Summary) -> str:
    rows = list(_trace_rows(summary))
    if not rows:
        return ""
    head = ("trace", "peak at [warps]", "peak [loads/cycle/SM]", "valley at [warps]", "valley")
    intro = "f(k): loads that k warps get, with its peak and the lowest point after it.\n\n"
    text = section("X-graph traces", head, rows, intro)
    demand = summary.figure("x_model: g(x) [warps, adds/cycle/SM]")
    curves = {"g(x)": demand, **{name: summary.figure(f"x_model: {name}")["curve"] for name, *_ in rows}}
    points = [(name, ", ".join(f"{w}: {value:.4g}" for w, value in curve)) for name, curve in curves.items()]
    return text + "\n" + markdown_table(("trace", "warps: instr/cycle/SM"), points)


def _trace_rows(summary: Summary) -> Iterator[tuple[Any, ...]]:
    for name, trace in summary.figures.items():
        if name.startswith("x_model: f(k)") and isinstance(trace, dict):
            peak, valley = trace["peak [warps, loads/cycle/SM]"], trace["valley after it"]
            yield name.removeprefix("x_model: "), *peak, *valley


def _costs(summary: Summary) -> str:
    costs = {name.removeprefix("costs: "): row for name, row in summary.figures.items()
             if name.startswith("costs: ") and isinstance(row, dict)}  # fmt: skip
    warps = list(dict.fromkeys(count for row in costs.values() for count in row))
    rows = [(name, *(row.get(count) for count in warps)) for name, row in costs.items()]
    head = ("one of them, cycles of a warp", *(f"{count} warps" for count in warps))
    return section("Barriers, atomics, fences, branches", head, rows)


def _corpus(corpus_lines: Sequence[str]) -> str:
    if not corpus_lines:
        return ""
    text = "## Real kernels: predicted before and after calibration\n\n"
    text += "Before: with the catalogue's board; after: with the measured one.\n\n"
    return text + "```\n" + "\n".join(corpus_lines) + "\n```\n"


def counter_section(counts_by_kernel: Mapping[str, Counts], comparisons: Sequence[Compared]) -> str:
    """The section on hardware counters; empty without counts, without the first table where nothing was emulated."""
    if not counts_by_kernel:
        return ""
    text = "## Hardware counters and the emulator\n\n"
    if comparisons:
        text += f"Each kernel launched once with cold caches. {agreement(comparisons)}\n\n"
        text += markdown_table(("kernel", "count", "counted", "emulated", "difference", ""), [
            (row.kernel, row.count.replace("_", " "), f"{row.by_hardware:.0f}", f"{row.emulated:.0f}",
             f"{100 * row.error:+.1f} %", "" if row.agrees else "differs") for row in comparisons
        ]) + "\n"  # fmt: skip
    waits = [
        (kernel, counts.get("achieved_occupancy_percent"), _stalls(counts))
        for kernel, counts in counts_by_kernel.items()
    ]
    head = ("kernel", "achieved occupancy [%]", "most frequent stalls [warps for each issue]")
    return text + markdown_table(head, waits)


def _stalls(counts: Counts) -> str:
    stalls = {name.removeprefix("stall_"): value for name, value in counts.items() if name.startswith("stall_")}
    most = sorted(stalls.items(), key=lambda row: -row[1])[:WORST_STALLS]
    return ", ".join(f"{name.replace('_', ' ')} {value:.2f}" for name, value in most)


def _parameters(summary: Summary) -> str:
    rows = [(name, x.value, x.unit, mechanism, x.note_with_error)
            for name, ((mechanism, x), *_) in summary.estimates.items()]  # fmt: skip
    return section("Parameters", ("parameter", "value", "unit", "measured by", "how"), rows)
