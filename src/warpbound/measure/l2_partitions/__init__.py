"""Near and far halves of L2: which lines are near to which SM, and both kinds under load."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.measure.case import Axis, Buffer, Case, Findings, Record, Step, chosen, stamps_of
from warpbound.measure.contention import as_figure, contention, needed
from warpbound.measure.device import Facts
from warpbound.measure.sampling import parted
from warpbound.measure.texts import chains, kernel_file

MAPPED = 64              # lines that every SM times
APART = 33 * 32          # words from one to the next
TRIES = 8
LINES = 8192             # 1 MiB in chains
LOADS_PER_ROUND, ROUNDS = 16, 8
WARPS = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64)
QUICK_WARPS = (1, 8, 16, 32, 64)
KINDS = ("near", "far")
LINE_B = 128
AGREE = 0.75             # of the lines, for two SMs on the same half


def source() -> str:
    """CUDA C++."""
    return chains() + kernel_file(__name__)


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """The map; near and far x warps per SM."""
    array = Buffer("array", 4 * APART * MAPPED, "zeros")
    words = facts.sm_count * (MAPPED + 1)
    step = Step("map_lines", (facts.sm_count,), 1,
                ("out", "array", np.uint32(APART), np.int32(MAPPED), np.int32(TRIES)))  # fmt: skip
    yield Case({"kernel": "map", "lines": MAPPED}, step, "words", (array, Buffer("out", 4 * words)), output="out",
               words=words, seconds=4e-4)  # fmt: skip
    part = Step("part_lines", (1,), 32, ("list", "cycles", "array", np.uint32(LINES), np.int32(TRIES)))
    for kind in KINDS:
        for warps in QUICK_WARPS if effort == "quick" else WARPS:
            if warps <= facts.warps_per_sm:
                yield _loaded(kind, warps, part, facts)


def _loaded(kind: str, warps: int, part: Step, facts: Facts) -> Case:
    blocks = -(-warps // 32)
    args = ("stamps", "array", "list", np.uint32(LINES), np.uint32(kind == "far"), np.int32(ROUNDS))
    smem = max(0, facts.shared_for(blocks) - 1024)
    step = Step("half_of_l2", (blocks * facts.sm_count,), 32 * warps // blocks, args, smem, 100)
    buffers = (Buffer("array", LINE_B * LINES, "zeros"), Buffer("list", 8 + 8 * LINES), Buffer("cycles", 4 * LINES),
               stamps_of(step.warps))  # fmt: skip
    axes: dict[str, Axis] = {"kernel": kind, "warps": warps}
    return Case(axes, step, "stamps", buffers, (part,), seconds=2e-4)


def extract(records: list[Record], facts: Facts) -> Findings:
    """Groups of SMs, latencies that the map sees; latency over rate for near and for far lines."""
    figures: dict[str, Any] = {}
    if mapped := chosen(records, kernel="map"):
        figures["map"] = _map(np.array(mapped[0].value["words"]).reshape(facts.sm_count, -1))
    for kind in KINDS:
        if len(mine := chosen(records, kernel=kind)) > 3:
            figures[kind] = _curve(mine, facts)
    if set(KINDS) <= set(figures):
        figures["far over near"] = round(figures["far"]["latency"] / figures["near"]["latency"], 3)
    return Findings({}, figures)


def _map(words: NDArray[np.float64]) -> dict[str, Any]:
    cycles = words[:, 1:]
    values, counts = np.unique(cycles, return_counts=True)
    far = cycles > parted(values, counts.astype(np.float64))
    same = (far == far[0]).mean(axis=1)
    return {"near, timing included [cycle]": float(np.median(cycles[~far])),
            "far, timing included [cycle]": float(np.median(cycles[far])) if far.any() else None,
            "share of near lines": round(float((~far).mean()), 3),
            "groups": {"like the first SM": int((same >= AGREE).sum()), "opposite": int((same <= 1 - AGREE).sum()),
                       "neither": int(((same > 1 - AGREE) & (same < AGREE)).sum())}}  # fmt: skip


def _curve(mine: list[Record], facts: Facts) -> dict[str, Any]:
    warps = np.array([float(r.axes["warps"]) for r in mine])
    cycles = np.array([float(r.value["latency"]) for r in mine]) / (LOADS_PER_ROUND * ROUNDS)
    took = np.array([float(r.value["duration"]) / r.clock_Hz for r in mine])
    rates = LOADS_PER_ROUND * ROUNDS * LINE_B * warps * facts.sm_count / took / 1e9
    fit = contention(cycles, rates)
    curve = [[int(w), round(float(c), 2), round(float(x), 1)] for w, c, x in zip(warps, cycles, rates, strict=True)]
    return {"latency": round(float(cycles.min()), 2), "peak GB/s": round(float(rates.max()), 1),
            "needed warps 90 %": needed(warps, rates, 0.9), "needed warps 95 %": needed(warps, rates, 0.95),
            "fit": as_figure(fit), "curve [warps, cycles, GB/s]": curve}  # fmt: skip
