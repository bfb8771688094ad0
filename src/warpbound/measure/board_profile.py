"""Results of a run as a profile for the catalogue, and the verdict that compares them with the catalogue's board."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from warpbound.errors import WarpboundError
from warpbound.machine import PARAMETERS, UNITS, Claim, Gpu, Quantity, gpu, load
from warpbound.measure import stream
from warpbound.measure.case import Estimate, Findings, Record
from warpbound.measure.device import Facts
from warpbound.measure.runner import RawFile
from warpbound.measure.suite import MECHANISMS
from warpbound.quick_dataclasses import dataclass

AGREES = 0.05    # relative difference within which measured and catalogue values agree
DIGITS = 5


@dataclass(frozen=True)
class Summary:
    """All results of a run.

    estimates : parameter -> [(mechanism, value)], the preferred one first. left_out : cases that did not reach their
    occupancy on every SM. failed : mechanism -> why its records could not be evaluated. implausible : values that are
    not positive and finite, such as a difference below zero.
    """

    facts: Facts
    date: str
    estimates: dict[str, list[tuple[str, Estimate]]] = field(default_factory=dict)
    figures: dict[str, object] = field(default_factory=dict)
    left_out: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    implausible: list[str] = field(default_factory=list)

    def figure(self, name: str) -> Any:
        """A figure; empty where it is missing."""
        return self.figures.get(name) or {}

    @property
    def clock(self) -> float:
        """Clock of the measured latencies, Hz."""
        rows = self.estimates.get("latency_clock")
        return 1e6 * rows[0][1].value if rows else self.facts.clock

    def dram_peak(self, chased: float) -> float:
        """GB/s: the best rate of any kernel, because chains of loads may not reach it."""
        rows = self.estimates.get("dram_achievable_bandwidth")
        return max(chased, rows[0][1].value) if rows else chased


def summarise(files: Iterable[RawFile], board: Gpu | None) -> Summary:
    """The results of every mechanism, then the fit that needs the others' latencies; of several values of a parameter
    the preferred one (`Parameter.measured_by`) comes first."""
    by_name = {file.mechanism: file for file in files}
    first = next(iter(by_name.values()))
    usable = {name: [r for r in file.records if attained(r, file.device)] for name, file in by_name.items()}
    left_out = sum(len(file.records) - len(usable[name]) for name, file in by_name.items())
    summary = Summary(first.device, first.date, left_out=left_out)
    for name, records in usable.items():
        with _guarded(summary, name):
            _add(summary, name, MECHANISMS[name].extract(records, by_name[name].device))
    if "stream" in by_name and "dram_latency" in summary.estimates:
        latencies = {name: rows[0][1] for name, rows in summary.estimates.items()}
        with _guarded(summary, "stream"):
            board_values = board or load(profile(summary, None), "measured", "the measured board")
            measured_board = stream.with_values(board_values, latencies, "measured")
            _add(summary, "stream", stream.fit(usable["stream"], measured_board))
    for name, rows in summary.estimates.items():
        rows.sort(key=partial(_rank, PARAMETERS[name].measured_by if name in PARAMETERS else ()))
    return summary


def _rank(preferred: tuple[str, ...], row: tuple[str, Estimate]) -> int:
    return preferred.index(row[0]) if row[0] in preferred else len(preferred)


@contextmanager
def _guarded(summary: Summary, mechanism: str) -> Iterator[None]:
    """Evaluate one mechanism; unexpected data of it do not stop the others."""
    try:
        with np.errstate(all="ignore"):  # _add checks the values
            yield
    except Exception as error:  # noqa: BLE001  (the summary reports it)
        summary.failed[mechanism] = f"{type(error).__name__}: {error}"


def attained(record: Record, facts: Facts) -> bool:
    """Whether every SM had exactly the wanted number of resident warps; True for cases without stamps."""
    intended_warps, resident = record.axes.get("warps"), record.value.get("warps")
    if intended_warps is None or resident is None:
        return True
    return float(resident) == float(intended_warps) and int(record.value["sms"]) == facts.sm_count


def _add(summary: Summary, mechanism: str, findings: Findings) -> None:
    for name, x in findings.parameters.items():
        if isfinite(x.value) and x.value > 0.0:
            summary.estimates.setdefault(name, []).append((mechanism, x))
        else:
            summary.implausible.append(f"{name} came out as {x.value:.5g} {x.unit} ({mechanism})")
    summary.figures.update({f"{mechanism}: {name}": figure for name, figure in findings.figures.items()})


def catalogue_board(facts: Facts, catalogue_key: str | None) -> Gpu | None:
    """The catalogue's board of this name, or of the device's name; None where it has none."""
    if catalogue_key is not None:
        return gpu(catalogue_key)
    for name in (facts.name, facts.name.removeprefix("NVIDIA ")):
        try:
            return gpu(name)
        except WarpboundError:
            continue
    return None


def facts_as_parameters(facts: Facts) -> dict[str, Estimate]:
    """Device properties under the catalogue's parameter names."""
    bandwidth = 2.0 * facts.memory_clock * facts.memory_bus / 8
    parameters = {
        "sm_count": Estimate(facts.sm_count, "1", "driver"),
        "boost_clock": Estimate(round(facts.clock / 1e6, 1), "MHz", "driver: highest SM clock"),
        "dram_size": Estimate(round(facts.memory_size / 2**30, 1), "GiB", "driver"),
        "l2_size": Estimate(round(facts.l2_size / 2**20, 2), "MiB", "driver"),
        "dram_bus": Estimate(facts.memory_bus, "bit", "driver"),
    }
    if bandwidth:
        rate = round(2.0 * facts.memory_clock / 1e9, 3)
        parameters["dram_data_rate"] = Estimate(rate, "Gbit/s", "driver: memory clock x 2")
        note = "driver: memory clock x 2 x bus"
        parameters["dram_bandwidth"] = Estimate(round(bandwidth / 1e9, 1), "GB/s", note)
    return parameters


