"""Chapters 5 and 6, single kinds of instructions: streams, latencies, ILP, accesses to arrays of many sizes."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from warpbound.isa.opcodes import opcode_facts
from warpbound.machine import gpu
from warpbound.models.volkov_2016.little import concurrency
from warpbound.report.figure_series import Axis, Figure, series, series_over
from warpbound.reproduce.item import ItemInputs, Numbers
from warpbound.reproduce.volkov_2016.machines import LANES, OCCUPANCY, THESIS, machines
from warpbound.simulate import synthetic_family
from warpbound.simulate.experiment import Experiment, Launch, Machine, Pipe, Step, Stream
from warpbound.simulate.synthetic_family import Setting
from warpbound.simulate.warp_simulation import run_short
from warpbound.synthetic_family.predictors import refined

GB_S = Axis("throughput", "GB/s")
CHAIN = 40  # dependent instructions of a warp


def fig_5_5(inputs: ItemInputs) -> Numbers:
    """Figure 5.5: throughput of loads alone at full occupancy, share of the peak."""
    rows = {}
    for name, machine in machines(inputs).items():
        full = float(refined(machine, machine.max_warps, 0.0))
        share = 100 * full / machine.memory_throughput
        rows[name] = {"full occupancy": full * _gb_s(inputs, name), "of the peak": share}
    return rows


def fig_5_5_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """One for each machine: loads alone against occupancy, and the peak."""
    for name, machine in machines(inputs).items():
        n, each = machine.occupancies, _gb_s(inputs, name)
        peak = np.full(n.shape, inputs["machines"][name]["peak_GBs"])
        lines = {"refined model": refined(machine, n, 0.0) * each, "peak": peak}
        source = f"{THESIS}, Figure 5.5: the model"
        yield Figure(f"Streaming loads, {name}", OCCUPANCY, GB_S, series_over(n, lines), source)


def _gb_s(inputs: ItemInputs, name: str) -> float:
    """GB/s of one access per cycle and SM."""
    own = inputs["machines"][name]
    return float(inputs["line_bytes"] * own["clock_GHz"] * own["sms"])


# ---------------------------------------------------------------- latencies


def table_6_2(inputs: ItemInputs) -> Numbers:
    """Table 6.2: the least latency of a warp per instruction over some occupancies, of simulated chains."""
    return {name: _latencies(inputs, name) for name in inputs["gpus"]}


def _latencies(inputs: ItemInputs, name: str) -> dict[str, float]:
    """The chains run with what the catalogue has of the board: its instructions' latencies and their pipes' rates."""
    board, own = gpu(inputs["boards"][name]), inputs["machines"][name]
    kinds = {
        "add": opcode_facts("FADD", (), board.arch).latency or np.nan,
        "SFU": opcode_facts("MUFU", ("RSQ",), board.arch).latency or np.nan,
        "smem": board.value("shared_latency"),
        "stream": board.value("dram_latency"),
    }
    return {
        kind: min(_per_instruction(own, latency, own["throughput"][kind], n) for n in inputs["occupancies"])
        for kind, latency in kinds.items()
    }


def _per_instruction(own: ItemInputs, latency: float, ops: float, warps: int) -> float:
    """Mean latency of a warp of dependent instructions, per instruction."""
    step = Step("step", pipe="unit", busy=LANES / ops, latency=latency, writes="value", waits=("value",))
    x = Experiment(
        Machine(schedulers=own["schedulers"], pipes=(Pipe("unit"),)), (step,), (Stream((0,), CHAIN),),
        Launch(((0,),), resident=warps, blocks=warps),
    )  # fmt: skip
    return float(run_short(x).latencies.mean()) / CHAIN


# ---------------------------------------------------------------- shared memory, ILP


def figs_6_1_and_6_2(inputs: ItemInputs) -> Numbers:
    """Figure 6.1: warps for shared memory by Little's law; Figure 6.2: ILP compared with that many times more warps."""
    own = inputs["machines"][inputs["shared_on"]]
    warps = concurrency(own["latency"]["smem"], own["throughput"]["smem"] / LANES) * own["schedulers"]
    machine = machines(inputs)[inputs["ilp_on"]]
    rows = {}
    for ilp in inputs["ilp"]:
        few, many = (_simulated(inputs, n, k) for n, k in ((inputs["warps"], ilp), (inputs["warps"] * ilp, 1)))
        rows[f"ILP {ilp}"] = few / many
    peak = machine.memory_throughput
    return {
        "shared memory on Maxwell, warps expected": warps,
        "throughput over that of as much more occupancy": rows,
        "share of the peak at full occupancy": {
            f"ILP {ilp}": 100 * _simulated(inputs, machine.max_warps, ilp) / peak for ilp in (1, *inputs["ilp"])
        },
    }


