"""A page for a measured GPU: the tables of Volkov's chapter 6, the cusp beside the models, CampProf's regressions,
Hong and Kim's delays, the X-model's traces."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from warpbound.adapt.partition_benchmarks import GROUPS, Benchmarks, fits
from warpbound.errors import WarpboundError
from warpbound.measure import camping, page_memory, synthetic_family
from warpbound.measure.board_profile import Summary
from warpbound.measure.case import Record, chosen
from warpbound.measure.page_tables import LINE, clock, figure, peak, table
from warpbound.measure.runner import Raw
from warpbound.measure.synthetic_family import filling
from warpbound.models.volkov_2016 import contention, mixes

SCHEDULERS = 4


def page(summary: Summary, raws: Sequence[Raw], judged: Sequence[str] = (), counted: str = "") -> str:
    """Markdown. Sections whose mechanism was not measured are left out. judged : lines of `measure --judge`. counted :
    the section of page_counters."""
    by_name = {raw.mechanism: raw for raw in raws}
    parts = [
        _head(summary, raws), _instructions(summary), *page_memory.sections(summary), _cusp(summary, by_name),
        _mixes(summary), _costs(summary), _camping(by_name), _hong_kim(summary), _traces(summary), _corpus(judged),
        counted, _parameters(summary),
    ]  # fmt: skip
    return "\n".join(part for part in parts if part)


def _head(summary: Summary, raws: Sequence[Raw]) -> str:
    records = [record for raw in raws for record in raw.records]
    clocks = np.array([record.clock_Hz for record in records]) / 1e6
    facts = summary.facts
    spread = f"{clocks.min():.0f} to {clocks.max():.0f} MHz, median {np.median(clocks):.0f} MHz"
    unstable = sum(not record.stable for record in records)
    return f"""# {facts.name}, measured

Made by `warpbound measure --extract --page` from raw files of {summary.date}; driver {facts.driver}, compute capability
{facts.compute_capability}, {facts.sm_count} SMs. {len(records)} cases: {unstable} did not stand still or ran at another
clock, {summary.left_out} did not reach their occupancy. SM clock: {spread}. Cycles are those of the SM.
"""


def _instructions(summary: Summary) -> str:
    found = figure(summary, "instruction_mix: instructions")
    if not found:
        return ""
    rows = [
        (name, row["latency"], row["peak"], 32 * row["peak"] / SCHEDULERS, row["latency"] * row["peak"],
         *(row["needed warps"].get(str(ilp)) for ilp in (1, 2, 4)))
        for name, row in found.items()
    ]  # fmt: skip
    head = ("instruction", "latency [cycle]", "instr/cycle/SM", "lanes/cycle/scheduler", "warps by Little's law",
            "warps for 99 %", "same, 2 chains", "same, 4 chains")  # fmt: skip
    conflicts = figure(summary, "instruction_mix: conflicts")
    text = "## Instructions: latency, throughput, needed warps\n\n" + table(head, rows)
    banks = figure(summary, "instruction_mix: banks")
    if conflicts:
        text += "\nShared memory by the lanes in one bank:\n\n"
        text += table(("lanes per bank", "alone [cycle]", "saturated [cycle]"), [(s, *x) for s, x in conflicts.items()])
    if banks:
        text += "\nRegister banks: FFMA a third of which have all sources in one bank, and none.\n\n"
        text += table(("", ""), banks.items())
    return text


MODELS = ("basic", "refined", "gradual")
Point = tuple[int, int, float, float, float, float]


def family(records: Sequence[Record], summary: Summary) -> list[Point]:
    """(alpha, warps, measured, then by each of MODELS) in loads per cycle per SM; empty without the measured
    latencies, peaks and contention that the models need."""
    curve = figure(summary, "loaded_latency: dram stream")
    instructions = figure(summary, "instruction_mix: instructions")
    if not (records and curve and "fadd" in instructions):
        return []
    per_GBs = 1e9 / (LINE * clock(summary) * summary.facts.sm_count)
    fit = curve["fit"]
    memory = contention.Memory(fit["a"], (fit["b"],), (fit["c GB/s"] * per_GBs,))
    alpha = np.array([float(r.axes["alpha"]) for r in records])
    warps = np.array([float(r.axes["warps"]) for r in records])
    most = max(curve["peak GB/s by chains"].values())
    mix = mixes.Mix(
        warps, alpha, fit["a"], instructions["fadd"]["latency"], peak(summary, most) * per_GBs,
        instructions["fadd"]["peak"], instructions["fadd"]["peak"],
    )  # fmt: skip
    basic, refined = np.asarray(mixes.predict(mix).rate), np.asarray(contention.predict(mix, memory).rate)
    seen = [synthetic_family.loads(r) for r in records]
    points = zip(alpha, warps, seen, basic, refined, filling.predict(mix, memory), strict=True)
    return [(int(a), int(n), measured, float(b), float(x), float(g)) for a, n, measured, b, x, g in points]


def errors(rows: Sequence[Point]) -> Mapping[str, tuple[float, float]]:
    """Mean and largest relative error of each model."""
    seen, *said = (np.array([row[at] for row in rows]) for at in range(2, 3 + len(MODELS)))
    found = {name: np.abs(one / seen - 1.0) for name, one in zip(MODELS, said, strict=True)}
    return {name: (float(off.mean()), float(off.max())) for name, off in found.items()}


def _cusp(summary: Summary, by_name: Mapping[str, Raw]) -> str:
    if "synthetic_family" not in by_name:
        return ""
    records = list(by_name["synthetic_family"].records)
    rows = family(records, summary)
    measured = figure(summary, "synthetic_family: alpha")
    lines = []
    for alpha in sorted({int(r.axes["alpha"]) for r in records}):
        mine = [row for row in rows if row[0] == alpha]
        lines.append((alpha, measured[str(alpha)]["latency"], measured[str(alpha)]["needed warps 90 %"],
                      *(_needed(mine, rows, 3 + at) for at in range(len(MODELS)) if mine)))  # fmt: skip
    models = tuple(f"{name} model" for name in MODELS)
    head = ("additions per load", "latency [cycle]", "warps for 90 %", *(models * bool(rows)))
    text = """## The cusp: additions and loads together

