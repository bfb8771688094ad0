"""A page for a measured GPU: the tables of Volkov's chapter 6, the cusp beside the models, CampProf's regressions,
Hong and Kim's delays, the X-model's traces."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from warpbound.adapt.partition_benchmarks import GROUPS, Benchmarks, fits
from warpbound.errors import WarpboundError
from warpbound.measure import camping, synthetic_family
from warpbound.measure.case import Record, chosen
from warpbound.measure.contention import needed_of
from warpbound.measure.proposal import Summary
from warpbound.measure.runner import Raw
from warpbound.models.volkov_2016 import contention, mixes
from warpbound.models.volkov_2016.one_warp import latency_per_transaction

SCHEDULERS = 4
LINE = 128
PIECES = {"stream": LINE, "stride2": 2 * LINE, "random": 8 * LINE}  # bytes of one load of a warp, sectors whole
Rows = Iterable[Sequence[object]]


def page(summary: Summary, raws: Sequence[Raw]) -> str:
    """Markdown. Sections whose mechanism was not measured are left out."""
    by_name = {raw.mechanism: raw for raw in raws}
    parts = [
        _head(summary, raws), _instructions(summary), _memory(summary), _percentiles(summary), _pages(summary),
        _cusp(summary, by_name), _mixes(summary), _camping(by_name), _hong_kim(summary), _traces(summary),
        _parameters(summary),
    ]  # fmt: skip
    return "\n".join(part for part in parts if part)


def table(head: Sequence[str], rows: Rows) -> str:
    """Markdown; floats with five digits, nothing for None."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(map(_word, row))} |" for row in rows]
    return "\n".join(lines) + "\n"


def _word(value: object) -> str:
    return f"{value:.5g}" if isinstance(value, float) else "" if value is None else str(value)


def _figure(summary: Summary, name: str) -> Any:
    return summary.figures.get(name) or {}


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
    found = _figure(summary, "instruction_mix: instructions")
    if not found:
        return ""
    rows = [
        (name, row["latency"], row["peak"], 32 * row["peak"] / SCHEDULERS, row["latency"] * row["peak"],
         *(row["needed warps"].get(str(ilp)) for ilp in (1, 2, 4)))
        for name, row in found.items()
    ]  # fmt: skip
    head = ("instruction", "latency [cycle]", "instr/cycle/SM", "lanes/cycle/scheduler", "warps by Little's law",
            "warps for 99 %", "same, 2 chains", "same, 4 chains")  # fmt: skip
    conflicts = _figure(summary, "instruction_mix: conflicts")
    text = "## Instructions: latency, throughput, needed warps\n\n" + table(head, rows)
    if conflicts:
        text += "\nShared memory by the lanes in one bank:\n\n"
        text += table(("lanes per bank", "alone [cycle]", "saturated [cycle]"), [(s, *x) for s, x in conflicts.items()])
    return text


def _memory(summary: Summary) -> str:
    found = {
        (level, pattern): curve for level in ("dram", "l2") for pattern in PIECES
        if (curve := _figure(summary, f"loaded_latency: {level} {pattern}"))
    }  # fmt: skip
    if not found:
        return ""
    head = ("pattern", "latency [cycle]", "peak [GB/s]", "warps by Little's law", "warps for 90 %", "for 95 %",
            "a [cycle]", "b [cycle]", "c [GB/s]", "error of the fit")  # fmt: skip
    text = """## Memory: latency, throughput, needed warps, contention

Latency under a load of X is a + b X / (c - X). Warps are those that reach a share of the best rate of any kernel; none
where one load per warp never does.

"""
    text += table(head, [_memory_row(summary, *place, curve) for place, curve in found.items()])
    if ("l2", "random") in found and ("l2", "stream") in found:
        random, stream = (found["l2", pattern]["latency"] for pattern in ("random", "stream"))
        each = float(latency_per_transaction(random, stream, 4))
        text += f"\nEach sector that a diverging access has more than a coalesced one: {each:.2f} cycles (L2).\n"
    return text


def _memory_row(summary: Summary, level: str, pattern: str, curve: Any) -> Sequence[object]:
    fit, best = curve["fit"], _peak(summary, curve["peak GB/s"]) if level == "dram" else curve["peak GB/s"]
    linear = curve["latency"] * best * 1e9 / (PIECES[pattern] * _clock(summary) * summary.facts.sm_count)
    points = np.array(curve["curve [warps, cycles, GB/s]"])
    needed = [needed_of(points[:, 0], points[:, 2], best, share) for share in (0.9, 0.95)]
    error = f"{100 * fit['error']:.1f} %"
    return (f"{level} {pattern}", curve["latency"], curve["peak GB/s"], linear, *needed, fit["a"], fit["b"],
            fit["c GB/s"], error)  # fmt: skip


def _clock(summary: Summary) -> float:
    rows = summary.found.get("latency_clock")
    return 1e6 * rows[0][1].value if rows else summary.facts.clock


def _percentiles(summary: Summary) -> str:
    found = _figure(summary, "pointer_chase: single")
    if not found:
        return ""
    head = ("array in", "least", "5 %", "25 %", "50 %", "75 %", "95 %", "most")
    return "## Single accesses [cycle, the cost of timing included]\n\n" + table(
        head, [(where, *values) for where, values in found.items()]
    )


def _pages(summary: Summary) -> str:
    rows = [
        (name.removeprefix("pointer_chase: pages of "), found["spanned without delay [B]"] / 2**20,
         found["delayed from [B]"] / 2**20 if found["delayed from [B]"] else None, found["curve [B, cycles]"][0][1],
         found["curve [B, cycles]"][-1][1])
        for name, found in summary.figures.items()
        if name.startswith("pointer_chase: pages") and isinstance(found, dict)
    ]  # fmt: skip
    head = ("one line each", "spanned without delay [MiB]", "delayed from [MiB]", "first [cycle]", "last [cycle]")
    return "## Address translation\n\n" + table(head, rows) if rows else ""


