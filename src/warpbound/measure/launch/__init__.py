"""Cost of launches, blocks and stores: queues of empty kernels, waves of empty blocks, small launches."""

from collections.abc import Iterator

import numpy as np

from warpbound.measure.case import Axis, Buffer, Case, Estimate, Findings, Record, Step, curve, matching
from warpbound.measure.device import Facts
from warpbound.measure.kernel_text import kernel_file

QUEUE = 400            # launches between two events
SPIN = 20_000          # cycles: longer than the host takes to enqueue a launch
THREADS = (32, 64, 128, 256, 512, 1024)
WAVES = 400            # of blocks, with one block per SM
MANY = 1 << 20         # blocks, so that the interval between them dominates
SIZES = tuple(1 << k for k in range(10, 23))


def source() -> str:
    """CUDA C++."""
    return kernel_file(__name__)


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Queues; spinning kernels of two lengths; blocks one per SM and as many as fit; small launches."""
    size = 4 << 20
    for blocks in (1, facts.sm_count):
        axes: dict[str, Axis] = {"kernel": "queue", "blocks": blocks}
        yield _timed(axes, Step("empty", (blocks,), 32, ("out",)), size, QUEUE * 3e-6, QUEUE)
    yield _timed({"kernel": "single"}, Step("empty", (1,), 32, ("out",)), size, 5e-6)
    for spin in (SPIN, 2 * SPIN):
        step = Step("when", (1,), 1, ("out", np.int32(0), np.int32(spin)))
        yield _timed({"kernel": "spin", "cycles": spin}, step, size, 50 * 2e-5, 50)
    for threads in THREADS:
        for kernel in ("empty", "store_one"):
            blocks = WAVES * facts.sm_count
            step = Step(kernel, (blocks,), threads, ("out",), facts.shared_for(1), 100)
            axes = {"kernel": kernel, "threads": threads, "resident": 1, "blocks": blocks}
            yield _timed(axes, step, max(size, 4 * blocks * threads), WAVES * 3e-7)
        axes = {"kernel": "empty", "threads": threads, "resident": 0, "blocks": MANY}
        yield _timed(axes, Step("empty", (MANY,), threads, ("out",)), size, 2e-3)
    arrays = tuple(Buffer(name, 8 * SIZES[-1], "noise") for name in "ab")
    for threads in (128, 512):
        for n in SIZES if effort == "full" else SIZES[::2]:
            step = Step("small_scale", (-(-n // threads),), threads, ("a", "b", np.float64(2.0), np.uint32(n)))
            axes = {"kernel": "small_scale", "threads": threads, "elements": n}
            yield Case(axes, step, "time", arrays, launches=50, seconds=50 * 4e-6)


def _timed(axes: dict[str, Axis], step: Step, size: int, seconds: float, launches: int = 1) -> Case:
    return Case(axes, step, "time", (Buffer("out", size),), launches=launches, seconds=seconds)


def extract(records: list[Record], facts: Facts) -> Findings:
    """Queue cost, gap, block start and interval, store cost."""
    parameters: dict[str, Estimate] = {}
    if queue := matching(records, kernel="queue", blocks=1):
        note = f"{QUEUE} empty kernels in a queue"
        parameters["launch_cost"] = Estimate(1e6 * queue[0].number("seconds"), "us", note)
    if gap := _gap(records):
        note = "cost of a launch beyond the spinning it does, two lengths"
        parameters["launch_gap"] = Estimate(1e6 * gap, "us", note)
    start, stored = _per_wave(records, "empty", facts), _per_wave(records, "store_one", facts)
    figures = {"block residence, empty [ns]": start, "block residence, one store [ns]": stored}
    if start:
        note = "blocks of one warp that does nothing, one per SM"
        parameters["block_start"] = Estimate(start[min(start)], "ns", note)
    if start and stored:
        cost = stored[min(stored)] - start[min(start)]
        parameters["store_cost"] = Estimate(cost, "ns", "the same blocks with one store")
    if many := matching(records, kernel="empty", resident=0):
        interval = min(r.number("seconds") / r.number("blocks") for r in many)
        parameters["block_interval"] = Estimate(1e9 * interval, "ns", "empty blocks, as many resident as fit")
    if single := matching(records, kernel="single"):
        figures["single empty launch between two events [us]"] = {1: 1e6 * single[0].number("seconds")}
    small = curve(matching(records, kernel="small_scale"), "threads", "elements", (_microseconds, 3))
    return Findings(parameters, {**figures, "small launches [threads, elements, us]": small})


def _microseconds(record: Record) -> float:
    return 1e6 * record.number("seconds")


def _gap(records: list[Record]) -> float | None:
    """Time of a launch extrapolated to no spinning, s; the start and end of its block are included."""
    spins = {int(r.axes["cycles"]): r.number("seconds") for r in matching(records, kernel="spin")}
    if len(spins) < 2:
        return None
    (short, first), (long, second) = sorted(spins.items())
    return first - (second - first) / (long - short) * short


def _per_wave(records: list[Record], kernel: str, facts: Facts) -> dict[int, float]:
    """Nanoseconds that a block occupies its SM, by threads."""
    return {
        int(r.axes["threads"]): 1e9 * r.number("seconds") * facts.sm_count / r.number("blocks")
        for r in matching(records, kernel=kernel, resident=1)
    }
