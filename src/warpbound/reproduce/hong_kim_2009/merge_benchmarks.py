"""Table 5 and Figures 15 to 20: the six Merge benchmarks, from the workloads that the package ships."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from warpbound.adapt.answers import inputs_of
from warpbound.analysis.workload_prediction import launched
from warpbound.errors import InputError
from warpbound.machine import gpu
from warpbound.models.hong_kim_2009 import Inputs, arithmetic_intensity, cpi, seconds, terms
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.item import ItemInputs, Numbers
from warpbound.workload.files import WorkloadCase, read


@dataclass(frozen=True)
class Point:
    """One launch of one benchmark on one GPU."""

    threads: float  # per block
    cpi: float      # [cycle/inst]
    mwp: float      # [warp/SM]
    cwp: float      # [warp/SM]
    seconds: float


def table_5(inputs: ItemInputs) -> Numbers:
    """Intensities of Table 5, means of Figures 17 to 20, and the order in which section 5.2 puts them."""
    launches = {name: points(inputs, workload) for name, workload in inputs["workloads"].items()}
    by_benchmark = {name: _mean([p for own in each.values() for p in own]) for name, each in launches.items()}
    by_gpu = {g: _mean([p for each in launches.values() for p in each[g]]) for g in inputs["gpus"]}
    return {
        "arithmetic intensity": {name: _intensity(inputs, workload) for name, workload in inputs["workloads"].items()},
        "words": {
            "lowest CPI": min(by_benchmark, key=lambda name: by_benchmark[name]["CPI"]),
            "highest MWP": max(by_benchmark, key=lambda name: by_benchmark[name]["MWP"]),
            "lowest CPI among GPUs": min(by_gpu, key=lambda name: by_gpu[name]["CPI"]),
            "highest CPI among GPUs": max(by_gpu, key=lambda name: by_gpu[name]["CPI"]),
        },
        **by_benchmark,
        **by_gpu,
    }


def table_5_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Figures 15 and 16: time against threads per block, a line for each benchmark."""
    x, y = Axis("threads per block", "thread", "log"), Axis("time", "s", "log")
    for name in inputs["gpus"]:
        lines = []
        for benchmark, workload in inputs["workloads"].items():
            own = sorted(points(inputs, workload)[name], key=lambda point: point.threads)
            lines.append(series(benchmark, [p.threads for p in own], [p.seconds for p in own], "both"))
        source = "Hong and Kim 2009, Figures 15 and 16: the model, with counts of Table 5"
        yield Figure(f"Merge benchmarks on {name}", x, y, tuple(lines), source)


def points(inputs: ItemInputs, workload: str) -> dict[str, list[Point]]:
    """By GPU; launches of which no block fits are left out."""
    boards = {name: inputs["machines"][name]["board"] for name in inputs["gpus"]}
    return {
        name: [point for workload_case in read(workload) if (point := _point(workload_case, board))]
        for name, board in boards.items()
    }


def _point(workload_case: WorkloadCase, board: str) -> Point | None:
    try:
        x = _inputs(workload_case, board)
    except InputError:
        return None
    t = terms(x)
    return Point(float(x.threads_per_block), float(cpi(x)), float(t.mwp), float(t.cwp), float(seconds(x)))


def _inputs(workload_case: WorkloadCase, board: str) -> Inputs:
    inputs: Inputs = inputs_of("hong_kim_2009", launched(workload_case, gpu(board)))
    return inputs


def _intensity(inputs: ItemInputs, workload: str) -> float:
    """Of the last case: the table's, for the tiled product that of the widest tile."""
    board = inputs["machines"][inputs["gpus"][0]]["board"]
    return float(arithmetic_intensity(_inputs(read(workload)[-1], board)))


def _mean(own: list[Point]) -> dict[str, float]:
    return {
        "CPI": float(np.mean([point.cpi for point in own])),
        "MWP": float(np.mean([point.mwp for point in own])),
        "CWP": float(np.mean([point.cwp for point in own])),
    }
