"""Volkov: the execution graph of Figure 3.5, cusps, latency under load, and what the simulation shows in time."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Bounds
from warpbound.models.volkov_2016 import contention, one_warp, predict
from warpbound.report import figures
from warpbound.report.figures.picture import Axis, Drawable, Panels
from warpbound.reproduce.item import ItemInputs
from warpbound.reproduce.scenarios import run_scenario, run_with_log, warp_timeline
from warpbound.reproduce.volkov_2016 import chapters_2_and_3
from warpbound.reproduce.volkov_2016.machines import machines
from warpbound.simulate.warp_simulation import Outcome

PAPER = "volkov_2016"
OF = "Volkov 2016"
INTERVALS = {"A": (0.0, 1.5), "B": (7.0, 8.5), "C": (40.0, 41.5)}  # of Figure 5.1, in rounds of blocks
ROUNDS_SHOWN = 14.0
BLOCKS_SHOWN = 80_000.0  # cycles of Figure 5.3


def figs_2_1_and_2_2(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figures 2.1 and 2.2."""
    transactions = [
        replace(figures.sector_map(chapters_2_and_3.global_addresses(inputs, name), inputs["word_B"]), title=name)
        for name in inputs["accesses"]
    ]
    conflicts = [
        replace(figures.bank_map(chapters_2_and_3.shared_addresses(inputs, name)), title=name)
        for name in inputs["strides"] if name in inputs["drawn"]
    ]  # fmt: skip
    return (
        Panels(
            "Transactions of single accesses", tuple(transactions), f"{OF}, Figure 2.1, threads of 8-byte words",
            "The numbers are threads; a box is a transaction of 32 bytes. Pale ones are not requested.", columns=2,
        ),
        Panels(
            "Bank conflicts of single accesses", tuple(conflicts), f"{OF}, Figure 2.2, with 32 banks of 4 bytes",
            "The number in a box is the first lane that accesses that word, + where others share it. The height of the "
            "fullest bank is the number of passes.", columns=1,
        ),
    )  # fmt: skip


