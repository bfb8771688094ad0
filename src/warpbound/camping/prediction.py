"""Bounds of a kernel's time at every number of active warps, from its counters under one configuration."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.camping.benchmarks import axis
from warpbound.errors import CommandError, InputError
from warpbound.machine import Gpu
from warpbound.model_inputs.partition_benchmarks import Benchmarks, fits, shipped, shipped_boards
from warpbound.models.campprof_2011 import Inputs, application, best, degree_of_camping, worst
from warpbound.quick_dataclasses import dataclass
from warpbound.result.campprof import COUNTERS, CampingBand, CampingConfiguration, MemoryBoundProof
from warpbound.result.quantities import SCHEMA_VERSION

FREE, FULL = 0.1, 0.9  # degrees that are called free of camping and fully camped
SPREAD = 1.1            # times the time of evenly spread accesses that is not called camping
OUTSIDE = 0.15         # how far outside the band a time is no longer explained by the model's error
REMEDY = "let blocks that run together begin in different partitions (diagonal blocks, rows padded by one partition)"

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """One configuration of a kernel: transactions of the whole launch by counter, its shape, its time if known."""

    counters: Mapping[str, float]
    grid: int   # blocks
    block: int  # threads
    warps: int  # active per SM
    time: float | None = None  # [s]


@dataclass(frozen=True)
class Band:
    """Bounds of the kernel's time at some numbers of active warps, (n,) each [s]."""

    warps: Reals
    best: Reals
    worst: Reals


def benchmarks_of(gpu: Gpu) -> Benchmarks:
    """The shipped table of a board. InputError where there is none."""
    table = shipped(gpu.key)
    if table is None:
        board_names = ", ".join(shipped_boards())
        raise InputError(
            f"{gpu.name}: there are no benchmark data of its memory partitions.",
            f"Give --data FILE, or --gpu with one of {board_names}.",
        )
    return table


def band(counters: Mapping[str, float], warps: Reals, table: Benchmarks, form: str = "by-size") -> Band:
    """Best and worst case at each of `warps`; where the fits cross, both are the best case."""
    symbols: dict[str, Any] = {name: fit.equation for name, fit in fits(table, form).items()}
    symbols |= {name: counters.get(name, 0.0) for name in COUNTERS}
    x = Inputs(**symbols, per_warp=table.per_warp, warps=warps)
    low = np.asarray(best(x), dtype=np.float64)
    return Band(warps, low, np.maximum(low, worst(x)))


def predicted(
    kernel: Measured, gpu: Gpu, table: Benchmarks, form: str = "by-size", proof: MemoryBoundProof | None = None
) -> CampingBand:
    """The answer of `campprof predict`. `proof` is of the same launch, executed.

    CommandError where the configuration is impossible, InputError where the equation gives no time above zero for it.
    """
    _check(kernel, gpu)
    bounds, below_zero = _above_zero(
        band(kernel.counters, np.array(sorted({*axis(gpu), kernel.warps}), dtype=np.float64), table, form), kernel.warps
    )
    warps = bounds.warps
    here = int(np.flatnonzero(warps == kernel.warps)[0])
    degree = None
    if kernel.time is not None and bounds.worst[here] > bounds.best[here]:
        degree = float(degree_of_camping(kernel.time, bounds.best[here], bounds.worst[here]))
    line = None if degree is None else np.asarray(application(degree, bounds.best, bounds.worst))
    if line is not None:
        line[here] = kernel.time
    low, high = float(bounds.best[here]), float(bounds.worst[here])
    return CampingBand(
        schema_version=SCHEMA_VERSION,
        gpu=gpu.key,
        warps_per_sm=warps.astype(int).tolist(),
        best_s=bounds.best.tolist(),
        worst_s=bounds.worst.tolist(),
        application_s=None if line is None else line.tolist(),
        degree=degree,
        advice=advice(degree, kernel.time, low, high, gpu.get("memory_partitions") or math.inf)
        if proof is None
        else advice_of_run(proof, degree, kernel.time, low, high),
        configuration=CampingConfiguration(kernel.grid, kernel.block, kernel.warps, kernel.time),
        counters={name: float(kernel.counters.get(name, 0.0)) for name in COUNTERS},
        equation=form,
        benchmarks=list(table.comments),
        notes=[*_notes(kernel, gpu), *below_zero],
        proof=proof,
    )


