"""The answer of `analyze`: one kernel on one GPU, from Program to a KernelResult.

The order: the case, its work (static, or executed sample blocks), the time with its interval, the bounds at the
predicted rate, what-ifs, papers' models.
"""

from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET

from warpbound.analysis import code_tables, interval, launch_counts
from warpbound.analysis.accuracy import expected
from warpbound.analysis.case import WARP, Case, checked_case, product
from warpbound.analysis.copy_warp_whatif import copy_warp_changes
from warpbound.analysis.execution_summary import code_notes, execution
from warpbound.analysis.figure_data import figure_data
from warpbound.analysis.launch_whatifs import changes_of_the_grid, changes_of_the_work
from warpbound.analysis.multicast import multicast_changes
from warpbound.analysis.pipelines import assumed
from warpbound.analysis.settings import DEFAULT, SUSTAINED, Settings
from warpbound.analysis.static import Piece, Work, address_notes, addresses_known, static_work
from warpbound.analysis.sustained_clock import drawn_watts, limiter, power_whatifs, settled, source
from warpbound.analysis.tile_whatifs import tile_changes
from warpbound.analysis.timing import (
    LONGEST_NOTE,
    at_predicted_rate,
    launch_prediction,
    longest_block_s,
    scaled_notes,
    stalls,
)
from warpbound.analysis.timing import NOTE as TIME_NOTE
from warpbound.kernel_launch import Launch
from warpbound.machine import Gpu
from warpbound.model_inputs.answers import LaunchFacts, answers
from warpbound.predict import predict, saturating_warps
from warpbound.program import Program
from warpbound.program.kernel import BARRIERS_NOT_TOLD, SHARED_NOT_TOLD
from warpbound.result.blocks import BlockClass, BusySMs, LaunchShape
from warpbound.result.kernel import (
    CompilerName,
    Confidence,
    KernelResult,
    Latency,
    Loop,
    Segment,
)
from warpbound.result.plain import Entry, plain
from warpbound.time_model import LaunchPrediction
from warpbound.whatif.costs import Needs
from warpbound.whatif.mechanisms import explained
from warpbound.whatif.parallelism import registers_of_loads
from warpbound.workload import Workload
from warpbound.workload.files.lanes import FETCH
from warpbound.workload.instruction_counts import Counts, count

if TYPE_CHECKING:
    from warpbound.analysis.sampled import Follow
    from warpbound.analysis.static import SampleRun
    from warpbound.analysis.working_blocks import Execute

UNEVEN = 2.0  # longest warp over the typical one, from which on the report mentions it
NEVER = 1e6  # threads per SM: a resource that needs more, hundreds of times what fits, is hardly used
GRID_TOO_LARGE = "{blocks} blocks with a barrier of the whole grid cannot be launched: {fit} fit at once. Give fewer."
NOT_EXECUTED = "the code alone: the launch could not be executed ({reason})"
BOUNDS_NOTE = "bottleneck and what-ifs are those of Volkov's bounds"
PIECES_MEASURED_ON = "rtx-3090"
PIECES_NOTE = "stored pieces of lines cost what they do on an RTX 3090 (store_piece_cost)"
BOOST_NOTE = "the boost clock: the power of {name} is not known, so neither is the clock that it holds"
ALWAYS = ("roofline_2009", "volkov_2016")  # models that are shown without being named


def analyze(
    program: Program, gpu: str | Path | Gpu, launch: Launch | None = None, settings: Settings = DEFAULT
) -> Entry:
    """One entry of `results` (contract, section 3) for one kernel on one GPU.

    Raises CommandError where the launch breaks a limit, InputError where no block fits an SM.
    """
    return plain(analyze_kernel(program, gpu, launch, settings))


def analyze_kernel(
    program: Program, gpu: str | Path | Gpu, launch: Launch | None = None, settings: Settings = DEFAULT
) -> KernelResult:
    """The same as a record."""
    case = checked_case(program, gpu, launch, settings)
    if not case.gpu.board:
        return result_of(case, None)
    return result_of(*settled(case, work_of(case), reworked))


def work_of(case: Case, execute: "Execute | None" = None, follow: "Follow | None" = None) -> Work:
    """The work of the executed sample if the launch gives every argument; else the work from the code alone.

    execute, follow : as of `sampled.run_sample`.
    """
    launch = case.launch
    if launch is None or not (launch.args or launch.placed or not case.program.parameters):
        return static_work(case)
    work = _executed_work(case, launch, execute, follow)
    return replace(static_work(case), not_executed=work) if isinstance(work, str) else work


