"""Tables of Nsight Compute in place of reports: what `ncu --csv` prints, and data frames of `nsight-python` as CSV.

Source   NVIDIA, Nsight Compute CLI documentation, `--csv` and `--page raw`, `details`: a column for each metric and a
         row of units, or a row for each metric with its name in words. nsight-python 1.1: a row for each annotation,
         configuration and metric, with the columns Metric, Unit, AvgValue (of one run: Value), Kernel and GPU.
Models   A table has no machine code, a data frame no grid, block or clock: these are given beside it. Lines before the
         header are the profiler's own and those of the program.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from warpbound.errors import InputError
from warpbound.nsight.report_file import Metric, ProfiledLaunch, Report, Value

Rows = list[dict[str, str]]
DEVICE, NAME = "device__attribute_", "device__attribute_display_name"
DETAILS = {  # name in words, of `--page details` -> metric
    "Duration": "gpu__time_duration.sum",
    "Elapsed Cycles": "gpc__cycles_elapsed.max",
    "SM Frequency": "gpc__cycles_elapsed.avg.per_second",
    "DRAM Frequency": "dram__cycles_elapsed.avg.per_second",
    "L2 Hit Rate": "lts__t_sector_hit_rate.pct",
    "Executed Instructions": "smsp__inst_executed.sum",
    "Theoretical Occupancy": "sm__maximum_warps_per_active_cycle_pct",
    "Registers Per Thread": "launch__registers_per_thread",
    "Shared Memory Configuration Size": "launch__shared_mem_config_size",
    "Dynamic Shared Memory Per Block": "launch__shared_mem_per_block_dynamic",
}
PREFIXES = {"": 1.0, "n": 1e-9, "u": 1e-6, "m": 1e-3, "K": 1e3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
BASES = {"second": 1e9, "s": 1e9, "hz": 1.0, "Hz": 1.0, "byte": 1.0, "B": 1.0}  # to ns, Hz and B
PER_TIME = {"cycle/second": 1.0, "cycle/usecond": 1e6, "cycle/nsecond": 1e9, "cycle/s": 1.0, "cycle/us": 1e6,
            "cycle/ns": 1e9}  # fmt: skip
BROKEN = "Export it with `ncu --csv --page raw`, or write a data frame of nsight-python with to_csv."
VARYING = {"Metric", "Unit", "Value", "AvgValue", "StdDev", "MinValue", "MaxValue", "NumRuns", "CI95_Lower",
           "CI95_Upper", "RelativeStdDevPct", "StableMeasurement", "Geomean", "Transformed", "Normalized"}  # fmt: skip
NO_SIZE = (0, 0, 0)


@runtime_checkable
class Frame(Protocol):
    """A data frame."""

    def to_csv(self, *, index: bool) -> Any:
        """Its rows as CSV."""


def is_table(name: str | Path) -> bool:
    """Whether a file is named like a table."""
    return str(name).lower().endswith(".csv")


def read_table(path: str | Path) -> Report:
    """The launches of a CSV file. Raises InputError where it cannot be read or is not a table of Nsight's."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as failed:
        raise InputError(f"{path} cannot be read ({failed.strerror}).", "Check the path.") from failed
    return table(text, path)


def of_frame(frame: Frame) -> Report:
    """The launches of a data frame. Raises InputError where it is none of nsight-python's."""
    return table(str(frame.to_csv(index=False)), Path("the data frame"))


def table(text: str, path: Path) -> Report:
    """The launches of a table's text. Raises InputError, which names `path`, where it is none of Nsight's."""
    header, rows = _rows(text, path)
    if "Metric" in header and {"AvgValue", "Value"} & set(header):
        launches = _of_frame(rows, path)
    elif "Metric Name" in header:
        launches = _of_details(rows, path)
    else:
        launches = _of_raw(rows, path)
    if not launches:
        raise InputError(f"{path} holds no profiled launch.", "Profile a program that launches a kernel.")
    return Report(path, tuple(launches))


