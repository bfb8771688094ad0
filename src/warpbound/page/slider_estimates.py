"""Estimate of a launch with other numbers in a few milliseconds, without compiling or executing again.

Each wait of a warp is scaled with the latency that causes it; waves and residency are computed again. The work of a
warp is assumed not to change.
"""

from collections.abc import Mapping
from dataclasses import replace

from warpbound import machine
from warpbound.board_parameters import LATENCIES, PARAMETERS
from warpbound.errors import InputError
from warpbound.kernel_launch import Launch
from warpbound.latency import longer, memory_latency
from warpbound.machine import Gpu
from warpbound.model_inputs.answers import LaunchFacts
from warpbound.page.subject import Subject
from warpbound.page.work_overrides import (
    REGISTERS,
    SHARED,
    THREADS,
    WARP,
    WARPS,
    kernel_values,
    overridden_launch,
    whole_blocks,
)
from warpbound.report.figures import Block
from warpbound.residency import Residency, occupancy
from warpbound.workload.files.lanes import PIPE_OF, stretch

MEMORY_LATENCIES = {part: f"{part}_latency" for part in ("dram", "l2", "l1", "shared")}
EXECUTED = "Arguments act when you release the slider: the kernel is executed again."
SCHEDULED = "The code's own cycles follow when you release the slider: its warps are scheduled again."


def estimated(own: Subject, board: Gpu, launch: Launch | None, values: Mapping[str, float]) -> Subject:
    """The analysis `own`, rescaled to other numbers. Raises WarpboundError where no block fits."""
    numbers = kernel_values(values)
    block = _block(own, launch, numbers)
    same = board == own.gpu and block == own.block and (launch is None or own.launch == launch)
    subject = replace(own, gpu=board, block=block, launch=launch or own.launch, estimated=not same or bool(numbers))
    if own.facts is None or own.entry is None or launch is None:
        return subject
    if not same:
        subject = _launched_anew(subject, own, launch, block)
    notes = () if own.launch is None or launch.args == own.launch.args else (EXECUTED,)
    if any(name not in own.facts.work.board_waits for name in _changed(own.gpu, board)):
        notes = (*notes, SCHEDULED)
    subject = replace(subject, notes=notes)
    return with_kernel(subject, numbers)


def with_kernel(subject: Subject, numbers: Mapping[str, float]) -> Subject:
    """The subject with the kernel's numbers that are set by hand."""
    if subject.facts is None or not numbers:
        return subject
    x = overridden_launch(subject.facts, numbers)
    fitting = subject.fitting
    if WARPS in numbers:
        fitting = whole_blocks(numbers[WARPS], x.threads_per_block or subject.block.threads)
    return replace(subject, facts=x, focus=x.work, fitting=fitting, overridden=True)


def _block(own: Subject, launch: Launch | None, numbers: Mapping[str, float]) -> Block:
    threads = _product(launch.block) if launch else numbers.get(THREADS, own.block.threads)
    dynamic = launch.smem if launch else 0
    static = numbers.get(SHARED, own.static_shared)
    registers = round(numbers.get(REGISTERS, own.block.registers))
    return Block(round(threads), registers, round(static) + dynamic, own.block.tensor_columns)


def _launched_anew(subject: Subject, own: Subject, launch: Launch, block: Block) -> Subject:
    x, board = own.facts, subject.gpu
    assert x is not None
    assert own.kernel is not None
    blocks = _product(launch.grid)
    residency = occupancy(
        board, block.threads, block.registers, block.shared_bytes, launch.carveout,
        barriers=own.kernel.program.barriers, tensor_columns=block.tensor_columns, grid_blocks=blocks,
    )  # fmt: skip
    _refuse_empty(own.name, board, residency)
    return replace(
        subject,
        facts=_scaled(x, own.gpu, board, (blocks, block.threads, residency)),
        fitting=residency.fitting_blocks_per_sm,
    )


def _scaled(x: LaunchFacts, before: Gpu, board: Gpu, launch_size: tuple[int, int, Residency]) -> LaunchFacts:
    blocks, threads, residency = launch_size
    scaled_parts = {
        cause: board.value(name) / before.value(name)
        for cause, name in MEMORY_LATENCIES.items()
        if before.get(name) and board.get(name)
    }
    parts = {cause: cycles * scaled_parts.get(cause, 1.0) for cause, cycles in x.work.parts.items()}
    for name, factor in _changed(before, board).items():
        whole, waited = x.work.board_waits.get(name, (0.0, 0.0))
        cause = PARAMETERS[name].decides
        parts[cause] = max(0.0, parts.get(cause, 0.0) + max(-waited, (factor - 1.0) * whole))
    units = {unit: cycles * _wider(unit, before, board) for unit, cycles in x.work.units.items()}
    clock_hz = machine.clock(board, "boost") if board.parameters != before.parameters else x.clock_hz
    warps = float(blocks * -(-threads // WARP))
    return replace(
        x,
        gpu=board,
        work=replace(x.work, parts=parts, units=units, latency=sum(parts.values()), warps=warps),
        clock_hz=clock_hz,
        dram_cycles=memory_latency(board, clock_hz).dram,
        active_sms=min(board.value("sm_count"), float(blocks)),
        warps_per_sm=float(residency.warps_per_sm),
        blocks=blocks,
        blocks_per_sm=float(residency.blocks_per_sm),
        threads_per_block=threads,
    )


def _changed(before: Gpu, board: Gpu) -> dict[str, float]:
    """Changed latency of the board -> its factor."""
    if before.parameters == board.parameters:
        return {}
    earlier, new = longer(before), longer(board)
    factors = {name: new.get(name, 1.0) / earlier.get(name, 1.0) for name in LATENCIES}
    return {name: factor for name, factor in factors.items() if factor != 1.0}


def _wider(unit: str, before: Gpu, board: Gpu) -> float:
    """Factor on the cycles that an instruction holds a pipe."""
    pipe = PIPE_OF.get(unit, unit)
    return stretch(board, pipe) / stretch(before, pipe)


def _refuse_empty(name: str, board: Gpu, residency: Residency) -> None:
    if not residency.fitting_blocks_per_sm:
        raise InputError(
            f"{name}: not one block fits on an SM of {board.name} ({', '.join(residency.limiters)}).",
            " ".join(step.sentence for step in residency.next_step) or "Use a smaller block.",
        )


def _product(size: tuple[int, int, int]) -> int:
    return size[0] * size[1] * size[2]
