"""What a run found, as a profile for the catalogue and a verdict on the one that is there."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite

import numpy as np

from warpbound.errors import WarpboundError
from warpbound.machine import PARAMETERS, UNITS, Claim, Gpu, Quantity, gpu, load
from warpbound.measure import stream
from warpbound.measure.case import Findings, Found, Record
from warpbound.measure.device import Facts
from warpbound.measure.runner import Raw
from warpbound.measure.suite import MECHANISMS

AGREES = 0.05    # measured and catalogue values this close are the same
DIGITS = 5


@dataclass(frozen=True)
class Summary:
    """All findings of a run. found : parameter -> (mechanism, value), the one to believe first. left_out : cases
    that did not reach their occupancy on every SM. unread : mechanism -> why nothing could be made of its file. odd :
    what came out as no quantity, such as a difference below zero."""

    facts: Facts
    date: str
    found: dict[str, list[tuple[str, Found]]] = field(default_factory=dict)
    figures: dict[str, object] = field(default_factory=dict)
    left_out: int = 0
    unread: dict[str, str] = field(default_factory=dict)
    odd: list[str] = field(default_factory=list)


def summarise(raws: Iterable[Raw], board: Gpu | None) -> Summary:
    """Every mechanism's extraction, then the fit that needs the others' latencies; the reading to believe comes first
    (`Parameter.measured_by`)."""
    given = list(raws)
    raws = [replace(raw, records=tuple(r for r in raw.records if attained(r, raw.device))) for raw in given]
    left_out = sum(len(raw.records) for raw in given) - sum(len(raw.records) for raw in raws)
    summary = Summary(raws[0].device, raws[0].date, left_out=left_out)
    by_name = {raw.mechanism: raw for raw in raws}
    for raw in raws:
        with _unread(summary, raw.mechanism):
            _take(summary, raw.mechanism, MECHANISMS[raw.mechanism].extract(list(raw.records), raw.device))
    if "stream" in by_name and "dram_latency" in summary.found:
        first = {name: rows[0][1] for name, rows in summary.found.items()}
        with _unread(summary, "stream"):
            measured = stream.with_values(board or _found_so_far(summary), first, "measured")
            _take(summary, "stream", stream.fit(list(by_name["stream"].records), measured))
    for name, rows in summary.found.items():
        believed = PARAMETERS[name].measured_by if name in PARAMETERS else ()
        rows.sort(key=partial(_rank, believed))
    return summary


def _found_so_far(summary: Summary) -> Gpu:
    """A board that the catalogue does not have, of what the driver says and what was measured."""
    return load(profile(summary, None), "measured", "the measured board")


def _rank(believed: tuple[str, ...], row: tuple[str, Found]) -> int:
    return believed.index(row[0]) if row[0] in believed else len(believed)


@contextmanager
def _unread(summary: Summary, mechanism: str) -> Iterator[None]:
    """Data that nobody foresaw must not cost the other mechanisms."""
    try:
        with np.errstate(all="ignore"):  # what comes of it is looked at
            yield
    except Exception as failed:  # noqa: BLE001  (whatever it is, the summary says so)
        summary.unread[mechanism] = f"{type(failed).__name__}: {failed}"


def attained(record: Record, facts: Facts) -> bool:
    """Whether every SM held just as many warps at once as the case asked for; true of what has no stamps."""
    asked, seen = record.axes.get("warps"), record.value.get("warps")
    if asked is None or seen is None:
        return True
    return float(seen) == float(asked) and int(record.value["sms"]) == facts.sm_count


def _take(summary: Summary, mechanism: str, findings: Findings) -> None:
    for name, found in findings.parameters.items():
        if isfinite(found.value) and found.value > 0.0:
            summary.found.setdefault(name, []).append((mechanism, found))
        else:
            summary.odd.append(f"{name} came out as {found.value:.5g} {found.unit} ({mechanism})")
    for name, figure in findings.figures.items():
        summary.figures[f"{mechanism}: {name}"] = figure


def catalogue_board(facts: Facts, named: str | None) -> Gpu | None:
    """The board of the catalogue that this is; None where it has none."""
    if named is not None:
        return gpu(named)
    for name in (facts.name, facts.name.removeprefix("NVIDIA ")):
        try:
            return gpu(name)
        except WarpboundError:
            continue
    return None


def facts_as_parameters(facts: Facts) -> dict[str, Found]:
    """What the driver itself says, in the catalogue's words."""
    bandwidth = 2.0 * facts.memory_clock * facts.memory_bus / 8
    found = {
        "sm_count": Found(facts.sm_count, "1", "driver"),
        "boost_clock": Found(round(facts.clock / 1e6, 1), "MHz", "driver: highest SM clock"),
        "dram_size": Found(round(facts.memory_size / 2**30, 1), "GiB", "driver"),
        "l2_size": Found(round(facts.l2_size / 2**20, 2), "MiB", "driver"),
        "dram_bus": Found(facts.memory_bus, "bit", "driver"),
    }
    if bandwidth:
        rate = round(2.0 * facts.memory_clock / 1e9, 3)
        found["dram_data_rate"] = Found(rate, "Gbit/s", "driver: memory clock x 2")
        found["dram_bandwidth"] = Found(round(bandwidth / 1e9, 1), "GB/s", "driver: memory clock x 2 x bus")
    return found