def family(records: Sequence[Record], summary: Summary) -> list[tuple[int, int, float, float, float]]:
    """(alpha, warps, measured, basic model, refined model) in loads per cycle per SM; empty without the measured
    latencies, peaks and contention that the models need."""
    curve = _figure(summary, "loaded_latency: dram stream")
    instructions = _figure(summary, "instruction_mix: instructions")
    if not (records and curve and "fadd" in instructions):
        return []
    per_GBs = 1e9 / (LINE * _clock(summary) * summary.facts.sm_count)
    fit = curve["fit"]
    memory = contention.Memory(fit["a"], (fit["b"],), (fit["c GB/s"] * per_GBs,))
    alpha = np.array([float(r.axes["alpha"]) for r in records])
    warps = np.array([float(r.axes["warps"]) for r in records])
    mix = mixes.Mix(
        warps, alpha, fit["a"], instructions["fadd"]["latency"], _peak(summary, curve["peak GB/s"]) * per_GBs,
        instructions["fadd"]["peak"], instructions["fadd"]["peak"],
    )  # fmt: skip
    basic, refined = np.asarray(mixes.predict(mix).rate), np.asarray(contention.predict(mix, memory).rate)
    seen = [synthetic_family.loads(r) for r in records]
    points = zip(alpha, warps, seen, basic, refined, strict=True)
    return [(int(a), int(n), measured, float(b), float(x)) for a, n, measured, b, x in points]


def _peak(summary: Summary, chased: float) -> float:
    """GB/s: the best of any kernel, for a chain of loads may not reach it."""
    rows = summary.found.get("dram_achievable_bandwidth")
    return max(chased, rows[0][1].value) if rows else chased


def errors(rows: Sequence[tuple[int, int, float, float, float]]) -> Mapping[str, tuple[float, float]]:
    """Mean and largest relative error of either model."""
    seen, basic, refined = (np.array([row[at] for row in rows]) for at in (2, 3, 4))
    found = {"basic": np.abs(basic / seen - 1.0), "refined": np.abs(refined / seen - 1.0)}
    return {name: (float(off.mean()), float(off.max())) for name, off in found.items()}


def _cusp(summary: Summary, by_name: Mapping[str, Raw]) -> str:
    if "synthetic_family" not in by_name:
        return ""
    records = list(by_name["synthetic_family"].records)
    rows = family(records, summary)
    measured = _figure(summary, "synthetic_family: alpha")
    lines = []
    for alpha in sorted({int(r.axes["alpha"]) for r in records}):
        mine = [row for row in rows if row[0] == alpha]
        lines.append((alpha, measured[str(alpha)]["latency"], measured[str(alpha)]["needed warps 90 %"],
                      *(_needed(mine, rows, at) for at in ((3, 4) if mine else ()))))  # fmt: skip
    head = ("additions per load", "latency [cycle]", "warps for 90 %", *(("basic model", "refined model") * bool(rows)))
    text = "## The cusp: additions and loads together\n\nWarps that give 90 % of any one of the peaks.\n\n"
    text += table(head, lines)
    for name, (mean, worst) in errors(rows).items() if rows else ():
        text += f"\nThroughput by the {name} model: mean error {100 * mean:.1f} %, largest {100 * worst:.1f} %."
    return text + "\n"


def _needed(
    mine: Sequence[tuple[int, int, float, float, float]], rows: Sequence[tuple[int, int, float, float, float]], at: int
) -> int | None:
    """Fewest of the measured warps with which the model gives 90 % of its best loads or of its best additions."""
    most_loads, most_adds = max(row[at] for row in rows), max(row[0] * row[at] for row in rows)
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
    left = _figure(summary, "hong_kim: relative error")
    text = "## Hong and Kim's delays\n\n" + table(("value", "", "unit"), [("Mem_LD", latency, "cycle"), *delays])
    worst = max(map(abs, left.values())) if left else 0.0
    return text + f"\nFitted to {len(left)} launches of Mb2 to Mb7; largest error left {100 * worst:.0f} %.\n"


def _traces(summary: Summary) -> str:
    lines = list(_trace_rows(summary))
    if not lines:
        return ""
    text = "## X-graph traces\n\nf(k): loads that k warps get, with its peak and the lowest point after it.\n\n"
    text += table(("trace", "peak at [warps]", "peak [loads/cycle/SM]", "valley at [warps]", "valley"), lines)
    demand = _figure(summary, "x_model: g(x) [warps, adds/cycle/SM]")
    curves = {"g(x)": demand, **{name: _figure(summary, f"x_model: {name}")["curve"] for name, *_ in lines}}
    points = [(name, ", ".join(f"{w}: {value:.4g}" for w, value in curve)) for name, curve in curves.items()]
    return text + "\n" + table(("trace", "warps: instr/cycle/SM"), points)


def _trace_rows(summary: Summary) -> Iterator[tuple[Any, ...]]:
    for name, found in summary.figures.items():
        if name.startswith("x_model: f(k)") and isinstance(found, dict):
            peak, valley = found["peak [warps, loads/cycle/SM]"], found["valley after it"]
            yield name.removeprefix("x_model: "), *peak, *valley


def _parameters(summary: Summary) -> str:
    rows = [(name, rows[0][1].value, rows[0][1].unit, rows[0][0], rows[0][1].note)
            for name, rows in summary.found.items()]  # fmt: skip
    return "## Parameters\n\n" + table(("parameter", "value", "unit", "measured by", "how"), rows) if rows else ""
