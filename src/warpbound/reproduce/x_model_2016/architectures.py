"""Table II: from measured plateaus to M, R and L of each GPU; Figure 10's curves."""

from collections.abc import Iterator

import numpy as np

from warpbound.isa.limits import limits
from warpbound.machine import gpu
from warpbound.models.x_model_2016 import Inputs, curves, extraction
from warpbound.report.figure_series import Axis, Figure, Series, series
from warpbound.reproduce.item import ItemInputs, Numbers

PRECISIONS = ("single", "double")


def table_2(inputs: ItemInputs) -> Numbers:
    """GPU by GPU; warps and schedulers as this package has them for the architecture."""
    rows = {name: _row(table) for name, table in inputs["gpus"].items()}
    furthest = max(table["single"]["warps"] for table in inputs["gpus"].values())
    return {**rows, "x axis of Figure 10": furthest}


def table_2_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Figure 10: f(k) in GB/s."""
    x, y = Axis("warps in memory", "warp/SM"), Axis("throughput of memory", "GB/s")
    for name, table in inputs["gpus"].items():
        lines = tuple(_supply(table, precision) for precision in PRECISIONS)
        yield Figure(f"Architectural X-graph of {name}", x, y, lines, "Li and others 2016, Table II and Figure 10")


def _row(table: ItemInputs) -> dict[str, float]:
    sm = limits(gpu(table["board"]).compute_capability)
    row = {"M": float(extraction.lanes(table["cores"]))}
    for precision in PRECISIONS:
        rate = _rate(table, precision)
        row |= {
            f"R, {precision}": rate,
            f"L, {precision}": float(extraction.latency(table[precision]["warps"], rate)),
            f"share of the pins, {precision}": 100 * table[precision]["GBs"] / table["pins_GBs"],
        }
    return row | {"max warps": float(sm.max_warps_per_sm), "schedulers": float(sm.sub_cores)}


def _rate(table: ItemInputs, precision: str) -> float:
    measured = table[precision]
    clock = table["clock_GHz"] * 1e9
    return float(extraction.ms_throughput(measured["GBs"] * 1e9, table["sms"], clock, measured["bytes"]))


def symbols(table: ItemInputs, precision: str) -> tuple[float, float, float]:
    """M, R and L of one GPU."""
    rate = _rate(table, precision)
    return float(extraction.lanes(table["cores"])), rate, float(extraction.latency(table[precision]["warps"], rate))


def _supply(table: ItemInputs, precision: str) -> Series:
    lanes, rate, latency = symbols(table, precision)
    x = Inputs(float(table["max_warps"]), 1.0, 1.0, lanes, latency, rate)
    k = np.arange(1.0, table["max_warps"] + 1)
    clock = table["clock_GHz"] * 1e9
    traffic = extraction.warp_bandwidth(curves.supply(x, k), table["sms"], clock, table[precision]["bytes"])
    return series(precision, k, np.divide(traffic, 1e9))
