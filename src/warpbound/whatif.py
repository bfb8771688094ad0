"""What would help: changes of the work or of the residency, each answered by the same prediction."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

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


Seconds = Callable[[Workload, Place], float]  # the time of a launch of this work at this place
Gain = Callable[..., float]  # (changed work, its place, units of it) -> how much faster than now


def whatifs(
    work: Workload, place: Place, residency: Residency | None, seconds: Seconds | None = None
) -> tuple[WhatIf, ...]:
    """Every change that helps by half a per cent or more, the best first.

    seconds : what answers for the time of a launch; by default the bounds' own time, or their rates where the
    number of warps is not known.
    """
    now = predict(work, place)
    gain = partial(_by_bounds, now) if seconds is None else partial(_by_time, seconds, seconds(work, place))
    found = (
        *_occupancy(place, work, residency, gain),
        *_more_blocks(work, place, residency, gain),
        *_full_waves(work, place, residency, seconds),
        *_ilp(work, place, gain),
        *_no_conflicts(work, place, gain),
        *_coalesced(work, place, gain),
        *_easings(work, place, now, gain),
    )
    return tuple(sorted((w for w in found if w.speedup >= WORTH), key=lambda w: -w.speedup))


def _by_bounds(now: Prediction, work: Workload, place: Place, units: float = 1.0) -> float:
    """How much faster `work` at `place` is, where it is so many of the units that `now` is about."""
    then = predict(work, place)
    if now.time_s is not None and then.time_s is not None:
        return now.time_s / then.time_s
    return units * then.rate / now.rate


def _by_time(seconds: Seconds, now_s: float, work: Workload, place: Place, units: float = 1.0) -> float:
    """The same from two times of a launch, in which the number of units is already counted."""
    del units
    return now_s / seconds(work, place)


def _occupancy(place: Place, work: Workload, residency: Residency | None, gain: Gain) -> Iterator[WhatIf]:
    """One block more by the smallest change of each kind, and one block fewer."""
    if residency is None or residency.blocks_per_sm == 0:
        return
    for step in residency.next_step:
        more = replace(place, warps_per_sm=float(step.warps_per_sm))
        why = f"{step.warps_per_sm} instead of {residency.warps_per_sm} resident warps hide more of the latency"
        yield WhatIf(step.sentence.rstrip("."), gain(work, more), why)
    yield from _unlimited(place, work, residency, gain)
    fewer = residency.warps_per_sm - residency.warps_per_sm // residency.blocks_per_sm
    if fewer > 0:
        less = replace(place, warps_per_sm=float(fewer))
        why = f"{fewer} instead of {residency.warps_per_sm} resident warps compete less for what they share"
        yield WhatIf("one block fewer per SM (throttling)", gain(work, less), why)


def _unlimited(place: Place, work: Workload, residency: Residency, gain: Gain) -> Iterator[WhatIf]:
    """As many warps as an SM has slots for, where registers or shared memory keep them out."""
    limits = [name for name in residency.limiters if name in ("registers", "shared", "barriers")]
    if limits:
        what = " and ".join("shared memory" if name == "shared" else name for name in limits)
        full = replace(place, warps_per_sm=float(residency.max_warps_per_sm))
        why = f"it keeps {residency.max_warps_per_sm - residency.warps_per_sm} of the SM's warp slots empty"
        yield WhatIf(f"no limit by {what}", gain(work, full), why)


def _full_waves(work: Workload, place: Place, residency: Residency | None, seconds: Seconds | None) -> Iterator[WhatIf]:
    """A grid that gives every SM the same number of blocks, per block of it."""
    if residency is None or seconds is None or work.warps is None or residency.blocks_per_sm == 0:
        return
    per_block = residency.warps_per_sm / residency.blocks_per_sm
    sms, blocks = place.gpu.value("sm_count"), work.warps / per_block
    even = blocks // sms * sms
    if not 0 < even < blocks:
        return
    some = replace(work, warps=even * per_block)
    speedup = seconds(work, place) / (seconds(some, place) * blocks / even)
    why = f"{blocks:.0f} blocks on {sms:.0f} SMs leave SMs idle while the last blocks run"
    yield WhatIf(f"a grid of a multiple of {sms:.0f} blocks", speedup, why)


def _more_blocks(work: Workload, place: Place, residency: Residency | None, gain: Gain) -> Iterator[WhatIf]:
    """A grid that leaves room on the SMs, cut into twice as many blocks of half the work."""
    if residency is None or work.warps is None or residency.fitting_blocks_per_sm <= residency.blocks_per_sm:
        return
    start = work.parts.get("start", 0.0)
    half = replace(
        work,
        warp_instructions=work.warp_instructions / 2,
        units={unit: busy / 2 for unit, busy in work.units.items()},
        tensor={kind: count / 2 for kind, count in work.tensor.items()},
        memory=work.memory.scaled(0.5),
        latency=start + (work.latency - start) / 2,
        parts={cause: cycles if cause == "start" else cycles / 2 for cause, cycles in work.parts.items()},
        phases=work.phases[: -(-len(work.phases) // 2)],
        barriers=work.barriers / 2,
        warps=2 * work.warps,
    )
    full = residency.fitting_blocks_per_sm * residency.warps_per_sm / residency.blocks_per_sm
    there = replace(place, warps_per_sm=min(2 * place.warps_per_sm, full))
    why = f"the grid fills {residency.blocks_per_sm} of the {residency.fitting_blocks_per_sm} blocks an SM can hold"
    yield WhatIf("twice the blocks with half the work each", gain(half, there), why)


def _ilp(work: Workload, place: Place, gain: Gain) -> Iterator[WhatIf]:
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
    yield WhatIf("twice the independent work per thread (ILP x2)", gain(two, place, units=2), why)


def _no_conflicts(work: Workload, place: Place, gain: Gain) -> Iterator[WhatIf]:
    memory = work.memory
    extra = memory.shared_conflict_wavefronts
    total = memory.shared_wavefronts_load + memory.shared_wavefronts_store + memory.shared_wavefronts_atomic
    if extra > 0:
        better = eased(work, "shared", 1.0 - extra / total)
        why = f"bank conflicts take {extra:.3g} of {total:.3g} shared-memory wavefronts"
        yield WhatIf("no shared-memory bank conflicts", gain(better, place), why)


def _coalesced(work: Workload, place: Place, gain: Gain) -> Iterator[WhatIf]:
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
    yield WhatIf("coalesced global accesses", gain(better, place), why)


def _easings(work: Workload, place: Place, now: Prediction, gain: Gain) -> Iterator[WhatIf]:
    """Less demand on each resource that is used, whatever else may bind then."""
    for resource, (left, change) in _EASINGS.items():
        if resource in now.cycles:
            why = f"it takes {_number(now.cycles[resource])} SM cycles per {work.unit}"
            yield WhatIf(change, gain(eased(work, resource, left), place), why)


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
