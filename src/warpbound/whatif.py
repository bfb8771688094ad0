"""What would help: changes of the work or of the residency, each answered by the same prediction."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from warpbound.adapt.resources import eased
from warpbound.predict import Place, Prediction, predict
from warpbound.residency import Residency
from warpbound.workload import Workload

WORTH = 1.005  # speedups below this are not worth a line
_EASINGS = {  # resource -> demand that the change leaves, what to change
    "issue": (0.75, "a quarter fewer instructions (wider accesses, unrolled loops, less index arithmetic)"),
    "alu": (0.75, "a quarter fewer integer, logic and comparison instructions"),
    "fma": (0.75, "a quarter fewer multiplications and additions"),
    "fp64": (0.5, "half the FP64 instructions (FP32 where it is exact enough)"),
    "xu": (0.5, "half the special functions and conversions"),
    "tensor": (0.5, "operands of half the width on the tensor cores"),
    "uniform": (0.75, "a quarter fewer uniform instructions"),
    "lsu": (0.5, "half the load and store instructions (64- and 128-bit accesses)"),
    "shared": (0.5, "half the shared-memory traffic (more results per thread, operands kept in registers)"),
    "l1": (0.5, "half the L1 traffic (operands kept in registers or shared memory)"),
    "l2": (0.5, "half the L2 traffic (tiles kept in shared memory or L1)"),
    "dram": (0.5, "half the DRAM traffic (narrower types, or data kept on the chip between uses)"),
}


@dataclass(frozen=True)
class WhatIf:
    """A change, how much faster the work would then be (> 1 is faster), and the physical reason."""

    change: str
    speedup: float
    why: str


def whatifs(work: Workload, place: Place, residency: Residency | None) -> tuple[WhatIf, ...]:
    """Every change that helps by half a per cent or more, the best first."""
    now = predict(work, place)
    found = (
        *_occupancy(place, work, residency, now),
        *_ilp(work, place, now),
        *_no_conflicts(work, place, now),
        *_coalesced(work, place, now),
        *_easings(work, place, now),
    )
    return tuple(sorted((w for w in found if w.speedup >= WORTH), key=lambda w: -w.speedup))


def _gain(now: Prediction, work: Workload, place: Place, units: float = 1.0) -> float:
    """How much faster `work` at `place` is, where it is so many of the units that `now` is about."""
    then = predict(work, place)
    if now.time_s is not None and then.time_s is not None:
        return now.time_s / then.time_s
    return units * then.rate / now.rate


def _occupancy(place: Place, work: Workload, residency: Residency | None, now: Prediction) -> Iterator[WhatIf]:
    """One block more by the smallest change of each kind, and one block fewer."""
    if residency is None or residency.blocks_per_sm == 0:
        return
    for step in residency.next_step:
        more = replace(place, warps_per_sm=float(step.warps_per_sm))
        why = f"{step.warps_per_sm} instead of {residency.warps_per_sm} resident warps hide more of the latency"
        yield WhatIf(step.sentence.rstrip("."), _gain(now, work, more), why)
    fewer = residency.warps_per_sm - residency.warps_per_sm // residency.blocks_per_sm
    if fewer > 0:
        less = replace(place, warps_per_sm=float(fewer))
        why = f"{fewer} instead of {residency.warps_per_sm} resident warps compete less for what they share"
        yield WhatIf("one block fewer per SM (throttling)", _gain(now, work, less), why)


def _ilp(work: Workload, place: Place, now: Prediction) -> Iterator[WhatIf]:
    """Two units of work interleaved in one warp: twice the demand, issued one after the other, waited for together."""
    two = replace(
        work,
        warp_instructions=2 * work.warp_instructions,
        units={unit: 2 * busy for unit, busy in work.units.items()},
        tensor={kind: 2 * count for kind, count in work.tensor.items()},
        memory=work.memory.scaled(2),
        latency=work.latency + work.parts.get("issue", 0.0),
        warps=None if work.warps is None else work.warps / 2,
    )
    why = "each warp waits once for two items instead of twice; it takes more registers"
    yield WhatIf("twice the independent work per thread (ILP x2)", _gain(now, two, place, units=2), why)


def _no_conflicts(work: Workload, place: Place, now: Prediction) -> Iterator[WhatIf]:
    memory = work.memory
    extra = memory.shared_conflict_wavefronts
    total = memory.shared_wavefronts_load + memory.shared_wavefronts_store + memory.shared_wavefronts_atomic
    if extra > 0:
        better = eased(work, "shared", 1.0 - extra / total)
        why = f"bank conflicts take {extra:.3g} of {total:.3g} shared-memory wavefronts"
        yield WhatIf("no shared-memory bank conflicts", _gain(now, better, place), why)


def _coalesced(work: Workload, place: Place, now: Prediction) -> Iterator[WhatIf]:
    """As many sectors as would hold the bytes asked for; more than that is waste, in DRAM too."""
    memory = work.memory
    spread, touched = memory.sectors_per_request, memory.l1_sectors_load + memory.l1_sectors_store
    if spread is None or not 0 < memory.ideal_sectors < touched:
        return
    kept = memory.ideal_sectors / touched
    better = eased(eased(work, "l1", kept), "l2", kept)
    moved = memory.dram_bytes_read + memory.dram_bytes_written
    if moved > 32 * memory.ideal_sectors:
        better = eased(better, "dram", 32 * memory.ideal_sectors / moved)
    why = f"{spread:.1f} sectors per request where {spread * kept:.1f} hold the same bytes"
    yield WhatIf("coalesced global accesses", _gain(now, better, place), why)


def _easings(work: Workload, place: Place, now: Prediction) -> Iterator[WhatIf]:
    """Less demand on each resource that is used, whatever else may bind then."""
    for resource, (left, change) in _EASINGS.items():
        if resource in now.cycles:
            used = f"in use {100 * now.utilization[resource]:.0f} % of the time"
            why = f"it is {used}, {now.cycles[resource]:.3g} SM cycles per {work.unit}"
            yield WhatIf(change, _gain(now, eased(work, resource, left), place), why)
