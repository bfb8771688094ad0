"""Pipelines of a launch: waits at mbarriers as parts of a warp's path, what binds the stages, other numbers of stages.

Models   workload.pipelined_block with the copy engine of the board. For a warp's path the copies are alone on the GPU:
         the time model's queues represent the demand of others on L2 and DRAM. For the report's statements about a
         pipeline, copies get the share of L2 and DRAM that one block of an SM has while all run.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from warpbound.analysis.block_products import paces_products, tensor_cycles
from warpbound.analysis.case import Case
from warpbound.board_parameters import PARAMETERS
from warpbound.emulate import Trace
from warpbound.emulate.mbarrier_log import Event, Kind, MbarrierLog
from warpbound.identity_cache import remember
from warpbound.latency import Shares
from warpbound.machine import Gpu
from warpbound.model_inputs.resources import per_sm_cycle
from warpbound.program.instruction import Instruction
from warpbound.quick_dataclasses import dataclass
from warpbound.result.pipeline import Binds, Pipeline
from warpbound.result.what_if import WhatIf
from warpbound.schedule import Wait, duration
from warpbound.schedule.warp_clock import Parts
from warpbound.workload.barrier_intervals import Stream
from warpbound.workload.dynamic import LONGEST_STREAM
from warpbound.workload.joint_waits import joint_waits
from warpbound.workload.pipeline_stages import Ring, occupied, rings, with_stages
from warpbound.workload.pipelined_block import CopyEngine, Timeline, timeline

NOTE = "waits at mbarriers are not timed: the warps wait for events that were not recorded"
ASSUMED = "the copy engine's rate, latency and gap are assumed, not measured (copy_engine_*)"
GAP_ASSUMED = "the copy engine's gap from copy to copy is assumed, not measured (copy_engine_gap)"
IDLE = 0.03  # share of their time below which warps do not wait
BUSY = 0.9  # share of its time from which on a unit binds
ALIKE = 1.01  # times as long as the least, up to which fewer stages are enough
WORTH = 1.005

Served = Callable[[int], Shares]
Causes = tuple[tuple[str, float], ...]  # of a wait, with the share of each


@dataclass(frozen=True)
class Block:
    """A block that was recorded: what its warps do at mbarriers, how long instructions take, who serves its copies."""

    case: Case
    mbarrier_log: MbarrierLog
    waits: Sequence[Wait]
    levels: Served

    def course(self, engine: CopyEngine) -> Timeline | None:
        """The block in time."""
        courses = self._simulation.courses
        for other, course in courses:
            if other == engine:
                return course
        course = self.with_mbarrier_log(self.mbarrier_log, engine)
        courses.append((engine, course))
        return course

    def with_mbarrier_log(self, mbarrier_log: MbarrierLog, engine: CopyEngine) -> Timeline | None:
        """The block in time with other stages."""
        return timeline(mbarrier_log, self._simulation.code, engine, self.case.gpu.limits.sub_cores)

    @property
    def _simulation(self) -> "_Simulation":
        return _simulation(self.mbarrier_log, self.case.program.instructions, self.waits)

    @property
    def copies(self) -> list[int]:
        """The instructions that copy."""
        events = (item for events in self.mbarrier_log.events for item in events.items())
        return sorted({at for at, many in events if any(event.kind is Kind.COPY for event in many)})

    def line(self, at: int) -> int:
        """Source line of an instruction in the kernel; below 0 where unknown, one for each."""
        place = self.case.program.instructions[at].place
        return place.outermost.line if place else -1 - at


@dataclass(frozen=True)
class _Simulation:
    """Cached data of a block: the code of each warp, timelines by copy engine."""

    code: tuple[Parts, ...]
    courses: list[tuple[CopyEngine, Timeline | None]]


@remember(4)
def _simulation(mbarrier_log: MbarrierLog, instructions: Sequence[Instruction], waits: Sequence[Wait]) -> _Simulation:
    codes: dict[frozenset[int], Parts] = {}
    for off in mbarrier_log.off:
        changed = _idle(off, waits)
        codes.setdefault(changed, Parts(instructions, _without(changed, waits)))
    return _Simulation(tuple(codes[_idle(off, waits)] for off in mbarrier_log.off), [])


def _idle(off: frozenset[int], waits: Sequence[Wait]) -> frozenset[int]:
    """Instructions without an active lane, fences and accesses: they cost as little as any other."""
    return frozenset(at for at in off if waits[at].hold or waits[at].queue)


def _without(off: frozenset[int], waits: Sequence[Wait]) -> tuple[Wait, ...]:
    return tuple(Wait() if at in off else wait for at, wait in enumerate(waits))


def engine_parameters(gpu: Gpu) -> tuple[float, float, float]:
    """Bandwidth in B per cycle, latency and gap in cycles of the board's copy engine."""
    bandwidth, latency, gap = (
        gpu.get(name) or PARAMETERS[name].default
        for name in ("copy_engine_bandwidth", "copy_engine_latency", "copy_engine_gap")
    )
    return bandwidth, latency, gap


