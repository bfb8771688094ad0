"""Bandwidth of device memory under streams, over block size and occupancy, and the parameters that explain it."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from warpbound.board_parameters import PARAMETERS, UNITS
from warpbound.errors import WarpboundError
from warpbound.machine import Gpu, Quantity
from warpbound.measure.case import Axis, Buffer, Case, Estimate, Findings, Record, Step, column, curve, matching
from warpbound.measure.device import Facts
from warpbound.measure.kernel_text import kernel_file
from warpbound.measure.stream.fitting import SMALLEST, Observed, Sweep, Widest, fit_streams

ELEMENTS = 1 << 26     # least doubles per array: 512 MB
BEYOND = 8             # least multiple of L2
HALO = 8
STREAMS = {"init": (0, 1), "read": (1, 0), "scale": (1, 1), "copy": (1, 1), "triad": (2, 1), "stencil3": (1, 1),
           "stencil5": (1, 1)}  # fmt: skip  (arrays read, arrays written)
THREADS = (32, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
FEW_THREADS = (32, 64, 128, 256, 512, 1024)
PERSISTENT_THREADS = (128, 256, 512, 1024)
MIXED_THREADS = (128, 256, 512, 1024)
ROWS = 8                 # period of blocks in the mixture, some of which write
PROPORTIONS = (2, 4, 6)  # of these, at every occupancy
FITTED = ("init", "read", "scale")
FITTED_BLOCKS = (1, 2, 4)  # per SM


def source() -> str:
    """CUDA C++."""
    return kernel_file(__name__)


def cases(facts: Facts, effort: str) -> Iterator[Case]:
    """Kernels x block size x blocks per SM, one-shot and persistent; mixtures; the widest read."""
    quick = effort == "quick"
    resident = (1, 2, 4) if quick else (1, 2, 4, 8, 16)
    for kernel in STREAMS:
        for blocks in resident:
            all_sizes = kernel in FITTED and blocks in FITTED_BLOCKS or not quick
            for threads in _fitting(THREADS if all_sizes else FEW_THREADS, blocks, facts):
                yield _one_shot(kernel, threads, blocks, facts)
            for threads in _fitting((512,) if quick else PERSISTENT_THREADS, blocks, facts):
                yield _persistent(kernel, threads, blocks, facts)
    for stores in range(ROWS + 1):
        yield _mixed(stores, 512, 0, facts)
        for blocks in resident if stores in PROPORTIONS else ():
            for threads in _fitting(MIXED_THREADS, blocks, facts):
                yield _mixed(stores, threads, blocks, facts)
    for threads, blocks in ((256, 8), (512, 4), (1024, 2)):
        yield _wide(threads, min(blocks, facts.threads_per_sm // threads), facts)


def elements(facts: Facts) -> int:
    """Doubles per array: enough that the next launch finds little of the data in L2."""
    return max(ELEMENTS, BEYOND * facts.l2_size // 8)


def _fitting(sizes: tuple[int, ...], blocks: int, facts: Facts) -> list[int]:
    return [threads for threads in sizes if threads * blocks <= facts.threads_per_sm]


def _case(axes: dict[str, Axis], arrays_moved: int, step: Step, facts: Facts, seconds: float) -> Case:
    buffers = tuple(Buffer(name, 8 * (elements(facts) + HALO), "noise") for name in "abc")
    return Case({**axes, "bytes": 8 * elements(facts) * arrays_moved}, step, "time", buffers, seconds=seconds)


def _args(facts: Facts) -> tuple[str | np.generic, ...]:
    return ("a", "b", "c", np.float64(-1.0), np.uint64(elements(facts)))


def _wide(threads: int, blocks: int, facts: Facts) -> Case:
    args = ("b", "a", np.float64(-1.0), np.uint64(elements(facts) // 2))
    step = Step("read_wide", (facts.sm_count * blocks,), threads, args)
    return _case({"kernel": "read_wide", "threads": threads, "blocks": blocks}, 1, step, facts, 4e-4)


def _one_shot(kernel: str, threads: int, blocks: int, facts: Facts) -> Case:
    step = Step(kernel, (elements(facts) // threads + 1,), threads, _args(facts), facts.shared_for(blocks), 100)
    seconds = max(4e-4, elements(facts) / 32 / (threads // 32 * blocks * facts.sm_count) * 7e-7)
    axes: dict[str, Axis] = {"kernel": kernel, "threads": threads, "blocks": blocks}
    return _case(axes, sum(STREAMS[kernel]), step, facts, seconds)


def _persistent(kernel: str, threads: int, blocks: int, facts: Facts) -> Case:
    name, grid = f"{kernel}_persistent", (facts.sm_count * blocks,)
    step = Step(name, grid, threads, _args(facts), facts.shared_for(blocks), 100)
    axes: dict[str, Axis] = {"kernel": name, "threads": threads, "blocks": blocks}
    return _case(axes, sum(STREAMS[kernel]), step, facts, 2e-3)


def _mixed(stores: int, threads: int, blocks: int, facts: Facts) -> Case:
    """blocks : resident on an SM, 0 for as many as fit."""
    smem, carveout = (facts.shared_for(blocks), 100) if blocks else (0, None)
    step = Step("mixed", (elements(facts) // threads,), threads, (*_args(facts), np.int32(stores)), smem, carveout)
    return _case({"kernel": "mixed", "written": stores, "threads": threads, "blocks": blocks}, 1, step, facts, 6e-4)


def rate(record: Record) -> float:
    """Bytes per second."""
    return record.number("bytes") / record.number("seconds")


def _gigabytes(record: Record) -> float:
    return rate(record) / 1e9


def extract(records: list[Record], facts: Facts) -> Findings:
    """The best read rate; rates by kernel, size and blocks. The other parameters need latencies: `fit`."""
    table = {
        name: curve(matching(records, kernel=name), "threads", "blocks", (_gigabytes, 1))
        for name in (*STREAMS, *(f"{name}_persistent" for name in STREAMS), "read_wide")
    }
    mixed = matching(records, kernel="mixed")
    mixtures = [[int(r.axes["written"]) / ROWS, round(_gigabytes(r), 1)] for r in matching(mixed, blocks=0)]
    limited = [r for r in mixed if r.axes["blocks"]]
    by_occupancy = {f"{stores}/{ROWS} written": curve(matching(limited, written=stores), "threads", "blocks",
                                                       (_gigabytes, 1)) for stores in PROPORTIONS}  # fmt: skip
    reads = [_gigabytes(r) for name in ("read", "read_persistent", "read_wide", "copy")
             for r in matching(records, kernel=name)]  # fmt: skip
    best = {"dram_achievable_bandwidth": Estimate(max(reads), "GB/s", "the best of reads and copies")} if reads else {}
    figures = {"rates": table, "share_written": mixtures, "mixed [threads, blocks, GB/s]": by_occupancy}
    return Findings(best, figures)


def fit(records: list[Record], board: Gpu) -> Findings:
    """Parameters of blocks and device memory; `board` has the measured latencies.

    The fit takes init, read, scale and the widest read; the other kernels judge it.
    """
    sweeps = [sweep for name in FITTED for blocks in FITTED_BLOCKS if (sweep := _sweep(records, name, blocks))]
    wide = [Widest(r.number("threads") / 32 * r.number("blocks"), rate(r))
            for r in matching(records, kernel="read_wide")]  # fmt: skip
    if {sweep.kernel for sweep in sweeps} != set(FITTED):
        return Findings()
    clock = float(np.median([r.clock_Hz for r in records]))
    try:
        best = fit_streams(Observed(board, clock, tuple(sweeps), tuple(wide[-1:])))
    except WarpboundError as error:
        return Findings({}, {"not fitted": str(error)})
    note = "fitted to init, read and scale with one to four blocks per SM and to the widest read"
    parameters = {}
    for name, value in best.values.items():
        unit = PARAMETERS[name].units[0]
        parameters[name] = Estimate(value / UNITS[unit], unit, note, best.standard_errors[name])
    errors = {name: round(error, 4) for name, error in best.errors.items()}
    return Findings(parameters, {"mean error of the fit": errors})


def _sweep(records: list[Record], kernel: str, blocks: int) -> Sweep | None:
    sweep = [r for r in matching(records, kernel=kernel, blocks=blocks) if int(r.axes["threads"]) >= 32 * SMALLEST]
    return Sweep(kernel, blocks, column(sweep, "threads") / 32, np.array([rate(r) for r in sweep])) if sweep else None


def with_values(board: Gpu, estimates: dict[str, Estimate], source_name: str) -> Gpu:
    """The board with measured parameters in place."""
    fresh = {n: Quantity(x.value, x.unit, source_name, "measured", x.note) for n, x in estimates.items()}
    return replace(board, parameters={**board.parameters, **fresh})
