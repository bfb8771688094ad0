"""Table 6.3: concurrency that each kind of instruction needs."""

from warpbound.models.volkov_2016.little import warps_per_scheduler
from warpbound.reproduce.item import Given, Numbers

KINDS = ("add", "SFU", "smem", "smem2")


def numbers(given: Given) -> Numbers:
    """Rounded up among the schedulers of an SM, or on each scheduler where the item says so."""
    whole = given["whole_per_scheduler"]
    return {
        name: {kind: _warps(given["machines"][name], kind, kind in whole.get(name, ())) for kind in KINDS}
        for name in given["gpus"]
    }


def _warps(m: Given, kind: str, alone: object) -> float:
    sharing = 1 if alone else m["schedulers"]
    return float(warps_per_scheduler(m["latency"][kind], m["throughput"][kind], sharing))
