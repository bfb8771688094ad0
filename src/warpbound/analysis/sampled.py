"""Sampled blocks of a launch are executed, and their addresses go through simulated caches."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from warpbound.analysis.case import Case, product
from warpbound.analysis.longest_block import with_longest_stream
from warpbound.analysis.working_blocks import Execute, WorkingBlocks, working_blocks
from warpbound.distinct_values import distinct, distinct_without
from warpbound.emulate import Trace
from warpbound.emulate import trace as execute_blocks
from warpbound.emulate.launch_memory import waits_for_grid
from warpbound.emulate.limits import PATIENCE_S, Limits
from warpbound.emulate.sample_coverage import skips_all_loops
from warpbound.emulate.value_dependence import draws_work_from_counter
from warpbound.kernel_launch import Dim, Launch
from warpbound.memory import hierarchy
from warpbound.memory.flushed_caches import DIRTY, FLUSHED, after_others
from warpbound.memory.hierarchy import Facts
from warpbound.memory.sampled_accesses import Spaces
from warpbound.memory.traffic import How, asked_for, traffic_error, traffic_with_errors
from warpbound.memory.traffic_counts import Traffic
from warpbound.program import Program
from warpbound.workload.dynamic import (
    Sample,
    end_block_ratio,
    every_block,
    probe_deviation,
    representative_executions,
    sampling_error,
    weighted_by_class,
)
from warpbound.workload.dynamic import sample as choose_blocks

MORE_BLOCKS = (0, 48, 200)  # blocks added to the sample, step by step, while counts differ, or data make them differ
PROBES = 4  # more blocks all over the grid, only to compare their work with the first sample's
LIGHT_INSTRUCTIONS = 400_000  # warp instructions that they may take: a tenth of a second
ACCEPTED_ERROR = 0.05  # standard error of the extrapolated counts at which the sample is large enough
ENOUGH_INSTRUCTIONS = 2_000_000  # warp instructions after which the sample is not enlarged: about a second
MOST_BLOCKS = 1 << 14  # of the largest grid that is executed whole if its blocks draw work or wait for each other
LATER = 8  # of a larger grid: blocks that start when those that the GPU holds at once have drawn, beside these
Follow = Callable[[Program, Trace, Facts, How, Spaces], Traffic]
LEFT_BY_OTHERS = {"flushed": FLUSHED, "dirty": DIRTY}  # states in which changed lines in L2 at the end are not written
WAITED = "blocks wait for what other blocks write: waiting takes no time here, and its polls are those of the emulator"


def run_sample(
    case: Case, launch: Launch, execute: Execute | None = None, follow: Follow | None = None
) -> tuple[Trace, Sample, Traffic | None]:
    """Trace of the executed blocks, the sample and its traffic; no traffic where a block could not be executed.

    execute : the emulator, by default within the limits of the settings; a caller with several cases that differ only
    in their caches may give one with a memory. follow : what follows the addresses through the caches, by default with
    errors from sampling, which take twice as long as the rest.
    """
    follow = follow or traffic_with_errors
    execute = execute or partial(execute_blocks, limits=_limits(case))
    working = working_blocks(case, launch, execute)
    execute, grid = working.execute(launch, execute), working.grid
    blocks = product(grid)
    draws, at_once = draws_work_from_counter(case.program), fit_at_once(case)
    draws_blocks = draws and blocks <= max(MOST_BLOCKS, waits_for_grid(case.program) * at_once)
    if draws:
        execute = partial(execute, at_once=at_once)
    if draws and blocks > MOST_BLOCKS >= at_once and not draws_blocks:
        run = _drawing(case, launch, execute, follow, blocks)
        if run is not None:
            return run

    def whole() -> Sample:
        return _of_working(replace(every_block(blocks), of_class=working.of_class), working)

    for step, more in enumerate(MORE_BLOCKS):
        selection = _chosen_blocks(case, grid, more)
        sample = weighted_by_class(selection, working.of_class, working.length, working.lanes)
        few = draws_blocks or blocks <= 2 * (len(sample.blocks) + PROBES)
        sample = whole() if few else _of_working(sample, working)
        trace = execute(case.program, launch, sample.blocks.tolist())
        if trace.waited and len(sample.blocks) < blocks <= MOST_BLOCKS:
            sample = whole()
            trace = execute(case.program, launch, sample.blocks.tolist())
            trace = replace(trace, notes=(*trace.notes, WAITED))
        if trace.stopped:
            return trace, sample, None
        requests = asked_for(case.program, trace, cache_facts(case), cache_settings(case, sample))
        error = _error(case, trace, sample, requests)
        steady = error is None or error <= ACCEPTED_ERROR
        steady &= step > 0 or not (
            not sample.exact
            and (data_dependent_branches(trace) or _may_differ(case, launch, (trace, sample), execute))
        )
        if steady or len(trace.blocks) == trace.of_blocks or trace.executed.sum() > ENOUGH_INSTRUCTIONS:
            break
    traffic = follow(case.program, trace, cache_facts(case), cache_settings(case, sample), requests)
    if not draws:
        trace = with_longest_stream(case.program, launch, (trace, sample), execute)
    return trace, sample, replace(_after_others(case, traffic), sampling_error=error)


def _drawing(
    case: Case, launch: Launch, execute: Execute, follow: Follow, blocks: int
) -> tuple[Trace, Sample, Traffic | None] | None:
    """The run of blocks that draw work from a counter: all that the GPU holds at once, and a few of the later ones.

    Those that start first draw until nothing is left, if they draw more than once; then the later ones find nothing.
    None where one does not end.
    """
    first = fit_at_once(case)
    later = distinct(np.linspace(first, blocks - 1, LATER).astype(np.int64))
    weights = np.concatenate([np.ones(first), np.full(len(later), (blocks - first) / len(later))])
    of_class = np.repeat([0, 1], [first, len(later)])
    sample = Sample(np.concatenate([np.arange(first), later]), weights, of_class, grid=launch.grid)
    trace = execute(case.program, launch, sample.blocks.tolist())
    if trace.stopped:
        return None
    requests = asked_for(case.program, trace, cache_facts(case), cache_settings(case, sample))
    traffic = follow(case.program, trace, cache_facts(case), cache_settings(case, sample), requests)
    return trace, sample, replace(_after_others(case, traffic), sampling_error=_error(case, trace, sample, requests))


def _after_others(case: Case, traffic: Traffic) -> Traffic:
    """The traffic of a launch that finds others' lines in L2, where that state is asked for."""
    others = LEFT_BY_OTHERS.get(case.settings.cache)
    if others is None:
        return traffic
    last = max((instruction.address for instruction in case.program.instructions), default=0)
    return after_others(traffic, cache_facts(case).l2_bytes, last, others)


