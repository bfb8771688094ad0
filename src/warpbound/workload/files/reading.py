"""Reads a workload file, or a shipped one by name, into its cases: the common part with the changes of each case."""

import dataclasses
import tomllib
import typing
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from warpbound import models
from warpbound.errors import InputError
from warpbound.quick_dataclasses import dataclass
from warpbound.table_decoding import suggestion
from warpbound.workload.files.tables import (
    Access,
    Counts,
    File,
    Latency,
    Shape,
    Symbols,
    Tables,
    Traffic,
    parse,
)

_RIVALS = {  # if a case gives one of these, the file's value of the other does not count
    "blocks": "threads",
    "threads": "blocks",
    "blocks_per_sm": "warps_per_sm",
    "warps_per_sm": "blocks_per_sm",
}


@dataclass(frozen=True)
class WorkloadCase:
    """One case of a file: work, launch, and symbols of single models."""

    title: str
    case: str | None
    source: str
    origin: str  # the file, for errors
    gpu: str | None
    clock: str | float
    shape: Shape
    counts: Counts | None
    access: tuple[Access, ...]
    traffic: Traffic | None
    latency: Latency | None
    inputs: dict[str, dict[str, Any]] = field(hash=False)

    @property
    def name(self) -> str:
        """The title, and the case where there are several."""
        return f"{self.title}: {self.case}" if self.case else self.title

    @property
    def warps_per_block(self) -> int | None:
        """Whole warps."""
        return -(-self.shape.threads_per_block // 32) if self.shape.threads_per_block else None

    @property
    def blocks(self) -> int | None:
        """Blocks of the launch, given or as many as hold its threads."""
        if self.shape.blocks is None and self.shape.threads and self.shape.threads_per_block:
            return -(-self.shape.threads // self.shape.threads_per_block)
        return self.shape.blocks

    @property
    def warps(self) -> float | None:
        """Warps of the launch; None if the file does not state them."""
        if self.blocks is None or self.warps_per_block is None:
            return None
        return float(self.blocks * self.warps_per_block)


@cache
def shipped() -> tuple[str, ...]:
    """The names of the papers' workloads, sorted."""
    folder = files("warpbound") / "workloads"
    names = (entry.name for entry in folder.iterdir()) if folder.is_dir() else ()
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def read(word: str | Path) -> tuple[WorkloadCase, ...]:
    """Every case of a file; a word that is no path may name a shipped workload. InputError states what is wrong."""
    if isinstance(word, str) and word in shipped():
        text, origin = (files("warpbound") / "workloads" / f"{word}.toml").read_text(encoding="utf-8"), f"{word}.toml"
    else:
        text, origin = _text(Path(word)), str(word)
    return read_text(text, origin)


def read_text(text: str, origin: str) -> tuple[WorkloadCase, ...]:
    """Every case of a file's text; `origin` names it in errors."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"workload file '{origin}' is not TOML: {problem}.", "Correct that line.") from None
    return _cases(parse(document, f"workload file '{origin}'"), f"workload file '{origin}'")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else "it is not text"
        near = suggestion(str(path), shipped()) if path.suffix != ".toml" else ""
        way = near or "Check the path; docs/workload-files.md describes workload files."
        raise InputError(f"workload file '{path}' cannot be read: {why}.", way) from None


def _cases(table: File, origin: str) -> tuple[WorkloadCase, ...]:
    if not table.case:
        return (_written(table, table, None, origin),)
    return tuple(_written(table, _merged(table, variant), variant.name, origin) for variant in table.case)


def _merged(table: File, variant: Tables) -> Tables:
    """The file with a case's keys in place of its own; launch and inputs key by key."""
    own = {name: getattr(variant, name) for name in Tables.__struct_fields__ if getattr(variant, name) is not None}
    if variant.launch is not None and table.launch is not None:
        own["launch"] = _merged_shape(table.launch, variant.launch)
    if variant.inputs is not None and table.inputs is not None:
        models = {**table.inputs, **variant.inputs}
        own["inputs"] = {name: table.inputs.get(name, {}) | variant.inputs.get(name, {}) for name in models}
    return Tables(**{name: own.get(name, getattr(table, name)) for name in Tables.__struct_fields__})


def _merged_shape(base: Shape, change: Shape) -> Shape:
    new = {key: value for key, value in msgspec.structs.asdict(change).items() if value is not None}
    common = {key: value for key, value in msgspec.structs.asdict(base).items() if _RIVALS.get(key) not in new}
    return Shape(**(common | new))


def _written(table: File, merged: Tables, case: str | None, origin: str) -> WorkloadCase:
    inputs = {name: _symbols(name, symbols, origin) for name, symbols in (merged.inputs or {}).items()}
    return WorkloadCase(
        title=table.title,
        case=case,
        source=table.source,
        origin=origin,
        gpu=merged.gpu,
        clock=merged.clock if merged.clock is not None else "boost",
        shape=merged.launch or Shape(),
        counts=merged.counts,
        access=tuple(merged.access or ()),
        traffic=merged.memory,
        latency=merged.latency,
        inputs=inputs,
    )


def _symbols(model: str, table: Symbols, origin: str) -> dict[str, Any]:
    """The values of a model's own symbols, in the types of its Inputs."""
    if model not in models.MODELS:
        raise InputError(f"{origin}, inputs: no model is called '{model}'.", suggestion(model, models.MODELS))
    hints = typing.get_type_hints(getattr(models, model).Inputs)
    result = {}
    for symbol, value in table.items():
        place = f"{origin}, inputs.{model}"
        if symbol not in hints:
            raise InputError(f"{place}: there is no symbol '{symbol}'.", suggestion(symbol, hints))
        result[symbol] = _value(value, hints[symbol], f"{place}.{symbol}")
    return result


def _value(value: Any, hint: Any, place: str) -> Any:
    origin = typing.get_origin(hint)
    if isinstance(value, list):
        inner = next((part for part in typing.get_args(hint) if dataclasses.is_dataclass(part)), None)
        if inner is None:
            raise InputError(f"{place} is a list, not a number.", "Give a number.")
        return tuple(_record(item, inner, place) for item in value)
    if isinstance(value, dict):
        if not (isinstance(origin, type) and issubclass(origin, Mapping)):
            raise InputError(f"{place} is a table, not a number.", "Give a number.")
        return value
    if origin in (dict, tuple) or "Mapping" in str(hint):
        raise InputError(f"{place} is a number, not a table.", "Give a table, or a list of tables.")
    return value


def _record(table: dict[str, float], kind: Any, place: str) -> Any:
    names = [entry.name for entry in dataclasses.fields(kind)]
    for name in table:
        if name not in names:
            raise InputError(f"{place} has no key '{name}'.", suggestion(name, names))
    required = [entry.name for entry in dataclasses.fields(kind) if entry.default is dataclasses.MISSING]
    for name in required:
        if name not in table:
            raise InputError(f"{place} has no {name}.", f"Add {name} = ....")
    return kind(**table)
