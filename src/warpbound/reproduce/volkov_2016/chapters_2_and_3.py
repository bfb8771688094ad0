"""Chapters 2 and 3: transactions and conflicts of an access, concurrency that hides latency, one warp's schedule."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.memory import banks, coalescing
from warpbound.models.volkov_2016 import Inputs, needed_warps, predict, throughput_bound
from warpbound.models.volkov_2016.little import bytes_per_second, concurrency, inst_per_cycle
from warpbound.models.volkov_2016.one_warp import (
    Instruction,
    after_barrier,
    busy_cycles,
    dual_pairs,
    issue_events,
    issue_times,
    latency_bound,
    transfer_cycles,
    unit_cycles,
)
from warpbound.models.volkov_2016.readings import share
from warpbound.report.figure_series import Axis, Figure, series_over
from warpbound.reproduce.item import ItemInputs, Numbers
from warpbound.reproduce.volkov_2016.machines import OCCUPANCY, THESIS


def figs_2_1_and_2_2(inputs: ItemInputs) -> Numbers:
    """Figures 2.1 and 2.2: transactions of accesses to global memory, bank conflicts of accesses to shared memory."""
    consecutive = {name: global_addresses(inputs, name) for name in inputs["accesses"]}
    strided = {name: shared_addresses(inputs, name) for name in inputs["strides"]}
    whole = np.ones((1, coalescing.LANES), bool)
    return {
        "transactions": {name: _transactions(inputs, lanes) for name, lanes in consecutive.items()},
        "bank conflicts, ways": {
            name: int(banks.wavefronts(lanes[None, :], whole, inputs["bank_word_B"], inputs["arch"]).actual[0])
            for name, lanes in strided.items()
        },
    }


def global_addresses(inputs: ItemInputs, name: str) -> NDArray[np.uint64]:
    """Byte address of each thread of an access to global memory."""
    return np.array(inputs["accesses"][name], np.uint64) * np.uint64(inputs["word_B"])


def shared_addresses(inputs: ItemInputs, name: str) -> NDArray[np.uint64]:
    """Byte address of each of 32 lanes of an access to shared memory."""
    return np.arange(coalescing.LANES, dtype=np.uint64) * np.uint64(inputs["bank_word_B"] * inputs["strides"][name])


def _transactions(inputs: ItemInputs, lanes: NDArray[np.uint64]) -> int:
    addresses = np.zeros((1, coalescing.LANES), np.uint64)
    addresses[0, : len(lanes)] = lanes
    active = (np.arange(coalescing.LANES) < len(lanes))[None, :]
    return int(coalescing.transactions(addresses, active, inputs["word_B"], inputs["arch"]).count[0])


def table_3_1(inputs: ItemInputs) -> Numbers:
    """Table 3.1: throughput, and the concurrency that it needs to hide latency."""
    best, pins = (
        inst_per_cycle(inputs[rate] * 1e9, inputs["clock_GHz"] * 1e9, inputs["sms"], inputs["line_bytes"])
        for rate in ("memory_GBs", "pin_GBs")
    )
    return {
        "Adds in flight of arithmetic": concurrency(**inputs["arithmetic"]),
        "Throughput of memory": best,
        "Loads in flight of memory": concurrency(inputs["memory_latency"], best),
        "Throughput at the pins": pins,
        "Loads in flight at the pins": concurrency(inputs["memory_latency"], pins),
    }


def table_3_4(inputs: ItemInputs) -> Numbers:
    """Table 3.4: cycles for which a warp occupies each resource of an SM, and the bound that they give."""
    count = inputs["instructions"]
    total = sum(count.values())
    kinds = [inputs["coalesced"], inputs["stride_2"]]
    near, far = (transfer_cycles(kind["bytes"], inputs["bytes_per_cycle"]) for kind in kinds)
    accesses = [kind["count"] for kind in kinds]
    events = issue_events(total, inputs["dual_pairs"], sum(count[kind] for kind in inputs["reissued"]))
    conflicts = inputs["conflict_cycles"]
    busy = {
        "CUDA cores": busy_cycles([count["core"]], [unit_cycles(inputs["cores"])]),
        "SFU units": busy_cycles([count["sfu"]], [unit_cycles(inputs["sfus"])]),
        "Shared memory banks": busy_cycles([count[kind] for kind in conflicts], list(conflicts.values())),
        "Memory system": busy_cycles(accesses, [near, far]),
        "Warp scheduler": busy_cycles([events], [1 / inputs["schedulers"]]),
    }
    return {
        "Instructions": total,
        "Issue events": events,
        "Cycles per coalesced access": near,
        "Cycles per stride-2 access": far,
        **busy,
        "Memory system, of rounded cycles": busy_cycles(accesses, [round(float(near), 1), round(float(far), 1)]),
        "Warp throughput": throughput_bound(busy).rate,
    }


def listings_3_1_to_3_3(inputs: ItemInputs) -> Numbers:
    """Listings 3.1 to 3.3: issue cycles of the instructions of one warp."""
    chain = _chain(inputs["chain"])
    alike, bar = inputs["independent"], inputs["barrier"]
    adds = issue_times([Instruction("FADD", gap=alike["add_gap"])] * alike["count"])
    stores = issue_times([Instruction("ST", gap=alike["store_gap"])] * alike["count"])
    long_way = issue_times(
        [
            Instruction("BRA", gap=bar["not_taken"]),
            Instruction("LD"),
            Instruction("FADD", waits=((1, bar["load"]),), gap=bar["add_gap"]),
            Instruction("BAR"),
        ]
    )
    short_way = issue_times([Instruction("BRA", gap=bar["taken"]), Instruction("BAR")])
    return {
        "chain": dict(zip([name for name, _ in inputs["chain"]], issue_times(chain).tolist(), strict=True)),
        "independent": {"last of 7 adds": adds[-1], "last of 7 stores": stores[-1]},
        "barrier": {
            "FADD of warp 1": long_way[2],
            "BAR of warp 1": long_way[3],
            "BAR of warp 2": short_way[1],
            "after the barrier": after_barrier([long_way[-1], short_way[-1]], bar["latency"]),
        },
    }


def _chain(steps: list[tuple[str, float]]) -> list[Instruction]:
    """A chain of instructions: each needs the result of the one before."""
    before = [()] + [((i, latency),) for i, (_, latency) in enumerate(steps[:-1])]
    return [Instruction(name, waits=waits) for (name, _), waits in zip(steps, before, strict=True)]


def section_3_8(inputs: ItemInputs) -> Numbers:
    """Section 3.8: latency and bounds of a real kernel, from its machine code to GB/s."""
    pairs = dual_pairs(program(inputs))
    path, best = _latency(inputs), inputs["memory_GBs"] * 1e9
    per_cycle = best / (inputs["clock_GHz"] * 1e9 * inputs["sms"])
    events = issue_events(len(program(inputs)), len(pairs), 0)
    return {
        "Pairs issued together": len(pairs),
        "Latency of a warp": path,
        "Latency without dual issue": latency_bound(program(inputs), (), inputs["termination"]),
        "Issue bound": inputs["schedulers"] / events,
        "Memory": per_cycle,
        "Memory bound": per_cycle / inputs["bytes_per_warp"],
        "Memory bound, of 17.1 B": round(per_cycle, 1) / inputs["bytes_per_warp"],
        "Bandwidth per warp": gbytes(inputs, 1.0 / path),
        "Instruction throughput at 156 GB/s": inputs["instructions"] * _warps(inputs, inputs["attained_GBs"] * 1e9),
        "Warps that hide latency": needed_warps(vector_add(inputs, 1.0)),
    }


def section_3_8_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Figure 3.6 without its points."""
    n = np.arange(1.0, inputs["max_warps"] + 1)
    lines, source = {"model": gbytes(inputs, predict(vector_add(inputs, n)).rate)}, f"{THESIS}, Figure 3.6: the model"
    yield Figure("Vector add on Kepler", OCCUPANCY, Axis("throughput", "GB/s"), series_over(n, lines), source)


