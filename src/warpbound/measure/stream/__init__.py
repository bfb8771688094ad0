"""Device memory under streams: rates over block size and occupancy, and the parameters that explain them."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from warpbound.errors import WarpboundError
from warpbound.machine import Gpu, Quantity
from warpbound.measure.case import Axis, Buffer, Case, Findings, Found, Record, Step, chosen
from warpbound.measure.device import Facts
from warpbound.measure.stream.fitting import SMALLEST, Observed, Sweep, Widest, fitted
from warpbound.measure.suite_sources import kernel_file

ELEMENTS = 1 << 26     # doubles per array: 512 MB, or more where L2 is large
BEYOND = 8             # times L2 at least
HALO = 8
STREAMS = {"init": (0, 1), "read": (1, 0), "scale": (1, 1), "copy": (1, 1), "triad": (2, 1), "stencil3": (1, 1),
           "stencil5": (1, 1)}  # fmt: skip  (arrays read, arrays written)
THREADS = (32, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
FEW_THREADS = (32, 64, 128, 256, 512, 1024)
PERSISTENT_THREADS = (128, 256, 512, 1024)
MIXED_THREADS = (128, 256, 512, 1024)
ROWS = 8                 # of blocks, some of them written
PROPORTIONS = (2, 4, 6)  # of these, at every occupancy
FITTED = ("init", "read", "scale")
FITTED_BLOCKS = (1, 2, 4)  # per SM, where the fit is made
AS_PRINTED = {"block_start": ("ns", 1e9), "store_cost": ("ns", 1e9), "dram_wait_read": ("ns", 1e9),
              "dram_wait_mixed": ("ns", 1e9), "dram_read_capacity": ("GB/s", 1e-9),
              "dram_write_capacity": ("GB/s", 1e-9)}  # fmt: skip


def source() -> str:
    """CUDA C++."""
    return kernel_file(__name__)


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Kernels x block size x blocks per SM, one-shot and persistent; mixtures; the widest read."""
    quick = effort == "quick"
    resident = (1, 2, 4) if quick else (1, 2, 4, 8, 16)
    for kernel in STREAMS:
        for blocks in resident:
            every = kernel in FITTED and blocks in FITTED_BLOCKS or not quick
            for threads in _fitting(THREADS if every else FEW_THREADS, blocks, facts):
                yield _one_shot(kernel, threads, blocks, facts)
            for threads in _fitting((512,) if quick else PERSISTENT_THREADS, blocks, facts):
                yield _persistent(kernel, threads, blocks, facts)
    for written in range(ROWS + 1):
        yield _mixed(written, 512, 0, facts)
        for blocks in resident if written in PROPORTIONS else ():
            for threads in _fitting(MIXED_THREADS, blocks, facts):
                yield _mixed(written, threads, blocks, facts)
    for threads, blocks in ((256, 8), (512, 4), (1024, 2)):
        yield _wide(threads, min(blocks, facts.threads_per_sm // threads), facts)


def elements(facts: Facts) -> int:
    """Doubles per array: little of what one launch leaves in L2 is of use to the next."""
    return max(ELEMENTS, BEYOND * facts.l2_size // 8)


def _fitting(sizes: tuple[int, ...], blocks: int, facts: Facts) -> list[int]:
    return [threads for threads in sizes if threads * blocks <= facts.threads_per_sm]


def _wide(threads: int, blocks: int, facts: Facts) -> Case:
    args = ("b", "a", np.float64(-1.0), np.uint64(elements(facts) // 2))
    step = Step("read_wide", (facts.sm_count * blocks,), threads, args)
    axes: dict[str, Axis] = {"kernel": "read_wide", "threads": threads, "blocks": blocks, "bytes": 8 * elements(facts)}
    return Case(axes, step, "time", _arrays(facts), seconds=4e-4)


def _arrays(facts: Facts) -> tuple[Buffer, ...]:
    return tuple(Buffer(name, 8 * (elements(facts) + HALO), "noise") for name in "abc")


def _args(facts: Facts) -> tuple[str | np.generic, ...]:
    return ("a", "b", "c", np.float64(-1.0), np.uint64(elements(facts)))


def _one_shot(kernel: str, threads: int, blocks: int, facts: Facts) -> Case:
    moved = 8 * elements(facts) * sum(STREAMS[kernel])
    step = Step(kernel, (elements(facts) // threads + 1,), threads, _args(facts), facts.shared_for(blocks), 100)
    warps = threads // 32 * blocks * facts.sm_count
    return Case({"kernel": kernel, "threads": threads, "blocks": blocks, "bytes": moved}, step, "time", _arrays(facts),
                seconds=max(4e-4, elements(facts) / 32 / warps * 7e-7))  # fmt: skip


def _persistent(kernel: str, threads: int, blocks: int, facts: Facts) -> Case:
    moved = 8 * elements(facts) * sum(STREAMS[kernel])
    grid, smem = (facts.sm_count * blocks,), facts.shared_for(blocks)
    step = Step(f"{kernel}_persistent", grid, threads, _args(facts), smem, 100)
    return Case({"kernel": f"{kernel}_persistent", "threads": threads, "blocks": blocks, "bytes": moved},
                step, "time", _arrays(facts), seconds=2e-3)  # fmt: skip


def _mixed(written: int, threads: int, blocks: int, facts: Facts) -> Case:
    """blocks : on an SM at once, 0 for as many as fit."""
    smem, carveout = (facts.shared_for(blocks), 100) if blocks else (0, None)
    step = Step("mixed", (elements(facts) // threads,), threads, (*_args(facts), np.int32(written)), smem, carveout)
    axes: dict[str, Axis] = {"kernel": "mixed", "written": written, "threads": threads, "blocks": blocks,
                             "bytes": 8 * elements(facts)}  # fmt: skip
    return Case(axes, step, "time", _arrays(facts), seconds=6e-4)


def rate(record: Record) -> float:
    """Bytes per second."""
    return float(record.axes["bytes"]) / float(record.value["seconds"])


def extract(records: list[Record], facts: Facts) -> Findings:
    """The best read rate; rates by kernel, size and blocks. The other parameters need latencies: `fit`."""
    table = {
        name: [[r.axes["threads"], r.axes["blocks"], round(rate(r) / 1e9, 1)] for r in chosen(records, kernel=name)]
        for name in (*STREAMS, *(f"{name}_persistent" for name in STREAMS), "read_wide")
    }
    mixed = chosen(records, kernel="mixed")
    mixtures = [[int(r.axes["written"]) / ROWS, round(rate(r) / 1e9, 1)] for r in chosen(mixed, blocks=0)]
    held = {
        f"{written}/{ROWS} written": [
            [r.axes["threads"], r.axes["blocks"], round(rate(r) / 1e9, 1)]
            for r in chosen(mixed, written=written) if r.axes["blocks"]
        ] for written in PROPORTIONS
    }  # fmt: skip
    reads = [rate(r) for name in ("read", "read_persistent", "read_wide", "copy") for r in chosen(records, kernel=name)]
    found = {}
    if reads:
        found["dram_achievable_bandwidth"] = Found(max(reads) / 1e9, "GB/s", "the best of reads and copies")
    return Findings(found, {"rates": table, "share_written": mixtures, "mixed [threads, blocks, GB/s]": held})


def fit(records: list[Record], board: Gpu) -> Findings:
    """design's parameters of blocks and device memory; `board` has the measured latencies.

    Everything is fitted to init, read and scale and to the widest read, and judged on the other kernels.
    """
    sweeps = [sweep for name in FITTED for blocks in FITTED_BLOCKS if (sweep := _sweep(records, name, blocks))]
    wide = [Widest(float(r.axes["threads"]) / 32 * float(r.axes["blocks"]), rate(r))
            for r in chosen(records, kernel="read_wide")]  # fmt: skip
    if {sweep.kernel for sweep in sweeps} != set(FITTED):
        return Findings()
    clock = float(np.median([r.clock_Hz for r in records]))
    try:
        best = fitted(Observed(board, clock, tuple(sweeps), tuple(wide[-1:])))
    except WarpboundError as failed:
        return Findings({}, {"not fitted": str(failed)})
    note = "fitted to init, read and scale with one to four blocks per SM and to the widest read"
    found = {}
    for name, value in best.values.items():
        unit, factor = AS_PRINTED.get(name, ("1", 1.0))
        found[name] = Found(value * factor, unit, note, best.standard_errors[name])
    return Findings(found, {"mean error of the fit": {name: round(error, 4) for name, error in best.errors.items()}})


def _sweep(records: list[Record], kernel: str, blocks: int) -> Sweep | None:
    mine = [r for r in chosen(records, kernel=kernel, blocks=blocks) if int(r.axes["threads"]) >= 32 * SMALLEST]
    if not mine:
        return None
    warps = np.array([float(r.axes["threads"]) / 32 for r in mine])
    return Sweep(kernel, blocks, warps, np.array([rate(r) for r in mine]))


def with_values(board: Gpu, found: dict[str, Found], source_name: str) -> Gpu:
    """The board with measured parameters in place."""
    fresh = {n: Quantity(f.value, f.unit, source_name, "measured", f.note) for n, f in found.items()}
    return replace(board, parameters={**board.parameters, **fresh})
