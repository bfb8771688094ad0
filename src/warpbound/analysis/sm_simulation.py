"""A kernel run event by event on one SM, beside the time model's answer for the same launch."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from warpbound.analysis import launch_counts
from warpbound.analysis.case import Case, checked_case
from warpbound.analysis.executed import per_execution, served_by, work_from
from warpbound.analysis.figure_data import curve
from warpbound.analysis.sampled import run_sample
from warpbound.analysis.settings import DEFAULT, Settings
from warpbound.analysis.static import Work
from warpbound.analysis.timing import at_predicted_rate, launch_prediction, warps_per_block
from warpbound.bounds import Real
from warpbound.emulate import Trace
from warpbound.errors import InputError
from warpbound.kernel_launch import Launch
from warpbound.l2_clock import chip_rate
from warpbound.machine import Gpu
from warpbound.memory.traffic_counts import Traffic
from warpbound.model_inputs.resources import read_first
from warpbound.predict import predict
from warpbound.program import Program
from warpbound.result.figures import SimulationFigures
from warpbound.result.simulation import SimulatedKernel
from warpbound.simulate.experiment import Experiment
from warpbound.simulate.kernel import SECTOR_B, Kernel, Place, Timing, experiment, shortened
from warpbound.simulate.numba_jit import COMPILED
from warpbound.simulate.timelines import spans, summary
from warpbound.simulate.warp_simulation import Outcome, run, run_short
from warpbound.time_model import LaunchPrediction, dram
from warpbound.time_model.parameters import fitted_parameters
from warpbound.time_model.queue_demands import crossing, in_the_way
from warpbound.workload.dynamic import Sample, mean_per_warp

Stream = NDArray[np.int32]
Followed = tuple[Trace, Sample, Traffic]
BUDGET = 4_000_000 if COMPILED else 200_000  # warp instructions, after which no further block is simulated
WAVES = 12  # blocks to each place that are enough for a steady rate
LOGGED = 4_000  # events of a timeline, which is shorter where there are more
PICTURED = 20_000  # events logged of a run that is pictured
SHOWN = 1500.0  # cycles of its timeline
THOUSAND = 1000.0
LARGEST = 10  # budgets that a first wave may take
FIRST_WITH_CONTROL_WORDS = 70
NOTE = "one SM with an even share of L2 and DRAM, whose rates and queue are those of the headline prediction"


def simulated(  # noqa: PLR0913  (the question, and how to simulate)
    program: Program, gpu: str | Path | Gpu, launch: Launch | None = None, settings: Settings = DEFAULT,
    policy: str = "greedy_then_oldest", seed: int = 1,
) -> SimulatedKernel:  # fmt: skip
    """One entry: statistics of the simulated SM, its time for the launch, and the time model's.

    Raises InputError without a launch that can be executed, and for machines without control words.
    """
    case = checked_case(program, gpu, launch, settings)
    if launch is None or case.blocks is None:
        raise InputError(f"{program.title} cannot be run without a launch.", "Add --launch FILE.toml.")
    if case.gpu.arch < FIRST_WITH_CONTROL_WORDS or not case.gpu.board:
        raise InputError(f"{case.gpu.name} cannot be simulated from code.", "Choose a board from Volta on.")
    kernel, work = executed(case, launch)
    place = _place(case, kernel, BUDGET)
    pictured = "figures" in settings.views
    x = replace(experiment(kernel, place, policy, seed), log_rows=PICTURED if pictured else 0)
    outcome = run(x)
    prediction = launch_prediction(case, work)
    time_s = seconds(case, outcome, place, unevenness(kernel, work))
    bounds = predict(work.focus, case.place)
    rates = bounds if prediction is None else at_predicted_rate(case, bounds, prediction)
    return SimulatedKernel(
        kernel=program.title,
        gpu=case.gpu.key,
        title=f"{program.title} on {case.gpu.name}",
        source=f"{place.resident} resident blocks of {place.warps_per_block} warps, {place.blocks} simulated",
        assumed=NOTE,
        policy=policy,
        time_s=time_s,
        headline_time_s=prediction.time_s if prediction else None,
        simulated_over_headline=time_s / prediction.time_s if prediction else None,
        headline_stalls=_shares(prediction),
        outcome=summary(x, replace(outcome, log=outcome.log[:0])),  # the beginning alone is no summary
        bounds=launch_counts.bounds(rates) if pictured else UNSET,
        occupancy=launch_counts.occupancy(case.residency) if pictured else UNSET,
        figures=_figures(case, work, (x, outcome), place, unevenness(kernel, work)) if pictured else UNSET,
    )


def _figures(
    case: Case, work: Work, simulation: tuple[Experiment, Outcome], place: Place, uneven: float
) -> SimulationFigures:
    """Figures of a run whose beginning is logged."""
    x, outcome = simulation
    at, resident = outcome.occupancy_over_time()
    steady = THOUSAND * rate(outcome, place) * place.warps_per_block / uneven
    return SimulationFigures(
        curve=curve(case, work),
        warps=list(spans(x, outcome, min(SHOWN, _logged_until(outcome, PICTURED)))),
        resident=(at.tolist(), resident.tolist()),
        latencies=outcome.request_latencies.tolist(),
        at=(place.resident * place.warps_per_block, steady),
    )


def _logged_until(outcome: Outcome, rows: int) -> float:
    """The cycle up to which a log of at most this many rows is complete."""
    issues = outcome.log["cycle"][outcome.log["kind"] == "issue"]
    return min(outcome.cycles, float(issues.max())) if len(outcome.log) == rows else outcome.cycles


def executed(case: Case, launch: Launch) -> tuple[Kernel, Work]:
    """The simulator's input and the time model's."""
    trace, sample, traffic = run_sample(case, launch)
    if traffic is None:
        raise InputError(f"{case.program.title} could not be executed: {trace.stopped}", "Give every argument.")
    work = work_from(case, trace, sample, traffic)
    return kernel_of(case, work, (trace, sample, traffic)), work


def kernel_of(case: Case, work: Work, run: Followed) -> Kernel:
    """The simulator's input, from the execution of the sampled blocks."""
    trace, sample, traffic = run
    instructions = case.program.instructions
    warps = trace.of_blocks * warps_per_block(case)
    levels = served_by(traffic)
    return Kernel(
        instructions=instructions,
        streams=representative(list(trace.streams.values()), work.whole.warp_instructions),
        traffic=per_execution(instructions, traffic, mean_per_warp(trace, sample, trace.executed) * warps),
        shares=[levels(index) for index in range(len(instructions))],
        gpu=case.gpu,
        latency=case.latency,
        timing=timing(case, work),
    )


