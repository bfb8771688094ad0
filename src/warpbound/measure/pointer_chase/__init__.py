"""Latency of L1, near and far L2 and device memory: one thread that follows a chain of dependent loads."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from warpbound.measure.case import Axis, Buffer, Case, Estimate, Findings, Record, Step, cold, curve, matching
from warpbound.measure.device import Facts
from warpbound.measure.kernel_text import kernel_file
from warpbound.measure.sampling import otsu_threshold, quantile

LINE = 128  # one entry per line [B]
LOADS_PER_ROUND = 32
SINGLE = 4096  # individually timed loads
LARGEST = 1 << 30
L1_PLATEAU = (4096, 32768)     # every L1 since Volta is larger [B]
L2_PLATEAU = (1 << 20, 0.25)   # from 1 MiB to this share of L2
DRAM_PLATEAU = 4.0             # from this multiple of the size of L2
PAGES = (64 << 10, 2 << 20)    # one line per stretch of this size: an array's lines fit L2, its pages may not fit a TLB
REACHED = 1.1                  # latency relative to the first plateau that address translation does not lengthen
SEPARATE = 0.12                # relative distance from which two peaks of single latencies are two partitions
MINORITY = 0.1                 # least share of the loads in the smaller peak
PERCENTILES = (1e-9, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


def source() -> str:
    """CUDA C++."""
    return kernel_file(__name__)


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Array sizes by level, then single loads in L2 and in device memory."""
    per_octave = 1 if effort == "quick" else 2
    top = min(LARGEST, facts.memory_size // 4)
    for kernel, low, high in (
        ("chase_l1", 4096, 512 << 10), ("chase_l2", 256 << 10, 2 * facts.l2_size),
        ("chase_l2", int(DRAM_PLATEAU * facts.l2_size), top),
    ):  # fmt: skip
        for size in sorted({int(size) // LINE * LINE for size in _geometric(low, high, per_octave)}):
            yield _chase(kernel, size, facts)
    for gap in PAGES:
        most = min(facts.memory_size // 2 // gap, facts.l2_size // (4 * LINE))
        for count in sorted({round(count) for count in _geometric(64, most, per_octave)}):
            yield _pages(gap, count)
    yield _each("l2", max(L2_PLATEAU[0], facts.l2_size // 16 // LINE * LINE), facts)
    yield _each("dram", min(top, 8 * facts.l2_size), facts)


def _geometric(low: int, high: int, per_octave: int) -> list[float]:
    steps = max(1, round(per_octave * np.log2(high / low)))
    return [low * (high / low) ** (i / steps) for i in range(steps + 1)]


def _case(  # noqa: PLR0913
    axes: dict[str, Axis], step: Step, reading: str, count: int, stride: int, words: int, seconds: float
) -> Case:  # fmt: skip
    """A chain of `count` entries `stride` bytes apart in random order."""
    out = Buffer("out", 4 * max(2, words))
    buffers = (Buffer("chain", count * stride), Buffer("order", 4 * count, "order"), out)
    link = Step("link", (256,), 256, ("chain", "order", np.uint32(count), np.uint32(stride)))
    return Case(axes, step, reading, buffers, (link,), output="out", words=words, seconds=seconds)


def _pages(gap: int, count: int) -> Case:
    """A line in each of `count` stretches, each at another offset in its page, so that they spread over L2."""
    rounds = max(64, count // LOADS_PER_ROUND)
    step = Step("chase_l2", (1,), 1, ("out", "chain", np.int32(2 * count), np.int32(rounds)))
    loads = rounds * LOADS_PER_ROUND
    axes: dict[str, Axis] = {"kernel": "chase_pages", "gap": gap, "count": count, "loads": loads}
    return _case(axes, step, "words", count, gap + LINE, 1, (2 * count + loads) * 4e-7)


def _chase(kernel: str, size: int, facts: Facts) -> Case:
    """Many loads between two clock reads; evicted before every sample where L2 cannot hold the array."""
    count, missing = size // LINE, size > facts.l2_size
    rounds = 128 if missing else int(np.clip(count // LOADS_PER_ROUND, 64, 512))
    warm_up, loads = 0 if missing else 2 * count, rounds * LOADS_PER_ROUND
    step = Step(kernel, (1,), 1, ("out", "chain", np.int32(warm_up), np.int32(rounds)))
    axes: dict[str, Axis] = {"kernel": kernel, "size": size, "loads": loads}
    case = _case(axes, step, "words", count, LINE, 1, (loads + warm_up) * 350e-9)
    return cold(case, facts) if missing else case


def _each(where: str, size: int, facts: Facts) -> Case:
    """The same loads every time; L2 is filled with other data before each sample in device memory."""
    warm_up = 2 * size // LINE if where == "l2" else 0
    step = Step("chase_each", (1,), 1, ("out", "chain", np.int32(warm_up), np.int32(SINGLE)), 4 * SINGLE)
    axes: dict[str, Axis] = {"kernel": "chase_each", "size": size, "where": where}
    case = _case(axes, step, "histogram", size // LINE, LINE, SINGLE, (SINGLE + warm_up) * 400e-9)
    return cold(case, facts) if where == "dram" else case


def extract(records: list[Record], facts: Facts) -> Findings:
    """Latencies of the plateaus in cycles, the clock at which they hold, the tail of device memory."""
    l1, l2 = _by_size(records, "chase_l1"), _by_size(records, "chase_l2")
    low, share = L2_PLATEAU
    parameters: dict[str, Estimate] = {}
    plateaus = {
        "l1_latency": _plateau(l1, *L1_PLATEAU),
        "l2_latency": _plateau(l2, low, share * facts.l2_size),
        "dram_latency": _plateau(l2, DRAM_PLATEAU * facts.l2_size, np.inf),
    }
    note = "plateau of a pointer chase, one load per 128 B in random order"
    parameters |= {name: Estimate(cycles, "cycle", note) for name, cycles in plateaus.items() if cycles is not None}
    near_far = _partitions(records, l2)
    if near_far is not None:
        parameters["l2_latency"] = Estimate(near_far[0], "cycle", "mean of the quicker of two kinds of single loads")
        parameters["l2_far_latency"] = Estimate(near_far[1], "cycle", "mean of the slower of two kinds of single loads")
    spread = _spread(records)
    if spread is not None and "dram_latency" in parameters:
        note = "mean excess of single loads over their median, unloaded"
        parameters["latency_spread"] = Estimate(spread / parameters["dram_latency"].value, "1", note)
    if records:
        clock = float(np.median([record.clock_Hz for record in records]))
        parameters["latency_clock"] = Estimate(clock / 1e6, "MHz", "while measuring")
    single = {str(r.axes["where"]): [quantile(r.value["values"], r.value["counts"], share) for share in PERCENTILES]
              for r in matching(records, kernel="chase_each")}  # fmt: skip
    pages = {f"pages of {gap >> 10} KiB": _page_sweep(sweep) for gap in PAGES
             if (sweep := matching(records, kernel="chase_pages", gap=gap))}  # fmt: skip
    return Findings(parameters, {"l1": l1, "l2": l2, "single": single, **pages})


def _per_load(record: Record) -> float:
    return float(record.value["words"][0]) / record.number("loads")


def _page_sweep(sweep: list[Record]) -> dict[str, Any]:
    """Cycles per load by the memory spanned, and how much memory is spanned before translation lengthens a load."""
    sweep = sorted(sweep, key=lambda r: r.number("count"))
    spans, cycles = [int(r.number("count") * r.number("gap")) for r in sweep], [_per_load(r) for r in sweep]
    pairs = list(zip(spans, cycles, strict=True))
    longer = [span for span, latency in pairs if latency > REACHED * cycles[0]]
    reach = max((span for span, latency in pairs if latency <= REACHED * cycles[0]
                 and (not longer or span < min(longer))), default=0)  # fmt: skip
    return {"spanned without delay [B]": reach, "delayed from [B]": min(longer) if longer else None,
            "curve [B, cycles]": [[span, round(latency, 2)] for span, latency in pairs]}  # fmt: skip


def _by_size(records: list[Record], kernel: str) -> list[list[float]]:
    """[size, cycles per load], by size."""
    return curve(sorted(matching(records, kernel=kernel), key=lambda r: r.axes["size"]), "size", (_per_load, 2))


def _plateau(by_size: list[list[float]], low: float, high: float) -> float | None:
    inside = [cycles for size, cycles in by_size if low <= size <= high]
    return float(np.median(inside)) if inside else None


def _partitions(records: list[Record], by_size: list[list[float]]) -> tuple[float, float] | None:
    """Mean latencies of near and far L2 without the cost of timing; None where there is one kind only."""
    single = matching(records, kernel="chase_each", where="l2")
    if not single or not by_size:
        return None
    values, counts = (np.array(single[0].value[name], dtype=np.float64) for name in ("values", "counts"))
    threshold = otsu_threshold(values, counts)
    near, far = values <= threshold, values > threshold
    if min(counts[near].sum(), counts[far].sum()) < MINORITY * counts.sum():
        return None
    means = [float(np.average(values[part], weights=counts[part])) for part in (near, far)]
    if means[1] < (1 + SEPARATE) * means[0]:
        return None
    size = float(single[0].axes["size"])
    untimed = _plateau(by_size, 0.5 * size, 2.0 * size)
    timing = float(np.average(values, weights=counts)) - untimed if untimed else 0.0
    return means[0] - timing, means[1] - timing


def _spread(records: list[Record]) -> float | None:
    """Scale of an exponential tail: mean excess of the loads above the median over the median, cycles."""
    single = matching(records, kernel="chase_each", where="dram")
    if not single:
        return None
    values, counts = (np.array(single[0].value[name], dtype=np.float64) for name in ("values", "counts"))
    median = quantile(list(values), list(counts), 0.5)
    beyond = values > median
    return float(np.average(values[beyond] - median, weights=counts[beyond]) - 0.5) if beyond.any() else None