def _rows(text: str, path: Path) -> tuple[list[str], Rows]:
    """The columns, and the rows by column."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    names = {"Kernel Name", "Metric"}
    begin = next((at for at, line in enumerate(lines) if names & set(_cells([line])[0])), None)
    if begin is None:
        raise InputError(f"{path} is not a table of Nsight Compute: it has no column Kernel Name or Metric.", BROKEN)
    header, *rest = _cells(lines[begin:])
    rows = []
    for number, row in enumerate(rest, begin + 2):
        if len(row) == len(header):
            rows.append(dict(zip(header, row, strict=True)))
        elif row and not row[0].startswith("=="):
            reason = f"{path}, line {number}: {len(row)} cells stand below {len(header)} columns."
            raise InputError(reason, BROKEN)
    return header, rows


def _cells(lines: list[str]) -> list[list[str]]:
    """The cells of each row; none where the lines are no CSV."""
    import csv  # answers that need no profile do not load it

    try:
        return list(csv.reader(f"{line}\n" for line in lines)) or [[]]
    except csv.Error:
        return [[]]


def _of_raw(rows: Rows, path: Path) -> list[ProfiledLaunch]:
    """`--page raw`: a row of units, then a row for each launch."""
    if not rows:
        return []
    units, *launches = rows if not rows[0].get("ID") else [{}, *rows]
    return [
        _launch(path, index, row, {name: _number(cell, units.get(name, "")) for name, cell in row.items()})
        for index, row in enumerate(launches)
    ]


def _of_details(rows: Rows, path: Path) -> list[ProfiledLaunch]:
    """`--page details`, or chosen metrics without a page: a row for each metric of each launch."""
    each: dict[tuple[str, ...], tuple[dict[str, str], dict[str, Value]]] = {}
    for row in rows:
        name = row["Metric Name"]
        key = row.get("ID", ""), row.get("Kernel Name", "")
        _, metrics = each.setdefault(key, (row, {}))
        if name:
            value = _number(row.get("Metric Value", ""), row.get("Metric Unit", ""))
            metrics.setdefault(DETAILS.get(name, name), value)
    return [_launch(path, index, row, metrics) for index, (row, metrics) in enumerate(each.values())]


def _of_frame(rows: Rows, path: Path) -> list[ProfiledLaunch]:
    """A row for each metric; rows that agree in all other columns are one launch."""
    each: dict[tuple[str, ...], tuple[dict[str, str], dict[str, Value]]] = {}
    for row in rows:
        key = tuple(cell for name, cell in row.items() if name not in VARYING)
        _, metrics = each.setdefault(key, (row, {}))
        metrics[row["Metric"]] = _number(row.get("AvgValue") or row.get("Value", ""), row.get("Unit", ""))
    return [
        _launch(path, index, {"Kernel Name": row.get("Kernel", ""), NAME: row.get("GPU", "")}, metrics)
        for index, (row, metrics) in enumerate(each.values())
    ]


def _launch(path: Path, index: int, row: Mapping[str, str], metrics: Mapping[str, Value]) -> ProfiledLaunch:
    demangled = row.get("Kernel Name", "")
    plain = plain_kernel(demangled)
    board = row.get(NAME) or str(metrics.get(NAME, ""))
    return ProfiledLaunch(
        report=path,
        index=index,
        kernel=plain,
        mangled=plain,
        demangled=demangled,
        grid=_extent(row.get("Grid Size", ""), path),
        block=_extent(row.get("Block Size", ""), path),
        metrics={name: Metric(value) for name, value in metrics.items()},
        images=(),
        board_name=board,
        device={name: _whole(value) for name, value in metrics.items() if name.startswith(DEVICE)},
    )


def plain_kernel(demangled: str) -> str:
    """The name of a function without its type, namespace, template arguments and parameters."""
    outside, depth = "", 0
    for letter in demangled.replace("(anonymous namespace)", ""):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "(" and depth == 1 and outside:
            break
        if depth == 0 and letter not in ">)":
            outside += letter
    words = outside.split()
    return words[-1].rpartition("::")[2] if words else ""


def _extent(cell: str, path: Path) -> tuple[int, int, int]:
    """"(64, 1, 1)" or "64x1x1"; NO_SIZE where the table has none."""
    sizes = [int(word) for word in re.findall(r"[0-9]{1,10}", cell)]
    if not sizes:
        return NO_SIZE
    if len(sizes) > len(NO_SIZE):
        raise InputError(f"{path}: '{cell}' is not a size of a grid or a block.", BROKEN)
    x, y, z = [*sizes, 1, 1][:3]
    return x, y, z


def _number(cell: str, unit: str) -> Value:
    """A number in Nsight's own unit (ns, Hz, B), from one with a prefix; the cell itself where it is no number."""
    try:
        value = float(cell.replace(",", ""))
    except ValueError:
        return cell
    return value * _scale(unit)


def _scale(unit: str) -> float:
    if unit in PER_TIME:
        return PER_TIME[unit]
    unit = unit.removesuffix("/block")
    for base, scale in BASES.items():
        if unit.endswith(base) and unit.removesuffix(base) in PREFIXES:
            return PREFIXES[unit.removesuffix(base)] * scale
    return 1.0


def _whole(value: Value) -> Value:
    return int(value) if isinstance(value, float) and value.is_integer() else value