def _executed_work(case: Case, launch: Launch, execute: "Execute | None", follow: "Follow | None") -> Work | str:
    """The work of the whole launch from sampled blocks; or the reason why they could not be executed.

    Raises InputError where the kernel itself is at fault: a wild address, a deadlock, a wrong argument.
    """
    from warpbound.analysis.sampled import fit_at_once, run_sample  # loading it takes a fifth of a static answer
    from warpbound.emulate.launch_memory import waits_for_grid
    from warpbound.emulate.unknown_contents import unknown_symbols

    blocks, fit = product(launch.grid), fit_at_once(case)
    if blocks > fit and waits_for_grid(case.program):
        return GRID_TOO_LARGE.format(blocks=blocks, fit=fit)
    symbols = unknown_symbols(case.program, launch)
    if refusals := [words for each in symbols if (words := each.refusal(case.program, each.readers))]:
        return "; ".join(refusals)
    trace, sample, traffic = run_sample(case, launch, execute, follow)
    if traffic is None:
        return trace.stopped
    return "; ".join(trace.ungiven) or _work_of_run(case, (trace, sample, traffic))


def reworked(case: Case, work: Work) -> Work:
    """The same work in a case that differs by its clock."""
    return static_work(case) if work.sample_run is None else _work_of_run(case, work.sample_run)


def _work_of_run(case: Case, run: "SampleRun") -> Work:
    from warpbound.analysis.block_loads import distinct_sector_share
    from warpbound.analysis.cache_whatifs import cache_choices, l2_choices
    from warpbound.analysis.executed import pipelines_of, work_from
    from warpbound.analysis.register_sums import repeated_stores
    from warpbound.emulate.unknown_contents import unknown_symbols

    work, ungiven = work_from(case, *run), unknown_symbols(case.program, case.launch) if case.launch else ()
    notes = tuple(variable.note(case.program) for variable in ungiven)
    return replace(
        work, notes=(*notes, *work.notes), sample_run=run, choices=partial(cache_choices, case, *run),
        of_l2=partial(l2_choices, case, *run), again=partial(repeated_stores, case.program, run, work.whole),
        once=partial(distinct_sector_share, case.program, run), pipelines=cache(partial(pipelines_of, case, *run)),
    )  # fmt: skip


def _needs(case: Case, work: Work) -> Needs:
    """The resources from which the costs of changes are computed; residency if there is a launch."""
    program, dynamic = case.program, case.launch.smem if case.launch else 0
    residency = case.residency if case.launch else None
    shared = program.shared_bytes + dynamic
    arrays = sum(each.kind == "array" for each in case.launch.args) if case.launch else 0
    return Needs(registers_of_loads(work.focus), arrays, case.threads_per_block, shared, program.local_bytes, residency)


def result_of(case: Case, work: Work | None) -> KernelResult:
    """The answer to a case whose work is known; `work` is None where the GPU is an architecture without a board."""
    if work is None:
        return _without_board(case)
    program, views = case.program, case.settings.views
    prediction = launch_prediction(case, work)
    bounds = predict(work.focus, case.place)
    rates = bounds if prediction is None else at_predicted_rate(case, bounds, prediction)
    x = launch_facts(case, work)
    power_W = drawn_watts(case, work, prediction)
    longest_s = longest_block_s(case, work, prediction)
    workload = work.whole if longest_s is None or work.longest is None else work.longest.work
    changes = changes_of_the_work(case, work, rates.cycles, longest_s)
    stages, other_stages = work.pipelines()
    lines = code_tables.source_lines(program, workload)
    accesses = code_tables.memory_accesses(program, work.accesses())
    changes = (
        *changes_of_the_grid(case, work, prediction), *power_whatifs(case, work, prediction), *other_stages,
        *multicast_changes(case, work), *copy_warp_changes(case, work), *tile_changes(case, work), *changes,
    )  # fmt: skip
    return KernelResult(
        **frame(case),
        **time_fields(case, prediction),
        mode=work.mode,
        bottleneck=rates.bottleneck,
        runner_up=rates.runner_up,
        latency=_latency(work, workload),
        bounds=launch_counts.bounds(rates),
        warps_needed=rates.warps_needed,
        instructions=launch_counts.instructions(work.whole, idle_counts(case, work)),
        memory=launch_counts.memory_traffic(
            work.launch_memory, work.hit_rates, work.observed.traffic if work.observed else None
        ),
        flop=launch_counts.flop_counts(work.whole),
        models=answers(tuple(dict.fromkeys((*ALWAYS, *case.settings.models))), x),
        whatifs=sorted(explained(changes, _needs(case, work), lines, accesses), key=lambda change: -change.speedup),
        loops=[_loop(case, piece) for piece in work.loops()],
        pipelines=stages,
        confidence=confidence(case, assumptions(case, work, prediction), prediction),
        sample=work.sample,
        blocks=_block_classes(case, work),
        longest_block_s=longest_s,
        sms=_busy_sms(case, work),
        clock_MHz=case.clock_hz / 1e6,
        clock_source=source(case),
        clock_limiter=limiter(case, prediction),
        power_W=power_W,
        energy_J=None if power_W is None or prediction is None else power_W * prediction.time_s,
        scope=work.focus.title,
        straight=Segment(**_segment(case, work.whole)),
        not_executed=work.not_executed,
        execution=execution(program, work.whole, work.observed, x) if work.observed and x else None,
        lines=lines,
        accesses=accesses,
        sass=code_tables.sass_listing(program, work.schedule, case.facts) if "sass" in views else UNSET,
        figures=figure_data(case, work, x) if "figures" in views else UNSET,
    )


