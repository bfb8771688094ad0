"""Latency of L1, near and far L2 and device memory: one thread, one load after the other."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from warpbound.measure.case import Axis, Buffer, Case, Findings, Found, Record, Step, chosen, column
from warpbound.measure.device import Facts
from warpbound.measure.sampling import parted, quantile
from warpbound.measure.suite_sources import kernel_file

LINE = 128  # one entry per line [B]
LOADS_PER_ROUND = 32
SINGLE = 4096  # loads timed one by one
LARGEST = 1 << 30
L1_PLATEAU = (4096, 32768)     # every L1 since Volta is larger [B]
L2_PLATEAU = (1 << 20, 0.25)   # from 1 MiB to this share of L2
DRAM_PLATEAU = 4.0             # times L2
PAGES = (64 << 10, 2 << 20)    # one line in each stretch of so many bytes: an array's lines fit L2, its pages may not
REACHED = 1.1                  # times the first plateau: latency that address translation does not lengthen
SEPARATE = 0.12                # two peaks of single latencies this far apart, relative, are two partitions
MINORITY = 0.1                 # of the loads, at least, in the smaller one


def source() -> str:
    """CUDA C++."""
    return kernel_file(__name__)


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Sizes by level, then single loads in L2 and in device memory."""
    per_octave = 1 if effort == "quick" else 2
    for size in _sizes(4096, 512 << 10, per_octave):
        yield _chase("chase_l1", size, facts)
    for size in _sizes(256 << 10, 2 * facts.l2_size, per_octave):
        yield _chase("chase_l2", size, facts)
    top = min(LARGEST, facts.memory_size // 4)
    for size in _sizes(int(DRAM_PLATEAU * facts.l2_size), top, per_octave):
        yield _chase("chase_l2", size, facts)
    for gap in PAGES:
        most = min(facts.memory_size // 2 // gap, facts.l2_size // (4 * LINE))
        for count in _counts(64, most, 1 if effort == "quick" else 2):
            yield _pages(gap, count)
    yield _each("l2", _near_l2(facts), facts)
    yield _each("dram", min(top, 8 * facts.l2_size), facts)


def _counts(low: int, high: int, per_octave: int) -> list[int]:
    steps = max(1, round(per_octave * np.log2(high / low)))
    return sorted({round(low * (high / low) ** (i / steps)) for i in range(steps + 1)})


def _pages(gap: int, count: int) -> Case:
    """A line in each of `count` stretches, each at another place of its page, so that L2 spreads them."""
    stride = gap + LINE
    buffers = (Buffer("chain", count * stride), Buffer("order", 4 * count, "order"), Buffer("out", 8))
    link = Step("link", (256,), 256, ("chain", "order", np.uint32(count), np.uint32(stride)))
    rounds = max(64, count // LOADS_PER_ROUND)
    step = Step("chase_l2", (1,), 1, ("out", "chain", np.int32(2 * count), np.int32(rounds)))
    loads = rounds * LOADS_PER_ROUND
    axes: dict[str, Axis] = {"kernel": "chase_pages", "gap": gap, "count": count, "loads": loads}
    return Case(axes, step, "words", buffers, (link,), output="out", words=1, seconds=(2 * count + loads) * 4e-7)


def _near_l2(facts: Facts) -> int:
    return max(L2_PLATEAU[0], facts.l2_size // 16 // LINE * LINE)


def _sizes(low: int, high: int, per_octave: int) -> list[int]:
    steps = max(1, round(per_octave * np.log2(high / low)))
    return sorted({int(low * (high / low) ** (i / steps)) // LINE * LINE for i in range(steps + 1)})


def _data(size: int) -> tuple[tuple[Buffer, ...], tuple[Step, ...]]:
    count = size // LINE
    buffers = (Buffer("chain", size), Buffer("order", 4 * count, "order"))
    link = Step("link", (256,), 256, ("chain", "order", np.uint32(count), np.uint32(LINE)))
    return buffers, (link,)


def eviction(facts: Facts) -> tuple[Buffer, Step]:
    """A buffer twice L2, all zeros, and the launch that reads it."""
    scratch = Buffer("scratch", 2 * facts.l2_size, "zeros")
    step = Step("evict", (4 * facts.sm_count,), 256, ("scratch", np.uint64(scratch.size // 4), np.uint32(1)))
    return scratch, step


def _chase(kernel: str, size: int, facts: Facts) -> Case:
    """Many loads between two clock reads; cold where L2 cannot hold the array."""
    buffers, setup = _data(size)
    count, cold = size // LINE, size > facts.l2_size
    rounds = 128 if cold else int(np.clip(count // LOADS_PER_ROUND, 64, 512))
    scratch, evict = eviction(facts)
    args = ("out", "chain", np.int32(0 if cold else 2 * count), np.int32(rounds))
    loads = rounds * LOADS_PER_ROUND + (0 if cold else 2 * count)
    return Case(
        {"kernel": kernel, "size": size, "loads": rounds * LOADS_PER_ROUND},
        Step(kernel, (1,), 1, args),
        "words",
        (*buffers, Buffer("out", 8), *((scratch,) if cold else ())),
        setup,
        (evict,) if cold else (),
        output="out", words=1, seconds=loads * 350e-9,
    )  # fmt: skip


def _each(where: str, size: int, facts: Facts) -> Case:
    """Always the same loads: from device memory they come again only where L2 has been filled with other data."""
    buffers, setup = _data(size)
    warm = 2 * size // LINE if where == "l2" else 0
    scratch, evict = eviction(facts)
    cold = where == "dram"
    step = Step("chase_each", (1,), 1, ("out", "chain", np.int32(warm), np.int32(SINGLE)), 4 * SINGLE)
    return Case(
        {"kernel": "chase_each", "size": size, "where": where}, step, "histogram",
        (*buffers, Buffer("out", 4 * SINGLE), *((scratch,) if cold else ())), setup, (evict,) if cold else (),
        output="out", words=SINGLE, seconds=(SINGLE + warm) * 400e-9,
    )  # fmt: skip


def extract(records: list[Record], facts: Facts) -> Findings:
    """Latencies of the plateaus in cycles, the clock they hold at, the tail of device memory."""
    l1, l2 = _curve(records, "chase_l1"), _curve(records, "chase_l2")
    low, share = L2_PLATEAU
    found: dict[str, Found] = {}
    plateaus = {
        "l1_latency": _plateau(l1, *L1_PLATEAU),
        "l2_latency": _plateau(l2, low, share * facts.l2_size),
        "dram_latency": _plateau(l2, DRAM_PLATEAU * facts.l2_size, np.inf),
    }
    for name, cycles in plateaus.items():
        if cycles is not None:
            found[name] = Found(cycles, "cycle", "plateau of a pointer chase, one load per 128 B in random order")
    near_far = _partitions(records, l2)
    if near_far is not None:
        found["l2_latency"] = Found(near_far[0], "cycle", "mean of the quicker of two kinds of single loads")
        found["l2_far_latency"] = Found(near_far[1], "cycle", "mean of the slower of two kinds of single loads")
    spread = _spread(records)
    if spread is not None and "dram_latency" in found:
        note = "mean excess of single loads over their median, unloaded"
        found["latency_spread"] = Found(spread / found["dram_latency"].value, "1", note)
    if records:
        found["latency_clock"] = Found(float(np.median(column_of_clocks(records))) / 1e6, "MHz", "while measuring")
    pages = {f"pages of {gap >> 10} KiB": _page_sweep(mine) for gap in PAGES if (mine := _by_count(records, gap))}
    return Findings(found, {"l1": l1, "l2": l2, "single": _percentiles(records), **pages})


def _by_count(records: list[Record], gap: int) -> list[Record]:
    return sorted(chosen(records, kernel="chase_pages", gap=gap), key=lambda r: float(r.axes["count"]))


def _page_sweep(mine: list[Record]) -> dict[str, Any]:
    """Cycles per load by the memory spanned; how much is spanned before translation lengthens a load."""
    spans = [int(r.axes["count"]) * int(r.axes["gap"]) for r in mine]
    cycles = [float(r.value["words"][0]) / float(r.axes["loads"]) for r in mine]
    within = [span for span, one in zip(spans, cycles, strict=True) if one <= REACHED * cycles[0]]
    longer = [span for span, one in zip(spans, cycles, strict=True) if one > REACHED * cycles[0]]
    reach = max((span for span in within if not longer or span < min(longer)), default=0)
    return {"spanned without delay [B]": reach, "delayed from [B]": min(longer) if longer else None,
            "curve [B, cycles]": [[span, round(one, 2)] for span, one in zip(spans, cycles, strict=True)]}  # fmt: skip


def column_of_clocks(records: list[Record]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The clocks that were watched, Hz."""
    return np.array([record.clock_Hz for record in records])


def _curve(records: list[Record], kernel: str) -> list[tuple[int, float]]:
    """(size, cycles per load), by size."""
    mine = sorted(chosen(records, kernel=kernel), key=lambda r: r.axes["size"])
    sizes, loads = column(mine, "size"), column(mine, "loads")
    return [(int(s), round(r.value["words"][0] / n, 2)) for s, n, r in zip(sizes, loads, mine, strict=True)]


def _plateau(curve: list[tuple[int, float]], low: float, high: float) -> float | None:
    inside = [cycles for size, cycles in curve if low <= size <= high]
    return float(np.median(inside)) if inside else None


def _partitions(records: list[Record], curve: list[tuple[int, float]]) -> tuple[float, float] | None:
    """Mean latencies of near and far L2, the cost of timing taken off; None where there is one kind only."""
    single = chosen(records, kernel="chase_each", where="l2")
    if not single or not curve:
        return None
    values = np.array(single[0].value["values"], dtype=np.float64)
    counts = np.array(single[0].value["counts"], dtype=np.float64)
    cut = parted(values, counts)
    near, far = values <= cut, values > cut
    if min(counts[near].sum(), counts[far].sum()) < MINORITY * counts.sum():
        return None
    means = [float(np.average(values[part], weights=counts[part])) for part in (near, far)]
    if means[1] < (1 + SEPARATE) * means[0]:
        return None
    size = float(single[0].axes["size"])
    together = _plateau(curve, 0.5 * size, 2.0 * size)
    timing = float(np.average(values, weights=counts)) - together if together else 0.0
    return means[0] - timing, means[1] - timing


def _spread(records: list[Record]) -> float | None:
    """Scale of an exponential tail: what loads beyond the median take longer than it, on average, cycles."""
    single = chosen(records, kernel="chase_each", where="dram")
    if not single:
        return None
    values, counts = (np.array(single[0].value[name], dtype=np.float64) for name in ("values", "counts"))
    middle = quantile(list(values), list(counts), 0.5)
    beyond = values > middle
    return float(np.average(values[beyond] - middle, weights=counts[beyond]) - 0.5) if beyond.any() else None


def _percentiles(records: list[Record]) -> dict[str, list[float]]:
    """Minimum, 5, 25, 50, 75, 95 % and maximum of single loads, cycles, with the cost of timing."""
    shares = (1e-9, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
    return {
        str(r.axes["where"]): [quantile(r.value["values"], r.value["counts"], share) for share in shares]
        for r in chosen(records, kernel="chase_each")
    }