def assumed(gpu: Gpu) -> str:
    """What of the copy engine was not measured on this board."""
    return GAP_ASSUMED if gpu.get("copy_engine_bandwidth") and gpu.get("copy_engine_latency") else ASSUMED


def _engine(block: Block) -> CopyEngine:
    """The copy engine, alone on the GPU."""
    bandwidth, latency, gap = engine_parameters(block.case.gpu)
    latencies = {at: latency + block.case.latency.of(_beyond(block.levels(at))) for at in block.copies}
    return CopyEngine(gap, dict.fromkeys(latencies, 1.0 / bandwidth), latencies)


def _beyond(shares: Shares) -> Shares:
    """The levels that serve a copy: L2 and DRAM alone."""
    dram = shares.get("dram", 0.0)
    return {"l2": 1.0 - dram, "dram": dram} if dram else {"l2": 1.0}


def _paces(case: Case, shares: Shares) -> dict[Binds, float]:
    """Cycles per byte of a copy at the share that a block has of L2 and of DRAM while the whole GPU runs."""
    blocks = max(1, case.residency.blocks_per_sm) * case.place.active_sms / case.gpu.value("sm_count")
    dram = shares.get("dram", 0.0)
    return {
        "l2": blocks / per_sm_cycle(case.gpu, "l2_bandwidth", case.clock_hz),
        "dram": dram * blocks / per_sm_cycle(case.gpu, "dram_achievable_bandwidth", case.clock_hz),
    }


def _bandwidth_bound(block: Block) -> tuple[CopyEngine, Binds] | None:
    """The copy engine while the whole GPU runs, and the resource that paces copies without pauses.

    As if alone on the GPU, unless L2 or DRAM would then be busy all the time. None as for `Block.course`.
    """
    alone = _engine(block)
    course = block.course(alone)
    if course is None:
        return None
    copies = [copy for fill in course.fills for copy in fill.copies.items()]
    paces = {at: _paces(block.case, block.levels(at)) for at, _ in copies}
    cycles: dict[Binds, float] = {
        name: sum(paces[at][name] * size_B for at, size_B in copies) for name in ("l2", "dram")
    }
    tightest = max(cycles, key=lambda name: cycles[name])
    if cycles[tightest] <= course.cycles:
        return alone, "copy engine"
    slowest = {at: max(alone.cycles_per_byte[at], *pace.values()) for at, pace in paces.items()}
    return replace(alone, cycles_per_byte=alone.cycles_per_byte | slowest), tightest


def held(case: Case, trace: Trace, waits: tuple[Wait, ...], levels: Served) -> tuple[Wait, ...]:
    """The waits with those at mbarriers: at each test the mean time that the block's warps are held there."""
    if trace.mbarrier_log is None:
        return waits
    block = Block(case, trace.mbarrier_log, waits, levels)
    course = block_timeline(case, trace.mbarrier_log, waits, levels)
    if course is None:
        return waits
    return _behind_others(block, course, _held_on_average(block, course, range(len(trace.mbarrier_log.blocks)), waits))


