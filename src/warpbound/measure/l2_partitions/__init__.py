"""Near and far halves of L2: which lines are near to which SM, and both kinds under load."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.measure.case import Axis, Buffer, Case, Findings, Found, Record, Step, chosen, stamps_of
from warpbound.measure.contention import as_figure, contention, needed_of, plateau
from warpbound.measure.device import Facts
from warpbound.measure.sampling import parted
from warpbound.measure.suite_sources import chains, kernel_file

MAPPED = 64              # lines that every SM times
APART = 33 * 32          # words from one to the next
TRIES = 8
LINES = 8192             # 1 MiB in chains
LOADS_PER_ROUND, ROUNDS = 16, 64
WARPS = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64)
QUICK_WARPS = (1, 8, 16, 32, 64)
CHAINS = {1: WARPS, 4: (8, 16, 32, 48, 64)}  # of a warp: four of them take the rate to where the link ends it
KINDS = ("near", "far")
LINE_B = 128
APART_AT_LEAST = 1.1     # far latency over near: below, there is one side only
AGREE = 0.75             # of the lines, for two SMs on the same half


def source() -> str:
    """CUDA C++."""
    return chains() + kernel_file(__name__)


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """The map; near and far x chains of a warp x warps per SM."""
    array = Buffer("array", 4 * APART * MAPPED, "zeros")
    words = facts.sm_count * (MAPPED + 1)
    step = Step("map_lines", (facts.sm_count,), 1,
                ("out", "array", np.uint32(APART), np.int32(MAPPED), np.int32(TRIES)))  # fmt: skip
    yield Case({"kernel": "map", "lines": MAPPED}, step, "words", (array, Buffer("out", 4 * words)), output="out",
               words=words, seconds=4e-4)  # fmt: skip
    part = Step("part_lines", (1,), 32, ("list", "cycles", "array", np.uint32(LINES), np.int32(TRIES)))
    for kind in KINDS:
        for chains_, every in CHAINS.items():
            for warps in [one for one in QUICK_WARPS if one in every] if effort == "quick" else every:
                if warps <= facts.warps_per_sm:
                    yield _loaded(kind, warps, chains_, part, facts)


def _loaded(kind: str, warps: int, ilp: int, part: Step, facts: Facts) -> Case:
    blocks = -(-warps // 32)
    args = ("stamps", "array", "list", np.uint32(LINES), np.uint32(kind == "far"), np.int32(ROUNDS))
    smem = max(0, facts.shared_for(blocks) - 1024)
    step = Step(f"half_of_l2_{ilp}", (blocks * facts.sm_count,), 32 * warps // blocks, args, smem, 100)
    buffers = (Buffer("array", LINE_B * LINES, "zeros"), Buffer("list", 8 + 8 * LINES), Buffer("cycles", 4 * LINES),
               stamps_of(step.warps))  # fmt: skip
    axes: dict[str, Axis] = {"kernel": kind, "warps": warps, "ilp": ilp}
    return Case(axes, step, "stamps", buffers, (part,), seconds=6e-4)


def extract(records: list[Record], facts: Facts) -> Findings:
    """Groups of SMs, latencies that the map sees; latency over rate for near and for far lines, and the rate of these
    that more of them at once do not raise."""
    figures: dict[str, Any] = {}
    if mapped := chosen(records, kernel="map"):
        figures["map"] = _map(np.array(mapped[0].value["words"]).reshape(facts.sm_count, -1))
    found: dict[str, Found] = {}
    for kind in KINDS:
        if len(mine := chosen(records, kernel=kind)) > 3:
            figures[kind] = _curve(mine, facts)
    if set(KINDS) <= set(figures):
        figures["far over near"] = round(figures["far"]["latency"] / figures["near"]["latency"], 3)
        if figures["far over near"] >= APART_AT_LEAST and figures["far"]["plateau GB/s"]:
            note = "chains through lines of the other side; more of them at once do not raise it"
            found["l2_far_bandwidth"] = Found(figures["far"]["plateau GB/s"], "GB/s", note)
    return Findings(found, figures)


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
    warps, ilp = (np.array([float(r.axes.get(name, 1)) for r in mine]) for name in ("warps", "ilp"))
    cycles = np.array([float(r.value["latency"]) for r in mine]) / (LOADS_PER_ROUND * ROUNDS) * ilp
    took = np.array([float(r.value["duration"]) / r.clock_Hz for r in mine])
    rates = LOADS_PER_ROUND * ROUNDS * LINE_B * warps * facts.sm_count / took / 1e9
    top, one = plateau(cycles * rates, rates), ilp == 1
    curve = [[int(w), round(float(c), 2), round(float(x), 1)]
             for w, c, x in zip(warps[one], cycles[one], rates[one], strict=True)]  # fmt: skip
    return {"latency": round(float(cycles.min()), 2), "peak GB/s": round(float(rates.max()), 1),
            "plateau GB/s": None if top is None else round(top, 1),
            "needed warps 90 %": needed_of(warps[one], rates[one], rates.max(), 0.9),
            "needed warps 95 %": needed_of(warps[one], rates[one], rates.max(), 0.95),
            "fit": as_figure(contention(cycles, rates, top)), "curve [warps, cycles, GB/s]": curve}  # fmt: skip