def vector_add(inputs: ItemInputs, warps: Real) -> Inputs:
    """Of the model, at this occupancy."""
    best = _warps(inputs, inputs["memory_GBs"] * 1e9)
    return Inputs(warps, _latency(inputs), {"memory": 1.0 / best})


def program(inputs: ItemInputs) -> list[Instruction]:
    """The kernel's instructions, with the latency of each result that one waits for."""
    lines = inputs["program"]
    delay = [inputs["load"] if line["name"] == "LD" else inputs["arithmetic"] for line in lines]
    return [
        Instruction(
            line["name"],
            waits=tuple((producer, delay[producer]) for producer in line["needs"]),
            gap=inputs["gap"],
            loads=line["name"] == "LD",
        )
        for line in lines
    ]


def _latency(inputs: ItemInputs) -> float:
    listing = program(inputs)
    return latency_bound(listing, dual_pairs(listing), inputs["termination"])


def _warps(inputs: ItemInputs, bytes_per_s: float) -> float:
    """Warps per cycle and SM at this traffic."""
    return float(inst_per_cycle(bytes_per_s, inputs["clock_GHz"] * 1e9, inputs["sms"], inputs["bytes_per_warp"]))


def gbytes(inputs: ItemInputs, warps: Real) -> NDArray[np.float64]:
    """GB/s at this many warps per cycle and SM."""
    return np.asarray(bytes_per_second(warps, inputs["clock_GHz"] * 1e9, inputs["sms"], inputs["bytes_per_warp"])) / 1e9


def section_3_10(inputs: ItemInputs) -> Numbers:
    """Section 3.10: traffic over that of coalesced accesses, and the needed occupancies of two cases of vector abs."""
    lanes = inputs["lanes"]
    coalesced = lanes * inputs["word"]
    streams = inputs["streams"] * coalesced
    diverged = {f"{size} B": lanes * size for size in (inputs["short"], inputs["long"])}
    warps = {name: concurrency(1.0, 1.0 / traffic) for name, traffic in inputs["traffic"].items()}
    ratio = warps["positive"] / warps["negative"]
    return {
        **{f"diverged access, {size}": traffic / coalesced for size, traffic in diverged.items()},
        **{f"permutation, {size}": (streams + traffic) / (streams + coalesced) for size, traffic in diverged.items()},
        "latency of 31 more transactions": busy_cycles([lanes - 1], [inputs["transaction_latency"]]),
        "vector abs: occupancy, positive over negative": ratio,
        "vector abs: occupancy, positive over negative, measured": ratio,
        "vector abs: the two measured occupancies": share(*inputs["vector_abs_warps"]),
    }
