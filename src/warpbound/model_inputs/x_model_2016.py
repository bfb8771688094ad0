"""Workload, Gpu and Residency to the Inputs of the X-model: those of Transit, with ILP and, if known, a cache.

Assumes   E is the warp's instructions over its issue slots where pairs are known, as the paper counts them; else over
          its cycles that wait for no memory, at most 1, and 1 where these are not known. With a cache every global
          access is a request. The cache is L1 with the locality of one executed warp, where the curve of (alpha, beta)
          follows its reuse to GOOD_FIT of the hit rate, and the resident warps' share of L1 gives the hits that were
          counted to GOOD_HITS: lines that warps share, and stores, which L1 does not serve, are not in the curve. What
          misses goes to L2 and DRAM in the proportion counted, at their mean unloaded latency and the tighter of their
          rates. Where that curve is too far off, the answer takes the executed reuse distances themselves, all misses
          scaled so that the resident warps miss as often as was counted. Or the cache is what the file gives, with
          DRAM behind it. Else there is none, and requests are those that leave the chip.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from warpbound.l2_clock import l2_cycles
from warpbound.model_inputs import transit_2015
from warpbound.model_inputs.accesses import MEMORY_CAUSES, accesses, dram_bytes, per_cycle
from warpbound.model_inputs.launch_facts import LaunchFacts, Locality, answer_of, present
from warpbound.model_inputs.resources import SECTOR_B
from warpbound.models.x_model_2016 import Inputs, predict, predict_without_cache, sampled
from warpbound.result.kernel import ModelAnswer

WANTED = transit_2015.WANTED
CACHE = ("alpha", "beta", "cache_capacity")
GOOD_FIT, GOOD_HITS = 0.05, 0.1
REACHED = "per SM; the state that a launch reaches"
REUSE = "per SM; the state that a launch reaches; L1 with the executed reuse distances: "
NO_CACHE = "per SM; the cache is left out: "
UNKNOWN = "how locality falls with threads is not known (alpha, beta, cache_capacity)"


def known(x: LaunchFacts) -> dict[str, Any]:
    fields = transit_2015.known(x) | {"ilp": _ilp(x)}
    count = accesses(x).count
    if not count or not (_given(x) or _own(x)):
        return fields
    return fields | present(
        intensity=x.work.warp_instructions / count or None,
        cache_latency=x.gpu.get("l1_latency"),
        **(_dram(x, count) if _given(x) else _beyond_l1(x, count)),
    )


def _given(x: LaunchFacts) -> bool:
    return all(symbol in x.file_symbols.get("x_model_2016", {}) for symbol in CACHE)


def _own(x: LaunchFacts) -> Locality | None:
    """The locality of the launch, if the cache matters and the curve is near enough."""
    return None if _left_out(x) else x.locality


def _left_out(x: LaunchFacts) -> str:
    """Why the launch's own locality cannot be taken; empty where it can."""
    own, memory = x.locality, x.work.memory
    sectors = memory.l1_sectors_load + memory.l1_sectors_store
    if own is None or own.capacity <= 0 or not x.warps_per_sm or not sectors:
        return UNKNOWN
    if own.alpha <= 1:
        return "no line comes again in a warp"
    if own.residual > GOOD_FIT:
        return f"the curve of alpha and beta is off by {own.residual:.2f} of a warp's hit rate"
    hits = 1 - (1 + own.capacity / (x.warps_per_sm * own.beta)) ** (1 - own.alpha)
    hit_rate = (memory.l1_sectors_load - memory.l2_sectors_read) / sectors
    if abs(hits - hit_rate) > GOOD_HITS:
        return f"one warp's alpha and beta would let L1 hit {100 * hits:.0f} %, counted are {100 * hit_rate:.0f} %"
    return ""


def _dram(x: LaunchFacts, count: float) -> dict[str, float | None]:
    rate = per_cycle(x, "dram_achievable_bandwidth", _line_bytes(x, count))
    return {"latency": x.dram_cycles, "ms_throughput": rate}


