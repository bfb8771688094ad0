"""Work from sampled blocks: the kernel executed, its addresses followed through the caches."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from warpbound.analysis.case import WARP, Case, product
from warpbound.analysis.hot_address import hottest_updates
from warpbound.analysis.observed import Observed, code_notes, instructions_per_cycle, loads_in_flight
from warpbound.analysis.partition_traffic import partition_traffic
from warpbound.analysis.static import Piece, Work, addresses_known, with_start
from warpbound.emulate import Trace, trace
from warpbound.emulate.dependence import draws_work
from warpbound.emulate.launch_memory import waits_for_grid
from warpbound.emulate.unseen import warning
from warpbound.isa.limits import limits
from warpbound.kernel_launch import Launch
from warpbound.latency import DRAM, LEVELS, NEAREST, Shares, waits
from warpbound.memory import hierarchy
from warpbound.memory.address_arithmetic import LOCAL, SPACES
from warpbound.memory.hierarchy import Facts
from warpbound.memory.predicted import Access, Predicted
from warpbound.memory.records import Traffic
from warpbound.memory.traffic import How, traffic
from warpbound.program import Program
from warpbound.program.instruction import Instruction
from warpbound.whatif import Alternative
from warpbound.workload import Memory
from warpbound.workload.dynamic import (
    Sample,
    every_block,
    executed_work,
    mean_per_warp,
    sample,
    sampling_error,
    time_of_stream,
    timed_stream,
    trip_counts,
)
from warpbound.workload.static import iterations

Execute = Callable[[Program, Launch, list[int]], Trace]
SECTOR_B = 32
MORE_BLOCKS = (0, 48, 200)  # blocks added to the sample, step by step, while counts differ, or data make them differ
ACCEPTED_ERROR = 0.05  # standard error of the extrapolated counts at which the sample is large enough
ENOUGH_INSTRUCTIONS = 2_000_000  # warp instructions after which the sample is not enlarged: about a second
MOST_BLOCKS = 2048  # of a grid whose blocks draw their work from a counter: then all are executed, side by side
DRAWN = (
    "what atomics return decides branches: the sampled blocks may have drawn work that others do in the launch; "
    "counts and time may be several times too high"
)
GRID_WAITS = "that blocks wait for each other at a barrier of the whole grid costs no time here"
GRID_TOO_LARGE = "{blocks} blocks with a barrier of the whole grid cannot be launched: {fit} fit at once. Give fewer."
ATOMICS = "lanes that update one address one after the other cost no extra time here"
SAMPLED = "counts and traffic extrapolated from {blocks} of {of_blocks} blocks{error}"


def dynamic_work(case: Case, launch: Launch) -> tuple[Work | None, str]:
    """The work of the whole launch; or None and the reason why the blocks could not be executed.

    Raises InputError where the kernel itself is at fault: a wild address, a deadlock, a wrong argument.
    """
    blocks, fit = product(launch.grid), fit_at_once(case)
    if blocks > fit and waits_for_grid(case.program):
        return None, GRID_TOO_LARGE.format(blocks=blocks, fit=fit)
    seen, chosen, moved = followed(case, launch)
    if moved is None:
        return None, seen.stopped
    work = replace(work_from(case, seen, chosen, moved), followed=(seen, chosen, moved))
    return replace(work, choices=partial(_choices, case, seen, chosen, moved)), ""


def _choices(case: Case, seen: Trace, chosen: Sample, moved: Traffic) -> Iterable[Alternative]:
    from warpbound.analysis.cache_choices import cache_choices  # which asks this module in turn

    return cache_choices(case, seen, chosen, moved)


def followed(case: Case, launch: Launch, execute: Execute = trace) -> tuple[Trace, Sample, Traffic | None]:
    """What sampled blocks did, the sample, and their traffic; None for that where a block could not be executed.

    execute : the emulator; one that remembers serves cases that differ in their caches alone.
    """
    blocks = product(launch.grid)
    shared_out = blocks <= max(MOST_BLOCKS, waits_for_grid(case.program) * fit_at_once(case))
    shared_out &= draws_work(case.program)
    for step, more in enumerate(MORE_BLOCKS):
        chosen = sample(blocks, case.residency.blocks_per_sm, int(case.gpu.value("sm_count")), more)
        chosen = every_block(blocks) if shared_out else chosen
        seen = execute(case.program, launch, chosen.blocks.tolist())
        if seen.stopped:
            return seen, chosen, None
        moved = traffic(case.program, seen, facts(case), how_of(case, chosen))
        errors = [error for error in (moved.sampling_error, sampling_error(seen, chosen)) if error is not None]
        moved = replace(moved, sampling_error=max(errors, default=None))
        steady = moved.sampling_error is None or moved.sampling_error <= ACCEPTED_ERROR
        steady &= step > 0 or not data_decide(seen)
        if steady or len(seen.blocks) == seen.of_blocks or seen.executed.sum() > ENOUGH_INSTRUCTIONS:
            break
    return seen, chosen, moved


def fit_at_once(case: Case) -> int:
    """Blocks that all SMs together hold."""
    return case.residency.blocks_per_sm * int(case.gpu.value("sm_count"))


def data_decide(seen: Trace) -> bool:
    """Whether contents of arrays decide branches, so that a few blocks that are alike say little of the others."""
    return any(note.startswith("branches") for note in (*seen.notes, *seen.unknown))


def how_of(case: Case, chosen: Sample) -> How:
    """How the caches are looked at."""
    row = case.launch.grid[0] if case.launch else None
    return How(cache=case.settings.cache, weights=chosen.weights, row=row)


def facts(case: Case) -> Facts:
    """The caches that the launch finds: L1 is what the blocks' shared memory leaves of the SM's memory."""
    resident = case.residency.blocks_per_sm
    needed = shared_per_block(case) * resident
    return hierarchy.facts(case.gpu, resident, needed, case.launch.carveout if case.launch else None)


def shared_per_block(case: Case) -> int:
    """Bytes of shared memory that a block takes, with its reserve."""
    reserved = limits(case.gpu.compute_capability).reserved_shared_per_block
    return case.program.shared_bytes + (case.launch.smem if case.launch else 0) + reserved


def work_from(case: Case, seen: Trace, chosen: Sample, moved: Traffic) -> Work:
    program, arch = case.program, case.gpu.arch
    served = served_by(moved)
    timing = waits(program.instructions, case.latency, served, conflicts(moved))
    per_block = -(-product(case.launch.block) // WARP) if case.launch else 1
    warps = float(seen.of_blocks * per_block)
    whole = replace(launch_memory(moved), hottest_updates=hottest_updates(program, seen, chosen))
    timed = timed_stream(program, seen, timing)
    work = executed_work(program, arch, seen, chosen, whole.scaled(1 / warps), timed, warps)
    work = with_start(work, case)
    trips = trip_counts(program, seen)
    executed = mean_per_warp(seen, chosen, seen.executed)
    each = per_execution(program.instructions, moved, executed * warps)
    loops = tuple(
        Piece(loop, replace(found, memory=_summed(each, loop.stream)), *trips.get(loop.number, (None, None)))
        for loop, found in iterations(program, arch, timing)
    )
    parallel = loads_in_flight(timed, timing), instructions_per_cycle(timed)
    observed = Observed(moved, executed, *parallel, partition_traffic(seen, case.gpu), facts(case).l1_bytes)
    said: tuple[str, ...] = (DRAWN,) if len(seen.blocks) < seen.of_blocks and draws_work(program) else ()
    said += (ATOMICS,) if moved.atomic_steps > 2 * moved.global_atomic_requests > 0 else ()
    said += (GRID_WAITS,) if waits_for_grid(program) else ()
    rare = warning(program, seen.executed, len(seen.blocks), seen.of_blocks)
    said += (rare,) if rare else ()
    error = f", standard error {100 * moved.sampling_error:.2g} %" if moved.sampling_error else ""
    sampled = SAMPLED.format(blocks=len(seen.blocks), of_blocks=seen.of_blocks, error=error)
    return Work(
        mode="dynamic",
        whole=work,
        focus=work,
        loops=loops,
        timed=timed,
        by_level={level: _latency_at(case, seen, moved, level) for level in LEVELS},
        notes=(sampled, *said, *moved.notes, *seen.unknown, *seen.notes, *code_notes(program, observed, arch)),
        sample={
            "blocks": len(seen.blocks),
            "warps": len(seen.warps),
            "of_blocks": seen.of_blocks,
            "sampling_error": moved.sampling_error,
        },
        launch_memory=whole,
        hit_rates=(moved.l1_hit_rate, moved.l2_hit_rate),
        longest_warp=float(seen.executed.sum(axis=1).max()) / max(1, len(timed.stream)),
        accesses=accesses_seen(case, moved),
        observed=observed,
    )


def conflicts(moved: Traffic) -> Callable[[int], float]:
    """Wavefronts of shared memory beyond the conflict-free ones that one execution takes, on average."""
    by = moved.by_instruction
    return lambda index: float(by.shared_excess[index] / by.requests[index]) if by.requests[index] > 0 else 0.0


def accesses_seen(case: Case, moved: Traffic) -> Predicted:
    """Every access that was executed with what it took on average; strides as the code's arithmetic has them."""
    by, code = moved.by_instruction, addresses_known(case)
    found = {}
    for index, one in enumerate(case.program.instructions):
        times = float(by.requests[index])
        if times <= 0 or one.opcode in LOCAL:
            continue
        for space in SPACES.get(one.opcode, ()):
            told = code.get((index, space), Access())
            is_global = space == "global"
            shared, excess = float(by.shared_wavefronts[index]), float(by.shared_excess[index])
            found[index, space] = replace(
                told,
                sectors=float(by.sectors[index]) / times if is_global else 0.0,
                ideal_sectors=float(by.ideal_sectors[index]) / times if is_global else 0.0,
                transactions=float(by.sectors[index]) / times if is_global else 0.0,
                wavefronts=(float(by.l1_wavefronts[index]) if is_global else shared) / times,
                ideal_wavefronts=told.ideal_wavefronts if is_global else (shared - excess) / times,
                served=_shares(by.requests_from[index]) if is_global else (),
            )
    return found


