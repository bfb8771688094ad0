"""Service demands of one block on each resource, and its residence alone: a Workload on a GPU as queues.

Source   demands of model_inputs/resources.py, latencies of the Gpu, parameters of `parameters`.
Models   Pipes per sub-core; data paths per SM; L2, DRAM and block starts per chip. Customers of on-chip resources are
         warps; with barriers, which hold warps together, they are blocks, and a block waits at the tightest pipe of
         each piece between barriers. L2 serializes atomics on one line. Traffic of DRAM passes L2 once more. Where L2
         or DRAM may serve a load, each warp by itself, a block waits for DRAM if any of its warps does. While older
         warps run ahead of younger ones, hits and misses of L1 come one after the other. Sectors on the far side of L2
         arrive later and cross at a rate of their own. The warps of a sub-core share the code that it fetches: one that
         has to wait for a line is caught up with by those behind it.
Omits    Blocks that hit or miss L2 as a whole; TLB reach; warps of a sub-core too far apart to share fetched code.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.identity_cache import remember
from warpbound.l2_clock import l2_cycles, l2_rate
from warpbound.memory.counters import FIRST_OF_ONE_ARRAY
from warpbound.model_inputs.resources import far_bandwidth, more_together, read_first
from warpbound.quick_dataclasses import dataclass
from warpbound.time_model import dram
from warpbound.time_model.asynchronous_work import beside, copied_share, copies, of_all_sub_cores
from warpbound.time_model.block_residence import Block
from warpbound.time_model.flow_balance import Flow, Queue, Space
from warpbound.time_model.launched_work import ActiveWork
from warpbound.time_model.parameters import Parameters
from warpbound.workload import Memory, Piece, Workload
from warpbound.workload.files.lanes import FETCH

SUB_CORE = ("issue", "alu", "fma", "fp64", "xu", "tensor", "tmem", "uniform")
SM = ("lsu", "shared", "l1")
HOT = "one address"  # updated by atomics of the whole chip, one after the other, at L2
TINY = 1e-30    # s; avoids division by 0
START = "block start"
FAR = "l2 far"       # traffic between the two sides of L2
QUEUES = (*SUB_CORE, *SM, FETCH, "l2", FAR, HOT, "dram", START)
RESOURCE_OF = {FAR: "l2", HOT: "l2", START: "launch"}  # queue -> resource of an answer, where the names differ
SECTOR_B, SECTORS_PER_LINE = 32.0, 4.0
_WAITING = ("l1", "l2", "dram")  # causes of latency that are loads under way
_START = "start"                 # the start of a block, which a Workload may already contain


@dataclass(frozen=True)
class Loads:
    """The load phases of one warp, beyond the SM's own cache.

    own_lines : sum over phases of ln(lines waited for). to_dram : phases, each by the chance that one of its lines
    comes from DRAM. latency : of a line that misses L1, s.
    """

    phases: int
    lines: float
    own_lines: float
    to_dram: float
    latency: Real


@remember(2)
def loads(x: ActiveWork, values: Parameters) -> Loads:
    """The load phases of one warp; lines from beyond L1 are spread evenly over the loads."""
    work = x.work
    memory = work.memory
    sectors_read = memory.l2_sectors_read
    requests = memory.global_load_requests
    per_load = sectors_read / _sectors_per_line(work) / requests if requests else 0.0
    from_dram = min(1.0, memory.dram_bytes_read / (SECTOR_B * sectors_read)) if sectors_read else 0.0
    loaded, times = _kinds(tuple(work.phases))
    waited = loaded * per_load
    level = x.levels
    l2 = _in_l2(x, values)
    beyond = np.multiply(values.dram_latency, level["dram"])
    latency = ((1.0 - from_dram) * l2 + from_dram * beyond) / x.clock_hz
    return Loads(
        phases=len(work.phases) if per_load else 0,
        lines=float(times @ waited),
        own_lines=float(times @ np.log(np.maximum(waited, 1.0))),
        to_dram=float(times @ (1.0 - (1.0 - from_dram) ** waited) if from_dram < 1 else times @ (waited > 0)),
        latency=latency,
    )


@lru_cache(64)
def _kinds(phases: tuple[int, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The different numbers of loads that phases wait for, and how many phases wait for each."""
    loaded, times = np.unique(np.array(phases, np.float64), return_counts=True)
    return loaded, times.astype(np.float64)


