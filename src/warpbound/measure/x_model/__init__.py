"""The X-model's two curves: what k warps get from memory, f(k), and what x warps compute, g(x).

f(k) is measured with a separate working set for every warp, with the largest and the smallest L1. As long as all sets
fit, more warps get more; beyond that, hit rates fall and the curve has a valley.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from warpbound.measure.case import Axis, Buffer, Case, Findings, Record, Step, curve, matching, stamped
from warpbound.measure.device import Facts
from warpbound.measure.kernel_text import chains, kernel_file

WARPS = (1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64)
SETS = (2048, 4096, 8192, 16384)   # bytes of one warp
CARVEOUTS = {"large": 0, "small": 100}  # L1 -> percent of it preferred as shared memory
LOADS = 16
LINE_WORDS = 32
ADDS, ADD_ROUNDS = 256, 8


def source() -> str:
    """CUDA C++."""
    return chains() + kernel_file(__name__)


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Working set x carve-out x warps; additions x warps."""
    for warps in [count for count in WARPS if count <= facts.warps_per_sm]:
        blocks = facts.one_wave(warps)
        step = Step("demand", (blocks.grid,), blocks.threads, ("stamps", np.int32(ADD_ROUNDS), np.float32(0)))
        yield stamped({"curve": "g", "warps": warps}, step, seconds=5e-5)
        for size in SETS if effort == "full" else SETS[1:3]:
            words, rounds = size // 4, 4 * size // (4 * LINE_WORDS * LOADS) + 4
            entries = words * warps * facts.sm_count
            weave = Step("weave_own", (1024,), 256, ("array", np.uint32(entries), np.uint32(words)))
            for l1, percent in CARVEOUTS.items():
                args = ("stamps", "array", np.uint32(words), np.int32(rounds))
                step = Step("supply", (blocks.grid,), blocks.threads, args, 0, percent)
                axes: dict[str, Axis] = {"curve": "f", "l1": l1, "set": size, "warps": warps, "rounds": rounds}
                yield stamped(axes, step, Buffer("array", 4 * entries), setup=(weave,))


def supplied(record: Record) -> float:
    """Loads of warps per cycle and SM."""
    return LOADS * record.number("rounds") * record.number("warps") / record.number("duration")


def demanded(record: Record) -> float:
    """Additions of warps per cycle and SM."""
    return ADDS * ADD_ROUNDS * record.number("warps") / record.number("duration")


def extract(records: list[Record], facts: Facts) -> Findings:
    """Both curves; for f its peak and the lowest point after it."""
    demand = curve(matching(records, curve="g"), "warps", (demanded, 4))
    figures: dict[str, Any] = {"g(x) [warps, adds/cycle/SM]": demand}
    for l1 in CARVEOUTS:
        for size in SETS:
            if sweep := matching(records, curve="f", l1=l1, set=size):
                rates, points = np.array([supplied(r) for r in sweep]), curve(sweep, "warps", (supplied, 5))
                peak = int(rates.argmax())
                figures[f"f(k), {l1} L1, {size} B per warp"] = {
                    "peak [warps, loads/cycle/SM]": points[peak],
                    "valley after it": points[peak + int(rates[peak:].argmin())], "curve": points,
                }  # fmt: skip
    return Findings({}, figures)
