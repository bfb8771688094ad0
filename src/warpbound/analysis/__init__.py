"""The answer to a question about a kernel: bounds, time, and what to change.

A question becomes a case (`case`), the case has work (`static`, or `sampled` and `executed` blocks), the work takes a
time with an interval (`timing`, `interval`), and all of it is the answer (`answer`). `sweeps` vary the occupancy or
tunings.
"""

from typing import TYPE_CHECKING, Any

from warpbound.analysis.settings import Settings

if TYPE_CHECKING:
    from warpbound.analysis.answer import analyze

__all__ = ["Settings", "analyze"]


def __getattr__(name: str) -> Any:
    """`analyze`, which loads the models and the emulator: a kept answer needs neither."""
    if name != "analyze":
        raise AttributeError(f"module 'warpbound.analysis' has no attribute {name!r}")
    from warpbound.analysis.answer import analyze

    return analyze