def _in_l2(x: ActiveWork, values: Parameters | None = None) -> Real:
    """Mean latency of L2 hits over both partitions, cycles; without `values` the board's."""
    level = x.levels
    near = level.get("l2", level["dram"])
    far, share = l2_cycles(x.gpu, x.clock_hz, "l2_far_latency") or near, x.work.memory.far_share
    if values is None:
        return (1.0 - share) * near + share * far
    return np.multiply(values.l2_latency, (1.0 - share) * near) + np.multiply(values.l2_far_latency, share * far)


def _sectors_per_line(work: Workload) -> float:
    """Sectors per line: 4 for whole lines, down to 1 where each sector is of another line."""
    memory = work.memory
    sectors = memory.l1_sectors_load + memory.l1_sectors_store
    share = memory.ideal_sectors / sectors if sectors and memory.ideal_sectors else 1.0
    return min(SECTORS_PER_LINE, max(1.0, SECTORS_PER_LINE * share))


def block(x: ActiveWork, values: Parameters) -> Block:
    """One block alone on the GPU."""
    work, per_s = x.work, 1.0 / x.clock_hz
    arriving = loads(x, values)
    start = work.parts.get(_START, 0.0)
    parts = {cause: work.parts.get(cause, 0.0) for cause in (*_WAITING, "shared")}
    longer = {cause: getattr(values, f"{cause}_latency") for cause in parts} | {"l2": _in_l2(x, values) / _in_l2(x)}
    waits = {cause: np.multiply(longer[cause], cycles) for cause, cycles in parts.items()}
    memory = sum((waits[cause] for cause in _WAITING), np.zeros(()))
    rest = work.latency - start - sum(parts.values()) + waits["shared"]
    stores = work.memory.l2_sectors_written > 0
    barriers = work.stops  # with copies by the copy engine, the simulated block has its warps' turns
    whole = Block(
        start=np.multiply(values.block_start, x.slower),
        store=np.multiply(values.store_cost, 1.0 if stores else 0.0),
        memory=memory * per_s,
        compute=rest * per_s,
        spread=np.multiply(values.latency_spread, arriving.latency),
        own_lines=arriving.own_lines,
        warps=x.warps_per_block,
        busy=np.maximum.reduce(np.broadcast_arrays(*_on_one_stage(x, _alone(x, values)).values())) * per_s,
        segments=float(max(1, arriving.phases, barriers + 1)),
        copies=copies(x),
        joins=float(barriers + 1),
        load_joins=float(min(arriving.phases, barriers + 1)),
        rounds=0.0 if barriers or work.memory.copied_wavefronts else float(arriving.phases),
        farther=_farther(x, values),
    )
    return replace(whole, pieces=_pieces(x, values, whole))


def _pieces(x: ActiveWork, values: Parameters, whole: Block) -> tuple[Block, ...]:
    """The block from barrier to barrier, pieces of one kind together; none where their work is unknown."""
    pieces = _known_pieces(x.work)
    phases = sum(piece.phases for piece in pieces)
    phased = loads(x, values).phases / phases if phases else 0.0  # loads may have changed since pieces were counted
    times = (x.work.stops + 1) / sum(piece.times for piece in pieces) if pieces else 0.0
    alone = _alone(x, values)
    return tuple(
        replace(
            whole,
            start=0.0,
            store=0.0,
            memory=np.multiply(whole.memory, piece.waits),
            compute=np.multiply(whole.compute, piece.path),
            own_lines=whole.own_lines * piece.phases / (phases or 1.0),
            busy=np.maximum.reduce(np.broadcast_arrays(*_in_piece(x, alone, piece).values())) / x.clock_hz,
            segments=max(times * piece.times, phased * piece.phases),
            joins=times * piece.times,
            load_joins=min(times * piece.times, phased * piece.phases),
            exposed_shares=() if _alternating(x) else piece.exposed_shares,
        )
        for piece in pieces
    )


def _alternating(x: ActiveWork) -> bool:
    """Whether the warps of a sub-core load at different times: they belong to different blocks, and each block loads
    once. Warps of one block begin together and load together."""
    return x.work.stops == 1 and bool(np.all(np.less_equal(x.warps_per_block, x.sub_cores)))


