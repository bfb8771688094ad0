"""A profiled launch: what its report states."""

from typing import Annotated

import msgspec
from msgspec import Meta

from warpbound.result.quantities import Number, Whole


class ProfileFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Where a launch comes from and what its report states of it."""

    report: str
    launch_index: Whole
    duration_s: Number | None
    sm_clock_MHz: Number
    l2_clock_MHz: Number | None
    dram_clock_MHz: Number | None
    inferred: Annotated[list[str], Meta(description="What the report tells of the arguments")]
