"""Which variants of a kernel are worth trying, by what its answer says."""

from collections.abc import Iterator

from warpbound.advice import l2_policy, launch_variants, thread_rewrites
from warpbound.advice.array_rewrites import hoisted, padded, restricted, summed_in_register, unrolled
from warpbound.advice.loop_rewrites import interchanged, past_l1
from warpbound.advice.staging import staged
from warpbound.advice.syntax import KernelSource, kernel_source, words
from warpbound.advice.variant import Question, Variant
from warpbound.advice.vector_rewrite import vectorised
from warpbound.machine import Gpu
from warpbound.program import Program
from warpbound.residency import Residency
from warpbound.result.kernel import KernelResult

FACTORS = (2, 4, 8)  # of unrolled loops
SPREAD = 1.5         # times the sectors that would hold the bytes, from which on other axes are tried
MORE_BLOCKS = 2      # resident blocks beyond those of now that launch bounds ask for
LEAST_REGISTERS = 24
SECTOR_B, AGAIN = 32, 1.2  # bytes of a sector; times that bytes come from L2, from which on carve-outs are tried
UNROLLED_MOST = 2    # loops, those whose lines cost most


def candidates(
    question: Question, program: Program, board: Gpu, entry: KernelResult, residency: Residency
) -> list[Variant]:
    """Every variant that may help, the surest first; what the answer rules out is left out."""
    kernel = kernel_source(question.text, program.title)
    source = list(_of_the_source(question, kernel, board, entry, residency)) if kernel is not None else []
    axes = [axis for axis, name in enumerate("xy") if kernel is None or f"blockDim.{name}" in words(kernel.node)]
    more = [
        *launch_variants.block_sizes(question, program, axes),
        *(launch_variants.carveouts(question, board) if _reads_again(entry) else ()),
        *(l2_policy.windows(question, board) if l2_policy.reads_dram_again(entry, board) else ()),
        *launch_variants.compiler_options(question, () if source else _register_limits(residency)),
        *launch_variants.compilers(question),
    ]
    return [*source, *more]


def _of_the_source(
    question: Question, kernel: KernelSource, board: Gpu, entry: KernelResult, residency: Residency
) -> Iterator[Variant]:
    memory = entry.memory
    if (memory.shared_conflict_wavefronts or 0.0) > 0:
        yield from padded(question, kernel)
    if _spread(entry) > SPREAD:
        yield from thread_rewrites.swapped_axes(question, kernel)
    yield from staged(question, kernel)
    yield from interchanged(question, kernel)
    yield from summed_in_register(question, kernel)
    yield from hoisted(question, kernel)
    yield from vectorised(question, kernel)
    yield from restricted(question, kernel)
    if _reads_again(entry):
        yield from past_l1(question, kernel)
    if l2_policy.reads_dram_again(entry, board):
        yield from l2_policy.streamed(question, kernel, board)
    yield from _hottest(unrolled(question, kernel, FACTORS), entry)
    yield from thread_rewrites.launch_bounds(question, kernel, _least_blocks(residency))


def _reads_again(entry: KernelResult) -> bool:
    """Whether a larger L1 may save reads of L2."""
    memory = entry.memory
    read_B, distinct_B = SECTOR_B * (memory.l2_sectors_read or 0.0), memory.touched_bytes or 0.0
    return bool(memory.l1_sectors_load) and read_B > AGAIN * distinct_B


def _spread(entry: KernelResult) -> float:
    """Most sectors that a global access takes, over those that would hold its bytes."""
    spreads = [
        access.sectors / access.ideal_sectors
        for access in entry.accesses
        if access.space == "global" and access.sectors and access.ideal_sectors
    ]
    return max(spreads, default=1.0)


def _hottest(variants: Iterator[Variant], entry: KernelResult) -> Iterator[Variant]:
    """The variants of the loops whose lines cost a warp most."""
    every = list(variants)
    lines = {row.line: row.cycles for row in entry.lines if row.line}
    starts = sorted({variant.line for variant in every if variant.line})
    ends = dict(zip(starts, [*starts[1:], 10**9], strict=False))
    cost = {start: sum(cycles for at, cycles in lines.items() if start <= at < ends[start]) for start in starts}
    hottest = sorted(starts, key=lambda start: -cost[start])[:UNROLLED_MOST]
    return (variant for variant in every if variant.line in hottest)


def _least_blocks(residency: Residency) -> tuple[int | None, ...]:
    """The block size alone; where registers limit residency, more blocks per SM too."""
    if "registers" not in residency.limiters:
        return (None,)
    others = min((count for name, count in residency.block_limits.items() if name != "registers"), default=0)
    first = residency.fitting_blocks_per_sm + 1
    return (None, *range(first, min(others, residency.fitting_blocks_per_sm + MORE_BLOCKS) + 1))


def _register_limits(residency: Residency) -> tuple[int, ...]:
    """The registers with which one block more fits."""
    steps = [step.to for step in residency.next_step if step.change == "registers"]
    return tuple(step // 8 * 8 for step in steps if step >= LEAST_REGISTERS)