def busy_with_all_blocks(x: ActiveWork, values: Parameters, population: Real) -> list[NDArray[np.float64]]:
    """For each piece of a block, time that its tightest pipe is busy with the warps of all resident blocks, s."""
    blocks = np.ceil(population)
    every = _of_warps(x, values, blocks * x.warps_per_block, blocks * _warp_slots(x))
    demands = [_in_piece(x, every, piece).values() for piece in _known_pieces(x.work)]
    return [np.maximum.reduce(np.broadcast_arrays(*cycles)) / x.clock_hz for cycles in demands]


def others(x: ActiveWork, population: Real) -> NDArray[np.float64]:
    """Warps beside one that are resident on the fullest sub-core."""
    return np.asarray(np.maximum(0.0, np.ceil(np.ceil(population) * _warp_slots(x) / x.sub_cores) - 1.0))


def _known_pieces(work: Workload) -> tuple[Piece, ...]:
    return work.pieces if work.stops > 0 else ()


def _in_piece(x: ActiveWork, whole: Mapping[str, Real], piece: Piece) -> dict[str, Real]:
    """SM cycles that each on-chip resource needs in these pieces; whole : for all work of the same warps."""
    return _on_one_stage(x, {name: np.multiply(piece.demand.get(name, 0.0), cycles) for name, cycles in whole.items()})


def _waited_for(x: ActiveWork, values: Parameters) -> dict[str, float]:
    """Share of each resource's demand that blocks wait for: between barriers, that of the tightest resource."""
    alone, pieces = _alone(x, values), _known_pieces(x.work)
    waited = dict.fromkeys(alone, 0.0 if pieces else 1.0)
    whole = _on_one_stage(x, alone)
    for piece in pieces:
        busy = {name: _first(cycles) for name, cycles in _in_piece(x, alone, piece).items()}
        name = max(busy, key=lambda name: busy[name])
        waited[name] += busy[name] / _first(whole[name]) if busy[name] else 0.0
    return waited


def _farther(x: ActiveWork, values: Parameters) -> Real:
    """Delay of a block's last line relative to the mean line, when DRAM serves the last and L2 the others, s."""
    dram = x.levels["dram"]
    in_l2, beyond = x.work.parts.get("l2", 0.0) / _in_l2(x), x.work.parts.get("dram", 0.0) / dram
    share = in_l2 / (in_l2 + beyond) if in_l2 else 0.0
    later = np.maximum(0.0, np.multiply(values.dram_latency, dram) - _in_l2(x, values))
    return np.asarray((share - share**x.warps_per_block) * later / x.clock_hz)


def tightest(x: ActiveWork, values: Parameters) -> str:
    """The on-chip resource that one block's warps keep busy for the longest time."""
    busy = _on_one_stage(x, _alone(x, values))
    return max(busy, key=lambda name: _first(busy[name]))


@remember(2)
def _cycles(x: ActiveWork, values: Parameters) -> Mapping[str, Real]:
    """SM cycles that one warp occupies each on-chip resource."""
    cycles: dict[str, Real] = dict(x.busy)
    of_warps = 1.0 - copied_share(x)                                   # not of the copy engine
    lookups = 1.0 + of_warps * _lookups(x.work.memory) * np.subtract(values.l1_lookups, 1.0)
    return cycles | {"l1": np.multiply(cycles["l1"], lookups) / values.l1_bandwidth}


def _on_one_stage(x: ActiveWork, cycles: Mapping[str, Real]) -> dict[str, Real]:
    """A unified L1 and shared memory has one data stage: the one that needs it longer gets the time of both."""
    if x.gpu.arch < FIRST_OF_ONE_ARRAY:
        return dict(cycles)
    name, other = ("l1", "shared") if x.busy["l1"] >= x.busy["shared"] else ("shared", "l1")
    return {**cycles, name: np.add(cycles[name], cycles[other]) - beside(x, cycles)}


def _lookups(memory: Memory) -> float:
    """Share of L1's cycles from lines and banks, beyond one per access and those that its words fill."""
    accesses = memory.global_load_requests + memory.global_store_requests + memory.local_requests
    least = max(accesses, memory.ideal_sectors / SECTORS_PER_LINE)
    return max(0.0, 1.0 - least / memory.l1_wavefronts) if memory.l1_wavefronts else 0.0


@remember(2)
def _alone(x: ActiveWork, values: Parameters) -> Mapping[str, NDArray[np.float64]]:
    """SM cycles that each on-chip resource needs for the warps of one block, on the fullest sub-core."""
    return _of_warps(x, values, x.warps_per_block, x.warps_per_block)


