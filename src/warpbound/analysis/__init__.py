"""The answer to a question about a kernel: bounds, time, and what to change.

A question becomes a case (`case`), the case has work (`static`, or `sampled` and `executed` blocks), the work takes a
time with an interval (`timing`, `interval`), and all of it is the answer (`answer`). `sweeps` vary the occupancy or
tunings.
"""

from warpbound.analysis.answer import analyze
from warpbound.analysis.settings import Settings

__all__ = ["Settings", "analyze"]
