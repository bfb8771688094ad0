"""The X-model's two curves: what k warps get from memory, f(k), and what x warps compute, g(x).

f(k) is traced with a working set of its own for every warp, with the most and the least L1: as long as all sets fit,
more warps get more; beyond, the caches give less to each, and the curve has a valley.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from warpbound.measure.case import Axis, Buffer, Case, Findings, Record, Step, chosen, stamps_of
from warpbound.measure.device import Facts
from warpbound.measure.suite_sources import chains

WARPS = (1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64)
SETS = (2048, 4096, 8192, 16384)   # bytes of one warp
CARVEOUTS = {"large": 0, "small": 100}  # L1 -> percent of it asked for as shared memory
LOADS = 16
LINE_WORDS = 32
ADDS, ADD_ROUNDS = 256, 8


def source() -> str:
    """CUDA C++."""
    return chains() + f"""
// Every warp's entries lead round its own set, a line at a time.
KERNEL weave_own(u32 *base, u32 entries, u32 own) {{
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < entries; i += gridDim.x * blockDim.x)
        base[i] = FIRST + i / own * own + (i % own + {LINE_WORDS}) % own;
}}
KERNEL supply(u64 *stamps, const u32 *array, u32 own, int rounds) {{
    const u32 *base = before(array);
    u32 x = FIRST + (blockIdx.x * blockDim.x + threadIdx.x) / 32 * own + (threadIdx.x & 31);
    #pragma unroll 1
    for (u32 i = 0; i < own; i += {LINE_WORDS}) {{ HOP("ca") }}  // once round before the clock starts
    wait_for(x);
    __syncthreads();
    u64 start = cycle();
    #pragma unroll 1
    for (int i = 0; i < rounds; i++) {{ X{LOADS}(HOP("ca")) }}
    wait_for(x);
    stamp(stamps, start, cycle());
}}
KERNEL demand(u64 *stamps, int rounds, float zero) {{
    u32 x = FIRST + threadIdx.x;
    u64 start = cycle();
    #pragma unroll 1
    for (int i = 0; i < rounds; i++) {{ X16(X16(ADD)) }}
    wait_for(x);
    stamp(stamps, start, cycle());
}}
"""


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Set x carve-out x warps; additions x warps."""
    sets = SETS if effort == "full" else SETS[1:3]
    for warps in [w for w in WARPS if w <= facts.warps_per_sm]:
        blocks = -(-warps // 32)
        grid, threads = blocks * facts.sm_count, 32 * warps // blocks
        step = Step("demand", (grid,), threads, ("stamps", np.int32(ADD_ROUNDS), np.float32(0)))
        yield Case({"curve": "g", "warps": warps}, step, "stamps", (stamps_of(step.warps),), seconds=5e-5)
        for size in sets:
            words, rounds = size // 4, 4 * size // (4 * LINE_WORDS * LOADS) + 4
            entries = words * warps * facts.sm_count
            weave = Step("weave_own", (1024,), 256, ("array", np.uint32(entries), np.uint32(words)))
            for l1, percent in CARVEOUTS.items():
                args = ("stamps", "array", np.uint32(words), np.int32(rounds))
                step = Step("supply", (grid,), threads, args, 0, percent)
                axes: dict[str, Axis] = {"curve": "f", "l1": l1, "set": size, "warps": warps, "rounds": rounds}
                yield Case(axes, step, "stamps", (Buffer("array", 4 * entries), stamps_of(step.warps)), (weave,),
                           seconds=1e-4)  # fmt: skip


def supplied(record: Record) -> float:
    """Loads of a warp per cycle and SM."""
    return LOADS * float(record.axes["rounds"]) * float(record.axes["warps"]) / float(record.value["duration"])


def extract(records: list[Record], facts: Facts) -> Findings:
    """Both curves; for f its peak and the lowest point after it."""
    figures: dict[str, Any] = {"g(x) [warps, adds/cycle/SM]": [
        [int(r.axes["warps"]), round(ADDS * ADD_ROUNDS * float(r.axes["warps"]) / float(r.value["duration"]), 4)]
        for r in chosen(records, curve="g")]}  # fmt: skip
    for l1 in CARVEOUTS:
        for size in SETS:
            if mine := chosen(records, curve="f", l1=l1, set=size):
                figures[f"f(k), {l1} L1, {size} B per warp"] = _trace(mine)
    return Findings({}, figures)


def _trace(mine: list[Record]) -> dict[str, Any]:
    rates = np.array([supplied(r) for r in mine])
    peak = int(rates.argmax())
    valley = peak + int(rates[peak:].argmin())
    warps = [int(r.axes["warps"]) for r in mine]
    return {"peak [warps, loads/cycle/SM]": [warps[peak], round(float(rates[peak]), 5)],
            "valley after it": [warps[valley], round(float(rates[valley]), 5)],
            "curve": [[w, round(float(x), 5)] for w, x in zip(warps, rates, strict=True)]}  # fmt: skip
