"""Triton kernels with launches as `warpbound analyze` takes them.

Models   The grid is Triton's. The block of a launch gives the number of warps (32 threads each) unless `num_warps` is
         given; macros are the kernel's constexprs and the compiler's options.
"""

from collections.abc import Mapping
from typing import Any

from warpbound.kernel_launch import Launch
from warpbound.machine import Gpu
from warpbound.python_kernels.launches import Prepared, given_values, plain_value
from warpbound.triton.launching import prepare

WARP = 32


def of_launch(kernel: Any, board: Gpu, own: Launch, defines: Mapping[str, str]) -> Prepared:
    """One launch; defines : constexprs and options of the compiler, on top of the launch's own."""
    constexprs = {name: plain_value(text) for name, text in (own.defines | dict(defines)).items()}
    constexprs.setdefault("num_warps", max(1, own.block[0] * own.block[1] * own.block[2] // WARP))
    positional, by_keyword = given_values(own)
    return prepare(kernel, positional, by_keyword | constexprs, own.grid, board)


def is_kernel(value: object) -> bool:
    """Whether it is a function under `@triton.jit`, or that under other decorators of Triton."""
    from triton.runtime import Autotuner, Heuristics
    from triton.runtime.jit import JITFunction

    return isinstance(value, JITFunction | Autotuner | Heuristics)
