"""A kernel of the corpus: how to compile it for a board, and what its arrays hold afterwards."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.machine import Gpu
from warpbound.python_kernels.launches import Prepared


@dataclass(frozen=True)
class Case:
    """compiler : whose code it is. expected : arrays after the kernel, by parameter name; none where there is no
    reference. rtol : relative to the largest value; oldest : the first architecture that the kernel is for."""

    compiler: str
    name: str
    prepare: Callable[[Gpu], Prepared]
    expected: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    rtol: float = 0.0
    architectures: tuple[int, ...] = (80, 86, 89, 90, 100, 120)


def is_equal(case: Case, arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Whether every expected array is there, within rtol of its largest value."""
    for name, wanted in case.expected.items():
        fields = wanted.dtype.names
        pairs = [(arrays[name][each], wanted[each]) for each in fields] if fields else [(arrays[name], wanted)]
        if not all(_near(own, each, case.rtol) for own, each in pairs):
            return False
    return True


def _near(own: NDArray[Any], wanted: NDArray[Any], rtol: float) -> bool:
    wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
    apart = np.abs(own.reshape(wanted.shape).astype(wide) - wanted.astype(wide))
    return bool(apart.max() <= rtol * max(1.0, float(np.abs(wanted).max())))