def mbarrier_waits_per_warp(
    case: Case, mbarrier_log: MbarrierLog, waits: tuple[Wait, ...], means: tuple[Wait, ...], levels: Served
) -> tuple[tuple[Wait, ...], ...]:
    """For each warp of the block the waits with its own at mbarriers; means : as of `held`. None: they are unknown."""
    block, course = Block(case, mbarrier_log, waits, levels), block_timeline(case, mbarrier_log, waits, levels)
    if course is None:
        return ()
    tests = _executions(block.mbarrier_log, range(len(mbarrier_log.blocks)))
    unheld = tuple(waits[at] if at in tests else wait for at, wait in enumerate(means))
    return tuple(
        _held_on_average(block, course, (warp,), _without(_idle(off, waits), unheld))
        for warp, off in enumerate(mbarrier_log.off)
    )


def whole_block(
    case: Case, trace: Trace, waits: tuple[Wait, ...], means: tuple[Wait, ...], levels: Served
) -> tuple[Stream, ...]:
    """The streams of all warps of a block whose events at mbarriers have known times; else none.

    Of equal warps, the one that ends last represents all. means : see `held`.
    """
    mbarrier_log = trace.mbarrier_log
    course = block_timeline(case, mbarrier_log, waits, levels) if mbarrier_log else None
    if mbarrier_log is None or course is None or max(map(len, mbarrier_log.streams)) > LONGEST_STREAM:
        return ()
    own_waits = mbarrier_waits_per_warp(case, mbarrier_log, waits, means, levels)
    alike: defaultdict[tuple[bytes, tuple[int, ...]], list[int]] = defaultdict(list)
    for warp, (stream, joins) in enumerate(zip(mbarrier_log.streams, joint_waits(mbarrier_log, course), strict=True)):
        alike[stream.tobytes(), joins].append(warp)
    last = {key: max(warps, key=lambda warp: course.ends[warp]) for key, warps in alike.items()}
    return tuple(
        Stream(tuple(mbarrier_log.streams[last[key]].tolist()), key[1], len(warps), own_waits[last[key]])
        for key, warps in alike.items()
    )


def _held_on_average(block: Block, course: Timeline, warps: Iterable[int], waits: tuple[Wait, ...]) -> tuple[Wait, ...]:
    """At each test the mean time that these warps are held there."""
    own = tuple(warps)
    executions, causes, held_waits = _executions(block.mbarrier_log, own), _causes(block, course), list(waits)
    for at in executions:
        by = Counter[Kind]()
        for warp in own:
            by.update(course.waited[warp].get(at, {}))
        if total := sum(by.values()):
            parts = tuple((cause, part * by[kind] / total) for kind in by for cause, part in causes[kind])
            held_waits[at] = replace(held_waits[at], hold=total / executions[at], causes=parts)
    return tuple(held_waits)


def _behind_others(block: Block, course: Timeline, waits: tuple[Wait, ...]) -> tuple[Wait, ...]:
    """With the time that products take longer because other warps of the block use the tensor cores.

    The warp that issues most takes as long as in the block; the difference to its time alone counts as waits for
    products.
    """
    warp, stream, cycles = course.longest
    recorded = tuple(block.mbarrier_log.streams[warp].tolist()) if course.whole else stream  # with tests in vain
    rest = cycles - duration(recorded, block.case.program.instructions, waits)
    waiting = {at for at, code in enumerate(block.case.program.instructions) if _waits_for_products(code)}
    times = sum(count for at, count in Counter(recorded).items() if at in waiting)
    if rest <= 0 or not times:
        return waits
    longer = rest / times
    return tuple(replace(wait, hold=wait.hold + longer) if at in waiting else wait for at, wait in enumerate(waits))