def _limits(case: Case) -> Limits:
    settings = case.settings
    patience_s = PATIENCE_S if settings.patience_s is None else settings.patience_s
    return Limits(patience_s, settings.out_of_bounds, settings.failed_assertions)


def _of_working(sample: Sample, working: WorkingBlocks) -> Sample:
    """The sample, with the facts about all blocks from which it is taken."""
    sample = replace(sample, grid=working.grid, idle=working.idle, exact=working.exact)
    if working.exact and len(distinct(sample.of_class)) == len(working.length):
        sample = replace(sample, length=None)  # no class lies between others: each has blocks that do what it does
    return replace(sample, of_grid=working.of_class, class_length=working.length.astype(np.float64))


def _may_differ(case: Case, launch: Launch, run: tuple[Trace, Sample], execute: Execute) -> bool:
    """Whether blocks outside the sample may do more or less than those in it."""
    trace, sample = run
    return (
        skips_all_loops(case.program, representative_executions(trace, sample))
        or end_block_ratio(trace, sample) > 1 + ACCEPTED_ERROR
        or _difference_elsewhere(case, launch, run, execute) > ACCEPTED_ERROR
    )


def _chosen_blocks(case: Case, grid: Dim, more: int) -> Sample:
    return choose_blocks(grid, case.residency.blocks_per_sm, int(case.gpu.value("sm_count")), more)


def _difference_elsewhere(case: Case, launch: Launch, run: tuple[Trace, Sample], execute: Execute) -> float:
    """Difference in work between the sample and a few blocks from all over the grid, a fraction; 0 where those blocks
    would take long or one of them does not end."""
    trace, sample = run
    more = distinct_without(_chosen_blocks(case, sample.grid or launch.grid, PROBES).blocks, sample.blocks)
    if not len(more) or trace.executed.sum() / len(trace.blocks) * len(more) > LIGHT_INSTRUCTIONS:
        return 0.0
    probe = execute(case.program, launch, more.tolist())
    return 0.0 if probe.stopped else probe_deviation(trace, sample, probe)


def _error(case: Case, trace: Trace, sample: Sample, requests: Spaces) -> float | None:
    """The larger relative standard error: of the instructions or of the traffic of the launch."""
    both = traffic_error(trace, cache_settings(case, sample), requests), sampling_error(trace, sample)
    return max((error for error in both if error is not None), default=None)


def fit_at_once(case: Case) -> int:
    """Blocks that all SMs together hold."""
    return case.residency.blocks_per_sm * int(case.gpu.value("sm_count"))


def data_dependent_branches(trace: Trace) -> bool:
    """Whether branches depend on the contents of arrays, so that a few similar blocks do not represent the others."""
    return any(note.startswith("branches") for note in (*trace.notes, *trace.unknown))


def state_at_start(cache: str) -> str:
    """Warm or cold, of a state in Settings."""
    return "cold" if cache in LEFT_BY_OTHERS else cache


def cache_settings(case: Case, sample: Sample) -> How:
    """State of the caches at the start, the weight of each sampled block, and the grid."""
    grid = sample.grid or (case.launch.grid if case.launch else None)
    of_class = np.broadcast_to(sample.of_class, sample.blocks.shape)
    cache = state_at_start(case.settings.cache)
    return How(
        cache=cache, weights=sample.weights, grid=grid, of_class=of_class, length=sample.length,
        persisting=case.launch.persist if case.launch else None,
    )  # fmt: skip


def cache_facts(case: Case) -> Facts:
    """The caches during the launch: L1 has what shared memory of the resident blocks leaves free."""
    resident = case.residency.blocks_per_sm
    shared_bytes = shared_per_block(case) * resident
    return hierarchy.facts(case.gpu, resident, shared_bytes, case.launch.carveout if case.launch else None)


def shared_per_block(case: Case) -> int:
    """Shared memory of a block in bytes, with the part that the system reserves."""
    reserved = case.gpu.limits.reserved_shared_per_block
    return case.program.shared_bytes + (case.launch.smem if case.launch else 0) + reserved
