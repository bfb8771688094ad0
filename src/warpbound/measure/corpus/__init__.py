"""Real kernels, timed: the examples and tunable kernels, at several sizes and tunings, warm and cold."""

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.kernel_launch import Argument, contents, pack
from warpbound.measure.case import Axis, Buffer, Case, Findings, Record, Step, Unit
from warpbound.measure.corpus.subjects import Subject, Tuning, launches, subjects, tunings
from warpbound.measure.device import Facts
from warpbound.measure.pointer_chase import eviction

QUEUE = 8                   # launches one after the other, warm: what a queue of them takes for each
FROM_ARGUMENT, FROM_CONSTANT = "argument", "constant"  # Buffer.fill: one of them, the subject, the argument


def source() -> str:
    """Nothing of its own but the prelude's eviction."""
    return ""


def units() -> dict[str, Unit]:
    """One source per subject and set of macros."""
    found = {}
    for name, subject in subjects().items():
        text = subject.source.read_text(encoding="utf-8")
        for way in tunings(subject):
            options = subject.options(way.defines)
            found[unit_name(name, way.defines)] = Unit(
                text, options.defines, options.include, options.extra, options.instance
            )
    return found


def unit_name(name: str, defines: Mapping[str, str]) -> str:
    """Of the source with macros beyond the subject's own."""
    return "_".join(["corpus", name, *(f"{key}{value}" for key, value in defines.items())])


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Every subject at its own launch and with fewer blocks, every tuning; each warm and cold."""
    for name, subject in subjects().items():
        for label, way in launches(subject).items():
            yield from _warm_and_cold(name, label, step_of(name, way, facts), facts)


def step_of(name: str, way: Tuning, facts: Facts) -> Step:
    """The launch of a subject run in this way."""
    one = subjects()[name].launch
    args = tuple(_argument(argument) for argument in one.args)
    carveout = None if one.carveout is None else min(100, -(-one.carveout * 1024 * 100 // facts.shared_per_sm))
    unit = unit_name(name, way.defines)
    return Step(f"{unit}:{subjects()[name].kernel}", way.grid, prod(way.block), args, one.smem, carveout, way.block)


def _argument(argument: Argument) -> str | np.generic:
    """A buffer's name, a scalar of 32 or 64 bits by its dtype, or a struct's bytes."""
    if argument.kind == "array":
        return str(argument.name)
    if argument.bytes is not None:
        struct: np.generic = np.frombuffer(argument.bytes, dtype=f"V{len(argument.bytes)}")[0]
        return struct
    kind, bits = (argument.dtype or "i32")[0], int((argument.dtype or "i32")[1:])
    found: np.generic = np.frombuffer(pack(argument, bits // 8), dtype=f"{kind}{bits // 8}")[0]
    return found


def buffers_of(name: str) -> tuple[Buffer, ...]:
    """Its arrays."""
    arrays = [a for a in subjects()[name].launch.args if a.kind == "array"]
    return tuple(Buffer(str(a.name), max(4, a.size_B), f"{FROM_ARGUMENT} {name} {a.name}") for a in arrays)


def symbols_of(name: str) -> tuple[tuple[str, str], ...]:
    """Its variables in constant and device memory."""
    return tuple((str(one.name), f"{FROM_CONSTANT} {name} {one.name}") for one in subjects()[name].launch.constants)


def _warm_and_cold(name: str, label: str, step: Step, facts: Facts) -> Iterator[Case]:
    scratch, evict = eviction(facts)
    buffers = (*buffers_of(name), scratch)
    for state, before in {"warm": (), "cold": (evict,)}.items():
        axes: dict[str, Axis] = {"example": name, "launch": label, "cache": state, "blocks": prod(step.grid)}
        queue = QUEUE if state == "warm" else 1
        yield Case(axes, step, "time", buffers, (), before, symbols_of(name), launches=queue, seconds=queue * 3e-4)


def array(fill: str) -> NDArray[Any]:
    """The contents that a Buffer's fill names, in bytes."""
    where, name, argument = fill.split(" ")
    launch = subjects()[name].launch
    args = launch.args if where == FROM_ARGUMENT else launch.constants
    index = next(i for i, one in enumerate(args) if str(one.name) == argument)
    found = contents(args[index], index)
    if found is None:
        return np.zeros(args[index].size_B, np.uint8)
    return np.ascontiguousarray(found).ravel().view(np.uint8)


def extract(records: list[Record], facts: Facts) -> Findings:
    """Microseconds of every launch, warm and cold; of each subject the quickest way."""
    rows: dict[str, dict[str, float]] = {}
    for r in records:
        row = rows.setdefault(f"{r.axes['example']} {r.axes['launch']}", {})
        row[str(r.axes["cache"])] = round(1e6 * float(r.value["seconds"]), 3)
    best = {name: way for name, subject in subjects().items() if (way := _quickest(name, subject, records))}
    return Findings({}, {"time [us]": rows, "quickest way": best} if rows else {})


def _quickest(name: str, subject: Subject, records: list[Record]) -> str | None:
    """Among the ways that do the same work, warm."""
    ways = {"1/1", *(way.name for way in subject.tunings)}
    mine = [r for r in records if r.axes["example"] == name and r.axes["cache"] == "warm" and r.axes["launch"] in ways]
    if len(mine) < 2:
        return None
    first = min(mine, key=lambda r: float(r.value["seconds"]))
    return str(first.axes["launch"])
