"""A kernel with its launch and what NumPy says it must give."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from support.paths import TESTS
from warpbound.kernel_launch import Launch, launch
from warpbound.program.kernel import Program
from warpbound.program.source_files import compile_program

KERNELS = TESTS / "emulate" / "kernels"


@dataclass(frozen=True)
class Expected:
    """Wanted contents of an array, once brought into an order; without a tolerance to the bit."""

    value: Any
    rtol: float = 0.0
    atol: float = 0.0
    order: Callable[[np.ndarray], np.ndarray] = np.asarray


@dataclass(frozen=True)
class Case:
    """One launch of one kernel; `expected` by the names that run gives."""

    source: Path
    kernel: str
    grid: Any
    block: Any
    args: Mapping[Any, Any]
    expected: Mapping[str, Expected]
    constants: Mapping[Any, Any] = field(default_factory=dict)
    defines: Mapping[str, Any] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    smem: int = 0
    least_arch: int = 75
    cluster: Any = None

    @property
    def launch(self) -> Launch:
        return launch(
            grid=self.grid, block=self.block, args=self.args, constants=self.constants, smem=self.smem,
            cluster=self.cluster,
        )  # fmt: skip


Make = Callable[[np.random.Generator], Case]


def difference(wanted: Expected, found: np.ndarray) -> str:
    """What is wrong, or nothing."""
    value, found = np.asarray(wanted.value), wanted.order(found)
    if found.shape != value.shape:
        return f"shape {found.shape}, not {value.shape}"
    if wanted.rtol == wanted.atol == 0:
        same = (found == value) | ((found != found) & (value != value))
    else:
        same = np.isclose(found.astype(complex), value.astype(complex), wanted.rtol, wanted.atol, equal_nan=True)
    if same.all():
        return ""
    at = tuple(int(i[0]) for i in np.nonzero(~same))
    return f"{np.count_nonzero(~same)} of {same.size} wrong, first at {at}: {found[at]} not {value[at]}"


def program_of(case: Case, arch: int) -> Program:
    """The case's kernel as compiled for an architecture."""
    return compile_program(case.source, f"sm_{arch}", case.kernel, case.defines, case.options)
