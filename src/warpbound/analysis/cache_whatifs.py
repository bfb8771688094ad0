"""What-ifs of the caches: the sampled addresses replayed with loads past L1, a larger L1, fewer blocks, an array in L2.

Source   the cache operators .cg of PTX and the carve-out of CUDA's launch attributes; throttling until the working set
         fits: A. Li et al., X-model, 2016, section VI.
Models   a change of the caches alone: instructions and shared memory traffic stay.
Omits    loads through the read-only path (ld.global.nc), which is the same L1 from 7.0 on.
"""

from collections.abc import Iterator
from dataclasses import replace

from warpbound.analysis.case import Case
from warpbound.analysis.executed import average_work
from warpbound.analysis.sampled import cache_facts, cache_settings, shared_per_block
from warpbound.emulate import Trace
from warpbound.identity_cache import remember
from warpbound.memory import hierarchy
from warpbound.memory.hierarchy import Facts
from warpbound.memory.l2_priorities import keepable
from warpbound.memory.requests import bypasses_l1
from warpbound.memory.sampled_accesses import Spaces
from warpbound.memory.traffic import How, asked_for
from warpbound.memory.traffic import traffic as cached_traffic
from warpbound.memory.traffic_counts import Traffic
from warpbound.program import Program
from warpbound.quick_dataclasses import dataclass
from warpbound.whatif import Alternative
from warpbound.workload.dynamic import Sample

ENDLESS = 1 << 40  # bytes of an L1 that loses nothing
LOST = 0.05  # share of the loaded sectors that L1 must lose for a choice to be worth following
STREAMING = 0.1  # share of a load's sectors that an unlimited L1 would serve, below which it may bypass L1 without loss
FOLLOWED = 60_000  # sectors: a what-if needs no more, and there are several
FEWER = (2, 4)  # times fewer blocks per SM
LOCAL = "local"  # memory whose place a driver chooses
BYPASS = ("STRONG", "GPU")  # modifiers of a load that L1 does not serve


@dataclass(frozen=True)
class _Run:
    """The executed sample, and its requested sectors; None if addresses depend on the resident blocks."""

    trace: Trace
    sample: Sample
    how: How
    requests: Spaces | None


def cache_choices(case: Case, trace: Trace, sample: Sample, traffic: Traffic) -> Iterator[Alternative]:
    """Changes that leave reused data more space in L1; none where L1 already keeps nearly all of it.

    traffic : of the unchanged launch.
    """
    caches = cache_facts(case)
    hit_rate, repeat_rate = traffic.l1_hit_rate or 0.0, traffic.l1_repeat_rate or 0.0
    if not caches.l1_bytes or repeat_rate < hit_rate + LOST:
        return
    run = _run(case, trace, sample)
    endless = _followed(case, run, replace(caches, l1_bytes=ENDLESS))
    why = f"L1 serves {_cent(hit_rate)} of what is loaded and L2 {_cent(traffic.l2_hit_rate)} of the rest"
    yield from _past_l1(case, run, (endless, why))
    yield from _larger_l1(case, run, why)
    yield from _throttled(case, run, why)


@remember(1)
def _run(case: Case, trace: Trace, sample: Sample) -> _Run:
    how = replace(cache_settings(case, sample), sector_limit=FOLLOWED)
    local = trace.accesses.get(LOCAL)
    shared = local is None or not len(local.warp)
    return _Run(trace, sample, how, asked_for(case.program, trace, cache_facts(case), how) if shared else None)


def l2_choices(case: Case, trace: Trace, sample: Sample, traffic: Traffic) -> Iterator[Alternative]:
    """Each array that L2 may keep while others pass through it; none where L2 holds all that is touched."""
    if traffic.touched_bytes <= (case.gpu.get("l2_size") or 0.0) or (case.launch and case.launch.persist):
        return
    sizes = {name: size for name, _, size in trace.arrays}
    candidates, run = keepable(case.gpu, sizes), _run(case, trace, sample)
    for name, size_B in candidates.items():
        change = f"{name} ({size_B / 1e6:.3g} MB) kept in L2 (an access-policy window, or the other arrays streamed)"
        why = f"L2 serves {_cent(traffic.l2_hit_rate)} of what L1 does not"
        with_window = replace(run, how=replace(run.how, persisting=name))
        then = _followed(case, with_window, cache_facts(case))
        why += f", then {_cent(then.l2_hit_rate)}"
        yield Alternative(change, why, average_work(case, trace, sample, then), case.place)


