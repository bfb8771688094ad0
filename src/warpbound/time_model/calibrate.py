"""Fits the parameters of one GPU to its streams, its pointer chase and, if measured, launches of several sizes.

Source   calibration/*.toml, which hold all data used, each with its source.
Models   relative errors with equal weights; streams with blocks of two warps or more; a read capacity of DRAM up to
         the best measured rate of the board, a write capacity up to pin bandwidth.
Omits    boards without such a record: `parameters.from_relatives`.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from warpbound.board_parameters import PARAMETERS
from warpbound.machine import Gpu, gpu
from warpbound.quick_dataclasses import dataclass
from warpbound.residency import occupancy
from warpbound.time_model.launch import launch_time, steady
from warpbound.time_model.launched_work import ActiveWork
from warpbound.time_model.least_squares import least_squares
from warpbound.time_model.parameters import FITTED, Parameters, fitted_parameters
from warpbound.time_model.streams import Setting, from_l2, stream_rate, workload
from warpbound.workload import Workload

Array = NDArray[np.float64]
Ranges = Mapping[str, tuple[float, float, float]]  # parameter -> first guess, bounds
KERNELS = ("init", "read", "scale")  # the only kernels that anything is fitted to
SMALLEST = 2.0                       # warps per block
WARP = 32
ELEMENT_B = 16.0  # bytes per element of `scale`: one double read, one written
REGISTERS = 16    # registers per thread of `scale`
PINS = tuple(name for name in FITTED if PARAMETERS[name].at_most)  # fitted as shares of pin bandwidth
RANGES: Ranges = {name: fit for name in FITTED if (fit := PARAMETERS[name].fit) is not None}
STREAM_RANGES: Ranges = {name: row for name, row in RANGES.items() if PARAMETERS[name].measured_by[0] == "stream"}
LAUNCH_RANGES: Ranges = {name: row for name, row in RANGES.items() if name not in STREAM_RANGES}


@dataclass(frozen=True)
class Launches:
    """Times of one-shot scale kernels over data that L2 holds, s: threads per block -> one per number of elements."""

    elements: Array
    times: dict[int, Array]


@dataclass(frozen=True)
class Record:
    """Measurements that calibrate one board.

    rates : kernel -> bytes per second at each of `warps_per_block`. chase_cycles : per load, beyond L2; empty where the
    board's latency comes from elsewhere.
    """

    where: Setting
    warps_per_block: Array
    rates: dict[str, Array]
    chase_cycles: Array
    launches: Launches | None


@dataclass(frozen=True)
class Calibration:
    """The fit: parameter -> value in base units; relative errors of the rows used, by kernel or block size."""

    values: dict[str, float]
    errors: dict[str, Array]


def record(key: str) -> Record:
    """The calibration record of a board of the catalogue."""
    text = (files("warpbound.time_model") / "calibration" / f"{key}.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    streams, board = table["streams"], table["board"]
    return Record(
        where=Setting(gpu(board["gpu"]), 1e6 * board["clock_MHz"], float(streams["blocks_per_sm"])),
        warps_per_block=_array(streams["threads"]) / WARP,
        rates={name: 1e9 * _array(streams[name]) for name in KERNELS},
        chase_cycles=_array(table["chase"]["cycles"] if "chase" in table else []),
        launches=_launches(table["launches"]) if "launches" in table else None,
    )


def _launches(table: dict[str, list[float]]) -> Launches:
    bytes_moved = ELEMENT_B * _array(table["elements"])
    sizes = {int(name.removeprefix("threads_")): name for name in table if name.startswith("threads_")}
    return Launches(
        _array(table["elements"]), {size: bytes_moved / (1e9 * _array(table[name])) for size, name in sizes.items()}
    )


def _array(values: list[float]) -> Array:
    return np.array(values, dtype=np.float64)


def calibrate(x: Record) -> Calibration:
    """The streams' parameters, then, with these, the launches'."""
    board = x.where.gpu
    streams = _fit(_stream_ranges(board), fitted_parameters(board).values, lambda values: _stream_errors(x, values))
    if x.launches is None:
        return streams
    launches, start_values = x.launches, replace(fitted_parameters(board).values, **streams.values)
    launch_fit = _fit(LAUNCH_RANGES, start_values, lambda values: _launch_errors(launches, x.where, values))
    return Calibration(streams.values | launch_fit.values, streams.errors | launch_fit.errors)


def _stream_ranges(board: Gpu) -> Ranges:
    """STREAM_RANGES of one board: streams of one load per thread hardly constrain rates at many loads in flight."""
    name = "dram_read_capacity"
    first, low, high = STREAM_RANGES[name]
    best = min(high, board.value("dram_achievable_bandwidth") / board.value("dram_bandwidth"))
    return {**STREAM_RANGES, name: (min(first, best), low, best)}


def _fit(ranges: Ranges, others: Parameters, errors: Callable[[Parameters], dict[str, Array]]) -> Calibration:
    """Least squares of logarithms over logarithms of the parameters in `ranges`."""
    start, low, high = (np.log([row[i] for row in ranges.values()]) for i in range(3))

    def at(unknowns: Array) -> Parameters:
        values = dict(zip(ranges, np.exp(unknowns).tolist(), strict=True))
        return replace(others, **{n: v * others.dram_bandwidth if n in PINS else v for n, v in values.items()})

    fit = at(least_squares(lambda u: np.log1p(np.concatenate(list(errors(at(u)).values()))), start, low, high))
    return Calibration({name: float(getattr(fit, name)) for name in ranges}, errors(fit))


def _stream_errors(x: Record, values: Parameters) -> dict[str, Array]:
    large_enough = x.warps_per_block >= SMALLEST
    return {
        name: stream_rate(name, x.where, values, x.warps_per_block[large_enough]) / rate[large_enough] - 1.0
        for name, rate in x.rates.items()
    }


def _launch_errors(x: Launches, where: Setting, values: Parameters) -> dict[str, Array]:
    work = from_l2(workload("scale", where.gpu, where.clock_hz), where.gpu, where.clock_hz)
    return {
        f"threads_{size}": one_shot_times(work, where, values, x.elements, size) / times - 1.0
        for size, times in x.times.items()
    }


def one_shot_times(work: Workload, where: Setting, values: Parameters, elements: Array, threads: int) -> Array:
    """Seconds of launches over `elements` with one thread for each, in blocks of `threads`; as many as fit an SM."""
    blocks = np.ceil(elements / threads)
    active = np.minimum(where.gpu.value("sm_count"), blocks)
    x = ActiveWork(work, where.gpu, where.clock_hz, float(-(-threads // WARP)), active)
    fitting = occupancy(where.gpu, threads, REGISTERS, 0).blocks_per_sm
    full = steady(x, values, np.minimum(float(fitting), blocks / active))
    return launch_time(x, values, full, blocks / active)