def _waits_for_products(instruction: Instruction) -> bool:
    return instruction.opcode == "WARPGROUP" and "DEPBAR" in instruction.modifiers


def block_timeline(case: Case, mbarrier_log: MbarrierLog, waits: Sequence[Wait], levels: Served) -> Timeline | None:
    """A block with its copies alone on the GPU; None if its warps wait for events that were not recorded."""
    block = Block(case, mbarrier_log, waits, levels)
    return block.course(_engine(block))


def recorded_rings(case: Case, trace: Trace, waits: Sequence[Wait], levels: Served) -> tuple[Ring, ...]:
    """The stages of the recorded block."""
    if trace.mbarrier_log is None:
        return ()
    course = block_timeline(case, trace.mbarrier_log, waits, levels)
    return rings(course, Block(case, trace.mbarrier_log, waits, levels).line) if course else ()


def _executions(mbarrier_log: MbarrierLog, warps: Iterable[int]) -> dict[int, int]:
    """Times that each instruction tests a barrier for these warps, in vain or not."""
    count: dict[int, int] = {}
    for warp in warps:
        for at, many in mbarrier_log.events[warp].items():
            if many[0].kind in (Kind.TEST, Kind.RETRY):
                count[at] = count.get(at, 0) + len(many)
    return count


def _causes(block: Block, course: Timeline) -> dict[Kind, Causes]:
    """The cause of a wait at a barrier, by the event that ends it: other warps, products, a copy's data by level."""
    others: dict[Kind, Causes] = {Kind.ARRIVAL: (("barrier", 1.0),), Kind.PRODUCTS: (("fixed", 1.0),)}
    total = sum(fill.size_B for fill in course.fills)
    if not total:
        return others
    copies = [
        (block.levels(at).get("dram", 0.0), size_B) for fill in course.fills for at, size_B in fill.copies.items()
    ]
    latency, dram = block.case.latency, sum(share * size_B for share, size_B in copies) / total
    mean = latency.of(_beyond({"dram": dram}))
    parts = (("l2", latency.l2 * (1.0 - dram) / mean), ("dram", latency.dram * dram / mean))
    return others | {Kind.COPY: tuple((cause, part) for cause, part in parts if part)}


def pipelines(case: Case, trace: Trace, waits: Sequence[Wait], levels: Served) -> tuple[list[Pipeline], list[WhatIf]]:
    """A block's pipelines while the whole GPU runs, and other numbers of stages that would be faster."""
    if trace.mbarrier_log is None:
        return [], []
    block = Block(case, trace.mbarrier_log, waits, levels)
    bandwidth_bound = _bandwidth_bound(block)
    course = block.course(bandwidth_bound[0]) if bandwidth_bound else None
    if bandwidth_bound is None or course is None:
        return [], []
    rows, changes = list[Pipeline](), list[WhatIf]()
    for ring in rings(course, block.line):
        times = _times(block, bandwidth_bound[0], ring, course.cycles)
        rows.append(_row(block, course, (ring, times), bandwidth_bound[1]))
        changes += _changes(case, ring, times, course.cycles)
    return rows, changes


def _times(block: Block, bandwidth_bound: CopyEngine, ring: Ring, cycles: float) -> dict[int, float]:
    """Cycles of the block by the number of stages: one more than there are, and fewer until they take longer."""
    times = {ring.stages: cycles}
    for stages in (ring.stages + 1, *range(ring.stages - 1, 0, -1)):
        other = with_stages(block.mbarrier_log, ring, stages)
        course = block.with_mbarrier_log(other, bandwidth_bound) if other else None
        if course is not None:
            times[stages] = course.cycles
        if stages < ring.stages and times.get(stages, 0.0) > ALIKE * cycles:
            break
    return times