def first_cycles(case: Case, work: Work, cycles: float) -> list[tuple[int, float, float, str]]:
    """What the first warps of an SM do up to a cycle: spans as `simulate.views` has them; none where it cannot tell.

    Raises InputError where the kernel is too long to simulate.
    """
    if work.sample_run is None or case.gpu.arch < FIRST_WITH_CONTROL_WORDS or not case.gpu.board:
        return []
    kernel = shortened(kernel_of(case, work, work.sample_run), LOGGED)
    x = replace(experiment(kernel, _place(case, kernel, 0)), horizon=cycles, log_rows=LOGGED)
    outcome = run_short(x)
    return list(spans(x, outcome, min(cycles, _logged_until(outcome, LOGGED))))


def representative(streams: Sequence[Stream], instructions: float) -> tuple[Stream, ...]:
    """The largest set of recorded warps whose mean length is nearest to that of the launch's mean warp.

    Warps are recorded at even distances through the sample, so that those at the edges of a grid are too many.
    """
    some = [stream for stream in streams if len(stream)]
    groups = [group for size in range(len(some), 0, -1) for group in combinations(some, size)]
    return min(groups, key=lambda group: abs(float(np.mean([len(stream) for stream in group])) - instructions))


def timing(case: Case, work: Work) -> Timing:
    """The time model's parameters of memory and block starts, in cycles of one SM."""
    values, memory = fitted_parameters(case.gpu).values, work.whole.memory
    hz, sms = case.clock_hz, case.place.active_sms
    dram_bytes = memory.dram_bytes_read + memory.dram_bytes_written
    writes = memory.dram_bytes_written / dram_bytes if dram_bytes else 0.0
    l2_read = SECTOR_B * sms * hz / chip_rate(case.gpu, "l2_bandwidth")
    fill, drain = (_number(cost) for cost in crossing(values, chip_rate(case.gpu, "l2_bandwidth")))
    l2_sectors = memory.l2_sectors_read + read_first(memory, case.gpu)
    l2_sectors += _number(values.l2_write_cost) * memory.l2_sectors_written
    l2_s = l2_sectors * SECTOR_B / chip_rate(case.gpu, "l2_bandwidth")
    fill *= _number(in_the_way(memory, dram_bytes / _number(dram.capacity(values.dram, writes)), l2_s))
    stores = _number(values.store_cost) if memory.l2_sectors_written else 0.0
    return Timing(
        spread=_number(values.latency_spread),
        wait=_number(dram.wait(values.dram, writes)) * hz,
        l2_read=l2_read,
        l2_write=l2_read * _number(values.l2_write_cost),
        l2_fill=l2_read * fill / SECTOR_B,
        l2_drain=l2_read * drain / SECTOR_B,
        dram_byte=sms * hz / _number(dram.capacity(values.dram, writes)),
        l1_bytes=case.gpu.value("l1_bandwidth"),
        block_start=_number(values.block_start) * case.gpu.value("boost_clock") + stores * hz,
        block_interval=_number(values.block_interval) * sms * case.gpu.value("boost_clock"),
    )


