"""Real kernels, timed: the examples and tunable kernels, with several sizes and tunings, caches warm and cold."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.kernel_launch import Argument, contents
from warpbound.measure.case import Axis, Buffer, Case, Findings, Record, Step, Unit, cold
from warpbound.measure.corpus.subjects import Subject, launches, subjects, tunings
from warpbound.measure.corpus.tuned import Tuning
from warpbound.measure.device import Facts
from warpbound.parameter_packing import pack

QUEUE = 8                   # consecutive warm launches that are timed together
FROM_ARGUMENT, FROM_CONSTANT = "argument", "constant"  # Buffer.fill: one of them, the subject, the argument


def source() -> str:
    """No kernel of its own; the prelude has the eviction."""
    return ""


def units() -> dict[str, Unit]:
    """One source per subject and set of macros."""
    by_name = {}
    for name, subject in subjects().items():
        text = subject.source.read_text(encoding="utf-8")
        for tuning in tunings(subject):
            x = subject.options(tuning.defines)
            by_name[unit_name(name, tuning.defines)] = Unit(text, x.defines, x.include, x.extra, x.instance)
    return by_name


def unit_name(name: str, defines: Mapping[str, str]) -> str:
    """Unit of a subject compiled with macros beyond its own."""
    return "_".join(["corpus", name, *(f"{key}{value}" for key, value in defines.items())])


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Every subject at its own launch and with fewer blocks, every tuning; each warm and cold."""
    for name, subject in subjects().items():
        for label, tuning in launches(subject).items():
            step = step_of(name, tuning, facts)
            for state, queue in {"warm": QUEUE, "cold": 1}.items():
                axes: dict[str, Axis] = {"example": name, "launch": label, "cache": state, "blocks": prod(step.grid)}
                case = Case(axes, step, "time", buffers_of(name), symbols=symbols_of(name), launches=queue,
                            seconds=queue * 3e-4)  # fmt: skip
                evicted = cold(case, facts)  # the same buffers for both, so that the data stay in place
                yield evicted if state == "cold" else replace(evicted, before=())


def step_of(name: str, tuning: Tuning, facts: Facts) -> Step:
    """The launch of a subject with a tuning."""
    own = subjects()[name].launch
    args = tuple(_argument(argument) for argument in own.args)
    carveout = None if own.carveout is None else min(100, -(-own.carveout * 1024 * 100 // facts.shared_per_sm))
    kernel = f"{unit_name(name, tuning.defines)}:{subjects()[name].kernel}"
    return Step(kernel, tuning.grid, prod(tuning.block), args, own.smem, carveout, tuning.block)


def _argument(argument: Argument) -> str | np.generic:
    """A buffer's name, a scalar of 32 or 64 bits by its dtype, or a struct's bytes."""
    if argument.kind == "array":
        return str(argument.name)
    if argument.bytes is not None:
        struct: np.generic = np.frombuffer(argument.bytes, dtype=f"V{len(argument.bytes)}")[0]
        return struct
    kind, bits = (argument.dtype or "i32")[0], int((argument.dtype or "i32")[1:])
    scalar: np.generic = np.frombuffer(pack(argument, bits // 8), dtype=f"{kind}{bits // 8}")[0]
    return scalar


def buffers_of(name: str) -> tuple[Buffer, ...]:
    """Array arguments of a subject."""
    arrays = [a for a in subjects()[name].launch.args if a.kind == "array"]
    return tuple(Buffer(str(a.name), max(4, a.size_B), f"{FROM_ARGUMENT} {name} {a.name}") for a in arrays)


def symbols_of(name: str) -> tuple[tuple[str, str], ...]:
    """Variables of a subject in constant and device memory."""
    return tuple((str(x.name), f"{FROM_CONSTANT} {name} {x.name}") for x in subjects()[name].launch.constants)


def array(fill: str) -> NDArray[Any]:
    """The contents that a Buffer.fill names, in bytes."""
    where, name, argument = fill.split(" ")
    launch = subjects()[name].launch
    args = launch.args if where == FROM_ARGUMENT else launch.constants
    index = next(i for i, x in enumerate(args) if str(x.name) == argument)
    values = contents(args[index], index)
    if values is None:
        return np.zeros(args[index].size_B, np.uint8)
    return np.ascontiguousarray(values).ravel().view(np.uint8)


def extract(records: list[Record], facts: Facts) -> Findings:
    """Microseconds of every launch, warm and cold; the quickest tuning of each subject."""
    rows: dict[str, dict[str, float]] = {}
    for r in records:
        row = rows.setdefault(f"{r.axes['example']} {r.axes['launch']}", {})
        row[str(r.axes["cache"])] = round(1e6 * r.number("seconds"), 3)
    best = {name: tuning for name, subject in subjects().items() if (tuning := _quickest(name, subject, records))}
    return Findings({}, {"time [us]": rows, "quickest way": best} if rows else {})


def _quickest(name: str, subject: Subject, records: list[Record]) -> str | None:
    """Among the tunings that do the same work, warm."""
    labels = {"1/1", *(tuning.name for tuning in subject.tunings)}
    same = [r for r in records
            if r.axes["example"] == name and r.axes["cache"] == "warm" and r.axes["launch"] in labels]  # fmt: skip
    return str(min(same, key=lambda r: r.number("seconds")).axes["launch"]) if len(same) > 1 else None