def _changes(case: Case, ring: Ring, times: dict[int, float], cycles: float) -> Iterator[WhatIf]:
    """One stage more, where shared memory has room for it."""
    more = ring.stages + 1
    gain = cycles / times[more] if more in times else 1.0
    shared_B = case.program.shared_bytes + (case.launch.smem if case.launch else 0) + ring.size_B
    if gain >= WORTH and shared_B <= case.gpu.limits.max_shared_per_block:
        why = f"the warps that compute wait for copies; a stage more takes {ring.size_B / 1024:.4g} KiB"
        yield WhatIf(f"{more} stages in place of {ring.stages}", gain, why, shared_bytes=ring.size_B)


def _row(block: Block, course: Timeline, stages_and_times: tuple[Ring, dict[int, float]], pace: Binds) -> Pipeline:
    """tried : the stages, and the cycles of other numbers of them. pace : resource that paces copies without pauses."""
    ring, times = stages_and_times
    mean, waiting = occupied(ring), _waiting(block, course, ring)
    busy = course.engine_busy / course.cycles
    tensor = tensor_cycles(block.case, block.mbarrier_log, block.waits) / course.cycles
    enough = [stages for stages, cycles in times.items() if cycles <= ALIKE * times[ring.stages]]
    lines = sorted({block.line(at) for fill in ring.fills for at in fill.copies})
    return Pipeline(
        lines=[line for line in lines if line > 0], stages=ring.stages, stage_bytes=ring.size_B, fills=len(ring.fills),
        cycles_per_fill=course.cycles / len(ring.fills),
        under_way=mean.under_way, landed=mean.landed, in_use=mean.in_use, free=mean.free,
        waiting=waiting, copy_engine=min(1.0, busy), tensor=min(1.0, tensor),
        binds=_binds((waiting, busy, tensor), mean.free, pace, paces_products(block.case, block.mbarrier_log)),
        **_roles(block, ring),
        enough_stages=min(enough) if len(times) > 1 else None,
    )  # fmt: skip


def _roles(block: Block, ring: Ring) -> dict[str, int]:
    """How many warps of the first block request copies, multiply, and do both."""
    mbarrier_log, full = block.mbarrier_log, set(ring.barriers)
    products = [at for at, code in enumerate(block.case.program.instructions) if code.traits.tensor]

    def asks(events: dict[int, list[Event]]) -> bool:
        copies = (event for many in events.values() for event in many if event.kind is Kind.COPY)
        return any(barrier in full for event in copies for barrier, _ in event.barriers)

    own = [warp for warp, number in enumerate(mbarrier_log.blocks) if number == mbarrier_log.blocks[0]]
    asking = {warp for warp in own if asks(mbarrier_log.events[warp])}
    multiplying = {
        warp for warp in own if np.isin(mbarrier_log.streams[warp], list({*products} - mbarrier_log.off[warp])).any()
    }
    return {"asking": len(asking), "multiplying": len(multiplying), "both": len(asking & multiplying)}


def _waiting(block: Block, course: Timeline, ring: Ring) -> float:
    """Of the warps that test the stages' barriers, the share of the time that the least held of them waits."""
    barriers = set(ring.barriers)

    def takes(events: dict[int, list[Event]]) -> bool:
        tests = (event for many in events.values() for event in many if event.kind is Kind.TEST)
        return any(event.barriers[0][0] in barriers for event in tests)

    takers = [warp for warp, events in enumerate(block.mbarrier_log.events) if takes(events)]
    return min(map(course.held, takers), default=0.0) / course.cycles


def _binds(shares: tuple[float, float, float], free: float, pace: Binds, products: Binds) -> Binds:
    """What binds. shares : of the time for which consumers wait, the engine moves, the tensor cores multiply. pace,
    products : what paces copies and products without pauses."""
    waiting, engine_busy, tensor = shares
    if tensor >= BUSY and tensor >= engine_busy:
        return products
    if engine_busy >= BUSY:
        return pace
    if waiting < IDLE:
        return "the warps that compute"
    return "the warp that copies" if free >= 1.0 else "latency of the copies"
