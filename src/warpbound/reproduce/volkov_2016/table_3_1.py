"""Table 3.1: concurrency that hides a latency."""

from warpbound.models.volkov_2016.little import concurrency, inst_per_cycle
from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """Throughput and what it needs in flight."""
    best, pins = (
        inst_per_cycle(given[rate] * 1e9, given["clock_GHz"] * 1e9, given["sms"], given["line_bytes"])
        for rate in ("memory_GBs", "pin_GBs")
    )
    return {
        "Adds in flight of arithmetic": concurrency(**given["arithmetic"]),
        "Throughput of memory": best,
        "Loads in flight of memory": concurrency(given["memory_latency"], best),
        "Throughput at the pins": pins,
        "Loads in flight at the pins": concurrency(given["memory_latency"], pins),
    }
