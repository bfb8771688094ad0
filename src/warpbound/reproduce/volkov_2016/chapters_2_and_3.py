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
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.volkov_2016.machines import OCCUPANCY, THESIS


def figs_2_1_and_2_2(given: Given) -> Numbers:
    """Figures 2.1 and 2.2: transactions of accesses to global memory, bank conflicts of accesses to shared memory."""
    consecutive = {name: global_addresses(given, name) for name in given["accesses"]}
    strided = {name: shared_addresses(given, name) for name in given["strides"]}
    whole = np.ones((1, coalescing.LANES), bool)
    return {
        "transactions": {name: _transactions(given, lanes) for name, lanes in consecutive.items()},
        "bank conflicts, ways": {
            name: int(banks.wavefronts(lanes[None, :], whole, given["bank_word_B"], given["arch"]).actual[0])
            for name, lanes in strided.items()
        },
    }


def global_addresses(given: Given, name: str) -> NDArray[np.uint64]:
    """Byte address of each thread of an access to global memory."""
    return np.array(given["accesses"][name], np.uint64) * np.uint64(given["word_B"])


def shared_addresses(given: Given, name: str) -> NDArray[np.uint64]:
    """Byte address of each of 32 lanes of an access to shared memory."""
    return np.arange(coalescing.LANES, dtype=np.uint64) * np.uint64(given["bank_word_B"] * given["strides"][name])


def _transactions(given: Given, lanes: NDArray[np.uint64]) -> int:
    addresses = np.zeros((1, coalescing.LANES), np.uint64)
    addresses[0, : len(lanes)] = lanes
    active = (np.arange(coalescing.LANES) < len(lanes))[None, :]
    return int(coalescing.transactions(addresses, active, given["word_B"], given["arch"]).count[0])


def table_3_1(given: Given) -> Numbers:
    """Table 3.1: throughput, and the concurrency that it needs to hide latency."""
    best, pins = (
        inst_per_cycle(given[rate] * 1e9, given["clock_GHz"] * 1e9, given["sms"], given["line_bytes"])
        for rate in ("memory_GBs", "pin_GBs")
    )
    return {
        "Adds in flight of arithmetic": concurrency(**given["arithmetic"]),
        "Throughput of memory": best,
        "Loads in flight of memory": concurrency(given["memory_latency"], best),
        "Throughput at the pins": pins,
        "Loads in flight at the pins": concurrency(given["memory_latency"], pins),
    }


def table_3_4(given: Given) -> Numbers:
    """Table 3.4: cycles for which a warp occupies each resource of an SM, and the bound that they give."""
    count = given["instructions"]
    total = sum(count.values())
    near, far = (transfer_cycles(given[kind]["bytes"], given["bytes_per_cycle"]) for kind in ("coalesced", "stride_2"))
    accesses = [given["coalesced"]["count"], given["stride_2"]["count"]]
    events = issue_events(total, given["dual_pairs"], sum(count[kind] for kind in given["reissued"]))
    conflicts = given["conflict_cycles"]
    busy = {
        "CUDA cores": busy_cycles([count["core"]], [unit_cycles(given["cores"])]),
        "SFU units": busy_cycles([count["sfu"]], [unit_cycles(given["sfus"])]),
        "Shared memory banks": busy_cycles([count[kind] for kind in conflicts], list(conflicts.values())),
        "Memory system": busy_cycles(accesses, [near, far]),
        "Warp scheduler": busy_cycles([events], [1 / given["schedulers"]]),
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


def listings_3_1_to_3_3(given: Given) -> Numbers:
    """Listings 3.1 to 3.3: issue cycles of the instructions of one warp."""
    chain = _chain(given["chain"])
    alike, bar = given["independent"], given["barrier"]
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
        "chain": dict(zip([name for name, _ in given["chain"]], issue_times(chain).tolist(), strict=True)),
        "independent": {"last of 7 adds": adds[-1], "last of 7 stores": stores[-1]},
        "barrier": {
            "FADD of warp 1": long_way[2],
            "BAR of warp 1": long_way[3],
            "BAR of warp 2": short_way[1],
            "after the barrier": after_barrier([long_way[-1], short_way[-1]], bar["latency"]),
        },
    }


