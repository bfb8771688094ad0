"""A change of the work or of the place where it runs, which is predicted like the launch itself."""

from dataclasses import replace

from warpbound.predict import Place
from warpbound.quick_dataclasses import dataclass
from warpbound.workload import Workload


@dataclass(frozen=True)
class Alternative:
    """Other work or another place. units : of the old work in one of the new. work_share : share of the launch's work.

    apart : how many loads of a warp, one after the other now, must not need each other; 1: they may.
    """

    change: str
    why: str
    work: Workload
    place: Place
    units: float = 1.0
    work_share: float = 1.0
    apart: float = 1.0


def without(work: Workload, shares: dict[str, float]) -> Workload:
    """The same path with only a share of the cost of each cause."""
    parts = {cause: cycles * shares.get(cause, 1.0) for cause, cycles in work.parts.items()}
    before = sum(work.parts.values())
    return replace(work, latency=work.latency * sum(parts.values()) / before if before else work.latency, parts=parts)
