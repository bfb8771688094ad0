"""Throughput against occupancy: the same work with one block per SM, two, and so on to the most that fit."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from warpbound.analysis.answer import launch_facts, work_of
from warpbound.analysis.case import WARP, Case, checked_case, product
from warpbound.analysis.settings import DEFAULT, Settings
from warpbound.analysis.static import Work
from warpbound.analysis.timing import launch_prediction
from warpbound.errors import CommandError
from warpbound.kernel_launch import Launch
from warpbound.machine import Gpu
from warpbound.model_inputs.answers import answers
from warpbound.predict import predict
from warpbound.program import Program
from warpbound.result.curve import ModelCurve, OccupancyCurve


def curve(
    program: Program,
    gpu: str | Path | Gpu,
    launch: Launch | None = None,
    settings: Settings = DEFAULT,
    warps: tuple[int, int] = (1, 64),
) -> OccupancyCurve:
    """Time and throughput at every number of resident blocks whose warps lie in `warps` (first, last).

    time_s is of the launch, null in static mode; warp_throughput_per_s and gbytes_per_s (DRAM) are of the chip.
    In static mode `scope` gives the unit of work, a warp or an iteration of a loop. models : for those of the
    settings, name -> time_s and bottleneck at every one of these numbers, and the reason where one gives none.
    """
    case = checked_case(program, gpu, launch, settings)
    work = work_of(case)
    size = product(case.launch.block) if case.launch else case.threads_per_block
    per_block = -(-size // WARP)
    blocks = [n for n in range(1, case.residency.fitting_blocks_per_sm + 1) if warps[0] <= n * per_block <= warps[1]]
    if not blocks:
        raise CommandError(
            f"No number of resident blocks has between {warps[0]} and {warps[1]} warps: a block has {per_block}.",
            f"Give --warps {per_block}:{per_block * case.residency.fitting_blocks_per_sm}.",
        )
    places = [replace(case.place, warps_per_sm=float(n * per_block)) for n in blocks]
    predictions = [predict(work.focus, place) for place in places]
    launches = [launch_prediction(case, work, n) for n in blocks]
    bounded = np.array([p.rate for p in predictions]) * case.clock_hz * case.place.active_sms
    rate = np.array(
        [b if t is None else t.rate * per_block * case.place.active_sms for b, t in zip(bounded, launches, strict=True)]
    )
    dram_bytes = work.focus.memory.dram_bytes_read + work.focus.memory.dram_bytes_written
    return OccupancyCurve(
        kernel=program.title,
        gpu=case.gpu.key,
        mode=work.mode,
        scope=work.focus.title,
        warps_per_sm=[n * per_block for n in blocks],
        blocks_per_sm=blocks,
        time_s=[None if t is None else t.time_s for t in launches],
        warp_throughput_per_s=rate.tolist(),
        gbytes_per_s=(rate * dram_bytes / 1e9).tolist(),
        bottleneck=[p.bottleneck if t is None else t.bottleneck for p, t in zip(predictions, launches, strict=True)],
        models=_models(case, work, blocks, per_block),
    )


def _models(case: Case, work: Work, blocks: list[int], per_block: int) -> dict[str, ModelCurve]:
    """Predictions of the papers' models at every number of resident blocks."""
    if not case.settings.models:
        return {}
    x = launch_facts(case, work)
    at = [x and replace(x, warps_per_sm=float(n * per_block), blocks_per_sm=n) for n in blocks]
    at_each = [answers(case.settings.models, launch) for launch in at]
    return {
        name: ModelCurve(
            [answer[name].time_s for answer in at_each],
            [answer[name].bottleneck for answer in at_each],
            next((reason for answer in at_each if (reason := answer[name].reason)), ""),
        )
        for name in case.settings.models
    }
