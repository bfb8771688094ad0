"""What would help: changes of the work or of the residency, each answered by the same prediction."""

from dataclasses import dataclass, replace

from warpbound.predict import CHIP, Place, Prediction, predict
from warpbound.residency import Residency
from warpbound.workload import Workload

WORTH = 1.005  # speedups below this are not worth a line


@dataclass(frozen=True)
class WhatIf:
    """A change, how much faster the work would then be (> 1 is faster), and the physical reason."""

    change: str
    speedup: float
    why: str


def whatifs(work: Workload, place: Place, residency: Residency | None) -> tuple[WhatIf, ...]:
    """Every change that helps by half a per cent or more, the best first."""
    now = predict(work, place)
    found = [*_occupancy(work, place, residency, now)]
    for change in (_ilp, _no_conflicts, _coalesced, _half_dram, _fewer_instructions):
        made = change(work, place, now)
        if made is not None:
            found.append(made)
    return tuple(sorted((w for w in found if w.speedup >= WORTH), key=lambda w: -w.speedup))


def _gain(now: Prediction, work: Workload, place: Place) -> float:
    then = predict(work, place)
    if now.time_s is not None and then.time_s is not None:
        return now.time_s / then.time_s
    return then.rate / now.rate


def _occupancy(work: Workload, place: Place, residency: Residency | None, now: Prediction) -> list[WhatIf]:
    """One block more by the smallest change of each kind."""
    if residency is None or residency.blocks_per_sm == 0:
        return []
    found = []
    for step in residency.next_step:
        more = replace(place, warps_per_sm=float(step.warps_per_sm))
        gain = _gain(now, work, more)
        why = f"{step.warps_per_sm} instead of {residency.warps_per_sm} resident warps hide more of the latency"
        found.append(WhatIf(step.sentence.rstrip("."), gain, why))
    return found


def _ilp(work: Workload, place: Place, now: Prediction) -> WhatIf:
    """Two units of work interleaved in one warp wait together: per unit, half the waiting."""
    issue = work.parts.get("issue", 0.0)
    overlapped = replace(work, latency=issue + (work.latency - issue) / 2)
    return WhatIf(
        "twice the independent work per thread (ILP x2)",
        _gain(now, overlapped, place),
        "each warp waits once for two items instead of twice",
    )


def _no_conflicts(work: Workload, place: Place, now: Prediction) -> WhatIf | None:
    extra = work.memory.shared_conflict_wavefronts
    if extra <= 0:
        return None
    loads, stores = work.memory.shared_wavefronts_load, work.memory.shared_wavefronts_store
    kept = 1.0 - extra / (loads + stores)
    better = work.with_memory(
        shared_wavefronts_load=loads * kept, shared_wavefronts_store=stores * kept, shared_conflict_wavefronts=0.0
    )
    why = f"bank conflicts take {extra:.0f} of {loads + stores:.0f} shared-memory wavefronts"
    return WhatIf("no shared-memory bank conflicts", _gain(now, better, place), why)


def _coalesced(work: Workload, place: Place, now: Prediction) -> WhatIf | None:
    """Four-byte accesses of a full warp need four sectors; more than that is waste."""
    memory = work.memory
    spread = memory.sectors_per_request
    touched = memory.l1_sectors_load + memory.l1_sectors_store
    if spread is None or not 0 < memory.ideal_sectors < touched:
        return None
    kept = memory.ideal_sectors / touched
    better = work.with_memory(
        **{
            name: getattr(memory, name) * kept
            for name in (
                "l1_sectors_load", "l1_sectors_store", "l1_wavefronts", "l2_sectors_read", "l2_sectors_written"
            )
        }
    )  # fmt: skip
    why = f"{spread:.1f} sectors per request where {spread * kept:.1f} hold the same bytes"
    return WhatIf("coalesced global accesses", _gain(now, better, place), why)


def _half_dram(work: Workload, place: Place, now: Prediction) -> WhatIf | None:
    memory = work.memory
    if memory.dram_bytes_read + memory.dram_bytes_written <= 0:
        return None
    better = work.with_memory(
        dram_bytes_read=memory.dram_bytes_read / 2, dram_bytes_written=memory.dram_bytes_written / 2
    )
    why = "narrower types, or data kept on the chip between uses, move fewer bytes"
    return WhatIf("half the DRAM traffic", _gain(now, better, place), why)


def _fewer_instructions(work: Workload, place: Place, now: Prediction) -> WhatIf | None:
    """A quarter less demand on the tightest on-chip resource, where one binds."""
    tightest = now.bottleneck
    if tightest in ("latency", "launch", *CHIP, "l1", "shared"):
        return None
    units = {name: busy * (0.75 if name.startswith(tightest) else 1.0) for name, busy in work.units.items()}
    count = work.warp_instructions * (0.75 if tightest == "issue" else 1.0)
    better = replace(work, units=units, warp_instructions=count)
    what = "instructions" if tightest == "issue" else f"{tightest} instructions"
    why = f"the {tightest} {'slots' if tightest == 'issue' else 'pipe'} bind"
    return WhatIf(f"a quarter fewer {what}", _gain(now, better, place), why)