Warps that give 90 % of any one of the peaks. The basic and the refined model are Volkov's; the gradual one is the
refined one with adders that fill gradually: how many warps of a scheduler add at once is random.

"""
    text += table(head, lines)
    for name, (mean, worst) in errors(rows).items() if rows else ():
        text += f"\nThroughput by the {name} model: mean error {100 * mean:.1f} %, largest {100 * worst:.1f} %."
    return text + "\n"


def _needed(mine: Sequence[Point], rows: Sequence[Point], at: int) -> int | None:
    """Fewest of the measured warps with which the model gives 90 % of its best loads or of its best additions."""
    most_loads, most_adds = max(float(row[at]) for row in rows), max(row[0] * row[at] for row in rows)
    reach = [
        row[1] for row in mine
        if row[at] >= synthetic_family.SHARE * most_loads or row[0] * row[at] >= synthetic_family.SHARE * most_adds > 0
    ]  # fmt: skip
    return min(reach) if reach else None


def _mixes(summary: Summary) -> str:
    rows = [
        (name.removeprefix("mixes: "), share, row["latency"], row["needed warps 90 %"], row["best groups/cycle/SM"])
        for name, found in summary.figures.items() if name.startswith("mixes: ") and isinstance(found, dict)
        for share, row in found["FADD : other"].items()
    ]  # fmt: skip
    head = ("kinds", "FADD : other", "latency of a group [cycle]", "warps for 90 %", "groups/cycle/SM")
    return "## Mixes of instructions\n\n" + table(head, rows) if rows else ""


def benchmarks(records: Sequence[Record], sm_count: int) -> Benchmarks:
    """CampProf's table: transactions are accesses of a warp."""
    mine = [r for kind in ("read", "write") for r in chosen(records, kernel=kind)]
    warps = np.array([float(r.axes["warps"]) for r in mine])
    return Benchmarks(
        np.array([str(r.axes["kernel"]) for r in mine]), np.array([float(r.axes["width"]) for r in mine]),
        np.array(["spread" if r.axes["spread"] else "camped" for r in mine]), warps,
        np.array([float(r.value["seconds"]) for r in mine]), warps * sm_count * camping.ITERATIONS / 16, ("measured",),
    )  # fmt: skip


