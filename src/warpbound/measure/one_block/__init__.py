"""One block on the device: what each transaction of a diverging load costs, how loads of one SM hold each other up."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from warpbound.measure import loaded_latency
from warpbound.measure.case import Axis, Case, Findings, Record, Step, chosen, stamps_of
from warpbound.measure.chains import SECTORS, laid
from warpbound.measure.device import Facts
from warpbound.measure.pointer_chase import eviction

LANES = (1, 2, 4, 8, 16, 32)
BLOCK = (1, 2, 4, 8, 16, 24, 32)  # warps
PATTERNS = ("stream", "random")
PLACES = ("dram", "l2")
ROUNDS = {"stream": 8, "random": 2}  # of 16 loads


def source() -> str:
    """CUDA C++: that of loaded chains."""
    return loaded_latency.source()


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Level x lanes of one warp on random chains; level x pattern x warps of one block."""
    for level in PLACES:
        for lanes in LANES:
            yield _case(level, "random", lanes, facts)
        for pattern in PATTERNS:
            for warps in BLOCK:
                if (pattern, warps) != ("random", 1):
                    yield _case(level, pattern, 32 * warps, facts)


def _case(level: str, pattern: str, threads: int, facts: Facts) -> Case:
    chain = laid(pattern, level, 1024, facts)
    rounds = ROUNDS[pattern]
    step = Step("loaded_cg_1", (1,), threads, ("stamps", *chain.args, np.int32(rounds)))
    scratch, evict = eviction(facts)
    cold = level == "dram"
    axes: dict[str, Axis] = {"pattern": pattern, "level": level, "threads": threads,
                             "loads": loaded_latency.LOADS_PER_ROUND * rounds}  # fmt: skip
    buffers = (*chain.buffers, stamps_of(step.warps), *((scratch,) if cold else ()))
    return Case(axes, step, "stamps", buffers, chain.setup, (evict,) if cold else (), seconds=2e-4)


def extract(records: list[Record], facts: Facts) -> Findings:
    """Slopes over lanes and over warps, and the points."""
    figures: dict[str, object] = {}
    for level in PLACES:
        lanes = [r for r in chosen(records, level=level, pattern="random") if int(r.axes["threads"]) <= 32]
        if len(lanes) > 1:
            at, cycles = _points(lanes, 1)
            figures[f"{level} random"] = {
                "cycles for each transaction more": _slope(at, cycles),
                "latency of one warp alone": round(float(cycles[-1]), 1),
                "curve [lanes, cycles]": _rows(at, cycles),
            }  # fmt: skip
        for pattern in PATTERNS:
            warps = [r for r in chosen(records, level=level, pattern=pattern) if int(r.axes["threads"]) >= 32]
            if len(warps) > 1:
                at, cycles = _points(warps, 32)
                figures[f"{level} {pattern}, warps of one SM"] = {
                    "cycles between warps": _slope(at, cycles),
                    "for each sector": round(_slope(at, cycles) / SECTORS[pattern], 3),
                    "curve [warps, cycles]": _rows(at, cycles),
                }  # fmt: skip
    return Findings({}, figures)


def _points(mine: list[Record], unit: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    mine = sorted(mine, key=lambda r: int(r.axes["threads"]))
    at = np.array([float(r.axes["threads"]) / unit for r in mine])
    return at, np.array([loaded_latency.latency(r) for r in mine])


def _slope(at: NDArray[np.float64], cycles: NDArray[np.float64]) -> float:
    """From the first point to the last."""
    return round(float((cycles[-1] - cycles[0]) / (at[-1] - at[0])), 3)


def _rows(at: NDArray[np.float64], cycles: NDArray[np.float64]) -> list[list[float]]:
    return [[int(a), round(float(c), 2)] for a, c in zip(at, cycles, strict=True)]
