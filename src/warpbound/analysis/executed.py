"""Work and traffic of the whole launch, extrapolated from its sampled blocks."""

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from warpbound.analysis.atomic_contention import hottest_updates
from warpbound.analysis.block_schedule import uneven_paths
from warpbound.analysis.case import WARP, Case, product
from warpbound.analysis.execution_summary import (
    Observed,
    instructions_per_cycle,
    loads_in_flight,
    register_notes,
)
from warpbound.analysis.longest_block import longest_warp
from warpbound.analysis.partition_traffic import partition_traffic
from warpbound.analysis.pipelines import NOTE, assumed, block_timeline, held, pipelines, whole_block
from warpbound.analysis.sampled import cache_facts
from warpbound.analysis.static import Piece, Work, addresses_known, with_block_start
from warpbound.distinct_values import distinct
from warpbound.emulate import Trace
from warpbound.emulate.launch_memory import waits_for_grid
from warpbound.emulate.sample_coverage import block_numbers, warning
from warpbound.emulate.value_dependence import draws_work_from_counter
from warpbound.identity_cache import remember
from warpbound.isa.opcodes import OpcodeFacts
from warpbound.latency import DRAM, LEVELS, NEAREST, Shares, waits
from warpbound.memory.counters import COUNTERS
from warpbound.memory.static_accesses import Access, Predicted
from warpbound.memory.traffic_counts import Traffic, launch_memory
from warpbound.model_inputs.resources import demand
from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program
from warpbound.quick_dataclasses import dataclass
from warpbound.result.blocks import BlockSample
from warpbound.result.pipeline import Pipeline
from warpbound.result.what_if import WhatIf
from warpbound.schedule import Schedule, Wait, duration
from warpbound.time_model.queue_demands import SUB_CORE
from warpbound.workload import Memory, Workload
from warpbound.workload import Piece as Part
from warpbound.workload.barrier_intervals import Stream, barriers, of_all, pieces
from warpbound.workload.code_fetches import with_fetches
from warpbound.workload.dynamic import (
    LONGEST_STREAM,
    Sample,
    alike_clusters,
    executed_work,
    longest_over_typical,
    mean_per_warp,
    path_share,
    representative_executions,
    time_of_stream,
    timed_stream,
    trip_counts,
)
from warpbound.workload.files.lanes import PIPE_OF, on_board
from warpbound.workload.instruction_counts import count, facts_of
from warpbound.workload.static import intervals, iterations

SECTOR_B = 32
NO_ACCESS = Memory()  # the traffic of most instructions
DRAWN = (
    "results of atomics decide branches: the sampled blocks may have taken work that others do in the launch; "
    "counts and time may be several times too high"
)
TOGETHER = "L2 serves data that all SMs request at once at l2_bandwidth: this board has no l2_shared_read_bandwidth"
GRID_WAITS = "waiting at a barrier of the whole grid costs no time here"
ATOMICS = "lanes of one instruction that update the same address cost no extra time here"
LEAVE = (
    "{share:.0f} % of the {blocks} blocks leave{where} before they touch memory: a grid of {size} does the same work"
)
SAMPLED = "counts and traffic extrapolated from {blocks} of {of_blocks} blocks{error}"
ALL_EXECUTED = "counts and traffic of all {of_blocks} blocks"


@dataclass(frozen=True)
class _AverageWarp:
    """An average warp. memory : of the launch; waits : of each instruction; schedule : of a typical warp."""

    work: Workload
    memory: Memory
    waits: tuple[Wait, ...]
    schedule: Schedule
    warps: float


def average_work(case: Case, trace: Trace, sample: Sample, traffic: Traffic) -> Workload:
    """The work of the launch's average warp: `work_from(...).whole` and nothing else."""
    return _average_warp(case, trace, sample, traffic).work


