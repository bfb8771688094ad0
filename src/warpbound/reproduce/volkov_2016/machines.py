"""The five machines of the thesis, models and plots that several chapters share, and its scenarios by simulation."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.report.figure_series import Axis, Figure, series_over
from warpbound.reproduce.item import ItemInputs, Numbers
from warpbound.reproduce.scenarios import run_scenario
from warpbound.synthetic_family.comparison import alphas, needed
from warpbound.synthetic_family.machine import Machine, printed
from warpbound.synthetic_family.predictors import Throughput

PAPER, THESIS = "volkov_2016", "Volkov 2016"
LANES = 32.0
ENDLESS = 1e6  # additions per access from which on memory does not count
OCCUPANCY, ADDS = Axis("occupancy", "warp/SM"), Axis("throughput", "add/cycle/SM")
ALPHA, WARPS_NEEDED = Axis("arithmetic intensity alpha", "1", "log"), Axis("warps needed", "warp/SM")


def machines(inputs: ItemInputs) -> dict[str, Machine]:
    """All five of inputs.toml, oldest first."""
    return {name: printed(name, inputs["machines"][name]) for name in inputs["gpus"]}


def adds(model: Throughput, machine: Machine, warps: Real, alpha: float) -> NDArray[np.float64]:
    """Additions per cycle per SM, lane by lane."""
    return np.asarray(LANES * alpha * model(machine, warps, alpha))


def worst(over: Throughput, under: Throughput, machine: Machine, alpha: float, warps: NDArray[np.float64]) -> float:
    """Largest ratio of the first to the second over these occupancies."""
    return float(np.max(over(machine, warps, alpha) / under(machine, warps, alpha)))


def adds_plot(title: str, machine: Machine, alpha: float, models: Mapping[str, Throughput], place: str) -> Figure:
    """Additions against occupancy, a line for each model; a very large alpha is arithmetic alone."""
    n, intensity = machine.occupancies, f"{alpha:g}" if alpha < ENDLESS else "infinite"
    lines = {name: adds(model, machine, n, alpha) for name, model in models.items()}
    source = f"{THESIS}, {place}: the models"
    return Figure(f"{title}, {machine.name}, alpha {intensity}", OCCUPANCY, ADDS, series_over(n, lines), source)


def loads_plot(title: str, machine: Machine, models: Mapping[str, Throughput], place: str) -> Figure:
    """Accesses against occupancy where there are no additions, a line for each model."""
    n, y = machine.occupancies, Axis("throughput", "access/cycle/SM")
    lines = {name: model(machine, n, 0.0) for name, model in models.items()}
    source = f"{THESIS}, {place}: the models"
    return Figure(f"{title}, {machine.name}, alpha 0", OCCUPANCY, y, series_over(n, lines), source)


def needed_plots(inputs: ItemInputs, models: Mapping[str, Throughput], title: str, place: str) -> Iterator[Figure]:
    """Warps that reach a share of a peak against intensity: a plot for each machine, a line for each model."""
    at = alphas(inputs["steps"])
    for machine in machines(inputs).values():
        lines = {name: needed(model, machine, at, inputs["share"]).warps for name, model in models.items()}
        yield Figure(f"{title} {machine.name}", ALPHA, WARPS_NEEDED, series_over(at, lines), f"{THESIS}, {place}")


def _by_block() -> dict[str, float | bool]:
    """Section 5.8: 64 warps in short and in long blocks."""
    short, long = (run_scenario(PAPER, f"fig-5.3-{warps}") for warps in (4, 32))
    return {
        "blocks of 4 warps: occupancy": short.occupancy,
        "blocks of 32 warps: occupancy": long.occupancy,
        "shorter blocks are faster": bool(short.rates[0] > long.rates[0]),
    }


def simulated(_: ItemInputs) -> Numbers:
    """Scenarios of the thesis by simulation: concurrency, cycles, rates and latencies."""
    rate = {start: float(run_scenario(PAPER, f"fig-4.7-{start}").rates[1]) for start in ("tiled", "together")}
    idle, full = (run_scenario(PAPER, f"fig-6.5-{load}").request_latency for load in ("idle", "full"))
    return {
        "three warps: accesses at any time": run_scenario(PAPER, "fig-3.2").in_memory,
        "vector add, one warp": run_scenario(PAPER, "section-3.8").cycles,
        "six warps apart: adds": rate["tiled"],
        "six warps together: adds": rate["together"],
        **_by_block(),
        "latency at 3.8 GB/s": idle,
        "latency at 144 GB/s": full,
    }