def profile(summary: Summary, board: Gpu | None) -> str:
    """TOML in the catalogue's format: measured values, with the values of the catalogue as further claims."""
    parameters = dict(board.parameters) if board else {}
    name = board.name if board else summary.facts.name
    for parameter, x in facts_as_parameters(summary.facts).items():
        if parameter not in parameters:
            parameters[parameter] = Quantity(x.value, x.unit, _source("driver", summary), "vendor", x.note)
    for parameter, rows in summary.estimates.items():
        if parameter in PARAMETERS:
            parameters[parameter] = _quantity(rows, summary, parameters.get(parameter))
    ordered = {name: parameters[name] for name in PARAMETERS if name in parameters}
    return as_toml(name, board.aliases if board else (), summary.facts.compute_capability, ordered)


def _source(mechanism: str, summary: Summary) -> str:
    return f"warpbound measure, {mechanism}.json of {summary.date}, {summary.facts.name}, {summary.facts.driver}"


def _quantity(rows: list[tuple[str, Estimate]], summary: Summary, before: Quantity | None) -> Quantity:
    unit = before.unit if before else rows[0][1].unit
    first, *claims = [
        Claim(float(f"{x.value * UNITS[x.unit] / UNITS[unit]:.{DIGITS}g}"), _source(mechanism, summary),
              x.note_with_error) for mechanism, x in rows
    ]  # fmt: skip
    if before is not None:
        claims += [Claim(before.value, before.source, before.note), *before.others]
    return Quantity(first.value, unit, first.source, "measured", first.note, tuple(claims))


def as_toml(name: str, aliases: tuple[str, ...], capability: str, parameters: dict[str, Quantity]) -> str:
    """A board's file."""
    texts = dict.fromkeys(s for q in parameters.values() for s in (q.source, *(c.source for c in q.others)))
    keys = {text: f"s{number}" for number, text in enumerate(texts, 1)}
    lines = [f"name = {_text(name)}", f"aliases = [{', '.join(map(_text, aliases))}]",
             f"compute_capability = {_text(capability)}", "", "[sources]"]  # fmt: skip
    lines += [f"{short} = {_text(text)}" for text, short in keys.items()]
    for parameter, q in parameters.items():
        lines += ["", f"[parameters.{parameter}]", f"value = {_number(q.value)}", f"unit = {_text(q.unit)}",
                  f"source = {_text(keys[q.source])}", f"how = {_text(q.how)}"]  # fmt: skip
        lines += [f"note = {_text(q.note)}"] if q.note else []
        if q.others:
            lines += ["others = ["]
            lines += [f"    {{ {_claim(claim, keys)} }}," for claim in q.others]
            lines += ["]"]
    return "\n".join(lines) + "\n"


def _claim(claim: Claim, keys: dict[str, str]) -> str:
    note = f", note = {_text(claim.note)}" if claim.note else ""
    return f"value = {_number(claim.value)}, source = {_text(keys[claim.source])}{note}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def _text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def verdict(summary: Summary, board: Gpu | None) -> list[str]:
    """One line per parameter: measured, catalogue, and whether they agree; the last line has the totals."""
    lines, agree, differ = [], 0, 0
    for name, rows in summary.estimates.items():
        mechanism, x = rows[0]
        error = "" if x.error is None else f" ± {100 * x.error:.2g} %"
        text = f"{name:26s} {x.value:10.5g} {x.unit:12s} ({mechanism}){error}"
        board_value = board.parameters.get(name) if board and name in PARAMETERS else None
        if board_value is None:
            lines.append(f"{text}  not in the catalogue")
            continue
        ratio = x.value * UNITS[x.unit] / board_value.in_base_unit
        near = abs(ratio - 1.0) <= AGREES
        agree, differ = agree + near, differ + (not near)
        word = "agrees" if near else f"{100 * (ratio - 1):+.0f} %"
        lines.append(f"{text}  catalogue {board_value.value:g} {board_value.unit} ({board_value.how}): {word}")
    who = board.name if board else "no board of the catalogue"
    return [*lines, f"Against {who}: {agree} parameters agree within {100 * AGREES:.0f} %, {differ} do not."]