def fig_3_1(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figure 3.1: a line for each item, from its start to its end."""
    start, end = np.array(inputs["items"], np.float64).T
    span, source = (0.0, float(inputs["interval"])), f"{OF}, Figure 3.1: items of ours"
    picture = figures.lifetimes(start, end, span, "Ten items", source)
    return (replace(picture, y=replace(picture.y, label="item, by start"), caption="A moment crosses 1 to 3 items."),)


def section_3_8(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figure 3.5 and, without its points, Figure 3.6."""
    program = chapters_2_and_3.program(inputs)
    pairs = one_warp.dual_pairs(program)
    names = [f"{number}  {instruction.name}" for number, instruction in enumerate(program, 1)]
    graph = figures.execution_graph(
        names, one_warp.issue_times(program, pairs).tolist(), figures.edges_of(program, pairs),
        f"{OF}, Figure 3.5: the model",
    )  # fmt: skip
    n = np.arange(1.0, inputs["max_warps"] + 1)
    prediction = predict(chapters_2_and_3.vector_add(inputs, n))
    limits = {
        "latency": chapters_2_and_3.gbytes(inputs, prediction.limits["latency"]),
        "memory": np.broadcast_to(chapters_2_and_3.gbytes(inputs, prediction.limits["memory"]), n.shape),
    }
    rate = chapters_2_and_3.gbytes(inputs, prediction.rate)
    curve = figures.throughput_against_occupancy(
        n, Bounds("GB/s", limits), {"model": (n, rate)}, source=f"{OF}, Figure 3.6: the model"
    )
    return graph, replace(curve, title="Vector add on Kepler")


def fig_4_5(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Cusps of the five machines."""
    alpha = np.geomspace(1 / inputs["largest_alpha"], inputs["largest_alpha"], inputs["steps"])
    kinds = {name: machine.mix(0.0, 0.0) for name, machine in machines(inputs).items()}
    cusp = figures.warps_needed_against_intensity(kinds, alpha)
    return (replace(cusp, source=f"{OF}, section 4.5 and Figure 4.5: the model"),)


def fig_6_3(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Memory latency under load, from Table 6.5."""
    table = inputs["machines"]
    memories = {
        name: contention.Memory(table[name]["a"], tuple(table[name]["b"]), tuple(table[name]["c_GBs"]))
        for name in inputs["gpus"]
    }
    return (figures.latency_against_throughput(memories, {}, "GB/s", f"{OF}, Figure 6.3, from Table 6.5"),)


def fig_4_7(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Six warps, tiled and together, in time."""
    plots = tuple(warp_timeline(PAPER, f"fig-4.7-{start}", 60.0) for start in ("tiled", "together"))
    return (Panels("Six warps in execution", plots, f"{OF}, Figure 4.7: simulated", plots[0].caption, columns=1),)


def listings_3_1_to_3_3(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Listing 3.3 in time."""
    plot = warp_timeline(PAPER, "listing-3.3")
    return (replace(plot, source=f"{OF}, Listing 3.3: simulated"),)


def _drifting() -> tuple[Drawable, ...]:
    """Figure 3.3, lifetimes of warps in interval B; Figure 5.1, those in A and C, and occupancy over time."""
    outcome = run_scenario(PAPER, "fig-5.1")
    turn = float(np.nanmean(outcome.latencies))
    plots = {
        name: figures.lifetimes(
            outcome.started,
            outcome.ended,
            (first * turn, last * turn),
            f"Interval {name}",
            f"{OF}, Figure 5.1: simulated",
        )
        for name, (first, last) in INTERVALS.items()
    }
    times, warps = outcome.occupancy_over_time()
    spans = {"A and B, the first rounds": (0.0, ROUNDS_SHOWN), "C, much later": (33.0, 33.0 + ROUNDS_SHOWN)}
    occupancies = [
        replace(
            figures.occupancy_in_time(
                {"64 warps in blocks of 4": (times[here], warps[here])}, title, f"{OF}, Figure 5.1: simulated"
            ),
            x=Axis("time", "cycles", span=(first * turn, last * turn)),
        )
        for title, (first, last) in spans.items()
        for here in [(times >= first * turn) & (times <= last * turn)]
    ]
    caption = f"{plots['A'].caption} Below: how many warps are resident."
    title, every = "Warps that drift apart", (plots["A"], plots["C"], *occupancies)
    part = replace(plots["B"], title="Lifetimes of warps", source=f"{OF}, Figure 3.3: simulated")
    return part, Panels(title, every, f"{OF}, Figure 5.1: simulated", caption, columns=2)


def _window(outcome: Outcome) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Occupancy over time, early in a run."""
    times, warps = outcome.occupancy_over_time()
    early = times < BLOCKS_SHOWN
    return times[early], warps[early]


def simulated(inputs: ItemInputs) -> tuple[Drawable, ...]:
    """Figures 3.2, 3.3, 5.1 to 5.4 and 6.5."""
    three = replace(warp_timeline(PAPER, "fig-3.2", 40.0), source=f"{OF}, Figure 3.2: simulated")
    uneven = {f"{n} warps in a block": run_scenario(PAPER, f"fig-5.2-{n}").occupancy_over_time() for n in (16, 17)}
    blocks = {f"blocks of {n} warps": _window(run_scenario(PAPER, f"fig-5.3-{n}")) for n in (4, 32)}
    kinds = ("persistent", "oversubscribed")
    ending = {f"{kind} blocks": run_scenario(PAPER, f"fig-5.4-{kind}").occupancy_over_time() for kind in kinds}
    loads = {"1 warp": "idle", "32 warps": "half", "64 warps": "full"}
    latencies = {name: run_with_log(PAPER, f"fig-6.5-{load}").request_latencies for name, load in loads.items()}
    return (
        three, *_drifting(),
        figures.occupancy_in_time(uneven, "Occupancy with uneven schedulers", f"{OF}, Figure 5.2: simulated"),
        figures.occupancy_in_time(blocks, "Occupancy by length of blocks", f"{OF}, Figure 5.3: simulated"),
        figures.occupancy_in_time(ending, "Occupancy at the end of a launch", f"{OF}, Figure 5.4: simulated"),
        figures.latencies(latencies, "Latencies of single accesses on Kepler", f"{OF}, Figure 6.5: simulated"),
    )  # fmt: skip
