"""More parallelism in one warp: loads in flight, independent items; as far as it pays, with the registers it takes.

Models   Degrees of 2, 4 and 8. Each wait has that many times the loads; their results, and one more sum for each item,
         stay in registers, so fewer blocks may fit.
Omits    Addresses that need registers of their own; loads that the compiler has in flight beyond the recorded waits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil

from warpbound.model_inputs.resources import scaled_demand
from warpbound.predict import Place
from warpbound.residency import Residency
from warpbound.whatif.alternative import Alternative, without
from warpbound.workload import Workload

DEGREES = (2, 4, 8)
FURTHER = 1.05  # times the gain of the degree before that a degree must have
TIMES = {2: "twice"} | {degree: f"{degree} times" for degree in DEGREES[1:]}
AHEAD = "{times} the loads in flight (an unrolled loop, or loads issued early)"
ITEMS = "{times} the independent work per thread (ILP x{degree})"
ILP = ITEMS.format(times=TIMES[2], degree=2)
IN_FLIGHT, INDEPENDENT = AHEAD.partition("{times} ")[2], ITEMS.partition("{times} ")[2].partition(" (")[0]
SECTOR_B, WARP, REGISTER_B = 32.0, 32.0, 4.0
SUM = 1.0  # register of each further item


def doubled(work: Workload) -> Workload:
    """Two units of work interleaved in one warp."""
    return interleaved(work, 2)


def interleaved(work: Workload, count: int) -> Workload:
    """Units of work interleaved in one warp: their demand together, issued in turn, waited for together."""
    return replace(
        scaled_demand(work, "issue", float(count)),
        units={unit: count * busy for unit, busy in work.units.items()},
        tensor={kind: count * each for kind, each in work.tensor.items()},
        memory=work.memory.scaled(count),
        latency=work.latency + (count - 1) * work.parts.get("issue", 0.0),
        phases=tuple(count * loads for loads in work.phases),
        warps=None if work.warps is None else work.warps / count,
    )


def fewer_waits(work: Workload, rounds: int) -> Workload:
    """One wait for the loads of this many iterations together."""
    together = tuple(sum(work.phases[i : i + rounds]) for i in range(0, len(work.phases), rounds))
    share = len(together) / len(work.phases)
    return replace(without(work, dict.fromkeys(("l1", "l2", "dram"), share)), phases=together)


def items(work: Workload, place: Place, residency: Residency | None) -> Iterator[Alternative]:
    """Independent items side by side in a warp, in ascending degree."""
    for degree in DEGREES:
        registers = (degree - 1) * (registers_of_loads(work) + SUM)
        if (new_place := _holding(place, residency, registers)) is not None:
            why = f"each warp waits once for {degree} items instead of {_times(degree)}"
            change = ITEMS.format(times=TIMES[degree], degree=degree)
            yield Alternative(change, why, interleaved(work, degree), new_place, float(degree))


def ahead(work: Workload, place: Place, residency: Residency | None) -> Iterator[Alternative]:
    """The loads of several waits issued together, which only loads with addresses of their own allow."""
    waits = len(work.phases)
    for degree in DEGREES if waits > 1 else ():
        registers = (degree - 1) * registers_of_loads(work)
        new_place = _holding(place, residency, registers)
        if new_place is None or degree > 2 and degree > waits:
            return
        early = fewer_waits(work, degree)
        why = f"a warp waits for loads {_times(len(early.phases))} instead of {_times(waits)}"
        yield Alternative(AHEAD.format(times=TIMES[degree]), why, early, new_place, apart=float(degree))


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def degree_of(change: str) -> int | None:
    """The degree of a change of either kind; None for any other."""
    degrees = (degree for degree in DEGREES if change.startswith(TIMES[degree]))
    return next(degrees, None) if IN_FLIGHT in change or INDEPENDENT in change else None


def worthwhile_degrees(alternatives: Sequence[tuple[Alternative, float]]) -> list[bool]:
    """The changes that stay: of each kind only the largest degree that gains enough over the one before."""
    best: dict[str, int] = {}
    for at, (each, gain) in enumerate(alternatives):
        kind = IN_FLIGHT if IN_FLIGHT in each.change else INDEPENDENT
        if degree_of(each.change) and (kind not in best or gain >= FURTHER * alternatives[best[kind]][1]):
            best[kind] = at
    return [degree_of(each.change) is None or at in best.values() for at, (each, _) in enumerate(alternatives)]


def separable(work: Workload, chain: float, apart: float = 2.0) -> bool:
    """Whether this many waits can become one, given a chain of this many loads that need each other's results."""
    return len(work.phases) < 2 or apart <= 1 or apart * chain <= len(work.phases) + apart - 1


def registers_of_loads(work: Workload) -> float:
    """Registers of a thread for what it loads before it waits: one per load, or as many as its bytes take."""
    memory = work.memory
    requests = memory.global_load_requests + memory.global_store_requests
    lane_B = SECTOR_B * memory.ideal_sectors / (WARP * requests) if requests else 0.0
    loads = sum(work.phases) / len(work.phases) if work.phases else 0.0
    return loads * max(1.0, ceil(round(lane_B / REGISTER_B, 3)))


def _holding(place: Place, residency: Residency | None, registers: float) -> Place | None:
    """The place with as many warps as fit with this many more registers; None where no block does."""
    if residency is None or residency.blocks_per_sm < 1:
        return place
    then = residency.with_more(ceil(registers))
    if then is None:
        return None
    return replace(place, warps_per_sm=min(place.warps_per_sm, float(then.warps_per_sm)))