def _warp_slots(x: ActiveWork) -> NDArray[np.float64]:
    """Warp slots of a block, which the sub-cores take in turn: 1, 2, or a number that starts and ends with a sub-core.

    Blocks of 3 and of 14 warps leave sub-cores idle, those of 2 do not (docs/model-notes/on-chip-blocks-in-step.md).
    """
    whole = np.ceil(np.divide(x.warps_per_block, x.sub_cores)) * x.sub_cores
    return np.asarray(np.minimum(whole, np.exp2(np.ceil(np.log2(np.maximum(1.0, x.warps_per_block))))))


def _of_warps(x: ActiveWork, values: Parameters, warps: Real, slots: Real) -> dict[str, NDArray[np.float64]]:
    """SM cycles that each on-chip resource needs for this many warps in these slots, on the fullest sub-core."""
    cycles = _cycles(x, values)
    fullest = np.ceil(np.divide(slots, x.sub_cores)) * x.sub_cores
    of_all = of_all_sub_cores(x)
    pipes = {name: np.asarray((warps if name in of_all else fullest) * cycles[name]) for name in SUB_CORE}
    return pipes | {name: np.asarray(np.multiply(warps, cycles[name])) for name in SM}


def flow(x: ActiveWork, values: Parameters, population: Real, residence: Real) -> Flow:
    """`population` blocks on each active SM; only resources that are used."""
    queues = _in_order(x.work.memory, _on_chip(x, values, population) | _chip_wide(x, values, population))
    busy_queues = {name: queue for name, queue in queues.items() if np.any(np.greater(queue.demand, 0))}
    return Flow(population, residence, busy_queues, _spaces(x, values, busy_queues))


def _on_chip(x: ActiveWork, values: Parameters, population: Real) -> dict[str, Queue]:
    cycles = _on_one_stage(x, _cycles(x, values))
    warps = np.ceil(population) * x.warps_per_block                     # of the fullest SM
    queues, waited, of_all = {}, _waited_for(x, values), of_all_sub_cores(x)
    for name in (*SUB_CORE, *SM):
        servers = x.sub_cores if name in SUB_CORE and name not in of_all else 1
        each = np.multiply(cycles[name], servers / x.clock_hz)          # of one warp, at its own server
        fullest = np.ceil(warps / servers)
        per_block = each * fullest / population                         # at the fullest sub-core
        if x.work.stops > 0:
            queues[name] = Queue(per_block, values.block_wait * waited[name] * per_block, _others(population))
        else:
            own = np.ceil(np.divide(x.warps_per_block, servers))        # their crowd is in the residence
            queues[name] = Queue(per_block, np.multiply(values.warp_wait, each), np.maximum(0.0, 1.0 - own / fullest))
    return queues | {FETCH: Queue(np.divide(cycles[FETCH], x.clock_hz * population))}


def _in_order(memory: Memory, queues: dict[str, Queue]) -> dict[str, Queue]:
    """L1 serves in order: while older warps run ahead, hits wait behind misses, and their times add up.

    The sum is the demand of L1 or L2, whichever has the larger part.
    """
    if not _led(memory) > 0:
        return queues
    in_l1, in_l2 = _parts_in_order(memory, queues)
    name = "l1" if _first(in_l1) >= _first(in_l2) else "l2"
    return queues | {name: replace(queues[name], demand=np.maximum(in_l1 + in_l2, queues[name].demand))}


def _led(memory: Memory) -> float:
    return min(memory.l2_sectors_led, memory.l2_sectors_read)