def _block_classes(case: Case, work: Work) -> list[BlockClass]:
    """The classes of blocks of a launch that was executed."""
    if work.sample_run is None:
        return []
    from warpbound.analysis.block_schedule import shown_classes
    from warpbound.analysis.executed import recorded_paths

    trace, sample, _ = work.sample_run
    start = work.whole.parts.get("start", 0.0)
    longest = None if work.longest is None else work.longest.work.latency - start
    paths = recorded_paths(case, *work.sample_run)
    return shown_classes(case.program, trace, sample, start, work.whole.latency - start, paths, longest)


def _busy_sms(case: Case, work: Work) -> BusySMs | None:
    """SMs that get a block that works."""
    blocks, count = case.blocks if work.blocks is None else work.blocks, int(case.gpu.value("sm_count"))
    return None if blocks is None else BusySMs(min(blocks, count), count)


def _without_board(case: Case) -> KernelResult:
    costs = addresses_known(case)
    notes = [*address_notes(case, costs), f"{case.gpu.name} is an architecture, not a board: no time is predicted"]
    accesses = code_tables.memory_accesses(case.program, costs)
    return KernelResult(**frame(case), mode="static", confidence=confidence(case, notes), accesses=accesses)


def frame(case: Case) -> Entry:
    """Fields of the result that do not depend on the work."""
    launch = case.launch
    not_told = launch_counts.not_told(case.program, launch.smem if launch else 0)
    return {
        "kernel": case.program.title,
        "gpu": case.gpu.key,
        "occupancy": launch_counts.occupancy(case.residency, not_told),
        "cache": "warm" if case.settings.cache == "warm" else "cold",
        "gpu_name": case.gpu.name,
        "program": code_tables.program_facts(case.program, case.facts),
        "compiler": CompilerName(*case.program.compiler) if case.program.compiler else None,
        "launch": LaunchShape(list(launch.grid), list(launch.block), launch.smem) if launch else None,
    }


def time_fields(case: Case, prediction: LaunchPrediction | None) -> Entry:
    """Fields of the result on time; none where trip counts are unknown."""
    if prediction is None:
        return {}
    return {
        "time_s": prediction.time_s,
        "time_interval_s": list(prediction.interval),
        "cycles": prediction.time_s * case.clock_hz,
        "stalls": stalls(prediction, case.clock_hz),
        "doubts": interval.doubts(prediction),
        "dominant_doubt": max(prediction.doubts, key=prediction.doubts.__getitem__, default=None),
    }


def confidence(case: Case, notes: list[str], prediction: LaunchPrediction | None = None) -> Confidence:
    program = case.program
    in_place_of = {SHARED_NOT_TOLD: BARRIERS_NOT_TOLD} if case.launch and case.launch.smem else {}
    assumed = [*(in_place_of.get(note, note) for note in program.assumed), *case.block_note]
    if program.proxy_isa:
        assumed.append(f"code for {program.proxy_isa}, because no compiler is available for sm_{case.gpu.arch}")
    kind = expected(case.gpu.key, prediction.bottleneck) if prediction else None
    return Confidence(
        expected_error=kind.mape if kind else None,
        interval_coverage=kind.coverage if kind else None,
        judged_launches=kind.n if kind else 0,
        assumed=[*assumed, *notes],
        unknown_opcodes=code_tables.unknown_opcodes(program, case.facts),
        proxy_isa=program.proxy_isa,
    )


