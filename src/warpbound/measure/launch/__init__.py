"""What launches, blocks and stores cost: queues of empty kernels, waves of empty blocks, small launches."""

from collections.abc import Iterator

import numpy as np

from warpbound.measure.case import Buffer, Case, Findings, Found, Record, Step, chosen
from warpbound.measure.device import Facts
from warpbound.measure.suite_sources import kernel_file

QUEUE = 400            # launches between two marks
SPIN = 20_000          # cycles: longer than it takes the host to queue a launch
THREADS = (32, 64, 128, 256, 512, 1024)
WAVES = 400            # of blocks, where each SM holds one
MANY = 1 << 20         # blocks, where the interval between them is what counts
SIZES = tuple(1 << k for k in range(10, 23))


def source() -> str:
    """CUDA C++."""
    return kernel_file(__name__)


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Queues; spinning kernels of two lengths; blocks one per SM and as many as fit; small launches."""
    out = Buffer("out", 4 << 20)
    yield Case({"kernel": "queue", "blocks": 1}, Step("empty", (1,), 32, ("out",)), "time", (out,),
               launches=QUEUE, seconds=QUEUE * 3e-6)  # fmt: skip
    yield Case({"kernel": "queue", "blocks": facts.sm_count}, Step("empty", (facts.sm_count,), 32, ("out",)), "time",
               (out,), launches=QUEUE, seconds=QUEUE * 3e-6)  # fmt: skip
    yield Case({"kernel": "single"}, Step("empty", (1,), 32, ("out",)), "time", (out,), seconds=5e-6)
    for spin in (SPIN, 2 * SPIN):
        step = Step("when", (1,), 1, ("out", np.int32(0), np.int32(spin)))
        yield Case({"kernel": "spin", "cycles": spin}, step, "time", (out,), launches=50, seconds=50 * 2e-5)
    for threads in THREADS:
        for kernel in ("empty", "store_one"):
            blocks = WAVES * facts.sm_count
            step = Step(kernel, (blocks,), threads, ("out",), facts.shared_for(1), 100)
            room = Buffer("out", max(4 << 20, 4 * blocks * threads))
            yield Case({"kernel": kernel, "threads": threads, "resident": 1, "blocks": blocks}, step, "time", (room,),
                       seconds=WAVES * 3e-7)  # fmt: skip
        step = Step("empty", (MANY,), threads, ("out",))
        yield Case({"kernel": "empty", "threads": threads, "resident": 0, "blocks": MANY}, step, "time", (out,),
                   seconds=2e-3)  # fmt: skip
    sizes = SIZES if effort == "full" else SIZES[::2]
    for threads in (128, 512):
        for n in sizes:
            step = Step("small_scale", (-(-n // threads),), threads, ("a", "b", np.float64(2.0), np.uint32(n)))
            arrays = tuple(Buffer(name, 8 * SIZES[-1], "noise") for name in "ab")
            yield Case({"kernel": "small_scale", "threads": threads, "elements": n}, step, "time", arrays,
                       launches=50, seconds=50 * 4e-6)  # fmt: skip


def extract(records: list[Record], facts: Facts) -> Findings:
    """Queue cost, gap, block start and interval, store cost."""
    found: dict[str, Found] = {}
    if queue := chosen(records, kernel="queue", blocks=1):
        found["launch_cost"] = Found(1e6 * _seconds(queue[0]), "us", f"{QUEUE} empty kernels in a queue")
    if gap := _gap(records):
        found["launch_gap"] = Found(1e6 * gap, "us", "cost of a launch beyond the spinning it does, two lengths")
    start, stored = _per_wave(records, "empty", facts), _per_wave(records, "store_one", facts)
    figures = {"block residence, empty [ns]": start, "block residence, one store [ns]": stored}
    if start:
        found["block_start"] = Found(start[min(start)], "ns", "blocks of one warp that does nothing, one per SM")
    if start and stored:
        found["store_cost"] = Found(stored[min(stored)] - start[min(start)], "ns", "the same blocks with one store")
    many = chosen(records, kernel="empty", resident=0)
    if many:
        interval = min(_seconds(r) / float(r.axes["blocks"]) for r in many)
        found["block_interval"] = Found(1e9 * interval, "ns", "empty blocks, as many resident as fit")
    if single := chosen(records, kernel="single"):
        figures["single empty launch between two events [us]"] = {1: 1e6 * _seconds(single[0])}
    small = [[r.axes["threads"], r.axes["elements"], round(1e6 * _seconds(r), 3)]
             for r in chosen(records, kernel="small_scale")]  # fmt: skip
    return Findings(found, {**figures, "small launches [threads, elements, us]": small})


def _seconds(record: Record) -> float:
    return float(record.value["seconds"])


def _gap(records: list[Record]) -> float | None:
    """Time of a launch extrapolated to no spinning, s; the block's own start and end are in it."""
    spins = {int(r.axes["cycles"]): _seconds(r) for r in chosen(records, kernel="spin")}
    if len(spins) < 2:
        return None
    (short, first), (long, second) = sorted(spins.items())
    return first - (second - first) / (long - short) * short


def _per_wave(records: list[Record], kernel: str, facts: Facts) -> dict[int, float]:
    """Nanoseconds that a block occupies its SM, by threads."""
    return {
        int(r.axes["threads"]): 1e9 * _seconds(r) * facts.sm_count / float(r.axes["blocks"])
        for r in chosen(records, kernel=kernel, resident=1)
    }