def _chain(steps: list[tuple[str, float]]) -> list[Instruction]:
    """Every instruction needs the result of the one before."""
    before = [()] + [((i, latency),) for i, (_, latency) in enumerate(steps[:-1])]
    return [Instruction(name, waits=waits) for (name, _), waits in zip(steps, before, strict=True)]


def section_3_8(given: Given) -> Numbers:
    """Section 3.8: latency and bounds of a real kernel, from its machine code to GB/s."""
    pairs = dual_pairs(program(given))
    path, best = _latency(given), given["memory_GBs"] * 1e9
    per_cycle = best / (given["clock_GHz"] * 1e9 * given["sms"])
    events = issue_events(len(program(given)), len(pairs), 0)
    return {
        "Pairs issued together": len(pairs),
        "Latency of a warp": path,
        "Latency without dual issue": latency_bound(program(given), (), given["termination"]),
        "Issue bound": given["schedulers"] / events,
        "Memory": per_cycle,
        "Memory bound": per_cycle / given["bytes_per_warp"],
        "Memory bound, of 17.1 B": round(per_cycle, 1) / given["bytes_per_warp"],
        "Bandwidth per warp": gbytes(given, 1.0 / path),
        "Instruction throughput at 156 GB/s": given["instructions"] * _warps(given, given["attained_GBs"] * 1e9),
        "Warps that hide latency": needed_warps(inputs(given, 1.0)),
    }


def section_3_8_figures(given: Given) -> Iterator[Figure]:
    """Figure 3.6 without its points."""
    n = np.arange(1.0, given["max_warps"] + 1)
    lines, source = {"model": gbytes(given, predict(inputs(given, n)).rate)}, f"{THESIS}, Figure 3.6: the model"
    yield Figure("Vector add on Kepler", OCCUPANCY, Axis("throughput", "GB/s"), series_over(n, lines), source)


def inputs(given: Given, warps: Real) -> Inputs:
    """Of the model, at this occupancy."""
    best = _warps(given, given["memory_GBs"] * 1e9)
    return Inputs(warps, _latency(given), {"memory": 1.0 / best})


def program(given: Given) -> list[Instruction]:
    """The kernel's instructions, with the latency of each result that one waits for."""
    lines = given["program"]
    delay = [given["load"] if line["name"] == "LD" else given["arithmetic"] for line in lines]
    return [
        Instruction(
            line["name"],
            waits=tuple((producer, delay[producer]) for producer in line["needs"]),
            gap=given["gap"],
            loads=line["name"] == "LD",
        )
        for line in lines
    ]


def _latency(given: Given) -> float:
    listing = program(given)
    return latency_bound(listing, dual_pairs(listing), given["termination"])


def _warps(given: Given, bytes_per_s: float) -> float:
    """Warps per cycle and SM at this traffic."""
    return float(inst_per_cycle(bytes_per_s, given["clock_GHz"] * 1e9, given["sms"], given["bytes_per_warp"]))


def gbytes(given: Given, warps: Real) -> NDArray[np.float64]:
    """GB/s at so many warps per cycle and SM."""
    return np.asarray(bytes_per_second(warps, given["clock_GHz"] * 1e9, given["sms"], given["bytes_per_warp"])) / 1e9


def section_3_10(given: Given) -> Numbers:
    """Section 3.10: traffic over that of coalesced accesses, and the needed occupancies of two cases of vector abs."""
    lanes = given["lanes"]
    coalesced = lanes * given["word"]
    streams = given["streams"] * coalesced
    diverged = {f"{size} B": lanes * size for size in (given["short"], given["long"])}
    warps = {name: concurrency(1.0, 1.0 / traffic) for name, traffic in given["traffic"].items()}
    expected = warps["positive"] / warps["negative"]
    return {
        **{f"diverged access, {size}": traffic / coalesced for size, traffic in diverged.items()},
        **{f"permutation, {size}": (streams + traffic) / (streams + coalesced) for size, traffic in diverged.items()},
        "latency of 31 more transactions": busy_cycles([lanes - 1], [given["transaction_latency"]]),
        "vector abs: occupancy, positive over negative": expected,
        "vector abs: occupancy, positive over negative, measured": expected,
        "vector abs: the two measured occupancies": share(*given["vector_abs_warps"]),
    }