def profile(summary: Summary, board: Gpu | None) -> str:
    """A TOML file in the catalogue's form: measured values first, what the catalogue had kept beside them."""
    parameters = dict(board.parameters) if board else {}
    name = board.name if board else summary.facts.name
    for parameter, found in facts_as_parameters(summary.facts).items():
        if parameter not in parameters:
            parameters[parameter] = Quantity(found.value, found.unit, _source("driver", summary), "vendor", found.note)
    for parameter, rows in summary.found.items():
        if parameter in PARAMETERS:
            parameters[parameter] = _quantity(rows, summary, parameters.get(parameter))
    ordered = {known: parameters[known] for known in PARAMETERS if known in parameters}
    return _toml(name, board.aliases if board else (), summary.facts.compute_capability, ordered)


def _source(mechanism: str, summary: Summary) -> str:
    return f"warpbound measure, {mechanism}.json of {summary.date}, {summary.facts.name}, {summary.facts.driver}"


def _quantity(rows: list[tuple[str, Found]], summary: Summary, before: Quantity | None) -> Quantity:
    (mechanism, first), *more = rows
    unit = before.unit if before else first.unit
    values = [_rounded(found.value * UNITS[found.unit] / UNITS[unit]) for _, found in rows]
    claims = [Claim(value, _source(m, summary), f.said) for value, (m, f) in zip(values[1:], more, strict=True)]
    if before is not None:
        claims += [Claim(before.value, before.source, before.note), *before.others]
    return Quantity(values[0], unit, _source(mechanism, summary), "measured", first.said, tuple(claims))


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _toml(name: str, aliases: tuple[str, ...], capability: str, parameters: dict[str, Quantity]) -> str:
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
    """One line per parameter: measured, catalogue, and whether they agree; the last line counts."""
    lines, agree, differ = [], 0, 0
    for name, rows in summary.found.items():
        mechanism, found = rows[0]
        error = "" if found.error is None else f" ± {100 * found.error:.2g} %"
        text = f"{name:26s} {found.value:10.5g} {found.unit:12s} ({mechanism}){error}"
        known = board.parameters.get(name) if board and name in PARAMETERS else None
        if known is None:
            lines.append(f"{text}  not in the catalogue")
            continue
        ratio = found.value * UNITS[found.unit] / known.in_base_unit
        near = abs(ratio - 1.0) <= AGREES
        agree, differ = agree + near, differ + (not near)
        word = "agrees" if near else f"{100 * (ratio - 1):+.0f} %"
        lines.append(f"{text}  catalogue {known.value:g} {known.unit} ({known.how}): {word}")
    who = board.name if board else "no board of the catalogue"
    return [*lines, f"Against {who}: {agree} parameters agree within {100 * AGREES:.0f} %, {differ} do not."]
