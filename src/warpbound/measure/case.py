"""Cases, records and estimates: what a mechanism launches, what was measured, and what follows from it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from math import prod
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from warpbound.measure.device import Facts
from warpbound.quick_dataclasses import dataclass

Axis = int | float | str
Array = NDArray[np.float64]
SHARES = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)  # quantiles of a distribution
READINGS = ("time", "stamps", "words", "histogram", "distribution")
STAMP_WORDS = 3  # per warp: start, end, SM
WARP = 32
UNDETERMINED = 1.0  # relative standard error from which the data do not determine a value


@dataclass(frozen=True)
class Buffer:
    """Device memory.

    fill : zeros, ones (all bits set), noise (small positive floats), order (a random permutation of 0, 1, 2 ... as
    32-bit integers), or nothing.
    """

    name: str
    size: int  # [B]
    fill: str = "nothing"


@dataclass(frozen=True)
class Step:
    """One kernel launch.

    args : buffer names, and NumPy scalars of the parameters' types. smem : dynamic shared memory, B. carveout :
    percent of the SM's on-chip memory preferred as shared memory. shape : dimensions of a block that is not a row of
    `block` threads.
    """

    kernel: str
    grid: tuple[int, ...]
    block: int
    args: tuple[str | np.generic, ...]
    smem: int = 0
    carveout: int | None = None
    shape: tuple[int, ...] | None = None

    @property
    def warps(self) -> int:
        """Warps of the whole launch."""
        return prod(self.grid) * -(-self.block // WARP)


@dataclass(frozen=True)
class Unit:
    """One source file to compile. only : the one architecture that can run it, if there is only one."""

    text: str
    defines: tuple[tuple[str, str], ...] = ()
    include: tuple[Path, ...] = ()
    options: tuple[str, ...] = ()
    instance: str | None = None
    only: int | None = None


@dataclass(frozen=True)
class Case:
    """One point of a sweep.

    reading : time          seconds per launch by CUDA events around `launches` launches;
              stamps        start, end and SM of every warp, in the buffer "stamps";
              words         32-bit words of the buffer `output`, the median of each over the samples;
              histogram     32-bit words of `output`, counted over all samples;
              distribution  quantiles of the words of `output`, for many distinct values.
    setup : launches that prepare the data; they run once for consecutive cases that share them.
    before : untimed launches before every sample.
    symbols : (module variable, fill as in Buffer.fill).
    seconds : expected GPU time of one sample.
    """

    axes: Mapping[str, Axis]
    run: Step
    reading: str
    buffers: tuple[Buffer, ...] = ()
    setup: tuple[Step, ...] = ()
    before: tuple[Step, ...] = ()
    symbols: tuple[tuple[str, str], ...] = ()
    output: str = "stamps"
    words: int = 0
    launches: int = 1
    seconds: float = 1e-4

    @property
    def key(self) -> str:
        """The case's name in a raw file."""
        return key(self.axes)


def stamped(
    axes: Mapping[str, Axis], step: Step, *buffers: Buffer, setup: tuple[Step, ...] = (), seconds: float = 1e-4
) -> Case:
    """A case that reads the stamps of every warp."""
    stamps = Buffer("stamps", 8 * STAMP_WORDS * step.warps)
    return Case(axes, step, "stamps", (*buffers, stamps), setup, seconds=seconds)


def cold(case: Case, facts: Facts) -> Case:
    """The case with other data of twice the size of L2 read before every sample, which evicts its own."""
    scratch = Buffer("scratch", 2 * facts.l2_size, "zeros")
    evict = Step("evict", (4 * facts.sm_count,), 256, ("scratch", np.uint64(scratch.size // 4), np.uint32(1)))
    return replace(case, buffers=(*case.buffers, scratch), before=(evict,))


def key(axes: Mapping[str, Axis]) -> str:
    """Axes as one line, in their order."""
    return " ".join(f"{name}={value}" for name, value in axes.items())


@dataclass(frozen=True)
class Record:
    """A measured case.

    value : by reading: seconds (time); sampling.stamp_statistics (stamps); words; values and counts (histogram);
    quantiles at SHARES, mean, count (distribution).
    noise : relative standard error of the median. clock_Hz : SM clock right after the samples.
    """

    axes: Mapping[str, Axis]
    value: Mapping[str, Any]
    samples: int
    noise: float
    clock_Hz: float
    stable: bool = True

    def number(self, name: str) -> float:
        """An axis, or a measured quantity."""
        return float(self.axes[name] if name in self.axes else self.value[name])


@dataclass(frozen=True)
class Estimate:
    """A parameter of the GPU in the given unit. error : relative standard error, from a fit."""

    value: float
    unit: str
    note: str = ""
    error: float | None = None

    @property
    def note_with_error(self) -> str:
        """The note, with the standard error appended."""
        if self.error is None:
            return self.note
        determined = self.error < UNDETERMINED
        how = f"standard error {100 * self.error:.2g} %" if determined else "hardly determined by the data"
        return f"{self.note}; {how}" if self.note else how


@dataclass(frozen=True)
class Findings:
    """Results of a mechanism. parameters : by name in the catalogue. figures : tables and other results that have no
    name there."""

    parameters: Mapping[str, Estimate] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)


class Mechanism(Protocol):
    """The interface of a folder of the suite, which is a module."""

    def source(self) -> str:
        """CUDA C++ of all kernels of the mechanism, without the prelude."""

    def cases(self, facts: Facts, effort: str) -> Iterable[Case]:
        """The sweep; effort is "quick" or "full"."""

    def extract(self, records: list[Record], facts: Facts) -> Findings:
        """Results from the records; a pure function."""


def matching(records: Iterable[Record], **axes: Axis) -> list[Record]:
    """The records with these axes, in order."""
    return [r for r in records if all(r.axes.get(name) == value for name, value in axes.items())]


def column(records: Iterable[Record], name: str) -> Array:
    """One axis or one measured quantity of all records, (records,)."""
    return np.array([r.number(name) for r in records])


def by_axis(records: Iterable[Record], axis: str, quantity: Callable[[Record], float], digits: int) -> dict[str, float]:
    """Axis value -> quantity, rounded to `digits` decimals."""
    return {str(r.axes[axis]): round(quantity(r), digits) for r in records}


def curve(records: Iterable[Record], *columns: str | tuple[Callable[[Record], float], int]) -> list[list[Any]]:
    """A row for each record: axes by name, and quantities given as (function, decimals)."""
    return [[r.axes[c] if isinstance(c, str) else round(float(c[0](r)), c[1]) for c in columns] for r in records]
