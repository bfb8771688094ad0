"""Variants of a kernel that are worth trying, by its answer.

Models   A change that acts on one resource alone is tried where a what-if of that resource promises a gain: loads past
         L1, carve-outs, unrolled loops by more than the least factor. Fast mathematics is tried where the kernel has
         instructions that it replaces.
"""

from collections.abc import Iterator, Sequence

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

FACTORS = (2, 4, 8)  # factors by which loops are unrolled
OF_L1, PAST_L1 = ("carve-out", "for L1"), ("past L1",)  # words of what-ifs
OF_ROUNDS = ("loads in flight", "fewer instructions", "load and store instructions", "fewer integer")
SPREAD = 1.5         # sectors over those that would hold the bytes, from which on other axes are tried
MORE_BLOCKS = 2      # additional resident blocks that launch bounds request
LEAST_REGISTERS = 24
SECTOR_B, AGAIN = 32, 1.2  # bytes of a sector; times that bytes come from L2, from which on carve-outs are tried
UNROLLED_MOST = 2    # loops, those whose lines cost most


def candidates(
    question: Question, program: Program, board: Gpu, entry: KernelResult, residency: Residency
) -> list[Variant]:
    """Every variant that may help, the most promising first, without those that the answer rules out."""
    kernel = kernel_source(question.text, program.title)
    source = list(_of_the_source(question, kernel, board, entry, residency)) if kernel is not None else []
    axes = [axis for axis, name in enumerate("xy") if kernel is None or f"blockDim.{name}" in words(kernel.node)]
    more = [
        *launch_variants.block_sizes(question, program, axes),
        *(launch_variants.carveouts(question, board) if _reads_again(entry) and _promised(entry, OF_L1) else ()),
        *(l2_policy.windows(question, board) if l2_policy.reads_dram_again(entry, board) else ()),
        *(
            each for each in launch_variants.compiler_options(question, () if source else _register_limits(residency))
            if each.mechanism != launch_variants.FAST_MATH or _special(entry)
        ),
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
    if _reads_again(entry) and _promised(entry, PAST_L1):
        yield from past_l1(question, kernel)
    if l2_policy.reads_dram_again(entry, board):
        yield from l2_policy.streamed(question, kernel, board)
    factors = FACTORS if _promised(entry, OF_ROUNDS) else FACTORS[:1]
    yield from _hottest(unrolled(question, kernel, factors), entry)
    yield from thread_rewrites.launch_bounds(question, kernel, _least_blocks(residency))


def _reads_again(entry: KernelResult) -> bool:
    """Whether a larger L1 may save reads of L2."""
    memory = entry.memory
    read_B, distinct_B = SECTOR_B * (memory.l2_sectors_read or 0.0), memory.touched_bytes or 0.0
    return bool(memory.l1_sectors_load) and read_B > AGAIN * distinct_B


def _promised(entry: KernelResult, words: Sequence[str]) -> bool:
    """Whether a what-if of a kind, by its words, is worth a line."""
    return any(word in each.change for each in entry.whatifs for word in words)


def _special(entry: KernelResult) -> bool:
    """Whether special functions or FP64 instructions, which stand in divisions too, are executed."""
    return any(entry.instructions.by_pipe.get(pipe, 0.0) > 0 for pipe in ("xu", "fp64"))


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
