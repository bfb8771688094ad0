"""One measured launch with the times that the models predict for it."""

import msgspec

from warpbound.analysis.interval import HeldSeconds


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """One row and its answer. seconds : by model, None where it gives none. group : rows that do the same work.

    interval : as it would have been stated had this corpus not been measured on this board. bare : before measured
    launches widened it. clocks_s : times at the highest and the lowest clock that the board may hold by its power; None
    where the clock is known or assumed. binds : the class that its form error is of.
    """

    corpus: str
    kernel: str
    gpu: str
    label: str
    kind: str
    measured: float
    seconds: dict[str, float | None]
    group: int = 0
    interval: tuple[float, float] | None = None
    bare: tuple[float, float] | None = None
    clocks_s: HeldSeconds | None = None
    binds: str = ""
    bottleneck: str | None = None
    proxy: bool = False
    refused: str = ""

    def error(self, model: str) -> float | None:
        """Relative to the measured time."""
        seconds = self.seconds.get(model)
        return None if seconds is None else seconds / self.measured - 1.0

    @property
    def inside(self) -> bool:
        """Whether the measured time lies in the predicted interval."""
        return self.interval is not None and self.interval[0] <= self.measured <= self.interval[1]
