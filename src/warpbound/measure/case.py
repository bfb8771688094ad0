"""One thing to measure: buffers, launches, and how the answer is read; and what a mechanism makes of the answers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from warpbound.measure.device import Facts

Axis = int | float | str
SHARES = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)  # of a distribution
READINGS = ("time", "stamps", "words", "histogram", "distribution")
STAMP_WORDS = 3  # per warp: start, end, SM
WARP = 32
OPEN = 1.0  # relative standard error from which a value says nothing


@dataclass(frozen=True)
class Buffer:
    """Device memory. fill : zeros, ones (every bit), noise (small positive floats), order (a random order of 0, 1, 2
    ... as 32-bit numbers), or nothing."""

    name: str
    size: int  # [B]
    fill: str = "nothing"


@dataclass(frozen=True)
class Step:
    """One launch.

    args : a buffer's name, or a NumPy scalar of the parameter's type. carveout : percent of the SM's memory asked for
    as shared memory. shape : of the block, where it is not a row of `block` threads.
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
        """In the whole launch."""
        return prod(self.grid) * -(-self.block // WARP)


@dataclass(frozen=True)
class Unit:
    """One source to compile; only : the architecture that alone can run it."""

    text: str
    defines: tuple[tuple[str, str], ...] = ()
    include: tuple[Path, ...] = ()
    options: tuple[str, ...] = ()
    instance: str | None = None
    only: int | None = None


@dataclass(frozen=True)
class Case:
    """One point of a sweep.

    reading : time     seconds of one launch by events, `launches` of them between two marks;
              stamps   start, end and SM of every warp, in buffer `output`;
              words    32-bit words of `output`, each the median over the repeats;
              histogram  32-bit words of `output`, all repeats counted together;
              distribution  the same as quantiles, for many different words.
    setup : launches that make the data; once for all cases in a row that share it.
    before : untimed launches before every sample.
    symbols : name of a variable of the module, and what it is filled with, as Buffer.fill names it.
    seconds : GPU time that one sample is expected to take.
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
        """What names the case in a file."""
        return key(self.axes)


def key(axes: Mapping[str, Axis]) -> str:
    """Axes as one line, in their order."""
    return " ".join(f"{name}={value}" for name, value in axes.items())


@dataclass(frozen=True)
class Record:
    """One case measured.

    value : by reading - time: seconds; stamps: see sampling.of_stamps; words: words; histogram: values, counts;
    distribution: quantiles (of SHARES), mean, count.
    noise : relative standard error of the median. clock_Hz : of the SMs, right after.
    """

    axes: Mapping[str, Axis]
    value: Mapping[str, Any]
    samples: int
    noise: float
    clock_Hz: float
    stable: bool = True


@dataclass(frozen=True)
class Found:
    """One parameter in the unit named. error : relative standard error, where a fit says one."""

    value: float
    unit: str
    note: str = ""
    error: float | None = None

    @property
    def said(self) -> str:
        """The note with the error."""
        if self.error is None:
            return self.note
        how = f"standard error {100 * self.error:.2g} %" if self.error < OPEN else "hardly determined by the data"
        return f"{self.note}; {how}" if self.note else how


@dataclass(frozen=True)
class Findings:
    """What a mechanism knows after measuring. parameters : under the catalogue's names. figures : tables and
    everything the catalogue has no name for."""

    parameters: Mapping[str, Found] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)


class Mechanism(Protocol):
    """What a folder of the suite offers (a module does)."""

    def source(self) -> str:
        """CUDA C++ of all its kernels, but for the prelude."""

    def cases(self, facts: Facts, effort: str) -> Iterable[Case]:
        """The sweep; effort is "quick" or "full"."""

    def extract(self, records: list[Record], facts: Facts) -> Findings:
        """Parameters from what was measured; a pure function."""


def chosen(records: Iterable[Record], **axes: Axis) -> list[Record]:
    """The records with these axes, in order."""
    return [r for r in records if all(r.axes.get(name) == value for name, value in axes.items())]


def column(records: Iterable[Record], name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """One axis or one measured quantity of all records."""
    return np.array([r.axes[name] if name in r.axes else r.value[name] for r in records], dtype=np.float64)


def stamps_of(step_warps: int) -> Buffer:
    """Room for the stamps of so many warps."""
    return Buffer("stamps", 8 * STAMP_WORDS * step_warps)
