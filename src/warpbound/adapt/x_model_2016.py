"""Workload, Gpu and Residency to the Inputs of the X-model: those of Transit, with ILP and, if given, a cache.

Assumes   E is the warp's instructions over its issue slots where pairs are known, as the paper counts them; else over
          its cycles that wait for no memory, at most 1, and 1 where these are not known. Locality (alpha, beta) is no
          count of one launch: without it the cache is left out, and requests are those that leave the chip; with it
          every global access is a request and L the unloaded latency of DRAM.
"""

from typing import Any

from warpbound.adapt import transit_2015
from warpbound.adapt.accesses import MEMORY_CAUSES, accesses, per_cycle
from warpbound.adapt.launched import Answer, Launched, present
from warpbound.models.x_model_2016 import Inputs, predict, predict_without_cache

WANTED = transit_2015.WANTED
CACHE = ("alpha", "beta", "cache_capacity")
NO_CACHE = "per SM; the cache is left out: how locality falls with threads is not known (alpha, beta, cache_capacity)"


def known(x: Launched) -> dict[str, Any]:
    fields = transit_2015.known(x) | {"ilp": _ilp(x)}
    if not _has_cache(x):
        return fields
    a = accesses(x)
    if not a.count:
        return fields
    return fields | present(
        intensity=x.work.warp_instructions / a.count or None,
        latency=x.dram_cycles,
        ms_throughput=per_cycle(x, "dram_achievable_bandwidth", _line_bytes(x, a.count)),
        cache_latency=x.gpu.get("l1_latency"),
    )


def _line_bytes(x: Launched, count: float) -> float:
    return 32.0 * (x.work.memory.l1_sectors_load + x.work.memory.l1_sectors_store) / count


def _ilp(x: Launched) -> float:
    if x.work.issue_slots:
        return x.work.warp_instructions / x.work.issue_slots
    waited = sum(x.work.parts.get(cause, 0.0) for cause in MEMORY_CAUSES)
    computing = x.work.latency - waited
    return min(1.0, x.work.warp_instructions / computing) if computing > 0 and x.work.warp_instructions else 1.0


def _has_cache(x: Launched) -> bool:
    return all(symbol in x.given.get("x_model_2016", {}) for symbol in CACHE)


def answer(inputs: Inputs, x: Launched) -> Answer:
    cached = _has_cache(x)
    found = predict(inputs) if cached else predict_without_cache(inputs)
    rate = float(found.rate)
    warp_rate = rate * float(inputs.intensity) / x.work.warp_instructions if x.work.warp_instructions else 0.0
    note = "per SM; the state that a launch reaches" if cached else NO_CACHE
    return Answer(x.seconds(warp_rate), rate, found.unit, str(found.bottleneck), note)
