"""Results in Parquet: one part for each finished unit while a sweep runs, one file with all points when it is done.

A part is written under another name and then renamed, so that every part is complete. Rows are in the order of the
points,
whoever computed them.
"""

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from warpbound.errors import InputError, MissingTool, install
from warpbound.sweeping.plan import Plan
from warpbound.sweeping.predictions import Configuration
from warpbound.sweeping.work_units import WorkUnit

WORDS = ("unit", "source", "launch", "kernel", "gpu", "defines", "bottleneck", "error")
NUMBERS = (
    "registers", "shared_bytes", "spill_bytes", "warps_per_sm", "clock_MHz", "time_s", "own_time_s", "power_W",
    "energy_J", "cost",
)  # fmt: skip
HOUR_S = 3600.0


def arrow() -> Any:
    """The module pyarrow. Raises MissingTool."""
    try:
        import pyarrow
        import pyarrow.parquet  # noqa: F401  (an attribute of pyarrow from here on)
    except ImportError as missing:
        raise MissingTool("Storing the results of a sweep needs PyArrow.", install("sweep")) from missing
    return pyarrow


def table(plan: Plan, unit: WorkUnit, answers: Iterable[Configuration]) -> Any:
    """The rows of a unit as a pyarrow Table, one for each point.

    A parameter has two columns: NAME in the catalogue's unit, `NAME times` of the board's own value. cost : of one
    launch, from the price of an hour. own_time_s : with the board's own values.
    """
    columns: dict[str, list[Any]] = {name: [] for name in _names(plan)}
    count = plan.points_per_configuration
    for answer in answers:
        board = next(board for board in unit.boards if board.key == answer.gpu)
        price = plan.prices.get(answer.gpu, np.nan)
        time_s, power = answer.numbers["time_s"], answer.numbers["power_W"]
        same = {
            "unit": unit.key, "source": unit.subject.source.name, "launch": unit.subject.launch_name,
            "kernel": answer.kernel, "gpu": answer.gpu,
            "defines": " ".join(f"{name}={value}" for name, value in answer.macros.items()),
        }  # fmt: skip
        for name, word in same.items():
            columns[name].append(np.full(count, word, dtype=object))
        for name in ("registers", "shared_bytes", "spill_bytes", "clock_MHz"):
            columns[name].append(np.full(count, np.nan if answer.facts.get(name) is None else answer.facts[name]))
        for name, values in {
            **answer.words, **answer.numbers, "energy_J": power * time_s, "cost": price * time_s / HOUR_S,
        }.items():  # fmt: skip
            columns[name].append(values)
        for name, values in answer.points.items():
            own = board.parameters.get(name)
            columns[name].append(values)
            columns[f"{name} times"].append(values / own.value if own else np.full(count, np.nan))
    points = np.arange(unit.first, unit.first + unit.points, dtype=np.int64)
    return _as_table(points, {name: np.concatenate(parts) for name, parts in columns.items()})


def _names(plan: Plan) -> tuple[str, ...]:
    axes = [axis.parameter for axis in plan.axes]
    return (*WORDS, *NUMBERS, *axes, *(f"{name} times" for name in axes))


def _as_table(points: Any, columns: dict[str, Any]) -> Any:
    pa = arrow()
    arrays = {"point": pa.array(points)}
    for name, values in columns.items():
        kind = pa.string() if name in WORDS else pa.float64()
        arrays[name] = pa.array(values, kind, from_pandas=True)
    return pa.table(arrays)


def parts_folder(out: Path) -> Path:
    return out.with_name(out.name + ".parts")


def answered_units(out: Path, units: Sequence[WorkUnit]) -> set[str]:
    """Keys of the units that have answers, in parts or in the finished file, which is split into parts again."""
    keys = {unit.key for unit in units}
    folder = parts_folder(out)
    folder.mkdir(parents=True, exist_ok=True)
    if out.is_file():
        finished = read(out)
        for unit in units:
            mask = arrow().compute.equal(finished["unit"], unit.key)
            rows = finished.filter(mask)
            if rows.num_rows == unit.points:
                write_part(out, unit.key, rows)
    return {path.stem for path in folder.glob("*.parquet")} & keys


def write_part(out: Path, key: str, rows: Any) -> None:
    _write(rows, parts_folder(out) / f"{key}.parquet")


def finish(out: Path, units: Sequence[WorkUnit]) -> Any:
    """All parts as one file in the order of the points; the parts are removed."""
    pa = arrow()
    whole = pa.concat_tables([read(parts_folder(out) / f"{unit.key}.parquet") for unit in units])
    _write(whole, out)
    shutil.rmtree(parts_folder(out), ignore_errors=True)
    return whole


def so_far(out: Path) -> Any:
    """The rows of a sweep, also while it runs: those of the finished file, or else of the parts so far.

    Raises InputError where there are neither.
    """
    parts = sorted(parts_folder(out).glob("*.parquet")) if parts_folder(out).is_dir() and not out.is_file() else []
    if not parts:
        return read(out)
    return arrow().concat_tables([read(part) for part in parts]).sort_by("point")


def read(path: Path) -> Any:
    """The rows of a file. Raises InputError if it is no file of a sweep."""
    pa = arrow()
    try:
        return pa.parquet.read_table(path)
    except (OSError, pa.ArrowInvalid) as failed:
        raise InputError(f"{path} cannot be read ({failed}).", "Write it with `warpbound sweep PLAN.toml`.") from None


def _write(rows: Any, path: Path) -> None:
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
    arrow().parquet.write_table(rows, unfinished)
    os.replace(unfinished, path)
