"""Volkov's synthetic family: alpha dependent additions for every load, over occupancy, and its cusp."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from warpbound.measure.case import Buffer, Case, Findings, Record, Step, cold, column, curve, matching, stamped
from warpbound.measure.contention import fewest_warps, needed_of
from warpbound.measure.device import Facts
from warpbound.measure.kernel_text import chains, timed_kernel, unrolled

ALPHAS = (0, 1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 256, 512)
QUICK_ALPHAS = (0, 4, 16, 32, 64, 128, 256)
WARPS = (1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64)
QUICK_WARPS = (1, 4, 8, 16, 24, 32, 40, 48, 64)
LOOP = 512        # approximate number of instructions in an iteration of the loop
ENTRIES = 1 << 27
WAVES = 8         # multiple of the blocks that fit, where the array is long enough
LOADS = 64        # of one warp, about; half as many where additions make it long enough
SHARE = 0.9


def groups(alpha: int) -> int:
    """Loads in one iteration of the loop."""
    return 16 if alpha == 0 else max(1, min(16, LOOP // (alpha + 1)))


def rounds(alpha: int) -> int:
    """Iterations of the loop."""
    return max(1, LOADS // groups(alpha)) if alpha < 128 else LOADS // 2 // groups(alpha)


def waves(alpha: int, warps: int, facts: Facts) -> int:
    """The multiple of the blocks that fit at which a launch reads no entry twice."""
    return max(1, min(WAVES, ENTRIES // (32 * warps * facts.sm_count * groups(alpha) * rounds(alpha))))


def source() -> str:
    """CUDA C++, one kernel per alpha."""
    setup = "const u32 *base = before(array);\n    u32 x = FIRST + blockIdx.x * blockDim.x + threadIdx.x;"
    return chains() + "\n".join(
        timed_kernel(f"synthetic_{alpha}", "const u32 *array, float zero, int rounds", setup,
                     f"""#pragma unroll
        for (int j = 0; j < {groups(alpha)}; j++) {{ HOP("cg")
        {unrolled(alpha, "ADD")} }}""", "x") for alpha in ALPHAS
    )  # fmt: skip


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """alpha x warps per SM."""
    for warps in facts.warp_counts(effort, WARPS, QUICK_WARPS):
        for alpha in QUICK_ALPHAS if effort == "quick" else ALPHAS:
            times = waves(alpha, warps, facts)
            blocks = facts.several_waves(warps, times)
            weave = Step("weave", (1024,), 256, ("array", np.uint32(ENTRIES), np.uint32(blocks.grid * blocks.threads)))
            args = ("stamps", "array", np.float32(0.0), np.int32(rounds(alpha)))
            step = Step(f"synthetic_{alpha}", (blocks.grid,), blocks.threads, args, blocks.smem, 100)
            axes = {"alpha": alpha, "warps": warps, "waves": times}
            yield cold(stamped(axes, step, Buffer("array", 4 * ENTRIES), setup=(weave,), seconds=6e-4), facts)


def loads(record: Record) -> float:
    """Loads of warps per cycle and SM while the SM is full."""
    alpha = int(record.axes["alpha"])
    return groups(alpha) * rounds(alpha) * record.number("turnover")


def _latency(record: Record) -> float:
    alpha = int(record.axes["alpha"])
    return record.number("latency") / (groups(alpha) * rounds(alpha))


def extract(records: list[Record], facts: Facts) -> Findings:
    """Per alpha: latency of a group, the best rates, warps for 90 % of any one of the family's peaks."""
    by_alpha = {alpha: sweep for alpha in ALPHAS if (sweep := matching(records, alpha=alpha))}
    if not by_alpha:
        return Findings()
    sweeps = [r for sweep in by_alpha.values() for r in sweep]
    most_loads, most_adds = max(map(loads, sweeps)), max(loads(r) * int(r.axes["alpha"]) for r in sweeps)
    rows = {str(alpha): _row(alpha, sweep, most_loads, most_adds) for alpha, sweep in by_alpha.items()}
    figures = {"loads/cycle/SM": round(most_loads, 5), "adds/cycle/SM (warps)": round(most_adds, 4), "alpha": rows}
    return Findings({}, figures)


def _row(alpha: int, sweep: list[Record], most_loads: float, most_adds: float) -> dict[str, Any]:
    warps, rates = column(sweep, "warps"), np.array([loads(r) for r in sweep])
    peaks = [most_loads, most_adds / alpha] if alpha else [most_loads]
    return {"latency": round(min(map(_latency, sweep)), 2),
            "needed warps 90 %": fewest_warps(*(needed_of(warps, rates, peak, SHARE) for peak in peaks)),
            "curve [warps, loads/cycle/SM]": curve(sweep, "warps", (loads, 5))}  # fmt: skip
