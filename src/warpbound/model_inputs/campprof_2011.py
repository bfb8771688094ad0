"""Workload and Gpu to CampProf's Inputs: transactions of the launch at the cost of the board's micro-benchmarks.

Assumes   the shipped simulated benchmarks of the board, fitted with a slope for each size; no camping (degree 0), which
          depends on where blocks write and is no count: `inputs.campprof_2011.degree` gives another. What a half-warp
          touches is one transaction of the next size up to 128 bytes; more counts as scattered, 32 bytes each.
"""

from functools import cache
from typing import Any

from warpbound.model_inputs.launch_facts import LaunchFacts, present
from warpbound.model_inputs.partition_benchmarks import fits, shipped
from warpbound.model_inputs.resources import SECTOR_B
from warpbound.models.campprof_2011 import SIZES, Inputs, best, predict, worst
from warpbound.result.kernel import ModelAnswer

FORM = "by-size"
BENCHMARKS = "a board whose memory partitions are known and were benchmarked: 8800gt, 8800gtx, fx5600 or gtx280"
WANTED = {
    "reads": BENCHMARKS,
    "writes": BENCHMARKS,
    "camped_reads": BENCHMARKS,
    "camped_writes": BENCHMARKS,
    "per_warp": BENCHMARKS,
    "warps": "the launch: launch.blocks and threads_per_block, or warps_per_sm with them",
}


def known(x: LaunchFacts) -> dict[str, Any]:
    memory = x.work.memory
    if x.warps is None:
        return present(**_benchmarked(x.gpu.key))
    loads = _transactions("gld", memory.global_load_requests, memory.l1_sectors_load, x.warps)
    stores = _transactions("gst", memory.global_store_requests, memory.l1_sectors_store, x.warps)
    return present(**_benchmarked(x.gpu.key), warps=x.warps_per_sm, **loads, **stores)


@cache
def _benchmarked(board: str) -> dict[str, Any]:
    table = shipped(board)
    if table is None:
        return {}
    return {name: fit.equation for name, fit in fits(table, FORM).items()} | {"per_warp": table.per_warp}


def _transactions(kind: str, requests: float, sectors: float, warps: float) -> dict[str, float]:
    """Counters of the launch from the requests and sectors of one warp."""
    half_warps = 2.0 * requests
    if not half_warps:
        return {}
    bytes_each = SECTOR_B * sectors / half_warps
    size = next((size for size in SIZES if bytes_each <= size), None)
    counts = {SIZES[0]: sectors} if size is None else {size: half_warps}
    return {f"{kind}_{size}": count * warps for size, count in counts.items()}


def answer(inputs: Inputs, x: LaunchFacts) -> ModelAnswer:
    prediction = predict(inputs)
    total, low, high = float(prediction.total), float(best(inputs)), float(worst(inputs))
    names = [f"{kind}_{size}" for kind in ("gld", "gst") for size in SIZES]
    rate = sum(float(getattr(inputs, name)) for name in names) / total if total else float("inf")
    note = f"between {low:.3g} s with no camping and {high:.3g} s with all of it; simulated benchmarks"
    return ModelAnswer(total if total else None, rate, "transaction/s", str(prediction.bottleneck), note)
