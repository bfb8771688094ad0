"""Traces of sampled blocks: values are computed where they decide something, or where that costs little."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import among
from warpbound.emulate.address_only_handlers import ADDRESS_ONLY
from warpbound.emulate.block_execution import run_blocks
from warpbound.emulate.control_flow import DivergedWarp
from warpbound.emulate.device_heap import FREE_OF_COST, uses_heap
from warpbound.emulate.emulator import Kernel, make_ready
from warpbound.emulate.guard_shares import GuardShares, GuardsTooExpensive, expense_limit, guards_need_products
from warpbound.emulate.handler_building import handler_of
from warpbound.emulate.handlers import PLAIN
from warpbound.emulate.launch_memory import GRID_BARRIER
from warpbound.emulate.limits import FAILED, LIMITS, PATIENCE_S, Limits, stray_notes
from warpbound.emulate.livelock import Endless
from warpbound.emulate.shared_words import SharedWords
from warpbound.emulate.slice_assumptions import NOTHING, Refuted, load_checked, loads_checked
from warpbound.emulate.store_to_load import reloading
from warpbound.emulate.tensor_boxes import MapStored
from warpbound.emulate.texture import COUNTED, unknown_source
from warpbound.emulate.trace import Trace, only_blocks
from warpbound.emulate.trace_recorder import Recording
from warpbound.emulate.trace_rows import arrays_of, joined, warps_of
from warpbound.emulate.unknown_contents import array_refusals
from warpbound.emulate.value_dependence import deciding_arrays, unknowns
from warpbound.emulate.value_slicing import Slice, slice_of, slice_where
from warpbound.errors import CommandError, InputError
from warpbound.kernel_launch import Launch
from warpbound.program.kernel import Program
from warpbound.quick_dataclasses import dataclass

VIRTUAL_TABLE = "_ZTV"  # of a C++ class, which the code makes and nobody gives
SAMPLE_STEP_LIMIT = 2_000_000  # within PATIENCE_S: a sampled block may wait for one that is not in the sample


def trace(  # noqa: PLR0913  (each is one fact of the execution)
    program: Program,
    launch: Launch,
    blocks: Sequence[int],
    *,
    step_limit: int | None = None,
    limits: Limits = LIMITS,
    at_once: int | None = None,
) -> Trace:
    """Trace of the given blocks (linear numbers) of a launch, each run to its end.

    step_limit : of each chunk of blocks; None: SAMPLE_STEP_LIMIT, and more where `limits` are more patient. A
    block that cannot continue (fault, deadlock, step limit) ends the sample; `stopped` holds the reason.
    at_once : blocks that run at the same time, which decides who draws what from a counter; None: as many as is quick.
    Raises CommandError for block numbers outside the grid.
    """
    numbers = np.asarray(sorted(set(blocks)), np.int64)
    if step_limit is None:
        step_limit = round(SAMPLE_STEP_LIMIT * max(1.0, limits.patience_s / PATIENCE_S))
    question = _Question(program, launch, numbers, step_limit, limits, at_once)
    try:
        return _quickly_traced(question, slice_of(program))
    except (DivergedWarp, MapStored, Refuted):
        return _quickly_traced(question, slice_where(program, NOTHING))


def _quickly_traced(question: "_Question", own: Slice) -> Trace:
    """The trace, with estimated guards where these cost much. If matrix products are computed for guards alone, one
    block is traced first to see how much."""
    try:
        if len(question.blocks) > 1 and guards_need_products(question.program, own):
            _traced(replace(question, blocks=question.blocks[:1]), own, None)
        return _traced(question, own, None)
    except GuardsTooExpensive as dear:
        return _traced(question, dear.without, dear.shares)


@dataclass(frozen=True)
class _Question:
    """The arguments of `trace`."""

    program: Program
    launch: Launch
    blocks: NDArray[np.int64]
    step_limit: int
    limits: Limits
    at_once: int | None


def _traced(question: _Question, own: Slice, shares: GuardShares | None) -> Trace:
    """The trace. own : what is not computed. shares : of the guards that are not computed; where none are given and
    guards cost much, raises GuardsTooExpensive; DivergedWarp, MapStored or Refuted where what `own` assumes is
    wrong."""
    program, launch, numbers, limits = question.program, question.launch, question.blocks, question.limits
    kernel = replace(_without_values(program, launch, own, shares), at_once=question.at_once)
    if not len(numbers) or numbers[0] < 0 or numbers[-1] >= kernel.block_count:
        raise CommandError(f"blocks to trace must be among 0 to {kernel.block_count - 1}.", "Give at least one.")
    clusters = kernel.whole_clusters(numbers)
    warps = warps_of(kernel, clusters)
    recording = Recording(kernel, len(warps), np.flatnonzero(among(warps[:, 0], numbers)), own.unneeded, limits)
    if shares is None:
        recording.when_long = expense_limit(program, own)
    else:
        recording.leave_out_guards(shares.guards)
    if any(instruction.traits.waits_for == "mbarrier" for instruction in program.instructions):
        middle = kernel.whole_clusters(numbers[len(numbers) // 2 : len(numbers) // 2 + 1])
        recording.watch_mbarriers(np.flatnonzero(among(warps[:, 0], middle)))
    problem: InputError | None = None
    try:
        run_blocks(kernel, clusters, question.step_limit, recording.stepper)
    except InputError as error:
        problem = error
    recording.count()
    result = _trace(kernel, clusters, recording, problem)
    if shares is not None:
        result = shares.applied_to(program, result)
    return result if len(clusters) == len(numbers) else only_blocks(result, numbers)


def _without_values(program: Program, launch: Launch, own: Slice, shares: GuardShares | None) -> Kernel:
    """The kernel with handlers that compute and move no values outside the slice, and take its fast paths."""
    unguarded = shares.guards if shares else frozenset[int]()
    uncomputed = own.unneeded | own.unread
    checked = loads_checked(program, own.assumed, uncomputed)
    kernel = make_ready(program, launch, {**PLAIN, **COUNTED}, unbuilt=checked | uncomputed)
    handlers, builders = list(kernel.handlers), {**PLAIN, **COUNTED, **ADDRESS_ONLY}
    for i in checked | uncomputed:
        code = program.instructions[i]
        code = replace(code, guard=None) if i in uncomputed & unguarded else code
        build = builders if i in uncomputed else {**PLAIN, code.opcode: load_checked}
        handlers[i] = handler_of(code, kernel.memory.constants, program.arch, build)
    short = {at: way.begin for at, way in own.fast_paths.items()}
    return replace(kernel, handlers=tuple(handlers), short=short, whole_warp=own.assumed.whole_warp, checked=checked)


def _trace(kernel: Kernel, blocks: NDArray[np.int64], recording: Recording, problem: InputError | None) -> Trace:
    for i, instruction in enumerate(kernel.program.instructions):
        if (name := unknown_source(instruction.traits)) and recording.executed[i].any():
            recording.unknown.setdefault(name, set()).add(i)
    dropped = f"the addresses of {recording.dropped:,} accesses were not recorded: they count as others of their line"
    notes: tuple[str, ...] = (dropped,) if recording.dropped else ()
    notes += stray_notes(kernel.program, recording.strays)
    notes += (FAILED.format(count=recording.failed),) if recording.failed else ()
    notes += (FREE_OF_COST,) if uses_heap(kernel.program) else ()
    accesses = {space: rows.joined() for space, rows in recording.rows.items()}
    reloads = reloading(kernel.program, accesses["global"])
    reach = SharedWords(kernel.program, accesses["shared"], recording.bulk_extents).may_reach
    result = Trace(
        blocks=blocks,
        of_blocks=kernel.block_count,
        warps=warps_of(kernel, blocks),
        executed=np.ascontiguousarray(recording.executed.T),
        threads=np.ascontiguousarray(recording.threads.T),
        streams={row: joined(recording.streams[row]) for row in recording.streams if row in recording.kept_streams},
        accesses=accesses,
        unknown=unknowns(kernel.program, recording.unknown, reloads, reach),
        ungiven=array_refusals(kernel.program, recording.unknown, reloads, reach),
        arrays=arrays_of(kernel),
        stopped="" if problem is None else str(problem),
        waited=isinstance(problem, Endless),
        dropped=recording.dropped,
        rounds=recording.rounds,
        notes=notes,
        mbarrier_log=recording.mbarrier_log(warps_of(kernel, blocks)),
        bulk_extents=recording.bulk_extents,
    )
    unasked = {GRID_BARRIER} | {
        allocation.name for allocation in kernel.memory.image.allocations
        if not allocation.has_contents or allocation.name.startswith(VIRTUAL_TABLE)
    }  # fmt: skip
    return replace(result, notes=notes + deciding_arrays(kernel.program, result, reach, unasked))
