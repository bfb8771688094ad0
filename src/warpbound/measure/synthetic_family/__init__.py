"""Volkov's family: alpha dependent additions for every load, over occupancy; where the cusp is."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from warpbound.measure.block_waves import crowd
from warpbound.measure.case import Axis, Buffer, Case, Findings, Record, Step, chosen, stamps_of
from warpbound.measure.contention import needed_of
from warpbound.measure.device import Facts
from warpbound.measure.pointer_chase import eviction
from warpbound.measure.suite_sources import chains

ALPHAS = (0, 1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 256, 512)
QUICK_ALPHAS = (0, 4, 16, 32, 64, 128, 256)
WARPS = (1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64)
QUICK_WARPS = (1, 4, 8, 16, 24, 32, 40, 48, 64)
LOOP = 512        # instructions in a turn of the loop, about
ENTRIES = 1 << 27
WAVES = 8         # times the blocks that fit, where the array is long enough
LOADS = 64        # of one warp, about; half as many where additions make it long enough
LINE = 128
SHARE = 0.9


def groups(alpha: int) -> int:
    """Loads in one turn of the loop."""
    return 16 if alpha == 0 else max(1, min(16, LOOP // (alpha + 1)))


def rounds(alpha: int) -> int:
    """Turns of the loop."""
    return max(1, LOADS // groups(alpha)) if alpha < 128 else LOADS // 2 // groups(alpha)


def waves(alpha: int, warps: int, facts: Facts) -> int:
    """Times the blocks that fit: no entry is read twice in a launch."""
    return max(1, min(WAVES, ENTRIES // (32 * warps * facts.sm_count * groups(alpha) * rounds(alpha))))


def source() -> str:
    """CUDA C++, one kernel per alpha."""
    return chains() + "\n".join(_kernel(alpha) for alpha in ALPHAS)


def _kernel(alpha: int) -> str:
    return f"""KERNEL synthetic_{alpha}(u64 *stamps, const u32 *array, float zero, int rounds) {{
    const u32 *base = before(array);
    u32 x = FIRST + blockIdx.x * blockDim.x + threadIdx.x;
    u64 start = cycle();
    #pragma unroll 1
    for (int i = 0; i < rounds; i++) {{
        #pragma unroll
        for (int j = 0; j < {groups(alpha)}; j++) {{
            HOP("cg")
            #pragma unroll
            for (int k = 0; k < {alpha}; k++) {{ ADD }}
        }}
    }}
    wait_for(x);
    stamp(stamps, start, cycle());
}}
"""


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """alpha x warps per SM."""
    quick = effort == "quick"
    for warps in QUICK_WARPS if quick else WARPS:
        if warps <= facts.warps_per_sm:
            for alpha in QUICK_ALPHAS if quick else ALPHAS:
                yield _case(alpha, warps, facts)


def _case(alpha: int, warps: int, facts: Facts) -> Case:
    times = waves(alpha, warps, facts)
    held = crowd(warps, times, facts)
    weave = Step("weave", (1024,), 256, ("array", np.uint32(ENTRIES), np.uint32(held.grid * held.threads)))
    args = ("stamps", "array", np.float32(0.0), np.int32(rounds(alpha)))
    step = Step(f"synthetic_{alpha}", (held.grid,), held.threads, args, held.smem, 100)
    scratch, evict = eviction(facts)
    axes: dict[str, Axis] = {"alpha": alpha, "warps": warps, "waves": times}
    buffers = (Buffer("array", 4 * ENTRIES), stamps_of(step.warps), scratch)
    return Case(axes, step, "stamps", buffers, (weave,), (evict,), seconds=6e-4)


def loads(record: Record) -> float:
    """Per cycle and SM, while it was full."""
    alpha = int(record.axes["alpha"])
    return groups(alpha) * rounds(alpha) * float(record.value["turnover"])


def extract(records: list[Record], facts: Facts) -> Findings:
    """Per alpha: latency of a group, the best rates, warps for 90 % of any one of the family's peaks."""
    by_alpha = {a: chosen(records, alpha=a) for a in ALPHAS}
    by_alpha = {a: mine for a, mine in by_alpha.items() if mine}
    if not by_alpha:
        return Findings()
    most_loads = max(loads(r) for mine in by_alpha.values() for r in mine)
    most_adds = max(loads(r) * int(r.axes["alpha"]) for mine in by_alpha.values() for r in mine)
    rows = {str(alpha): _row(alpha, mine, most_loads, most_adds) for alpha, mine in by_alpha.items()}
    figures = {"loads/cycle/SM": round(most_loads, 5), "adds/cycle/SM (warps)": round(most_adds, 4), "alpha": rows}
    return Findings({}, figures)


def _row(alpha: int, mine: list[Record], most_loads: float, most_adds: float) -> dict[str, Any]:
    warps = np.array([float(r.axes["warps"]) for r in mine])
    rates = np.array([loads(r) for r in mine])
    reached = [needed_of(warps, rates, most_loads, SHARE)]
    reached += [needed_of(warps, rates, most_adds / alpha, SHARE)] if alpha else []
    first = [n for n in reached if n is not None]
    latencies = [float(r.value["latency"]) / (groups(alpha) * rounds(alpha)) for r in mine]
    curve = [[int(w), round(float(x), 5)] for w, x in zip(warps, rates, strict=True)]
    return {"latency": round(min(latencies), 2), "needed warps 90 %": min(first) if first else None,
            "curve [warps, loads/cycle/SM]": curve}  # fmt: skip
