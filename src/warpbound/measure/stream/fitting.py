"""Fits the parameters of block starts and device memory to the rates of one-shot streams and of the widest read."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from warpbound.machine import Gpu
from warpbound.measure.case import Array
from warpbound.measure.contention import standard_errors
from warpbound.quick_dataclasses import dataclass
from warpbound.time_model.calibrate import PINS, STREAM_RANGES
from warpbound.time_model.least_squares import least_squares
from warpbound.time_model.parameters import Parameters, fitted_parameters
from warpbound.time_model.streams import Setting, stream_rate

SMALLEST = 2       # least warps per block; the model does not explain smaller blocks
WIDE_LINES = 16    # lines of 128 B that a warp of read_wide has in flight
WIDE_WEIGHT = 4.0  # weight of the widest read in the fit: no other rate determines some of the parameters


@dataclass(frozen=True)
class Sweep:
    """Rates of one kernel over block sizes, with the same number of blocks per SM; B/s."""

    kernel: str
    blocks: int
    warps: Array
    rates: Array


@dataclass(frozen=True)
class Widest:
    """A persistent read with many lines in flight: resident warps per SM, B/s."""

    warps: float
    rate: float


@dataclass(frozen=True)
class Observed:
    """The measurements to fit."""

    board: Gpu
    clock_hz: float
    sweeps: tuple[Sweep, ...]
    widest: tuple[Widest, ...]


@dataclass(frozen=True)
class Fit:
    """Parameters in base units with their relative standard errors; mean error of the rates by kernel."""

    values: dict[str, float]
    standard_errors: dict[str, float]
    errors: dict[str, float]


def fit_streams(x: Observed) -> Fit:
    """The parameters that minimize the relative errors of all rates."""
    start, low, high = (np.log([row[i] for row in STREAM_RANGES.values()]) for i in range(3))
    others = fitted_parameters(x.board).values

    def at(unknowns: Array) -> Parameters:
        values = dict(zip(STREAM_RANGES, np.exp(unknowns).tolist(), strict=True))
        return replace(others, **{n: v * others.dram_bandwidth if n in PINS else v for n, v in values.items()})

    def residuals(unknowns: Array) -> Array:
        values = at(unknowns)
        widest = [WIDE_WEIGHT * (wide_rate(x, values, wide.warps) / wide.rate - 1.0) for wide in x.widest]
        return np.asarray(np.log1p(np.concatenate([*_errors(x, values).values(), np.array(widest)])))

    best = least_squares(residuals, start, low, high)
    parameters, spread = at(best), standard_errors(residuals, best).tolist()
    errors: dict[str, list[float]] = {}
    for (kernel, _), relative in _errors(x, parameters).items():
        errors.setdefault(kernel, []).append(float(np.mean(np.abs(relative))))
    return Fit(
        {n: float(getattr(parameters, n)) for n in STREAM_RANGES}, dict(zip(STREAM_RANGES, spread, strict=True)),
        {kernel: float(np.mean(each)) for kernel, each in errors.items()},
    )  # fmt: skip


def _errors(x: Observed, values: Parameters) -> Mapping[tuple[str, int], Array]:
    """(kernel, blocks) -> relative errors of the predicted rates."""
    settings = [(s, Setting(x.board, x.clock_hz, float(s.blocks))) for s in x.sweeps]
    return {
        (s.kernel, s.blocks): np.asarray(stream_rate(s.kernel, setting, values, s.warps) / s.rates - 1.0)
        for s, setting in settings
    }


def wide_rate(x: Observed, values: Parameters, warps: float) -> float:
    """Bytes per second of persistent reads: bytes in flight = rate x (latency + queueing)."""
    latency = x.board.value("dram_latency") / x.clock_hz
    alone = latency * (1.0 + float(values.latency_spread) * np.log(WIDE_LINES))
    flying = x.board.value("sm_count") * warps * WIDE_LINES * 128.0
    wait, capacity = float(values.dram_wait_read), float(values.dram_read_capacity)
    low, high = 0.0, 1.0 - 1e-9
    for _ in range(60):
        share = (low + high) / 2
        below = capacity * share * (alone + wait * share / (1.0 - share)) < flying
        low, high = (share, high) if below else (low, share)
    return capacity * low