def _above_zero(whole: Band, warps: int) -> tuple[Band, list[str]]:
    """The numbers of warps with times above zero, and a note on the others. InputError where `warps` is of these."""
    above = whole.best > 0.0
    if above.all():
        return whole, []
    if not above[whole.warps == warps].all():
        raise InputError(
            f"The equation gives no time above zero at {warps} active warps: it has one slope for all sizes.",
            "Use --equation by-size, or give the counters of a run with more active warps.",
        )
    note = f"left out: {int((~above).sum())} numbers of warps at which the equation gives no time above zero"
    return Band(whole.warps[above], whole.best[above], whole.worst[above]), [note]


def advice_of_run(
    proof: MemoryBoundProof, degree: float | None, time: float | None, best_s: float, worst_s: float
) -> str:
    """The sentence for an executed launch: whether the model applies to it, then whether its accesses camp."""
    if not proof.memory_bound:
        return (
            "The kernel is not bound by memory (the core clock matters more than the memory clock), so partition "
            "camping does not matter and the band does not apply to it."
        )
    if time is None or time <= SPREAD * proof.spread_s:
        return (
            "The kernel does not suffer from partition camping: evenly spread over the partitions, the same accesses "
            "take as long. Leave its access pattern as it is."
        )
    return advice(degree, time, proof.spread_s if best_s < proof.spread_s < worst_s else best_s, worst_s)


def advice(
    degree: float | None, time: float | None, best_s: float, worst_s: float, partitions: float = math.inf
) -> str:
    """One sentence: what the degree means and what to do. No kernel loses more than the number of partitions."""
    if degree is None and time is not None:
        return "Best and worst case are equal: with so few warps camping costs nothing. Measure a time with more warps."
    if degree is None:
        most = min(worst_s / best_s, partitions)
        return f"Camping can cost this kernel up to {most:.1f} times its best time; give --time to see how much."
    if degree > 1.0 + OUTSIDE:
        beyond = (time or 0.0) / worst_s
        return (
            f"The time is {beyond:.1f} times the worst case: something other than memory binds the kernel, "
            "or the counters cover only a part of the launch."
        )
    if degree < -OUTSIDE:
        return "The time is below the best case: the counters cover more than the timed launch, or caches help."
    if degree < FREE:
        return "The kernel does not suffer from partition camping: leave its access pattern as it is."
    gain = time / best_s if time else 1.0
    if degree < FULL:
        return f"Some of the accesses camp in few partitions, up to {gain:.1f} times faster without: {REMEDY}."
    return f"Nearly all accesses camp in one partition, up to {gain:.1f} times faster without: {REMEDY}."


def _check(x: Measured, gpu: Gpu) -> None:
    most, threads = gpu.limits.max_warps_per_sm, gpu.limits.max_threads_per_block
    if not any(x.counters.get(name, 0.0) for name in COUNTERS):
        raise CommandError("Every counter is 0.", "Give at least one of --gld32 ... --gst128.")
    if any(not 0.0 <= x.counters.get(name, 0.0) < float("inf") for name in COUNTERS):
        raise CommandError("A counter is negative or no number.", "Counters are 0 or more.")
    if x.warps > most:
        raise CommandError(f"--warps {x.warps}: an SM of {gpu.name} holds {most} at most.", f"Give 1 to {most}.")
    if x.block > threads:
        reason = f"--block: {x.block} threads, but a block of {gpu.name} has {threads} at most."
        raise CommandError(reason, "Give a smaller block.")
    if x.time is not None and not 0.0 < x.time < float("inf"):
        raise CommandError(f"--time {x.time:g} is not a positive time.", "Give seconds, more than 0.")


def _notes(x: Measured, gpu: Gpu) -> list[str]:
    per_block = -(-x.block // 32)
    warps = x.grid * per_block
    sms = int(gpu.value("sm_count"))
    notes = ["counters are assumed to be those of the whole launch"]
    if x.warps % per_block:
        notes.append(f"blocks of {x.block} threads come in steps of {per_block} warps: {x.warps} is none of them")
    if warps < x.warps * sms:
        notes.append(f"the launch has {warps} warps, too few for {x.warps} on each of {sms} SMs")
    return notes