def _beyond_l1(x: LaunchFacts, count: float) -> dict[str, float | None]:
    """L1 of the launch, and what answers its misses: L2, and DRAM for a share of them."""
    own, memory, each = x.locality, x.work.memory, _line_bytes(x, count)
    past = SECTOR_B * (memory.l2_sectors_read + memory.l2_sectors_written)
    share = min(1.0, dram_bytes(x) / past) if past else 1.0
    l2, dram = l2_cycles(x.gpu, x.clock_hz), x.dram_cycles
    if own is None or l2 is None or dram is None:
        return {}
    rates = [per_cycle(x, "l2_bandwidth", each), per_cycle(x, "dram_achievable_bandwidth", each * share)]
    return {
        "alpha": own.alpha,
        "beta": own.beta,
        "cache_capacity": own.capacity,
        "latency": (1 - share) * l2 + share * dram,
        "ms_throughput": min((rate for rate in rates if rate), default=None),
    }


def _line_bytes(x: LaunchFacts, count: float) -> float:
    return 32.0 * (x.work.memory.l1_sectors_load + x.work.memory.l1_sectors_store) / count


def _ilp(x: LaunchFacts) -> float:
    if x.work.issue_slots:
        return x.work.warp_instructions / x.work.issue_slots
    waited = sum(x.work.parts.get(cause, 0.0) for cause in MEMORY_CAUSES)
    computing = x.work.latency - waited
    return min(1.0, x.work.warp_instructions / computing) if computing > 0 and x.work.warp_instructions else 1.0


def executed(inputs: Inputs, x: LaunchFacts) -> tuple[Inputs, sampled.MissRate] | None:
    """The Inputs with L1 and the launch's own misses over a warp's share of it; None where they are not known or fit.

    Misses are those of one executed warp, times a factor that gives the counted ones at the resident warps: warps share
    lines, and L1 does not serve stores.
    """
    own, memory, count = x.locality, x.work.memory, accesses(x).count
    sectors = memory.l1_sectors_load + memory.l1_sectors_store
    latency = x.gpu.get("l1_latency")
    if own is None or not own.sizes or not own.capacity > 0 or own.alpha <= 1 or latency is None:
        return None
    if _given(x) or not _left_out(x) or not count or not x.warps_per_sm or not sectors:
        return None
    behind = _beyond_l1(x, count)
    far, rate = behind.get("latency"), behind.get("ms_throughput")
    if far is None or rate is None or far <= latency:
        return None
    alone = sampled.MissRate(np.array(own.sizes), 1.0 - np.array(own.hits))
    hit_rate = 1.0 - (memory.l1_sectors_load - memory.l2_sectors_read) / sectors
    here = float(alone.at(np.asarray(own.capacity / x.warps_per_sm)))
    misses = np.clip(alone.misses * (hit_rate / here if here > 0 else 1.0), 0.0, 1.0)
    cached = replace(
        inputs,
        intensity=x.work.warp_instructions / count,
        latency=far,
        ms_throughput=rate,
        cache_latency=latency,
        cache_capacity=own.capacity,
    )
    return cached, sampled.MissRate(alone.share, misses)


def answer(inputs: Inputs, x: LaunchFacts) -> ModelAnswer:
    own = executed(inputs, x)
    cached = inputs.cache_capacity > 0
    if own is not None:
        inputs, prediction = own[0], sampled.predict(*own)
    else:
        prediction = predict(inputs) if cached else predict_without_cache(inputs)
    rate = float(prediction.rate)
    warp_rate = rate * float(inputs.intensity) / x.work.warp_instructions if x.work.warp_instructions else 0.0
    return answer_of(prediction, x.seconds(warp_rate), _note(x) if own is None else REUSE + _left_out(x))


def _note(x: LaunchFacts) -> str:
    """What cache was taken, or why none."""
    if _given(x):
        return REACHED
    if why := _left_out(x):
        return NO_CACHE + why
    own = x.locality
    return REACHED if own is None else f"{REACHED}; L1 with alpha {own.alpha:.3g}, beta {own.beta:.3g} B"
