"""Near and far halves of L2: which lines are near to which SM, and the rate of both under load."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from warpbound.measure.case import Array, Buffer, Case, Estimate, Findings, Record, Step, column, matching, stamped
from warpbound.measure.contention import as_figure, contention, needed_of, plateau
from warpbound.measure.device import Facts
from warpbound.measure.kernel_text import chains, kernel_file
from warpbound.measure.sampling import otsu_threshold

MAPPED = 64              # lines that every SM times
APART = 33 * 32          # words from one to the next
TRIES = 8
LINES = 8192             # 1 MiB in chains
LOADS_PER_ROUND, ROUNDS = 16, 64
LOADS = LOADS_PER_ROUND * ROUNDS  # of one chain
WARPS = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64)
QUICK_WARPS = (1, 8, 16, 32, 64)
CHAINS = {1: WARPS, 4: (8, 16, 32, 48, 64)}  # chains of a warp -> warps: with four the link between the sides saturates
KINDS = ("near", "far")
LINE_B = 128
APART_AT_LEAST = 1.1     # far latency over near; below it there is one side only
AGREE = 0.75             # least share of the lines on which two SMs of the same half agree


def source() -> str:
    """CUDA C++."""
    return chains() + kernel_file(__name__)


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """The map; near and far x chains of a warp x warps per SM."""
    array, words = Buffer("array", 4 * APART * MAPPED, "zeros"), facts.sm_count * (MAPPED + 1)
    step = Step("map_lines", (facts.sm_count,), 1,
                ("out", "array", np.uint32(APART), np.int32(MAPPED), np.int32(TRIES)))  # fmt: skip
    yield Case({"kernel": "map", "lines": MAPPED}, step, "words", (array, Buffer("out", 4 * words)), output="out",
               words=words, seconds=4e-4)  # fmt: skip
    part = Step("part_lines", (1,), 32, ("list", "cycles", "array", np.uint32(LINES), np.int32(TRIES)))
    for kind in KINDS:
        for ilp, counts in CHAINS.items():
            for warps in facts.warp_counts(effort, counts, [n for n in QUICK_WARPS if n in counts]):
                yield _loaded(kind, warps, ilp, part, facts)


def _loaded(kind: str, warps: int, ilp: int, part: Step, facts: Facts) -> Case:
    blocks = facts.one_wave(warps, declared=1024)
    args = ("stamps", "array", "list", np.uint32(LINES), np.uint32(kind == "far"), np.int32(ROUNDS))
    step = Step(f"half_of_l2_{ilp}", (blocks.grid,), blocks.threads, args, blocks.smem, 100)
    buffers = (Buffer("array", LINE_B * LINES, "zeros"), Buffer("list", 8 + 8 * LINES), Buffer("cycles", 4 * LINES))
    return stamped({"kernel": kind, "warps": warps, "ilp": ilp}, step, *buffers, setup=(part,), seconds=6e-4)


def extract(records: list[Record], facts: Facts) -> Findings:
    """Groups of SMs and latencies of the map; latency over rate for near and for far lines, and the rate of far lines
    that more loads in flight do not raise."""
    figures: dict[str, Any] = {}
    if mapped := matching(records, kernel="map"):
        figures["map"] = _map(np.array(mapped[0].value["words"]).reshape(facts.sm_count, -1))
    parameters: dict[str, Estimate] = {}
    for kind in KINDS:
        if len(sweep := matching(records, kernel=kind)) > 3:
            figures[kind] = _summary(sweep, facts)
    if set(KINDS) <= set(figures):
        figures["far over near"] = round(figures["far"]["latency"] / figures["near"]["latency"], 3)
        if figures["far over near"] >= APART_AT_LEAST and figures["far"]["plateau GB/s"]:
            note = "chains through lines of the other side; more of them at once do not raise it"
            parameters["l2_far_bandwidth"] = Estimate(figures["far"]["plateau GB/s"], "GB/s", note)
    return Findings(parameters, figures)


def _map(words: Array) -> dict[str, Any]:
    cycles = words[:, 1:]
    values, counts = np.unique(cycles, return_counts=True)
    far = cycles > otsu_threshold(values, counts.astype(np.float64))
    same = (far == far[0]).mean(axis=1)
    return {"near, timing included [cycle]": float(np.median(cycles[~far])),
            "far, timing included [cycle]": float(np.median(cycles[far])) if far.any() else None,
            "share of near lines": round(float((~far).mean()), 3),
            "groups": {"like the first SM": int((same >= AGREE).sum()), "opposite": int((same <= 1 - AGREE).sum()),
                       "neither": int(((same > 1 - AGREE) & (same < AGREE)).sum())}}  # fmt: skip


def _summary(sweep: list[Record], facts: Facts) -> dict[str, Any]:
    warps, ilp = column(sweep, "warps"), np.array([float(r.axes.get("ilp", 1)) for r in sweep])
    cycles = column(sweep, "latency") / LOADS * ilp
    seconds = np.array([r.number("duration") / r.clock_Hz for r in sweep])
    rates = LOADS * LINE_B * warps * facts.sm_count / seconds / 1e9
    top, single = plateau(cycles * rates, rates), ilp == 1
    points = zip(warps[single], cycles[single], rates[single], strict=True)
    return {"latency": round(float(cycles.min()), 2), "peak GB/s": round(float(rates.max()), 1),
            "plateau GB/s": None if top is None else round(top, 1),
            **{f"needed warps {100 * share:.0f} %": needed_of(warps[single], rates[single], rates.max(), share)
               for share in (0.9, 0.95)},
            "fit": as_figure(contention(cycles, rates, top)),
            "curve [warps, cycles, GB/s]": [
                [int(w), round(float(c), 2), round(float(x), 1)] for w, c, x in points
            ]}  # fmt: skip
