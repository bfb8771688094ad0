"""Latency against throughput: every warp follows its own chain, with more and more warps at once."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.measure.case import Axis, Buffer, Case, Findings, Record, Step, chosen, stamps_of
from warpbound.measure.contention import contention, needed
from warpbound.measure.device import Facts
from warpbound.measure.pointer_chase import eviction
from warpbound.measure.texts import chains

WARPS = (1, 2, 4, 6, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64)
QUICK_WARPS = (1, 4, 8, 16, 24, 32, 48, 64)
LOADS_PER_ROUND = 16
ROUNDS = {"stream": 8, "stride2": 8, "random": 2}  # so that no entry is read twice in a launch
ENTRIES = 1 << 27      # 512 MB, in device memory
GAP = 16               # entries between two that the random chain visits: every second sector
SECTOR = 32
SECTORS = {"stream": 4, "stride2": 8, "random": 32}  # of one load of a warp
SOURCE = f"""
#define LOADED(name, how) \\
    KERNEL name(u64 *stamps, const u32 *array, u32 spacing, int rounds) {{ \\
        const u32 *base = array - FIRST; \\
        u32 x = FIRST + (blockIdx.x * blockDim.x + threadIdx.x) * spacing; \\
        u64 start = cycle(); \\
        _Pragma("unroll 1") for (int i = 0; i < rounds; i++) {{ X{LOADS_PER_ROUND}(HOP(how)) }} \\
        wait_for(x); \\
        stamp(stamps, start, cycle()); \\
    }}
LOADED(loaded, "cg")
"""


def source() -> str:
    """CUDA C++."""
    return chains() + SOURCE


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Pattern x level x warps per SM; several block sizes where the occupancy allows."""
    warps_list = [w for w in (QUICK_WARPS if effort == "quick" else WARPS) if w <= facts.warps_per_sm]
    for level in ("dram", "l2"):
        for pattern in SECTORS:
            for warps in warps_list:
                blocks = -(-warps // 32)
                yield _case(pattern, level, 32 * warps // blocks, blocks, facts)
                if effort == "full" and pattern == "stream" and warps % 4 == 0 and warps > 4:
                    yield _case(pattern, level, 128, warps // 4, facts)


def _case(pattern: str, level: str, threads: int, blocks: int, facts: Facts) -> Case:
    """The whole grid is resident; chains of all threads run side by side through the array."""
    total = threads * blocks * facts.sm_count
    entries = _entries(level, total, facts)
    if pattern == "random":
        spacing = max(1, entries // GAP // total) * GAP
        count = np.uint32(entries // GAP)
        weave = Step("weave_random", (1024,), 256, ("array", "order", count, np.uint32(GAP)))
    else:
        spacing = 2 if pattern == "stride2" else 1
        weave = Step("weave", (1024,), 256, ("array", np.uint32(entries), np.uint32(spacing * total)))
    arrays: tuple[Buffer, ...] = (Buffer("array", 4 * entries),)
    if pattern == "random":
        arrays = (*arrays, Buffer("order", 4 * entries // GAP, "order"))
    args = ("stamps", "array", np.uint32(spacing), np.int32(ROUNDS[pattern]))
    step = Step("loaded", (blocks * facts.sm_count,), threads, args, facts.shared_for(blocks), 100)
    scratch, evict = eviction(facts)
    cold = level == "dram"
    axes: dict[str, Axis] = {"pattern": pattern, "level": level, "warps": threads * blocks // 32, "blocks": blocks}
    return Case(axes, step, "stamps", (*arrays, stamps_of(step.warps), *((scratch,) if cold else ())), (weave,),
                (evict,) if cold else (), seconds=3e-4)  # fmt: skip


def _entries(level: str, total: int, facts: Facts) -> int:
    if level == "l2":
        return max(GAP * total, facts.l2_size // 16 // GAP * GAP)  # a quarter of L2, if that is enough
    return ENTRIES


def loads(record: Record) -> int:
    """Of one warp."""
    return LOADS_PER_ROUND * ROUNDS[str(record.axes["pattern"])]


def latency(record: Record) -> float:
    """Cycles of one load, its address included."""
    return float(record.value["latency"]) / loads(record)


def rate(record: Record, facts: Facts) -> float:
    """Bytes per second of the whole chip, sectors counted whole."""
    sectors = SECTORS[str(record.axes["pattern"])]
    total = loads(record) * sectors * SECTOR * float(record.axes["warps"]) * facts.sm_count
    return total / (float(record.value["duration"]) / record.clock_Hz)


def extract(records: list[Record], facts: Facts) -> Findings:
    """Per pattern and level: the curve, its fit, the warps that give 90 and 95 % of the best."""
    figures: dict[str, Any] = {}
    for level in ("dram", "l2"):
        for pattern in SECTORS:
            mine = sorted(chosen(records, pattern=pattern, level=level), key=lambda r: float(r.axes["warps"]))
            if len(mine) > 3:
                figures[f"{level} {pattern}"] = _curve(mine, facts)
    return Findings({}, figures)


def _curve(mine: list[Record], facts: Facts) -> dict[str, Any]:
    warps = np.array([float(r.axes["warps"]) for r in mine])
    cycles, rates = np.array([latency(r) for r in mine]), np.array([rate(r, facts) for r in mine]) / 1e9
    return {"latency": round(float(cycles.min()), 2), "peak GB/s": round(float(rates.max()), 1),
            "needed warps 90 %": needed(warps, rates, 0.9), "needed warps 95 %": needed(warps, rates, 0.95),
            "fit": _fit(cycles, rates), "curve [warps, cycles, GB/s]": _rows(warps, cycles, rates)}  # fmt: skip


def _fit(cycles: NDArray[np.float64], rates: NDArray[np.float64]) -> dict[str, float]:
    found = contention(cycles, rates)
    return {"a": round(found.a, 2), "b": round(found.b, 2), "c GB/s": round(found.c, 1), "error": round(found.error, 4)}


def _rows(*columns: NDArray[np.float64]) -> list[list[float]]:
    return [[round(float(value), 2) for value in row] for row in zip(*columns, strict=True)]
