"""Bandwidth of L1 and L2 over the size of a working set that is read again and again; writes against reads."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from warpbound.isa.limits import limits
from warpbound.measure.case import Array, Axis, Buffer, Case, Estimate, Findings, Record, Step, curve, matching, stamped
from warpbound.measure.device import Facts
from warpbound.measure.kernel_text import kernel_file
from warpbound.quick_dataclasses import dataclass

PIECE = 16
PASS = 4 * PIECE       # bytes of one thread in one iteration
L1_SIZES = tuple((16 << 10) * k for k in (1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 32))
L1_THREADS = 256
L2_THREADS = 512
READ_AGAIN = 256 << 10  # unit of the bytes that a block reads at least
LEAD_ROUNDS = 2000     # passes over a set: it takes a while until older warps run ahead
LEAD_MOST = 2.2        # largest of these sets, in sizes of L1
FALL = 1.25            # ratio of the rates of two neighbouring sets that counts as a sudden fall
TOGETHER = (1 << 20, 3 << 19, 2 << 20, 3 << 20, 4 << 20)  # sets that all SMs read at once, B
SEPARATE = (1, 2, 3, 4, 6)  # iterations of a block over its own set
REACH_SHARES = tuple(k / 20 for k in range(8, 27))  # shares of L2: sets that all SMs read, each in its own order
HELD_SHARES = (0.2, 0.3)  # shares of L2: no read of such a set misses
BEYOND = 4.0           # of L2: all reads of such a set miss
RING_WARPS = 16        # of an SM, each with one load in flight
LINE = 128
HALF = 0.5             # share of misses that defines the reach
SLOWER = 1.1           # least ratio of the latency where all reads miss to that in L2
SPARE = 0.01           # tolerance of a size, which is rounded to whole lines
ONE_SIDE, BOTH_SIDES = 0.475, (0.525, 0.725)  # of L2: a set that one side of it holds; one that both together hold
FLAT, FELL = 0.1, 0.92  # of the rate: variation where lines cross between the sides; most relative to one side
INSIDE = 0.5           # of L2: a set that it holds on either side


def source() -> str:
    """CUDA C++."""
    return kernel_file(__name__)


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Sweeps through L1 and L2, and single loads round sets that L2 holds and that it does not."""
    yield from (_case(sweep, facts) for sweep in (*_through_l1(facts, effort), *_through_l2(facts, effort)))
    between = [(a + b) / 2 for a, b in pairwise(REACH_SHARES)] if effort == "full" else []
    yield from (_ring(share, facts) for share in (*HELD_SHARES, *sorted((*REACH_SHARES, *between)), BEYOND))


@dataclass(frozen=True)
class Sweep:
    """size : of a block's working set, or of the set that all blocks share; B.

    again : quarters of a MiB that a block reads at least. own : 1 where each block has its own set, else 0. spread : 1
    where the blocks begin evenly round one set, 0 where all begin at its start.
    """

    name: str
    kernel: str
    threads: int
    size: int
    blocks: int
    again: float = 4
    own: int = 0
    spread: int = 1
    carveout: int | None = None


