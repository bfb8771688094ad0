"""The twelve micro-benchmarks run by the simulator, as the table that the regressions are fitted to."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from warpbound.machine import Gpu
from warpbound.model_inputs.partition_benchmarks import COLUMNS, Benchmarks, parse
from warpbound.models.campprof_2011 import active_warps
from warpbound.simulate.partition_patterns import ITERATIONS, LOOP_CYCLES, MICROS, Micro, micro
from warpbound.simulate.partitions import Machine, machine_of, simulate

Row = tuple[str, int, str, int, float, int]


def axis(gpu: Gpu) -> tuple[int, ...]:
    """Numbers of active warps per SM in the paper's runs: 24 on compute capability 1.2 and 1.3."""
    rules = gpu.limits
    return active_warps(rules.max_warps_per_sm, rules.max_threads_per_block // 32)


def runs(
    machine: Machine, warps: Sequence[int], micros: Sequence[Micro] = MICROS
) -> Iterator[tuple[str, Iterator[Row]]]:
    """(Name of the run, a row for each number of warps) of every micro-benchmark."""
    for kind in micros:
        pattern = "camped" if kind.camped else "spread"
        yield f"{kind.operation}s of {kind.transaction} B, {pattern}", _rows(machine, warps, kind, pattern)


def _rows(machine: Machine, warps: Sequence[int], kind: Micro, pattern: str) -> Iterator[Row]:
    for count in warps:
        accesses, per_sm = micro(kind, count, machine)
        seconds = simulate(accesses, machine, per_sm).seconds
        yield kind.operation, kind.word, pattern, count, seconds, len(accesses.address)


def simulated(gpu: Gpu) -> Benchmarks:
    """All of them run on the board as it is set: seconds where Numba is installed, else minutes. InputError for a board
    whose partitions are not known."""
    return parse(table(gpu, rows_of(gpu)), f"simulated runs of {gpu.name}")


def rows_of(gpu: Gpu) -> Iterator[Row]:
    """Rows of all runs of `simulated`."""
    return chain.from_iterable(each for _, each in runs(machine_of(gpu), axis(gpu)))


def table(gpu: Gpu, rows: Iterable[Row]) -> str:
    """The file, with how it was made."""
    machine = machine_of(gpu)
    comments = (
        f"CampProf's micro-benchmarks on {gpu.name}: simulated, not measured.",
        f"Made by `warpbound campprof simulate --gpu {gpu.key}`.",
        f"{machine.partitions} partitions of {machine.width} B in turn, {machine.bandwidth / 1e9:.1f} GB/s in all, "
        f"{machine.transit * 1e9:.1f} ns on the way without queueing,",
        f"{machine.sm_count} SMs at {machine.clock / 1e6:.0f} MHz, {machine.port_cycles:.2f} cycles between two "
        f"transactions of an SM, {machine.in_flight} of them in flight.",
        f"{ITERATIONS} accesses of two half-warps by every warp, {LOOP_CYCLES} cycles of arithmetic before each.",
        "transactions: of the whole chip. time_s: from the first block's start to the last reply.",
    )
    lines = [f"# {line}" for line in comments] + [",".join(COLUMNS)]
    for operation, word, pattern, warps, seconds, count in rows:
        lines.append(f"{operation},{word},{pattern},{warps},{seconds:.9e},{count}")
    return "\n".join(lines) + "\n"
