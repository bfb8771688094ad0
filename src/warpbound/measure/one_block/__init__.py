"""One block on the device: cost of each transaction of a diverging load, and the delay between loads of one SM."""

from collections.abc import Callable, Iterator

import numpy as np

from warpbound.measure import loaded_latency
from warpbound.measure.case import Axis, Case, Findings, Record, Step, cold, matching, stamped
from warpbound.measure.chains import SECTORS, chain_in
from warpbound.measure.device import Facts

LANES = (1, 2, 4, 8, 16, 32)
BLOCK = (1, 2, 4, 8, 16, 24, 32)  # warps
PATTERNS = ("stream", "random")
PLACES = ("dram", "l2")
ROUNDS = {"stream": 8, "random": 2}  # of 16 loads


def source() -> str:
    """CUDA C++: the kernels of loaded_latency."""
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
    chain, rounds = chain_in(level, pattern, 1024, facts), ROUNDS[pattern]
    step = Step("loaded_cg_1", (1,), threads, ("stamps", *chain.args, np.int32(rounds)))
    axes: dict[str, Axis] = {"pattern": pattern, "level": level, "threads": threads,
                             "loads": loaded_latency.LOADS_PER_ROUND * rounds}  # fmt: skip
    case = stamped(axes, step, *chain.buffers, setup=chain.setup, seconds=2e-4)
    return cold(case, facts) if level == "dram" else case


def extract(records: list[Record], facts: Facts) -> Findings:
    """Slopes over lanes and over warps, and the points."""
    figures: dict[str, object] = {}
    for level in PLACES:
        points = _points(matching(records, level=level, pattern="random"), lambda threads: threads <= 32, 1)
        if len(points) > 1:
            figures[f"{level} random"] = {
                "cycles for each transaction more": _slope(points),
                "latency of one warp alone": round(points[-1][1], 1),
                "curve [lanes, cycles]": _rounded(points),
            }
        for pattern in PATTERNS:
            points = _points(matching(records, level=level, pattern=pattern), lambda threads: threads >= 32, 32)
            if len(points) > 1:
                figures[f"{level} {pattern}, warps of one SM"] = {
                    "cycles between warps": _slope(points),
                    "for each sector": round(_slope(points) / SECTORS[pattern], 3),
                    "curve [warps, cycles]": _rounded(points),
                }
    return Findings({}, figures)


def _points(records: list[Record], within: Callable[[float], bool], unit: int) -> list[tuple[float, float]]:
    """(Threads in units of `unit`, cycles of a load), by threads."""
    points = [r for r in records if within(r.number("threads"))]
    return sorted((r.number("threads") / unit, loaded_latency.latency(r)) for r in points)


def _slope(points: list[tuple[float, float]]) -> float:
    """From the first point to the last."""
    (first, low), (last, high) = points[0], points[-1]
    return round((high - low) / (last - first), 3)


def _rounded(points: list[tuple[float, float]]) -> list[list[float]]:
    return [[int(count), round(cycles, 2)] for count, cycles in points]