def _average_warp(case: Case, trace: Trace, sample: Sample, traffic: Traffic) -> _AverageWarp:
    program = case.program
    memory = replace(launch_memory(traffic), hottest_updates=hottest_updates(program, trace, sample))
    timing = held(case, trace, unheld_waits(case, traffic), served_by(traffic))
    per_block = -(-product(case.launch.block) // WARP) if case.launch else 1
    warps = float(trace.of_blocks * per_block)
    schedule = timed_stream(program, trace, timing, sample)
    work = executed_work(program, case.gpu.arch, trace, sample, memory.scaled(1 / warps), schedule, warps)
    work = with_fetches(with_block_start(on_board(work, case.gpu), case), schedule.stream, case.gpu, case.clock_hz)
    average = _AverageWarp(work, memory, timing, schedule, warps)
    whole = whole_block(case, trace, unheld_waits(case, traffic), timing, served_by(traffic))
    stops = barriers(program.instructions, timing)
    if whole:
        stops = of_all(whole, stops)
        joins = float(stops[list(whole[0].indices)].sum() + len(whole[0].joins))
        average = replace(average, work=replace(average.work, joins=joins))
    streams = whole or tuple(map(Stream, _recorded(trace)))
    parts = _pieces(case, trace, sample, traffic, (average, streams, stops))
    return replace(average, work=replace(average.work, pieces=parts))


@remember(4)
def unheld_waits(case: Case, traffic: Traffic, level: str | None = None) -> tuple[Wait, ...]:
    """The time of each instruction of one warp, without waits at mbarriers; level : see `served_by`."""
    code, shares = case.program.instructions, served_by(traffic, level)
    if level is not None:
        return waits(code, case.latency, shares, conflicts(traffic))
    return waits(code, case.latency, shares, conflicts(traffic), far_share(traffic))


def pipelines_of(case: Case, trace: Trace, sample: Sample, traffic: Traffic) -> tuple[list[Pipeline], list[WhatIf]]:
    """Pipelines of a block of the sample, and changes of their stages."""
    return pipelines(case, trace, unheld_waits(case, traffic), served_by(traffic))


def recorded_paths(case: Case, trace: Trace, sample: Sample, traffic: Traffic) -> dict[int, float]:
    """Cycles of each recorded warp's path, alone on its SM, by its row; nothing where all blocks are alike."""
    if len(distinct(sample.of_class)) == 1:
        return {}
    timing = held(case, trace, unheld_waits(case, traffic), served_by(traffic))
    parts = {row: stream[:LONGEST_STREAM] for row, stream in trace.streams.items() if len(stream)}
    times = {row: len(trace.streams[row]) / len(part) for row, part in parts.items()}
    cycles: dict[bytes, float] = {}
    for part in parts.values():
        if part.tobytes() not in cycles:
            cycles[part.tobytes()] = duration(part.tolist(), case.program.instructions, timing)
    return {row: times[row] * cycles[part.tobytes()] for row, part in parts.items()}


def _recorded(trace: Trace) -> dict[tuple[int, ...], None]:
    """Different streams of the recorded warps, in order."""
    parts = (stream[:LONGEST_STREAM] for stream in trace.streams.values())
    different = {part.tobytes(): part for part in parts}
    return dict.fromkeys(tuple(part.tolist()) for part in different.values())


def _pieces(
    case: Case, trace: Trace, sample: Sample, traffic: Traffic,
    warps: tuple[_AverageWarp, tuple[Stream, ...], NDArray[np.bool_]],
) -> tuple[Part, ...]:  # fmt: skip
    """The work from barrier to barrier."""
    average, streams, stops = warps
    instructions, work = case.program.instructions, average.work
    if work.stops < 1:
        return ()
    executions = mean_per_warp(trace, sample, trace.executed)
    each = per_execution(instructions, traffic, executions * average.warps)
    facts = facts_of(instructions, case.gpu.arch)

    def demands(issued: NDArray[np.float64]) -> dict[str, float]:
        counts = count(instructions, facts, case.program.bank_reads, issued.tolist(), issued.tolist())
        memory = _total(each, issued)
        part = replace(work, warp_instructions=counts.warp_instructions, units=dict(counts.units),
                       tensor=dict(counts.tensor), memory=memory)  # fmt: skip
        return demand(on_board(part, case.gpu), case.gpu, case.clock_hz)

    passes = WARP * len(trace.warps) * np.maximum(1, trace.executed.max(axis=0))
    lanes = trace.threads.sum(axis=0) / passes
    whole = demands(executions)
    tightest = max(SUB_CORE, key=lambda name: whole[name])
    both = zip(instructions, facts, strict=True)
    turns = np.array([0.0 if instruction.skipped else _holds(fact, tightest) for instruction, fact in both])
    return pieces(streams, instructions, average.waits, average.schedule, executions, demands, lanes, stops, turns)


def _holds(fact: OpcodeFacts, pipe: str) -> float:
    """Cycles for which an instruction holds a pipe of its sub-core."""
    return 1.0 if pipe == "issue" else sum(cycles for unit, cycles in fact.demand.items() if PIPE_OF.get(unit) == pipe)


def work_from(case: Case, trace: Trace, sample: Sample, traffic: Traffic) -> Work:
    """The work of the launch, extrapolated from the blocks that were executed."""
    program, arch, average = case.program, case.gpu.arch, _average_warp(case, trace, sample, traffic)
    timing, schedule = average.waits, average.schedule
    counts = mean_per_warp(trace, sample, trace.executed)
    parallel = loads_in_flight(schedule, timing), instructions_per_cycle(schedule)
    observed = Observed(traffic, counts, *parallel, partition_traffic(trace, case.gpu), cache_facts(case).l1_bytes)
    sampled_of_many = len(trace.blocks) < trace.of_blocks
    notes: tuple[str, ...] = (DRAWN,) if sampled_of_many and draws_work_from_counter(program) else ()
    notes += (ATOMICS,) if traffic.atomic_steps > 2 * traffic.global_atomic_requests > 0 else ()
    notes += (GRID_WAITS,) if waits_for_grid(program) else ()
    notes += (TOGETHER,) if _rate_assumed(case, traffic) else ()
    notes += _pipeline_notes(case, trace, traffic)
    notes += (_idle_note(program, sample, trace.of_blocks),) if sample.idle else ()
    per_warp = representative_executions(trace, sample)
    rare = "" if sample.exact or alike_clusters(trace) else warning(program, trace, per_warp, block_numbers(program))
    notes += (rare,) if rare else ()
    notes += register_notes(average.work, arch)
    error = f", standard error {100 * traffic.sampling_error:.2g} %" if traffic.sampling_error else ""
    words = SAMPLED if sampled_of_many else ALL_EXECUTED
    sample_note = words.format(blocks=len(trace.blocks), of_blocks=trace.of_blocks, error=error)
    return Work(
        mode="dynamic",
        whole=average.work,
        focus=average.work,
        loops=cache(partial(_loops, case, (trace, traffic), timing, counts * average.warps)),
        schedule=schedule,
        by_level=cache(lambda: {level: _latency_at(case, (trace, sample, traffic), level) for level in LEVELS}),
        notes=(sample_note, *notes, *traffic.notes, *trace.unknown, *trace.notes),
        sample=BlockSample(
            blocks=len(trace.blocks),
            warps=len(trace.warps),
            of_blocks=trace.of_blocks + (sample.idle.blocks if sample.idle else 0),
            sampling_error=traffic.sampling_error,
            memory_error=None if traffic.errors is None else asdict(traffic.errors),
        ),
        launch_memory=average.memory,
        hit_rates=(traffic.l1_hit_rate, traffic.l2_hit_rate),
        longest_warp=longest_over_typical(trace, sample),
        longest=longest_warp(program, (trace, sample), timing, average.work),
        accesses=cache(partial(accesses_seen, case, traffic)),
        observed=observed,
        errors=traffic.errors,
        blocks=trace.of_blocks,
        idle=sample.idle,
        paths=uneven_paths(trace, sample, float(counts.sum())),
    )


def _loops(
    case: Case, run: tuple[Trace, Traffic], timing: tuple[Wait, ...], executions: NDArray[np.float64]
) -> tuple[Piece, ...]:
    """One iteration of each loop; executions : of each instruction, of the launch."""
    program, arch, trips = case.program, case.gpu.arch, trip_counts(case.program, run[0])
    each = per_execution(program.instructions, run[1], executions)
    return tuple(
        replace(
            Piece(
                loop, replace(on_board(turn, case.gpu), memory=_summed(each, loop.stream)),
                *trips.get(loop.number, (None, None)),
            ),
            intervals=tuple(
                replace(on_board(part, case.gpu), memory=_summed(each, stream))
                for stream, part in intervals(program, arch, loop, timing)
            ),
        )
        for loop, turn in iterations(program, arch, timing)
    )  # fmt: skip


def _pipeline_notes(case: Case, trace: Trace, traffic: Traffic) -> tuple[str, ...]:
    """Whether waits at mbarriers are schedule, and on what that rests."""
    if trace.mbarrier_log is None:
        return ()
    timeline = block_timeline(case, trace.mbarrier_log, unheld_waits(case, traffic), served_by(traffic))
    return (assumed(case.gpu),) if timeline is not None and timeline.fills else () if timeline is not None else (NOTE,)


def _idle_note(program: Program, sample: Sample, working: int) -> str:
    """How many blocks leave at once, and where."""
    if sample.idle is None:
        return ""
    blocks = working + sample.idle.blocks
    last = [i for i in np.flatnonzero(sample.idle.executions).tolist() if program.instructions[i].traits.is_exit]
    place = program.instructions[last[0]].place if last else None
    where = f" at line {place.outermost.line}" if place else ""
    grid = sample.grid or (working, 1, 1)
    size = " x ".join(str(extent) for extent in grid[: max(n + 1 for n in range(3) if grid[n] > 1 or not n)])
    share = 100 * sample.idle.blocks / blocks
    return LEAVE.format(share=share, blocks=blocks, where=where, size=size)


def _rate_assumed(case: Case, traffic: Traffic) -> bool:
    """Whether most of L2's sectors are requested by all SMs at once, on a board whose rate for this is not known."""
    has_rate = case.gpu.get("l2_shared_read_bandwidth") is not None
    return not has_rate and 2 * traffic.l2_sectors_together > traffic.l2_sectors_read


def conflicts(traffic: Traffic) -> Callable[[int], float]:
    """Wavefronts of shared memory beyond the conflict-free ones that one execution takes, on average."""
    extra, requests = traffic.by_instruction.shared_conflict_wavefronts, traffic.by_instruction.requests
    return lambda index: float(extra[index] / requests[index]) if requests[index] > 0 else 0.0


def far_share(traffic: Traffic) -> Callable[[int], float]:
    """Share of a load's sectors from L2 that lie on the far side."""
    return lambda index: float(traffic.by_instruction.far_share[index])


def accesses_seen(case: Case, traffic: Traffic) -> Predicted:
    """Every executed access with its average cost; strides as the code's arithmetic has them."""
    by, code = traffic.by_instruction, addresses_known(case)
    average = {}
    for index, instruction in enumerate(case.program.instructions):
        times = float(by.requests[index])
        if times <= 0 or "local" in instruction.traits.spaces:
            continue
        for space in instruction.traits.spaces:
            access = code.get((index, space), Access())
            is_global = space == "global"
            shared, excess = float(by.shared_wavefronts[index]), float(by.shared_conflict_wavefronts[index])
            average[index, space] = replace(
                access,
                sectors=float(by.sectors[index]) / times if is_global else 0.0,
                ideal_sectors=float(by.ideal_sectors[index]) / times if is_global else 0.0,
                transactions=float(by.sectors[index]) / times if is_global else 0.0,
                wavefronts=(float(by.l1_wavefronts[index]) if is_global else shared) / times,
                ideal_wavefronts=access.ideal_wavefronts if is_global else (shared - excess) / times,
                level_shares=_shares(by.requests_from[index]) if is_global else (),
            )
    return average


def _shares(by_level: NDArray[np.float64]) -> tuple[float, ...]:
    total = float(by_level.sum())
    return tuple(float(requests) / total for requests in by_level) if total > 0 else ()


def served_by(traffic: Traffic, level: str | None = None) -> Callable[[int], Shares]:
    """The levels that answer a load, by its slowest sector; or `level`, for a question.

    A load without active lanes counts as served by the nearest level; an atomic that returns nothing, by DRAM.
    """
    requests, waits = traffic.by_instruction.requests, traffic.by_instruction.waits_from
    totals = waits.sum(axis=1)

    def shares_of(index: int) -> Shares:
        if requests[index] <= 0:
            return NEAREST
        if level is not None:
            return {level: 1.0}
        if totals[index] <= 0:
            return DRAM
        shares = waits[index] / totals[index]
        return {each: float(share) for each, share in zip(LEVELS, shares, strict=True) if share > 0}

    return shares_of


def _latency_at(case: Case, run: tuple[Trace, Sample, Traffic], level: str) -> float:
    trace, sample, traffic = run
    timing = held(case, trace, unheld_waits(case, traffic, level), served_by(traffic, level))
    start = case.gpu.value("block_start") * case.gpu.value("boost_clock")
    cycles = time_of_stream(case.program, trace, timing, sample)
    return path_share(trace, sample) * cycles + start


def per_execution(
    instructions: tuple[Instruction, ...], traffic: Traffic, executions: NDArray[np.float64]
) -> list[Memory]:
    """Mean traffic of one execution of each instruction."""
    by = traffic.by_instruction
    l2_writes = traffic.l2_sectors_written + traffic.l2_sectors_atomic
    to_dram = traffic.dram_bytes_written / l2_writes if l2_writes else 0.0
    average = []
    for index, instruction in enumerate(instructions):
        times = float(executions[index])
        if times <= 0 or by.requests[index] <= 0:
            average.append(NO_ACCESS)
            continue
        loads = float(by.sectors_from[index].sum())
        stores = 0.0 if loads else float(by.sectors[index])
        average.append(
            Memory(
                global_load_requests=float(by.requests[index]) if loads else 0.0,
                global_store_requests=float(by.requests[index]) if stores else 0.0,
                l1_sectors_load=loads,
                l1_sectors_store=stores,
                l2_sectors_read=float(by.sectors_from[index, 1:].sum()),
                l2_sectors_written=stores,
                dram_bytes_read=float(by.sectors_from[index, 2]) * SECTOR_B,
                dram_bytes_written=stores * to_dram,
                shared_wavefronts_load=0.0 if "ST" in instruction.opcode else float(by.shared_wavefronts[index]),
                shared_wavefronts_store=float(by.shared_wavefronts[index]) if "ST" in instruction.opcode else 0.0,
                **{name: float(getattr(by, name)[index]) for name in COUNTERS if hasattr(by, name)},
            ).scaled(1 / times)
        )
    return average


def _summed(each: list[Memory], stream: tuple[int, ...]) -> Memory:
    return _total(each, np.bincount(stream, minlength=len(each)).astype(np.float64))


def _total(each: list[Memory], times: NDArray[np.float64]) -> Memory:
    """The total of this many executions of each instruction, (instructions,)."""
    total = NO_ACCESS
    for index in np.flatnonzero(times).tolist():
        if each[index] is not NO_ACCESS:
            total = total.plus(each[index].scaled(float(times[index])))
    return total
