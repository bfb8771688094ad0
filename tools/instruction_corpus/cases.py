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
        own = arrays[name].reshape(wanted.shape).astype(np.float64)
        if not np.abs(own - wanted.astype(np.float64)).max() <= case.rtol * max(1.0, float(np.abs(wanted).max())):
            return False
    return True
