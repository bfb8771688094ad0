"""What lies between a predicted time and the certificate: waste removed step by step, in a fixed order.

Models   The order: the unfilled end of the grid, sectors that hold bytes nobody requested, bank conflicts, traffic
         beyond once, instructions beyond the operations, waiting of warps. What is left is launching, and what the
         board reaches below its peaks.
Omits    Interactions: a step counts what it saves after those before it. `sensitivity.shares` has no order.
"""

from collections.abc import Iterator
from dataclasses import replace

from warpbound.advice.sensitivity import GONE, LATENCY, Timed, scaled
from warpbound.model_inputs.resources import scaled_demand
from warpbound.predict import Place
from warpbound.result.goal import CertificateFacts, Part
from warpbound.whatif.code_changes import COALESCED, of_the_work
from warpbound.workload import Workload

NO_CONFLICTS = "no shared-memory bank conflicts"
SECTOR_B = 32
OVERHEAD = ("issue", "fetch", "alu", "uniform", "lsu")
ENDS, REST = "the end of the grid, where SMs are idle", "launching, and units and memory below their peak rates"


def parts(x: Timed, least: CertificateFacts) -> list[Part]:
    """Parts that add up to the time beyond the certificate, in the order of removal; none below 0."""
    tail_s = min(max(0.0, x.time_s - _even_s(x)), max(0.0, x.time_s - least.time_s))
    answer, before = [Part(cause=ENDS, time_s=tail_s)], x.time_s - tail_s
    steps = list(_steps(x.work, x.place))
    times = x.times([work for _, work in steps])
    for (cause, _), time_s in zip(steps, times, strict=True):
        after = min(before, max(least.time_s, time_s))
        answer.append(Part(cause=cause, time_s=before - after))
        before = after
    answer.append(Part(cause=REST, time_s=before - least.time_s))
    return [part for part in answer if part.time_s > 0]


def _even_s(x: Timed) -> float:
    """The time of the launch where every SM is full until the end, s."""
    wave, warps = x.place.gpu.value("sm_count") * x.place.warps_per_sm, x.work.warps or 0.0
    if warps < wave:
        return x.time_s
    even = warps // wave * wave
    (time_s,) = x.times([replace(x.work, warps=even)])
    return time_s * warps / even


def _steps(work: Workload, place: Place) -> Iterator[tuple[str, Workload]]:
    """Work with one more kind of waste removed each time."""
    for name, cause in ((COALESCED, "sectors that hold bytes nobody requested"), (NO_CONFLICTS, "bank conflicts")):
        change = next((each for each in of_the_work(work, place) if each.change.startswith(name)), None)
        if change is not None:
            work = change.work
            yield cause, work
    work = _moved_once(work)
    yield "bytes that cross more than once (read again, or read and written)", work
    for resource in OVERHEAD:
        work = scaled_demand(work, resource, GONE)
    yield "instructions beyond the operations", work
    yield "waiting of warps for memory, results and barriers", scaled(work, LATENCY, GONE)


def _moved_once(work: Workload) -> Workload:
    """The work with no more traffic than the bytes that are touched."""
    distinct_B, memory = work.memory.touched_bytes, work.memory
    counters = {
        "l1": SECTOR_B * (memory.l1_sectors_load + memory.l1_sectors_store),
        "l2": SECTOR_B * (memory.l2_sectors_read + memory.l2_sectors_written),
        "dram": memory.dram_bytes_read + memory.dram_bytes_written,
    }
    for resource, count in counters.items():
        if count > distinct_B:
            work = scaled_demand(work, resource, distinct_B / count)
    return scaled_demand(work, "shared", GONE)