def _simulated(inputs: ItemInputs, warps: int, ilp: int) -> float:
    """Loads per cycle and SM on the simulated SM."""
    setting = Setting("fitted", rounds=inputs["rounds"], ilp=ilp)
    return synthetic_family.loads_per_cycle(machines(inputs)[inputs["ilp_on"]], warps, 0.0, setting)


def figs_6_1_and_6_2_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Figure 6.1: latency, then the units; Figure 6.2: the refined model with ILP and simulated points."""
    own = inputs["machines"][inputs["shared_on"]]
    n = np.arange(0.0, own["max_warps"] + 1.0)
    rate = np.minimum(LANES * n / own["latency"]["smem"], own["throughput"]["smem"] * own["schedulers"])
    y = Axis("throughput", "access of a lane/cycle/SM")
    source = f"{THESIS}, Figure 6.1: the model"
    yield Figure("Shared memory, Maxwell", OCCUPANCY, y, series_over(n, {"model": rate}), source)
    machine, each = machines(inputs)[inputs["ilp_on"]], _gb_s(inputs, inputs["ilp_on"])
    at, points = machine.occupancies, np.array(inputs["simulated_at"])
    lines = []
    for ilp in (1, *inputs["ilp"]):
        lines.append(series(f"model, ILP {ilp}", at, refined(machine, ilp * at, 0.0) * each))
        simulated = [_simulated(inputs, int(warps), ilp) * each for warps in points]
        lines.append(series(f"simulated, ILP {ilp}", points, simulated, "points"))
    title, source = "Independent loads of a warp, Fermi", f"{THESIS}, Figure 6.2: the model and the simulation"
    yield Figure(title, OCCUPANCY, GB_S, tuple(lines), source)


# ---------------------------------------------------------------- scattered accesses


def fig_6_6(inputs: ItemInputs) -> Numbers:
    """Figure 6.6: scattered accesses to an array in L2 over those to one beyond it."""
    rows = {}
    for name in inputs["with_l2"]:
        rate = scattered(inputs, name, np.array([inputs["smallest"], inputs["largest"]]))
        size = gpu(inputs["boards"][name]).value("l2_size") / 2**20
        rows[name] = {"in L2": float(rate[0]), "beyond": float(rate[1]), "drops beyond": size}
    return rows


def fig_6_6_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """GB/s of 4-byte accesses against the array's size."""
    at = np.geomspace(inputs["smallest"], inputs["largest"], inputs["points"])
    lines = {name: scattered(inputs, name, at) for name in inputs["with_l2"]}
    title, source = "Scattered accesses by the size of the array", f"{THESIS}, Figure 6.6: the model"
    x, y = Axis("array", "MiB", "log"), Axis("throughput", "GB/s", "log")
    yield Figure(title, x, y, series_over(at, lines), source)


def scattered(inputs: ItemInputs, name: str, size_MiB: NDArray[np.float64]) -> NDArray[np.float64]:
    """GB/s, 4 bytes an access: a sector of L2 each, and those that miss at the rate of Table 6.1."""
    board, own = gpu(inputs["boards"][name]), inputs["machines"][name]
    hit = np.minimum(1.0, board.value("l2_size") / 2**20 / size_MiB)
    cached = board.value("l2_bandwidth") / 1e9 * inputs["word"] / inputs["sector"]
    beyond = own["throughput"]["random"] * own["schedulers"] * own["sms"] * own["clock_GHz"] * inputs["word"]
    return np.asarray(1.0 / (hit / cached + (1.0 - hit) / beyond))
