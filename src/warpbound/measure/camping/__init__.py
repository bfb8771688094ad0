"""Partition camping: CampProf's twelve micro-benchmarks, and lines at every power-of-two stride and odd ones."""

from collections.abc import Iterator

import numpy as np

from warpbound.measure.case import Axis, Buffer, Case, Findings, Record, Step, chosen
from warpbound.measure.device import Facts
from warpbound.measure.pointer_chase import eviction
from warpbound.measure.suite_sources import kernel_file

TYPES = {2: "u2", 4: "u4", 8: "u8"}
WARPS = (1, 2, 4, 8, 12, 16, 24, 32)
ITERATIONS = 512           # in steps of 16, as in the paper
ROW = 2048                 # eight partitions of 256 B
SIZE = 1 << 31             # of the stride scan
LINES = 1 << 20            # 128 MB
STRIDES = tuple(128 << k for k in range(15))  # 128 B to 2 MiB
ODD = (3, 5)               # times 128 B more than a power of two: these spread over everything


def source() -> str:
    """CUDA C++."""
    return kernel_file(__name__)


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Twelve kernels x warps per SM; strides."""
    size = 4 * facts.l2_size // ROW * ROW
    scratch, evict = eviction(facts)
    args: tuple[str | np.generic, ...]
    for kind in ("read", "write"):
        for width, kind_of in TYPES.items():
            for spread in (0, 1):
                for warps in WARPS if effort == "full" else WARPS[::2]:
                    axes: dict[str, Axis] = {"kernel": kind, "width": width, "spread": spread, "warps": warps}
                    none = np.zeros(1, kind_of)[0]
                    args = ("data", np.uint64(size // ROW), np.int32(spread), np.int32(ITERATIONS), none)
                    step = Step(f"camp_{kind}_{width}", (facts.sm_count,), 32 * warps, args)
                    yield Case(axes, step, "time", (Buffer("data", size, "zeros"), scratch), (), (evict,), seconds=2e-4)
    room = min(SIZE, facts.memory_size // 8 * 4 // 128 * 128)
    for base in STRIDES:
        for stride in (base, *(base + 128 * odd for odd in ODD)) if base >= 1024 else (base,):
            args = ("data", np.uint64(stride), np.uint64(room), np.uint32(LINES), "out", np.uint32(1))
            step = Step("stride_scan", (16 * facts.sm_count,), 128, args)
            buffers = (Buffer("data", room + (1 << 28), "zeros"), Buffer("out", 4), scratch)
            yield Case({"kernel": "stride_scan", "stride": stride}, step, "time", buffers, (), (evict,), seconds=2e-4)


def extract(records: list[Record], facts: Facts) -> Findings:
    """Camped over spread time for every transaction; rates by stride, and the worst against the median."""
    figures: dict[str, object] = {}
    for kind in ("read", "write"):
        for width in TYPES:
            mine = chosen(records, kernel=kind, width=width)
            pairs = {
                int(r.axes["warps"]): float(r.value["seconds"]) / float(other[0].value["seconds"])
                for r in chosen(mine, spread=0) if (other := chosen(mine, spread=1, warps=r.axes["warps"]))
            }  # fmt: skip
            figures[f"{kind} {width} B, camped/spread"] = {str(w): round(x, 3) for w, x in pairs.items()}
    scan = chosen(records, kernel="stride_scan")
    rates = {int(r.axes["stride"]): 128 * LINES / float(r.value["seconds"]) / 1e9 for r in scan}
    figures["stride scan [B: GB/s]"] = {str(stride): round(rate, 1) for stride, rate in rates.items()}
    if rates:
        worst, middle = min(rates, key=lambda stride: rates[stride]), float(np.median(list(rates.values())))
        figures["worst stride"] = {"stride": worst, "of the median": round(rates[worst] / middle, 3)}
    return Findings({}, figures)