def _parts_in_order(memory: Memory, queues: Mapping[str, Queue]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Demand on L1 by hits and on L2 by the misses that they wait behind."""
    led = _led(memory)
    in_l1 = led / max(led, memory.l1_sectors_load + memory.l1_sectors_store)
    in_l2 = led / max(led, memory.l2_sectors_read + memory.l2_sectors_written)
    l1, l2 = queues["l1"].demand, queues["l2"].demand
    return np.asarray(np.multiply(l1, 1.0 - in_l1)), np.asarray(np.multiply(l2, in_l2))


def l1_serves(x: ActiveWork, values: Parameters, population: Real) -> NDArray[np.bool_]:
    """Whether the sum of `_in_order` is the demand of L1, for each value of the parameters."""
    if not _led(x.work.memory) > 0:
        return np.ones((), dtype=bool)
    queues = _on_chip(x, values, population) | _chip_wide(x, values, population)
    in_l1, in_l2 = _parts_in_order(x.work.memory, queues)
    return np.asarray(in_l1 >= in_l2)


def _chip_wide(x: ActiveWork, values: Parameters, population: Real) -> dict[str, Queue]:
    """Demand on chip-wide resources: that of all active SMs, per SM."""
    memory = x.work.memory
    dram_bytes = memory.dram_bytes_read + memory.dram_bytes_written
    writes = memory.dram_bytes_written / dram_bytes if dram_bytes else 0.0
    rate = np.multiply(values.l2_bandwidth, l2_rate(x.gpu) or np.inf)
    sectors_read = memory.l2_sectors_read + more_together(memory, x.gpu) + read_first(memory, x.gpu)
    sectors = sectors_read + values.l2_write_cost * memory.l2_sectors_written
    fill, drain = crossing(values, rate)
    carried_s = dram_bytes * np.asarray(x.active_sms) / dram.capacity(values.dram, writes)
    fill = fill * in_the_way(memory, carried_s, sectors * SECTOR_B * np.asarray(x.active_sms) / rate)
    sectors = sectors + (fill * memory.dram_bytes_read + drain * memory.dram_bytes_written) / SECTOR_B
    l2_s = sectors * SECTOR_B * np.asarray(x.active_sms) / rate  # nothing on a machine without L2
    far_rate = np.multiply(values.l2_far_bandwidth, far_bandwidth(x.gpu))
    far_s = memory.l2_sectors_far * SECTOR_B * np.asarray(x.active_sms) / far_rate
    dram_s = np.multiply(x.warps_per_block, carried_s)
    to_dram = loads(x, values).to_dram
    customers = np.multiply(x.warps_per_block, x.active_sms)
    chip = population * customers
    return {
        "l2": Queue(np.multiply(x.warps_per_block, l2_s), np.multiply(values.warp_wait, l2_s), _others(chip)),
        FAR: Queue(np.multiply(x.warps_per_block, far_s), np.multiply(values.warp_wait, far_s), _others(chip)),
        HOT: Queue(x.work.memory.hottest_updates * customers / (values.atomic_rate * x.clock_hz)),
        "dram": Queue(dram_s, to_dram * dram.wait(values.dram, writes)),
        START: Queue(np.multiply(values.block_interval, x.slower * np.asarray(x.active_sms))),
    }


def crossing(values: Parameters, l2_rate: Real) -> tuple[Real, Real]:
    """Cost of a byte from DRAM, and of one to DRAM, for an L2 of that rate, in bytes read from L2.

    It passes L2 once more, but costs at most so much that streams still reach the rates of DRAM.
    """
    fill = np.clip(l2_rate / values.dram_read_capacity - 1.0, 0.0, 1.0)
    drain = np.clip(l2_rate / values.dram_write_capacity - values.l2_write_cost, 0.0, 1.0)
    return fill, drain


def in_the_way(memory: Memory, dram_s: Real, l2_s: Real) -> NDArray[np.float64]:
    """Share of the bytes from DRAM that delay L2 reads, from the times of DRAM and of L2's reads and writes.

    A sector that replaces a changed one waits until that one is read. The others fill gaps between reads as long as
    DRAM leaves gaps: by the counters of an A100 their cost is the square of DRAM's time over L2's
    (docs/model-notes/l2-replication.md).
    """
    changed = min(1.0, memory.dram_bytes_written / max(1.0, memory.dram_bytes_read))
    busy = np.divide(dram_s, np.maximum(np.maximum(dram_s, l2_s), TINY))
    return np.asarray(changed + (1.0 - changed) * busy**2)


def _first(values: Real) -> float:
    return float(np.ravel(values)[0])


def _others(customers: Real) -> NDArray[np.float64]:
    return np.asarray(np.maximum(0.0, 1.0 - 1.0 / np.maximum(customers, 1.0)))


def _spaces(x: ActiveWork, values: Parameters, busy_queues: dict[str, Queue]) -> dict[str, Space]:
    """Outstanding misses, where the board gives the limit of an SM."""
    room = x.gpu.parameters.get("miss_registers")
    if room is None or "dram" not in busy_queues:
        return {}
    arriving = loads(x, values)
    lines = np.multiply(x.warps_per_block, arriving.lines)
    return {"misses under way": Space(room.in_base_unit, lines, arriving.latency, "dram", max(1, arriving.phases))}