def assumptions(case: Case, work: Work, prediction: LaunchPrediction | None) -> list[str]:
    """What the numbers rest on."""
    board = case.gpu
    notes = [NOT_EXECUTED.format(reason=work.not_executed)] if work.not_executed else []
    notes += work.notes
    if prediction is not None and work.observed is not None:
        notes += code_notes(case.program, work.observed, board.arch, prediction.utilization.get(FETCH, 0.0))
    notes += [BOUNDS_NOTE] if prediction is None else [TIME_NOTE, *scaled_notes(prediction.assumed, board)]
    if case.settings.clock == SUSTAINED and case.power is None:
        notes.append(BOOST_NOTE.format(name=board.name))
    if prediction is not None and _rests_on_pieces(case, work, prediction):
        notes = [f"{note}; {PIECES_NOTE}" if note == assumed(case.gpu) else note for note in notes]
        notes += [] if any(PIECES_NOTE in note for note in notes) else [PIECES_NOTE]
    if work.longest_warp > UNEVEN:
        notes.append(LONGEST_NOTE.format(times=work.longest_warp))
    if estimates := [name for name in board.assumed if not name.startswith("tensor")]:
        source = "taken from relatives or estimated, as `warpbound gpus"
        notes.append(f"values of {board.name} {source} {board.key}` says: {', '.join(estimates)}")
    return notes


def _rests_on_pieces(case: Case, work: Work, prediction: LaunchPrediction) -> bool:
    """Whether the time depends on what a piece of a line costs, of which this board gives no value of its own."""
    unknown = case.gpu.key != PIECES_MEASURED_ON and case.gpu.get("store_piece_cost") is None
    memory = work.whole.memory
    return (
        unknown and "l1" in (prediction.bottleneck, prediction.runner_up)
        and memory is not None and memory.pieces_bind(case.gpu.arch, case.gpu.value("l1_bandwidth"))
    )  # fmt: skip


def _latency(work: Work, workload: Workload) -> Latency:
    phases = list(workload.phases)
    return Latency(cycles=workload.latency, parts=workload.parts, by_level=work.by_level(), load_phases=phases)


def idle_counts(case: Case, work: Work) -> Counts:
    """The instructions of blocks that leave at once."""
    if work.idle is None:
        return launch_counts.NO_COUNTS
    program, executions, threads = case.program, work.idle.executions.tolist(), work.idle.threads.tolist()
    return count(program.instructions, case.facts, program.bank_reads, executions, threads)


def launch_facts(case: Case, work: Work) -> LaunchFacts | None:
    """The launch as the papers' models take it; None where its size or its arguments are not given."""
    if case.launch is None or case.blocks is None or work.whole.warps is None:
        return None
    return LaunchFacts(
        work=work.whole,
        gpu=case.gpu,
        clock_hz=case.clock_hz,
        dram_cycles=case.latency.dram,
        warps_per_sm=case.place.warps_per_sm,
        active_sms=min(case.gpu.value("sm_count"), float(case.blocks)),
        blocks=case.blocks,
        blocks_per_sm=case.residency.blocks_per_sm,
        threads_per_block=product(case.launch.block),
        locality=work.observed.locality if work.observed else None,
    )


def _loop(case: Case, piece: Piece) -> Loop:
    """One iteration; how often it runs where that is known."""
    iterations = None if piece.trips is None or piece.entries is None else piece.trips * piece.entries
    return Loop(
        **_segment(case, piece.work) | {"trip_count": piece.trips},
        depth=piece.loop.depth,
        parent=piece.loop.parent,
        entries_per_warp=piece.entries,
        cycles_per_warp=None if iterations is None else iterations * piece.work.latency,
        intervals=[Segment(**_segment(case, work)) for work in piece.intervals],
    )


def _segment(case: Case, work: Workload) -> Entry:
    """The fields of a Segment: what one pass costs one warp, and the threads that saturate each resource.

    P counts threads for DRAM on the whole chip, Q for instruction issue on one SM, as the interval analysis does.
    """
    prediction = predict(work, case.place)
    threads = {name: WARP * n for name, n in saturating_warps(work, case.gpu, case.clock_hz).items()}
    finite = {name: count for name, count in threads.items() if count < NEVER}
    return {
        "title": work.title,
        "lines": list(work.lines),
        "latency_cycles": work.latency,
        "latency_parts": work.parts,
        "load_phases": list(work.phases),
        "warp_instructions": work.warp_instructions,
        "by_pipe": work.by_pipe,
        "flop_per_thread": {kind: count / WARP for kind, count in work.flop.items() if count},
        "demand": {name: cycles for name, cycles in prediction.cycles.items() if name != "latency"},
        "bottleneck": prediction.bottleneck,
        "threads_to_saturate": finite,
        "P": finite["dram"] * case.gpu.value("sm_count") if "dram" in finite else None,
        "Q": finite.get("issue"),
        "trip_count": None,
    }
