"""Table 5 and Figures 15 to 20: the six Merge benchmarks, from the workloads that the package ships."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from warpbound.analysis.workload_prediction import launched
from warpbound.errors import InputError
from warpbound.machine import gpu
from warpbound.model_inputs.answers import inputs_of
from warpbound.models.hong_kim_2009 import Inputs, arithmetic_intensity, cpi, seconds, terms
from warpbound.quick_dataclasses import dataclass
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.hong_kim_2009.simulated_cpi import errors
from warpbound.reproduce.item import ItemInputs, Numbers
from warpbound.workload.files import WorkloadCase, read

WARP = 32.0  # threads of the smallest block in the mean occupancy and in the means of a GPU

SAME = 1e-9    # relative, below which two means are one


@dataclass(frozen=True)
class Point:
    """One launch of one benchmark on one GPU."""

    threads: float  # per block
    cpi: float      # [cycle/inst]
    mwp: float      # [warp/SM]
    cwp: float      # [warp/SM]
    seconds: float
    occupancy: float  # resident warps over the most


def table_5(inputs: ItemInputs) -> Numbers:
    """Intensities of Table 5, means of Figures 17 to 20, errors, and the order in which section 5.2 puts them."""
    launches = {name: points(inputs, workload) for name, workload in inputs["workloads"].items()}
    by_benchmark = {name: mean_of([p for own in each.values() for p in own]) for name, each in launches.items()}
    full = {name: mean["occupancy"] for name, mean in by_benchmark.items()}
    by_gpu = {g: mean_over_benchmarks([each[g] for each in launches.values()]) for g in inputs["gpus"]}
    return {
        "arithmetic intensity": {name: _intensity(inputs, workload) for name, workload in inputs["workloads"].items()},
        "words": {
            "lowest CPI": min(by_benchmark, key=lambda name: by_benchmark[name]["CPI"]),
            "highest MWP": max(by_benchmark, key=lambda name: by_benchmark[name]["MWP"]),
            "lowest CPI among GPUs": min(by_gpu, key=lambda name: by_gpu[name]["CPI"]),
            "highest CPI among GPUs": _highest({name: mean["CPI"] for name, mean in by_gpu.items()}),
            "highest MWP among GPUs": max(by_gpu, key=lambda name: by_gpu[name]["MWP"]),
            "occupancy of 70 % or less": ", ".join(n for n in sorted(by_benchmark) if full[n] <= 0.7),
        },
        "error, geometric mean": 100.0 * _error(inputs),
        **by_benchmark,
        **by_gpu,
    }


def table_5_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Figures 15 and 16: time against threads per block, a line for each benchmark."""
    x, y = Axis("threads per block", "thread", "log"), Axis("time", "s", "log")
    for number, name in ((15, "FX5600"), (16, "GTX280")):
        lines = []
        for benchmark, workload in inputs["workloads"].items():
            own = sorted(points(inputs, workload)[name], key=lambda point: point.threads)
            lines.append(series(benchmark, [p.threads for p in own], [p.seconds for p in own], "both"))
        source = f"Hong and Kim 2009, Figure {number}: the model, with counts of Table 5"
        yield Figure(f"Merge benchmarks on {name}", x, y, tuple(lines), source)


def points(inputs: ItemInputs, workload: str) -> dict[str, list[Point]]:
    """The launches by GPU, without those of which no block fits an SM."""
    boards = {name: inputs["machines"][name]["board"] for name in inputs["gpus"]}
    return {
        name: [point for each in read(workload) if (point := _point(each, board, inputs["machines"][name]))]
        for name, board in boards.items()
    }


def _point(workload_case: WorkloadCase, board: str, machine: ItemInputs) -> Point | None:
    try:
        x = replace(_inputs(workload_case, board), uncoal_per_mw=machine["uncoal_per_mw"])
    except InputError:
        return None
    t = terms(x)
    occupied = float(t.warps) / gpu(board).limits.max_warps_per_sm
    return Point(float(x.threads_per_block), float(cpi(x)), float(t.mwp), float(t.cwp), float(seconds(x)), occupied)


def _inputs(workload_case: WorkloadCase, board: str) -> Inputs:
    inputs: Inputs = inputs_of("hong_kim_2009", launched(workload_case, gpu(board)))
    return inputs


def _error(inputs: ItemInputs) -> float:
    """Of the model's CPI against the simulated machine, at `threads_of_errors` threads per block, geometric mean."""
    kernels = []
    for name in inputs["gpus"]:
        machine = inputs["machines"][name]
        for workload in inputs["workloads"].values():
            cases = [_inputs(each, machine["board"]) for each in read(workload)]
            near = min(cases, key=lambda x: abs(float(x.threads_per_block) - inputs["threads_of_errors"]))
            kernels.append(replace(near, uncoal_per_mw=machine["uncoal_per_mw"]))
    return float(np.exp(np.mean(np.log(errors(kernels)))))


def _intensity(inputs: ItemInputs, workload: str) -> float:
    """The intensity of the last case, which is the table's; for the tiled product, of the widest tile."""
    board = inputs["machines"][inputs["gpus"][0]]["board"]
    return float(arithmetic_intensity(_inputs(read(workload)[-1], board)))


def _highest(values: dict[str, float]) -> str:
    """The name of the greatest value; all names if several values are equal but for rounding."""
    return ", ".join(name for name, value in values.items() if value > max(values.values()) * (1.0 - SAME))


def mean_over_benchmarks(launches: list[list[Point]]) -> dict[str, float]:
    """Means in which each benchmark counts once, with its launches of whole warps, as in Figures 17 to 19."""
    means = [mean_of([point for point in own if point.threads >= WARP]) for own in launches]
    return {key: float(np.mean([mean[key] for mean in means])) for key in means[0]}


def mean_of(own: list[Point]) -> dict[str, float]:
    """CPI, MWP and CWP of these launches; occupancy of those with whole warps."""
    return {
        "CPI": float(np.mean([point.cpi for point in own])),
        "MWP": float(np.mean([point.mwp for point in own])),
        "CWP": float(np.mean([point.cwp for point in own])),
        "occupancy": float(np.mean([point.occupancy for point in own if point.threads >= WARP])),
    }
