"""Measured beside predicted: text, and the page of accuracy as Markdown."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from warpbound.report.formatting import amount
from warpbound.report.tables import ruled_table
from warpbound.result.comparison import (
    ComparedCounter,
    ComparedInstruction,
    ComparedLine,
    CounterErrors,
    LaunchComparison,
    NotCompared,
)

CLOSE, FAR = 0.1, 0.35
ROWS = 12  # source lines or instructions with the most samples
ALIKE = 0.005  # difference of executed instructions that is not shown
REASONS = 2  # stall reasons named beside a line


def pages(
    launches: Sequence[LaunchComparison | NotCompared], rows: Sequence[CounterErrors]
) -> Iterator[RenderableType]:
    """Each launch, then the errors of all; of many launches the errors and one line each."""
    many = len(launches) > ROWS
    for launch in launches:
        if isinstance(launch, NotCompared):
            yield _refused(launch)
        elif not many:
            yield launch_text(launch)
    if many:
        yield _summary(launches)
    if len(launches) > 1:
        yield errors_table(rows)


def launch_text(launch: LaunchComparison) -> RenderableType:
    """One launch: its counters, stall reasons and busiest lines."""
    size = f"grid {_extent(launch.grid)}, block {_extent(launch.block)}"
    parts: list[RenderableType] = [
        Text(f"{launch.kernel} on {launch.gpu}", "bold"),
        Text(f"launch {launch.launch_index} of {launch.report}; {size}", "dim"),
        _counters(launch.counters),
        _reasons(launch.counters),
    ]
    if any(stall.measured for stall in launch.stalls):
        parts.append(_stalls(launch))
    if rows := _busiest(launch.lines or launch.instructions):
        parts.append(_lines(rows, sum(row.samples or 0.0 for row in launch.instructions)))
    parts.append(Text("".join(f"  - {note}\n" for note in launch.notes), "dim"))
    return Group(*parts)


def errors_table(rows: Sequence[CounterErrors]) -> RenderableType:
    """Errors of each counter."""
    table = _table("counter", "kernels", "median error", "P90", "within", "share within")
    for row in rows:
        table.add_row(
            row.name, str(row.launches), _percent(row.median), _percent(row.p90), _percent(row.within),
            _percent(row.share),
        )  # fmt: skip
    return Group(Text("Errors, each kernel on each board once", "bold"), table)


def _counters(counters: Sequence[ComparedCounter]) -> Table:
    table = _table("counter", "unit", "measured", "predicted", "ratio")
    for counter in counters:
        prediction = "-" if counter.predicted is None else amount(counter.predicted)
        table.add_row(counter.name, counter.unit, amount(counter.measured), prediction, _ratio(counter.ratio))
    return table


def _reasons(counters: Sequence[ComparedCounter]) -> Text:
    """Why counters differ, each sentence once."""
    by_reason: dict[str, list[str]] = {}
    for counter in counters:
        if counter.explained:
            by_reason.setdefault(counter.explained, []).append(counter.name)
    return Text("".join(f"  {', '.join(names)}: {reason}\n" for reason, names in by_reason.items()))


def _stalls(launch: LaunchComparison) -> Table:
    table = _table("stall reason", "samples", "predicted")
    for stall in sorted(launch.stalls, key=lambda row: -(row.measured or 0.0)):
        table.add_row(stall.reason, _percent(stall.measured), _percent(stall.predicted))
    return table


def _busiest(rows: Sequence[ComparedLine | ComparedInstruction]) -> list[ComparedLine | ComparedInstruction]:
    busiest = sorted((row for row in rows if row.samples), key=lambda row: -(row.samples or 0.0))[:ROWS]
    return sorted(busiest, key=_place)


def _place(row: ComparedLine | ComparedInstruction) -> int:
    return row.address if isinstance(row, ComparedInstruction) else row.line


def _lines(rows: Sequence[ComparedLine | ComparedInstruction], total: float) -> Table:
    """total : samples of the launch."""
    table = _table("where", "samples", "mostly", "predicted", "mostly ", "executed", "code")
    for row in rows:
        where = f"{row.address:04x}" if isinstance(row, ComparedInstruction) else f"line {row.line}"
        share = _percent(row.samples / total) if row.samples is not None and total else "-"
        guess = _percent(sum(row.stalls_predicted.values())) if row.stalls_predicted else "-"
        table.add_row(where, share, _mostly(row.stalls), guess, _mostly(row.stalls_predicted), _executed(row), row.text)
    return table


def _mostly(stalls: Mapping[str, float]) -> str:
    return ", ".join(list(stalls)[:REASONS])


def _executed(row: ComparedLine | ComparedInstruction) -> str:
    """Warp instructions as measured; where the prediction differs, both."""
    measurement, prediction = row.executed_measured, row.executed_predicted
    if measurement is None or prediction is None or abs(prediction - measurement) <= ALIKE * measurement:
        return _count(measurement if measurement is not None else prediction)
    return f"{_count(measurement)}, predicted {_count(prediction)}"


def _summary(launches: Sequence[LaunchComparison | NotCompared]) -> RenderableType:
    table = _table("kernel", "gpu", "launch", "measured us", "predicted us", "ratio")
    for launch in launches:
        if isinstance(launch, NotCompared):
            continue
        measured_s, predicted_s = launch.duration_s.measured, launch.duration_s.predicted
        ratio = predicted_s / measured_s if predicted_s is not None and measured_s else None
        table.add_row(launch.kernel, launch.gpu, str(launch.launch_index), _micro(measured_s), _micro(predicted_s),
                      _ratio(ratio))  # fmt: skip
    return table


def _refused(launch: NotCompared) -> Text:
    return Text(f"{launch.kernel}, launch {launch.launch_index} of {launch.report}: {launch.error.reason}", "red")


def _table(*columns: str) -> Table:
    return ruled_table(columns, words=(columns[0], "unit", "mostly", "mostly ", "code", "gpu"), folded=columns)


def _ratio(ratio: float | None) -> Text:
    if ratio is None:
        return Text("-")
    off = abs(ratio - 1.0)
    return Text(f"{ratio:.3f}", "green" if off <= CLOSE else "red" if off > FAR else "")


def _extent(size: Sequence[int]) -> str:
    return " x ".join(str(extent) for extent in size)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _micro(seconds: float | None) -> str:
    return "-" if seconds is None else amount(seconds * 1e6)


def _count(count: float | None) -> str:
    return "-" if count is None else amount(count)


def markdown(launches: Sequence[LaunchComparison | NotCompared], rows: Sequence[CounterErrors]) -> str:
    """The errors and a line for each launch, as a page."""
    comparisons = [launch for launch in launches if isinstance(launch, LaunchComparison)]
    refused = [launch for launch in launches if isinstance(launch, NotCompared)]
    dynamic = [launch for launch in comparisons if launch.mode == "dynamic"]
    lines = [
        "# Measured by Nsight Compute, predicted by warpbound",
        "",
        f"{len(launches)} launches: {len(dynamic)} with arguments, {len(comparisons) - len(dynamic)} by their code "
        f"alone, {len(refused)} without an answer. Each kernel on each board counts once in the errors.",
        "",
        *_rows(("counter", "kernels", "median error", "P90", "within", "share within")),
        *(_row(row.name, str(row.launches), _percent(row.median), _percent(row.p90), _percent(row.within),
               _percent(row.share)) for row in rows),
        "",
        "Predicted over measured, the launches with arguments:",
        "",
        *_rows(("kernel", "gpu", "report", "launch", "measured us", *(title for title, _ in SHOWN))),
    ]  # fmt: skip
    for launch in dynamic:
        ratios = {counter.name: counter.ratio for counter in launch.counters}
        cells = ["-" if ratios.get(name) is None else f"{ratios[name]:.3f}" for _, name in SHOWN]
        report = "/".join(launch.report.replace("\\", "/").split("/")[-2:])
        lines.append(_row(launch.kernel.partition("<")[0], launch.gpu, report, str(launch.launch_index),
                          _micro(launch.duration_s.measured), *cells))  # fmt: skip
    reasons = sorted({launch.error.reason for launch in refused})
    if reasons:
        lines += ["", "Without an answer:", "", *(f"- {reason}" for reason in reasons)]
    return "\n".join(lines) + "\n"


SHOWN = (
    ("time", "gpu__time_duration.sum"),
    ("instructions", "smsp__inst_executed.sum"),
    ("L2 read", "lts__t_sectors_srcunit_tex_op_read.sum"),
    ("L2 sectors", "lts__t_sectors_srcunit_tex.sum"),
    ("DRAM read", "dram__bytes_read.sum"),
    ("DRAM written", "dram__bytes_write.sum"),
    ("DRAM", "dram__bytes.sum"),
)


def _rows(titles: Sequence[str]) -> tuple[str, str]:
    return _row(*titles), _row(*("---" for _ in titles))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