def _through_l1(facts: Facts, effort: str) -> Iterator[Sweep]:
    """Own working sets per SM; sets a little larger than L1 with many passes."""
    for size in L1_SIZES if effort == "full" else L1_SIZES[::2]:
        for blocks in [b for b in (1, 2, 4) if size % (b * PASS * L1_THREADS) == 0]:
            yield Sweep("sweep_l1", "sweep_l1", L1_THREADS, size // blocks, blocks, 16, own=1, carveout=0)
    turn = PASS * L1_THREADS
    edge = (l1_bytes(facts) or 0) // turn
    for turns in range(int(0.9 * edge), int(LEAD_MOST * edge) + 1):
        yield Sweep("lead", "sweep_l1", L1_THREADS, turns * turn, 1, LEAD_ROUNDS * turns / 16)


def _through_l2(facts: Facts, effort: str) -> Iterator[Sweep]:
    """A shared set with a different start for each block, read and written; a set that all read at once; own sets."""
    per_octave = 1 if effort == "quick" else 3
    steps = int(per_octave * np.log2(4 * facts.l2_size / (1 << 20)))
    for kernel in ("sweep_l2", "sweep_write"):
        for step in range(steps + 1):
            yield Sweep(kernel, kernel, L2_THREADS, int((1 << 20) * 2 ** (step / per_octave)), 2)
    for share in REACH_SHARES:
        yield Sweep("reach", "sweep_l2", L2_THREADS, int(share * facts.l2_size), 2, 16)
    for size in TOGETHER:
        yield Sweep("together", "sweep_l2", L2_THREADS, size, 2, 16, spread=0)
    for blocks in (1, 2):
        for turns in SEPARATE:
            size = turns * PASS * L2_THREADS
            if turns == 1 or size * blocks * facts.sm_count <= INSIDE * facts.l2_size:
                yield Sweep("separate", "sweep_l2", L2_THREADS, size, blocks, 16, own=1)


def l1_bytes(facts: Facts) -> int | None:
    """Largest L1, for a kernel without shared memory; None before Volta."""
    architecture = limits(facts.compute_capability)
    if architecture.unified_l1_shared_KiB is None:
        return None
    return 1024 * (architecture.unified_l1_shared_KiB - architecture.least_carveout_KiB)


def _case(x: Sweep, facts: Facts) -> Case:
    """The set is a multiple of one iteration."""
    turn = PASS * x.threads
    size = max(x.size // turn, 1) * turn
    grid = x.blocks * facts.sm_count
    rounds = max(1, round(-(-x.again * READ_AGAIN // size))) + 1
    pieces = size // PIECE
    axes: dict[str, Axis] = {"kernel": x.name, "size": size, "blocks": x.blocks, "bytes": size * rounds * x.blocks}
    counts = (pieces, pieces * x.own, 0 if x.own else x.spread)
    args: tuple[str | np.generic, ...] = ("stamps", "data", *map(np.uint32, counts), np.int32(rounds))
    step = Step(x.kernel, (grid,), x.threads, args, 0, x.carveout)
    seconds = max(5e-5, size * rounds * grid / (1e13 if x.kernel == "sweep_l1" else 3e12))
    return stamped(axes, step, Buffer("data", size * grid if x.own else size, "zeros"), seconds=seconds)


def _ring(share: float, facts: Facts) -> Case:
    """The warps of an SM together go once round the set."""
    hops = int(share * facts.l2_size) // LINE // RING_WARPS
    size = hops * RING_WARPS * LINE
    args = ("stamps", "lines", np.uint32(size // LINE), np.int32(hops))
    step = Step("ring", (facts.sm_count,), 32 * RING_WARPS, args)
    axes: dict[str, Axis] = {"kernel": "ring", "size": size, "warps": RING_WARPS, "hops": hops}
    return stamped(axes, step, Buffer("lines", size, "zeros"), seconds=hops * 3.5e-7)


def per_hop(record: Record) -> float:
    """Cycles from one line to the next."""
    return record.number("latency") / record.number("hops")


def per_cycle(record: Record) -> float:
    """Bytes per cycle and SM."""
    return record.number("bytes") / record.number("duration")


def extract(records: list[Record], facts: Facts) -> Findings:
    """Peaks of L1 and L2, how far older warps run ahead in L1, the time of a written sector relative to a read one."""
    figures = {
        kernel: curve(sweep, "size", "blocks", (per_cycle, 2))
        for kernel in ("sweep_l1", "lead", "sweep_l2", "sweep_write", "reach", "together", "separate")
        if (sweep := matching(records, kernel=kernel))
    }
    if ring := matching(records, kernel="ring"):
        figures["ring"] = curve(ring, "size", (per_hop, 2))
    parameters: dict[str, Estimate] = {}
    if l1 := matching(records, kernel="sweep_l1"):
        note = "16 B per thread, the best size"
        parameters["l1_bandwidth"] = Estimate(max(map(per_cycle, l1)), "B/cycle/SM", note)
    if (reach := lead_reach(matching(records, kernel="lead"), facts)) is not None:
        note = f"middle of the largest fall over the size of a set that each SM reads {LEAD_ROUNDS} times"
        parameters["l1_lead_reach"] = Estimate(reach, "1", note)
    if (reach := l2_reach(records, facts)) is not None:
        parameters["l2_reach"] = Estimate(reach, "1", "half of the single loads round a set miss")
    if crossing := across(records, facts):
        median = float(np.median([per_cycle(r) * r.clock_Hz for r in crossing])) * facts.sm_count
        note = "all SMs read the same data, more than one side of L2 holds; at the clock observed"
        parameters["l2_far_bandwidth"] = Estimate(median / 1e9, "GB/s", note)
    if sweep := matching(records, kernel="separate"):
        parameters["l2_bandwidth"] = _chip_bandwidth(sweep, facts, "every block its own data")
    if sweep := matching(records, kernel="together"):
        parameters["l2_shared_read_bandwidth"] = _chip_bandwidth(sweep, facts, "all blocks the same data at once")
    inside = [r for r in records if r.number("size") <= INSIDE * facts.l2_size]
    reads, writes = matching(inside, kernel="sweep_l2"), matching(inside, kernel="sweep_write")
    if reads and writes:
        cost = max(map(per_cycle, reads)) / max(map(per_cycle, writes))
        parameters["l2_write_cost"] = Estimate(cost, "1", "best read rate over best write rate of L2")
    return Findings(parameters, figures)


def _chip_bandwidth(sweep: list[Record], facts: Facts, data: str) -> Estimate:
    """The best of all SMs together."""
    best = max(per_cycle(r) * r.clock_Hz for r in sweep) * facts.sm_count
    return Estimate(best / 1e9, "GB/s", f"16 B per thread past L1, {data}, at the clock observed")


def _by_size(records: list[Record]) -> list[Record]:
    return sorted(records, key=lambda r: r.number("size"))


def lead_reach(records: list[Record], facts: Facts) -> float | None:
    """Data of an SM, in sizes of its L1, up to which older warps run ahead and hit; 1 where the rate falls at the edge
    itself, None where it nowhere falls suddenly."""
    capacity, sweep = l1_bytes(facts), _by_size(records)
    if len(sweep) < 2 or capacity is None:
        return None
    sizes, rates = np.array([r.number("size") for r in sweep]), np.array([per_cycle(r) for r in sweep])
    falls = rates[:-1] / rates[1:]
    at = int(falls.argmax())
    return max(1.0, float(sizes[at] + sizes[at + 1]) / 2 / capacity) if falls[at] >= FALL else None


def across(records: list[Record], facts: Facts) -> list[Record]:
    """The sets that both sides of L2 hold together and neither alone: what all SMs read of them crosses between the
    sides. None of them where the rate does not fall when one side is full, or goes on falling."""
    sweep = matching(records, kernel="reach")
    below, both = ([r for r in sweep if low <= _share(r, facts) <= high] for low, high in ((0.0, ONE_SIDE), BOTH_SIDES))
    if not below or len(both) < 3:
        return []
    before, rates = float(np.median([per_cycle(r) for r in below])), np.array([per_cycle(r) for r in both])
    fell = bool((rates <= FELL * before).all() and rates.min() >= (1.0 - FLAT) * rates.max())
    return both if fell else []


def l2_reach(records: list[Record], facts: Facts) -> float | None:
    """Share of L2 at which half of the reads miss.

    The latency of single loads lies between that of L2 and that of device memory by the share that misses. Where L2 has
    two sides, it counts from the latency of both. None where the latency does not rise enough.
    """
    ring = _by_size(matching(records, kernel="ring"))
    if len(ring) < 3:
        return None
    shares: Array = np.array([_share(r, facts) for r in ring])
    cycles: Array = np.array([per_hop(r) for r in ring])
    low, high = BOTH_SIDES
    both = cycles[(shares >= low) & (shares <= high)]
    crossing = len(both) and across(records, facts)
    hit, missed = float(np.median(both) if crossing else cycles[0]), float(cycles[-1])
    if shares[-1] < BEYOND * (1.0 - SPARE) or missed < SLOWER * hit:
        return None
    missing = (cycles[:-1] - hit) / (missed - hit)
    after = int(np.argmax(missing >= HALF))
    if after == 0:
        return None
    pair = slice(after - 1, after + 1)
    return float(np.interp(HALF, missing[pair], shares[pair]))


def _share(record: Record, facts: Facts) -> float:
    return record.number("size") / facts.l2_size
