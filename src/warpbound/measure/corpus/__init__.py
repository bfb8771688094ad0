"""Real kernels, timed: the examples with their launch files, at several sizes and tunings, warm and cold."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.kernel_launch import Argument, Dim, Launch, contents, launch, pack
from warpbound.measure.case import Axis, Buffer, Case, Findings, Record, Step, Unit
from warpbound.measure.device import Facts
from warpbound.measure.pointer_chase import eviction

FOLDER = Path(__file__).parents[4] / "examples"  # of a checkout; a wheel has none, and then there is nothing to time
SHARES = (1, 2, 4, 8)       # of the blocks along the longest side of the grid
QUEUE = 8                   # launches one after the other, warm: what a queue of them takes for each
FROM_ARGUMENT = "argument"  # Buffer.fill: these words, the example, the argument


@dataclass(frozen=True)
class Tuning:
    """One way to run an example: macros and the launch that goes with them."""

    name: str
    grid: Dim
    block: Dim
    defines: Mapping[str, str] = field(default_factory=dict)


def _rows(elements: int, *threads: int) -> tuple[Tuning, ...]:
    return tuple(Tuning(f"block{t}", (-(-elements // t), 1, 1), (t, 1, 1)) for t in threads)


TUNINGS: dict[str, tuple[Tuning, ...]] = {
    "saxpy": _rows(1 << 24, 64, 128, 512, 1024),
    "vector_add": _rows(1 << 24, 64, 128, 512, 1024),
    "black_scholes": _rows(1 << 23, 64, 128, 512, 1024),
    "matmul_tiled": tuple(
        Tuning(f"tile{t}", (2048 // t, 2048 // t, 1), (t, t, 1), {"TILE": str(t)}) for t in (8, 16)
    ),
    "nbody": tuple(
        Tuning(f"threads{t}", (-(-16896 // t), 1, 1), (t, 1, 1), {"THREADS": str(t)}) for t in (64, 256, 512)
    ),
}  # fmt: skip


def source() -> str:
    """Nothing of its own but the prelude's eviction."""
    return ""


@cache
def examples() -> dict[str, Launch]:
    """The examples that can be run without setting symbols of the module, with their launches."""
    found = {path.stem: launch(path) for path in sorted(FOLDER.glob("*.toml"))} if FOLDER.is_dir() else {}
    return {name: one for name, one in found.items() if not one.constants}


def units() -> dict[str, Unit]:
    """One source per example and set of macros."""
    found = {}
    for name, one in examples().items():
        text = (FOLDER / f"{name}.cu").read_text(encoding="utf-8")
        instance = one.kernel if one.kernel and "<" in one.kernel else None
        for defines in ({}, *(t.defines for t in _tunings(name))):
            macros = tuple(({**one.defines, **defines}).items())
            found[_unit(name, defines)] = Unit(text, macros, (FOLDER, *one.include), one.options, instance)
    return found


def _tunings(name: str) -> tuple[Tuning, ...]:
    return TUNINGS.get(name, ())


def _unit(name: str, defines: Mapping[str, str]) -> str:
    return "_".join(["corpus", name, *(f"{key}{value}" for key, value in defines.items())])


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Every example at its own launch and with fewer blocks, every tuning; each warm and cold."""
    for name, one in examples().items():
        shapes = [(f"1/{share}", _fewer(one.grid, share), one.block, "") for share in SHARES]
        shapes += [(t.name, t.grid, t.block, _unit(name, t.defines)) for t in _tunings(name)]
        seen: set[Dim] = set()
        for label, grid, block, unit in shapes:
            if unit or grid not in seen:
                seen.add(grid)
                yield from _warm_and_cold(name, label, _step(name, one, grid, block, unit), facts)


def _fewer(grid: Dim, share: int) -> Dim:
    longest = max(range(3), key=lambda at: (grid[at], at))
    x, y, z = (max(1, side // share) if at == longest else side for at, side in enumerate(grid))
    return (x, y, z)


def _step(name: str, one: Launch, grid: Dim, block: Dim, unit: str) -> Step:
    kernel = (one.kernel or name).partition("<")[0]
    args = tuple(_argument(argument) for argument in one.args)
    threads = block[0] * block[1] * block[2]
    return Step(f"{unit or _unit(name, {})}:{kernel}", grid, threads, args, one.smem, one.carveout, block)


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


def _buffers(name: str, one: Launch) -> tuple[Buffer, ...]:
    arrays = [a for a in one.args if a.kind == "array"]
    return tuple(Buffer(str(a.name), max(4, a.size_B), f"{FROM_ARGUMENT} {name} {a.name}") for a in arrays)


def _warm_and_cold(name: str, label: str, step: Step, facts: Facts) -> Iterator[Case]:
    scratch, evict = eviction(facts)
    buffers = (*_buffers(name, examples()[name]), scratch)
    for state, before in {"warm": (), "cold": (evict,)}.items():
        axes: dict[str, Axis] = {"example": name, "launch": label, "cache": state, "blocks": prod(step.grid)}
        launches = QUEUE if state == "warm" else 1
        yield Case(axes, step, "time", buffers, (), before, launches=launches, seconds=launches * 3e-4)


def array(fill: str) -> NDArray[Any]:
    """The contents that a Buffer's fill names."""
    _, example, name = fill.split(" ")
    args = examples()[example].args
    index = next(i for i, argument in enumerate(args) if str(argument.name) == name)
    found = contents(args[index], index)
    return np.zeros(args[index].size_B, np.uint8) if found is None else np.ascontiguousarray(found).ravel()


def extract(records: list[Record], facts: Facts) -> Findings:
    """Microseconds of every launch, warm and cold."""
    rows: dict[str, dict[str, float]] = {}
    for r in records:
        row = rows.setdefault(f"{r.axes['example']} {r.axes['launch']}", {})
        row[str(r.axes["cache"])] = round(1e6 * float(r.value["seconds"]), 3)
    return Findings({}, {"time [us]": rows} if rows else {})