def _shares(answered: NDArray[np.float64]) -> tuple[float, ...]:
    total = float(answered.sum())
    return tuple(float(one) / total for one in answered) if total > 0 else ()


def served_by(moved: Traffic, level: str | None = None) -> Callable[[int], Shares]:
    """The levels that answer a load, by its slowest sector; or `level`, for a question.

    A load whose lanes were all off asks no level and is given the nearest; an atomic that returns nothing, DRAM.
    """
    asked, answered = moved.by_instruction.requests, moved.by_instruction.requests_from
    totals = answered.sum(axis=1)

    def served(index: int) -> Shares:
        if asked[index] <= 0:
            return NEAREST
        if level is not None:
            return {level: 1.0}
        if totals[index] <= 0:
            return DRAM
        shares = answered[index] / totals[index]
        return {each: float(share) for each, share in zip(LEVELS, shares, strict=True) if share > 0}

    return served


def _latency_at(case: Case, seen: Trace, moved: Traffic, level: str) -> float:
    timing = waits(case.program.instructions, case.latency, served_by(moved, level), conflicts(moved))
    start = case.gpu.value("block_start") * case.clock_hz
    return time_of_stream(case.program, seen, timing) + start


def launch_memory(moved: Traffic) -> Memory:
    """Totals of the launch in the records that models read."""
    return Memory(
        global_load_requests=moved.global_load_requests,
        global_store_requests=moved.global_store_requests + moved.global_atomic_requests,
        l1_sectors_load=moved.l1_sectors_load,
        l1_sectors_store=moved.l1_sectors_store,
        l1_wavefronts=moved.l1_wavefronts,
        l1_narrow=moved.l1_narrow,
        l2_sectors_read=moved.l2_sectors_read,
        l2_sectors_written=moved.l2_sectors_written + moved.l2_sectors_atomic,
        dram_bytes_read=moved.dram_bytes_read,
        dram_bytes_written=moved.dram_bytes_written,
        shared_wavefronts_load=moved.shared_wavefronts_load,
        shared_wavefronts_store=moved.shared_wavefronts_store,
        shared_wavefronts_atomic=moved.shared_wavefronts_atomic,
        ideal_sectors=moved.ideal_sectors,
        shared_conflict_wavefronts=moved.shared_excess_wavefronts,
        touched_bytes=moved.touched_bytes,
        local_requests=moved.local_load_requests + moved.local_store_requests,
        local_sectors=moved.local_sectors,
    )


