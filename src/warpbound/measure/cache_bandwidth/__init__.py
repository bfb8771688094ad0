"""Bandwidth of L1 and L2 over the size of what is read again and again; writing against reading."""

from collections.abc import Iterator

import numpy as np

from warpbound.measure.case import Axis, Buffer, Case, Findings, Found, Record, Step, chosen, stamps_of
from warpbound.measure.device import Facts
from warpbound.measure.texts import kernel_file

PIECE = 16
PASS = 4 * PIECE       # bytes of one thread in one turn
L1_SIZES = tuple((16 << 10) * k for k in (1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 32))  # multiples of a turn's 64 KiB
L1_THREADS = 256
L2_THREADS = 512
READ_AGAIN = 256 << 10  # bytes that a block reads at least


def source() -> str:
    """CUDA C++."""
    return kernel_file(__name__)


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Own working sets per SM through L1, shared ones through L2, read and written."""
    for size in L1_SIZES if effort == "full" else L1_SIZES[::2]:
        for blocks in [b for b in (1, 2, 4) if size % (b * PASS * L1_THREADS) == 0]:
            yield _case("sweep_l1", size // blocks // (PASS * L1_THREADS) * PASS * L1_THREADS, blocks, facts)
    per_octave = 1 if effort == "quick" else 3
    steps = int(per_octave * np.log2(4 * facts.l2_size / (1 << 20)))
    for kernel in ("sweep_l2", "sweep_write"):
        for step in range(steps + 1):
            size = int((1 << 20) * 2 ** (step / per_octave)) // (PASS * L2_THREADS) * PASS * L2_THREADS
            yield _case(kernel, size, 2, facts)


def _case(kernel: str, size: int, blocks: int, facts: Facts) -> Case:
    """size : of one block's working set through L1, of everybody's through L2; a multiple of one turn."""
    private = kernel == "sweep_l1"
    threads = L1_THREADS if private else L2_THREADS
    size = max(size, PASS * threads)
    grid = blocks * facts.sm_count
    rounds = max(1, -(-(16 if private else 4) * READ_AGAIN // size)) + 1
    room = size * grid if private else size
    axes: dict[str, Axis] = {"kernel": kernel, "size": size, "blocks": blocks, "bytes": size * rounds * blocks}
    args = ("stamps", "data", np.uint32(size // PIECE), np.uint32(size // PIECE if private else 0), np.int32(rounds))
    step = Step(kernel, (grid,), threads, args, 0, 0 if private else None)
    seconds = max(5e-5, size * rounds * grid / 3e12)
    return Case(axes, step, "stamps", (Buffer("data", room, "zeros"), stamps_of(step.warps)), seconds=seconds)


def per_cycle(record: Record) -> float:
    """Bytes per cycle and SM."""
    return float(record.axes["bytes"]) / float(record.value["duration"])


def extract(records: list[Record], facts: Facts) -> Findings:
    """Peaks of L1 and L2; the time of a written sector in units of one read."""
    figures = {
        kernel: [[r.axes["size"], r.axes["blocks"], round(per_cycle(r), 2)] for r in chosen(records, kernel=kernel)]
        for kernel in ("sweep_l1", "sweep_l2", "sweep_write")
    }
    found: dict[str, Found] = {}
    if l1 := chosen(records, kernel="sweep_l1"):
        found["l1_bandwidth"] = Found(max(map(per_cycle, l1)), "B/cycle/SM", "16 B per thread, the best size")
    inside = [r for r in records if r.axes["kernel"] != "sweep_l1" and float(r.axes["size"]) <= facts.l2_size / 2]
    reads, writes = chosen(inside, kernel="sweep_l2"), chosen(inside, kernel="sweep_write")
    if reads:
        best = max(per_cycle(r) * r.clock_Hz for r in reads) * facts.sm_count
        found["l2_bandwidth"] = Found(best / 1e9, "GB/s", "16 B per thread past L1, at the clock observed")
    if reads and writes:
        cost = max(map(per_cycle, reads)) / max(map(per_cycle, writes))
        found["l2_write_cost"] = Found(cost, "1", "best read rate over best write rate of L2")
    return Findings(found, figures)
