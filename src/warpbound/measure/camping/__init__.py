"""Partition camping: CampProf's twelve micro-benchmarks, and lines at power-of-two and odd strides."""

from collections.abc import Iterator

import numpy as np

from warpbound.measure.case import Axis, Buffer, Case, Findings, Record, Step, cold, matching
from warpbound.measure.device import Facts
from warpbound.measure.kernel_text import kernel_file

TYPES = {2: "u2", 4: "u4", 8: "u8"}
WARPS = (1, 2, 4, 8, 12, 16, 24, 32)
ITERATIONS = 512           # in steps of 16, as in the paper
ROW = 2048                 # eight partitions of 256 B
SIZE = 1 << 31             # of the stride scan
LINES = 1 << 20            # 128 MB
STRIDES = tuple(128 << k for k in range(15))  # 128 B to 2 MiB
ODD = (3, 5)               # multiples of 128 B beyond a power of two: these strides spread over all partitions


def source() -> str:
    """CUDA C++."""
    return kernel_file(__name__)


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Twelve kernels x warps per SM; strides."""
    args: tuple[str | np.generic, ...]
    data = Buffer("data", 4 * facts.l2_size // ROW * ROW, "zeros")
    for kind in ("read", "write"):
        for width, dtype in TYPES.items():
            for spread in (0, 1):
                for warps in WARPS if effort == "full" else WARPS[::2]:
                    axes: dict[str, Axis] = {"kernel": kind, "width": width, "spread": spread, "warps": warps}
                    args = ("data", np.uint64(data.size // ROW), np.int32(spread), np.int32(ITERATIONS),
                            np.zeros(1, dtype)[0])  # fmt: skip
                    step = Step(f"camp_{kind}_{width}", (facts.sm_count,), 32 * warps, args)
                    yield cold(Case(axes, step, "time", (data,), seconds=2e-4), facts)
    size = min(SIZE, facts.memory_size // 8 * 4 // 128 * 128)
    buffers = (Buffer("data", size + (1 << 28), "zeros"), Buffer("out", 4))
    for base in STRIDES:
        for stride in (base, *(base + 128 * odd for odd in ODD)) if base >= 1024 else (base,):
            args = ("data", np.uint64(stride), np.uint64(size), np.uint32(LINES), "out", np.uint32(1))
            step = Step("stride_scan", (16 * facts.sm_count,), 128, args)
            yield cold(Case({"kernel": "stride_scan", "stride": stride}, step, "time", buffers, seconds=2e-4), facts)


def extract(records: list[Record], facts: Facts) -> Findings:
    """Time of camped over spread accesses; rates by stride, and the worst rate relative to the median."""
    figures: dict[str, object] = {}
    for kind in ("read", "write"):
        for width in TYPES:
            sweep = matching(records, kernel=kind, width=width)
            figures[f"{kind} {width} B, camped/spread"] = {
                str(r.axes["warps"]): round(r.number("seconds") / spread[0].number("seconds"), 3)
                for r in matching(sweep, spread=0) if (spread := matching(sweep, spread=1, warps=r.axes["warps"]))
            }  # fmt: skip
    scan = matching(records, kernel="stride_scan")
    rates = {int(r.axes["stride"]): 128 * LINES / r.number("seconds") / 1e9 for r in scan}
    figures["stride scan [B: GB/s]"] = {str(stride): round(rate, 1) for stride, rate in rates.items()}
    if rates:
        worst, median = min(rates, key=lambda stride: rates[stride]), float(np.median(list(rates.values())))
        figures["worst stride"] = {"stride": worst, "of the median": round(rates[worst] / median, 3)}
    return Findings({}, figures)
