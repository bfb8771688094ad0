"""A what-if: a change, what it would buy, where it acts and where its mechanism is explained."""

from typing import Annotated

import msgspec
from msgspec import Meta

from warpbound.result.quantities import ADDED, Interval, Positive, Sentence

HIDE_MORE = "resident warps hide more of the latency"  # in the reason of every change that raises occupancy by a step


class WhatIf(msgspec.Struct, frozen=True):
    """A change and what it would buy."""

    change: Sentence
    speedup: Annotated[Positive, Meta(description="> 1 is faster")]
    why: Sentence
    mechanism: Annotated[str, Meta(description="Name of its section in docs/mechanisms.md"), ADDED] = ""
    line: Annotated[int | None, Meta(description="Source line where it acts, from 1"), ADDED] = None
    speedup_interval: Annotated[
        Interval | None, Meta(description="What eight of ten changes with this promise obtain"), ADDED
    ] = None
    cost: Annotated[str, Meta(description="What it takes, in words; `try` counts it"), ADDED] = ""
    registers: Annotated[int, Meta(description="More per thread, about; negative: fewer"), ADDED] = 0
    shared_bytes: Annotated[int, Meta(description="More per block, about; negative: fewer"), ADDED] = 0
    warps_per_sm: Annotated[int | None, Meta(description="Resident then; null without a launch"), ADDED] = None
    page: Annotated[str, Meta(description="Where the mechanism is explained"), ADDED] = ""
