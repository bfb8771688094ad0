"""Scenarios of the thesis by simulation."""

from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.played import played

PAPER = "volkov_2016"


def numbers(_: Given) -> Numbers:
    """Concurrency, cycles, rates and latencies."""
    adds = {start: float(played(PAPER, f"fig-4.7-{start}").rates[1]) for start in ("tiled", "together")}
    idle, full = (played(PAPER, f"fig-6.5-{load}").request_latency for load in ("idle", "full"))
    return {
        "three warps: accesses at any time": played(PAPER, "fig-3.2").in_memory,
        "vector add, one warp": played(PAPER, "section-3.8").cycles,
        "six warps apart: adds": adds["tiled"],
        "six warps together: adds": adds["together"],
        "latency at 3.8 GB/s": idle,
        "latency at 144 GB/s": full,
    }