def unevenness(kernel: Kernel, work: Work) -> float:
    """Instructions of the launch's mean warp over those of the recorded warps, which are few."""
    return work.whole.warp_instructions / float(np.mean([len(stream) for stream in kernel.streams]))


def seconds(case: Case, outcome: Outcome, place: Place, uneven: float) -> float:
    """The launch on all SMs: launch gap, start, what was simulated, and the rest of the blocks at the steady rate.

    Blocks take `uneven` times as long as the simulated ones.
    """
    values = fitted_parameters(case.gpu).values
    each = (case.blocks or 0) / case.place.active_sms
    cycles = outcome.cycles + max(0.0, each - place.blocks) / rate(outcome, place)
    start_s = _number(values.block_start) * case.gpu.value("boost_clock") / case.clock_hz
    return _number(values.launch_gap) + start_s + uneven * cycles / case.clock_hz


def rate(outcome: Outcome, place: Place) -> float:
    """Blocks per cycle once the first wave is over."""
    ends = np.sort(outcome.ended.reshape(-1, place.warps_per_block).max(axis=1))
    if len(ends) <= 2 * place.resident:
        return len(ends) / outcome.cycles
    first, last = place.resident, len(ends) - place.resident
    return float((last - first) / (ends[last] - ends[first]))


def _place(case: Case, kernel: Kernel, budget: float) -> Place:
    """Blocks to simulate: all of an SM, or enough for a steady rate within the budget of warp instructions."""
    per_block, resident = warps_per_block(case), int(case.residency.fitting_blocks_per_sm)
    each = -(-(case.blocks or 1) // int(case.place.active_sms))
    instructions = per_block * float(np.mean([len(stream) for stream in kernel.streams]))
    resident = min(resident, each)
    if resident * instructions > LARGEST * BUDGET:
        raise InputError(
            f"A wave of {case.program.title} has {resident * instructions:.3g} warp instructions; that takes too long.",
            f"Give a smaller problem, of at most {LARGEST * BUDGET:.1g}" + ("." if COMPILED else ", or install Numba."),
        )
    affordable = max(resident, int(budget / instructions))
    return Place(per_block, resident, min(each, affordable, WAVES * resident))


def _shares(prediction: LaunchPrediction | None) -> dict[str, float]:
    total = sum(prediction.stalls.values()) if prediction else 0.0
    return {name: stall_s / total for name, stall_s in prediction.stalls.items()} if prediction and total else {}


def _number(value: Real) -> float:
    return float(np.ravel(value)[0])