def per_execution(
    instructions: tuple[Instruction, ...], moved: Traffic, executions: NDArray[np.float64]
) -> list[Memory]:
    """Mean traffic of one execution of each instruction."""
    by = moved.by_instruction
    written = moved.l2_sectors_written + moved.l2_sectors_atomic
    to_dram = moved.dram_bytes_written / written if written else 0.0
    found = []
    for index, one in enumerate(instructions):
        times = float(executions[index])
        if times <= 0 or by.requests[index] <= 0:
            found.append(Memory())
            continue
        loads = float(by.sectors_from[index].sum())
        stores = 0.0 if loads else float(by.sectors[index])
        found.append(
            Memory(
                global_load_requests=float(by.requests[index]) if loads else 0.0,
                global_store_requests=float(by.requests[index]) if stores else 0.0,
                l1_sectors_load=loads,
                l1_sectors_store=stores,
                l1_wavefronts=float(by.l1_wavefronts[index]),
                l1_narrow=float(by.l1_narrow[index]),
                l2_sectors_read=float(by.sectors_from[index, 1:].sum()),
                l2_sectors_written=stores,
                dram_bytes_read=float(by.sectors_from[index, 2]) * SECTOR_B,
                dram_bytes_written=stores * to_dram,
                shared_wavefronts_load=0.0 if "ST" in one.opcode else float(by.shared_wavefronts[index]),
                shared_wavefronts_store=float(by.shared_wavefronts[index]) if "ST" in one.opcode else 0.0,
                ideal_sectors=float(by.ideal_sectors[index]),
                shared_conflict_wavefronts=float(by.shared_excess[index]),
            ).scaled(1 / times)
        )
    return found


def _summed(each: list[Memory], stream: tuple[int, ...]) -> Memory:
    total = Memory()
    for index in stream:
        total = total.plus(each[index])
    return total
