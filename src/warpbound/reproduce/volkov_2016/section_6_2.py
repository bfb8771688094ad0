"""Section 6.2: what a 2-way bank conflict costs in latency, throughput and occupancy."""

from warpbound.models.volkov_2016.little import concurrency
from warpbound.models.volkov_2016.readings import added, increase, share, throughput_in_passes
from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """Of the measured tables; what Little's law makes of occupancy stands beside it."""
    rows = {name: _row(given["machines"][name], given["warps"][name], given["ways"]) for name in given["gpus"]}
    increases = [row["latency, increase"] for row in rows.values()]
    return {**rows, "least increase": min(increases), "largest increase": max(increases)}


def _row(m: Given, warps: Given, ways: float) -> dict[str, float]:
    latency, rate = m["latency"], m["throughput"]
    free, conflicting = (concurrency(latency[kind], rate[kind]) for kind in ("smem", "smem2"))
    return {
        "latency added": float(added(latency["smem2"], latency["smem"])),
        "latency, increase": float(100 * increase(latency["smem2"], latency["smem"])),
        "throughput": float(throughput_in_passes(rate["smem"], ways)),
        "occupancy falls by": float(share(warps["smem"], warps["smem2"])),
        "occupancy falls by, Little's law": float(share(free, conflicting)),
    }