def _camping(by_name: Mapping[str, Raw]) -> str:
    if "camping" not in by_name or not by_name["camping"].records:
        return ""
    raw = by_name["camping"]
    try:
        found = fits(benchmarks(raw.records, raw.device.sm_count))
    except WarpboundError as failed:
        return f"## CampProf's regressions\n\nNot possible: {failed}\n"
    rows = [
        (name, predictor, float(fit.coefficients[at]), float(fit.standard_errors[at]), float(fit.p[at]), fit.r_squared)
        for name, fit in ((group, found[group]) for group in GROUPS) for at, predictor in enumerate(fit.names)
    ]  # fmt: skip
    head = ("runs", "predictor", "coefficient [s]", "standard error [s]", "p", "R^2")
    return "## CampProf's regressions\n\nSeconds of the twelve transaction benchmarks.\n\n" + table(head, rows)


def _hong_kim(summary: Summary) -> str:
    latency = summary.figures.get("hong_kim: Mem_LD")
    if latency is None:
        return ""
    delays = [(n, rows[0][1].value, rows[0][1].unit) for n, rows in summary.found.items() if n.startswith("departure")]
    left = figure(summary, "hong_kim: relative error")
    text = "## Hong and Kim's delays\n\n" + table(("value", "", "unit"), [("Mem_LD", latency, "cycle"), *delays])
    worst = max(map(abs, left.values())) if left else 0.0
    return text + f"\nFitted to {len(left)} launches of Mb2 to Mb7; largest error left {100 * worst:.0f} %.\n"


def _traces(summary: Summary) -> str:
    lines = list(_trace_rows(summary))
    if not lines:
        return ""
    text = "## X-graph traces\n\nf(k): loads that k warps get, with its peak and the lowest point after it.\n\n"
    text += table(("trace", "peak at [warps]", "peak [loads/cycle/SM]", "valley at [warps]", "valley"), lines)
    demand = figure(summary, "x_model: g(x) [warps, adds/cycle/SM]")
    curves = {"g(x)": demand, **{name: figure(summary, f"x_model: {name}")["curve"] for name, *_ in lines}}
    points = [(name, ", ".join(f"{w}: {value:.4g}" for w, value in curve)) for name, curve in curves.items()]
    return text + "\n" + table(("trace", "warps: instr/cycle/SM"), points)


def _trace_rows(summary: Summary) -> Iterator[tuple[Any, ...]]:
    for name, found in summary.figures.items():
        if name.startswith("x_model: f(k)") and isinstance(found, dict):
            peak, valley = found["peak [warps, loads/cycle/SM]"], found["valley after it"]
            yield name.removeprefix("x_model: "), *peak, *valley


def _costs(summary: Summary) -> str:
    found = {name.removeprefix("costs: "): row for name, row in summary.figures.items() if name.startswith("costs: ")}
    if not found:
        return ""
    warps = list(dict.fromkeys(w for row in found.values() if isinstance(row, dict) for w in row))
    rows = [(name, *(row.get(w) for w in warps)) for name, row in found.items() if isinstance(row, dict)]
    head = ("one of them, cycles of a warp", *(f"{w} warps" for w in warps))
    return "## Barriers, atomics, fences, branches\n\n" + table(head, rows)


def _corpus(judged: Sequence[str]) -> str:
    if not judged:
        return ""
    text = "## Real kernels: predicted before and after calibration\n\n"
    text += "Before: with the catalogue's board; after: with the measured one.\n\n"
    return text + "```\n" + "\n".join(judged) + "\n```\n"


def _parameters(summary: Summary) -> str:
    rows = [(name, rows[0][1].value, rows[0][1].unit, rows[0][0], rows[0][1].said)
            for name, rows in summary.found.items()]  # fmt: skip
    return "## Parameters\n\n" + table(("parameter", "value", "unit", "measured by", "how"), rows) if rows else ""