def _past_l1(case: Case, run: _Run, endless_l1: tuple[Traffic, str]) -> Iterator[Alternative]:
    """Source lines whose loads hardly ever hit L1; where that is all of them, the line that loads most."""
    endless, why = endless_l1
    origins = endless.by_instruction.sectors_from
    loads: dict[int, list[int]] = {}
    for index, instruction in enumerate(case.program.instructions):
        if origins[index].sum() > 0 and not bypasses_l1(instruction):
            loads.setdefault(instruction.place.outermost.line if instruction.place else 0, []).append(index)
    sectors = {line: origins[indices].sum(axis=0) for line, indices in loads.items()}
    streams = [line for line, (l1, *beyond) in sectors.items() if l1 < STREAMING * (l1 + sum(beyond))]
    lines = streams or [max(sectors, key=lambda line: float(sectors[line].sum()))]
    if len(lines) == len(loads):
        return
    where = f" of line{'s' * (len(lines) > 1)} {', '.join(map(str, sorted(lines)))}"
    other = replace(case, program=_bypassing(case.program, {i for line in lines for i in loads[line]}))
    yield _with_caches(other, run, cache_facts(case), f"loads{where} past L1 (__ldcg, ld.global.cg)", why)


def _bypassing(program: Program, past: set[int]) -> Program:
    """The same code with these loads past L1."""
    code = [
        replace(instruction, modifiers=(*instruction.modifiers, *BYPASS)) if index in past else instruction
        for index, instruction in enumerate(program.instructions)
    ]
    return replace(program, instructions=tuple(code))


def _larger_l1(case: Case, run: _Run, why: str) -> Iterator[Alternative]:
    """Half the shared memory, or no more of it than the blocks need."""
    caches, resident = cache_facts(case), case.residency.blocks_per_sm
    shared_bytes = shared_per_block(case) * resident
    least = hierarchy.facts(case.gpu, resident, shared_bytes)
    if least.l1_bytes > caches.l1_bytes:
        change = f"a carve-out of no more than the blocks need ({_KiB(least)} of L1 instead of {_KiB(caches)})"
        yield _with_caches(case, run, least, change, why)
    half = hierarchy.facts(case.gpu, resident, shared_bytes // 2)
    if case.program.shared_bytes + (case.launch.smem if case.launch else 0) and half.l1_bytes > least.l1_bytes:
        change = f"half the shared memory per block, for L1 ({_KiB(half)} instead of {_KiB(caches)})"
        yield _with_caches(case, run, half, change, why)


def _cent(share: float | None) -> str:
    return f"{100 * (share or 0.0):.0f} %"


def _KiB(caches: Facts) -> str:
    return f"{caches.l1_bytes / 1024:.0f} KiB"


def _throttled(case: Case, run: _Run, why: str) -> Iterator[Alternative]:
    """Fewer blocks on each SM, which share L1 between them."""
    resident = case.residency.blocks_per_sm
    carveout = case.launch.carveout if case.launch else None
    for times in FEWER:
        fewer_blocks = resident // times
        if fewer_blocks < 1:
            continue
        caches = hierarchy.facts(case.gpu, fewer_blocks, shared_per_block(case) * fewer_blocks, carveout)
        change = f"{fewer_blocks} instead of {resident} blocks per SM (throttling), so that each has more of the caches"
        fewer = _with_caches(case, run, caches, change, why)
        warps = case.place.warps_per_sm * fewer_blocks / resident
        yield replace(fewer, place=replace(case.place, warps_per_sm=warps))


def _with_caches(  # noqa: PLR0913  (each is one fact of the choice)
    case: Case, run: _Run, caches: Facts, change: str, why: str
) -> Alternative:
    """The work with changed caches."""
    traffic = _followed(case, run, caches)
    then = f", then {_cent(traffic.l1_hit_rate)} and {_cent(traffic.l2_hit_rate)}"
    return Alternative(change, why + then, average_work(case, run.trace, run.sample, traffic), case.place)


def _followed(case: Case, run: _Run, caches: Facts) -> Traffic:
    """The traffic with other caches."""
    return cached_traffic(case.program, run.trace, caches, run.how, run.requests)
