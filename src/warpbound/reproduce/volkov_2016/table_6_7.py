"""Table 6.7: transactions one after another."""

from warpbound.models.volkov_2016.one_warp import latency_per_transaction
from warpbound.models.volkov_2016.readings import share
from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """From the latencies of streaming and of random accesses."""
    return {name: _row(given["machines"][name], given["coalesced_transactions"][name]) for name in given["gpus"]}


def _row(m: Given, coalesced: float) -> dict[str, float]:
    latency, rate = m["latency"], m["throughput"]
    return {
        "latency": float(latency_per_transaction(latency["random"], latency["stream"], coalesced)),
        "stream over random": float(share(rate["stream"], rate["random"])),
    }
