"""A Workload on a GPU, in the terms of the flow balance: one block's residence, and what it asks of each resource.

Source   demands of adapt/resources.py, latencies of the Gpu, parameters of `parameters`.
Models   pipes per sub-core, data paths per SM, L2, DRAM and the start of blocks per chip; warps as the customers of
         what is on the chip, or blocks as soon as barriers hold their warps together; atomics on one address, which
         L2 does one at a time; what comes from DRAM or goes there passes L2 once more; where a load may be answered by
         L2 or by DRAM, each warp by itself, a block waits for the farther one if any of its warps does.
Omits    Blocks that hit or miss L2 as a whole; TLB reach; instruction-cache misses; near and far L2 as different
         resources.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpbound.adapt.resources import demand
from warpbound.bounds import Real
from warpbound.headline import dram
from warpbound.headline.balance import Flow, Queue, Space
from warpbound.headline.parameters import Parameters
from warpbound.headline.residence import Block
from warpbound.isa.limits import limits
from warpbound.machine import Gpu
from warpbound.workload import Workload
from warpbound.workload.files import levels

SUB_CORE = ("issue", "alu", "fma", "fp64", "xu", "tensor", "uniform")
SM = ("lsu", "shared", "l1")
HOT = "one address"  # that atomics of the whole chip update, one after the other, at L2
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


@dataclass(frozen=True)
class Launched:
    """A launch as the stations need it; `warps_per_block` and the number of blocks may be arrays."""

    work: Workload
    gpu: Gpu
    clock_hz: float
    warps_per_block: Real
    active_sms: Real

    @property
    def sub_cores(self) -> int:
        return limits(self.gpu.compute_capability).sub_cores


def loads(x: "Launched", values: Parameters) -> Loads:
    """Lines that have to come from beyond L1, spread evenly over the loads."""
    work, gpu, clock_hz = x.work, x.gpu, x.clock_hz
    memory = work.memory
    read = memory.l2_sectors_read
    requests = memory.global_load_requests
    per_load = read / _sectors_per_line(work) / requests if requests else 0.0
    from_dram = min(1.0, memory.dram_bytes_read / (SECTOR_B * read)) if read else 0.0
    waited = np.array(work.phases, dtype=np.float64) * per_load
    level = levels(gpu, clock_hz)
    l2 = np.multiply(values.l2_latency, level.get("l2", level["dram"]))
    beyond = np.multiply(values.dram_latency, level["dram"])
    latency = ((1.0 - from_dram) * l2 + from_dram * beyond) / clock_hz
    return Loads(
        phases=len(work.phases) if per_load else 0,
        lines=float(waited.sum()),
        own_lines=float(np.log(np.maximum(waited, 1.0)).sum()),
        to_dram=float((1.0 - (1.0 - from_dram) ** waited).sum()) if from_dram < 1 else float(np.count_nonzero(waited)),
        latency=latency,
    )


def _sectors_per_line(work: Workload) -> float:
    """4 where sectors are used to the full; 1 where so little of them is used that each is of another line."""
    memory = work.memory
    sectors = memory.l1_sectors_load + memory.l1_sectors_store
    used = memory.ideal_sectors / sectors if sectors and memory.ideal_sectors else 1.0
    return min(SECTORS_PER_LINE, max(1.0, SECTORS_PER_LINE * used))


def block(x: Launched, values: Parameters) -> Block:
    """One block with the GPU to itself."""
    work, per_s = x.work, 1.0 / x.clock_hz
    arriving = loads(x, values)
    start = work.parts.get(_START, 0.0)
    parts = {cause: work.parts.get(cause, 0.0) for cause in (*_WAITING, "shared")}
    waits = {cause: np.multiply(getattr(values, f"{cause}_latency"), cycles) for cause, cycles in parts.items()}
    memory = sum((waits[cause] for cause in _WAITING), np.zeros(()))
    rest = work.latency - start - sum(parts.values()) + waits["shared"]
    stores = work.memory.l2_sectors_written > 0
    barriers = int(round(work.barriers))
    return Block(
        start=values.block_start,
        store=np.multiply(values.store_cost, 1.0 if stores else 0.0),
        memory=memory * per_s,
        compute=rest * per_s,
        spread=np.multiply(values.latency_spread, arriving.latency),
        own_lines=arriving.own_lines,
        warps=x.warps_per_block,
        busy=np.maximum.reduce(np.broadcast_arrays(*_alone(x, values).values())) * per_s,
        segments=float(max(1, arriving.phases, barriers + 1)),
        joins=float(barriers + 1),
        load_joins=float(min(arriving.phases, barriers + 1)),
        farther=_farther(x, values),
    )


def _farther(x: Launched, values: Parameters) -> Real:
    """By how much later the last of a block's warps has its line, because that one comes from DRAM, the mean not, s."""
    level = levels(x.gpu, x.clock_hz)
    cycles = {name: level.get(name, level["dram"]) for name in ("l2", "dram")}
    waits = {name: x.work.parts.get(name, 0.0) / cycles[name] for name in cycles}
    in_l2 = waits["l2"] / sum(waits.values()) if waits["l2"] else 0.0
    l2, beyond = (np.multiply(getattr(values, f"{name}_latency"), cycles[name]) for name in cycles)
    return np.asarray((in_l2 - in_l2**x.warps_per_block) * np.maximum(0.0, beyond - l2) / x.clock_hz)


def tightest(x: Launched, values: Parameters) -> str:
    """The on-chip resource that one block's warps keep busy longest."""
    busy = _alone(x, values)
    return max(busy, key=lambda name: float(np.ravel(busy[name])[0]))


def _cycles(x: Launched, values: Parameters) -> dict[str, Real]:
    """SM cycles that one warp occupies each on-chip resource."""
    cycles: dict[str, Real] = dict(demand(x.work, x.gpu, x.clock_hz))
    return cycles | {"l1": np.divide(cycles["l1"], values.l1_bandwidth)}


def _alone(x: Launched, values: Parameters) -> dict[str, NDArray[np.float64]]:
    """SM cycles that each on-chip resource needs for the warps of one block, the fullest sub-core counting."""
    cycles = _cycles(x, values)
    fullest = np.ceil(np.divide(x.warps_per_block, x.sub_cores)) * x.sub_cores
    pipes = {name: np.asarray(fullest * cycles[name]) for name in SUB_CORE}
    return pipes | {name: np.asarray(np.multiply(x.warps_per_block, cycles[name])) for name in SM}


def flow(x: Launched, values: Parameters, population: Real, residence: Real) -> Flow:
    """`population` blocks on each active SM; only resources that are used."""
    queues = _on_chip(x, values, population) | _chip_wide(x, values, population)
    used = {name: queue for name, queue in queues.items() if np.any(np.greater(queue.demand, 0))}
    return Flow(population, residence, used, _spaces(x, values, used))


def _on_chip(x: Launched, values: Parameters, population: Real) -> dict[str, Queue]:
    cycles = _cycles(x, values)
    warps = np.ceil(population) * x.warps_per_block                     # of the fullest SM
    queues = {}
    for name in (*SUB_CORE, *SM):
        servers = x.sub_cores if name in SUB_CORE else 1
        each = np.multiply(cycles[name], servers / x.clock_hz)          # of one warp, at its own server
        fullest = np.ceil(warps / servers)
        per_block = each * fullest / population                         # at the fullest sub-core
        if round(x.work.barriers) > 0:
            queues[name] = Queue(per_block, values.block_wait * per_block, _others(population))
        else:
            own = np.ceil(np.divide(x.warps_per_block, servers))        # their crowd is in the residence
            queues[name] = Queue(per_block, np.multiply(values.warp_wait, each), np.maximum(0.0, 1.0 - own / fullest))
    return queues


def _chip_wide(x: Launched, values: Parameters, population: Real) -> dict[str, Queue]:
    """Resources of the whole chip: what the active SMs ask of them, as one SM sees it."""
    memory = x.work.memory
    carried = memory.dram_bytes_read + memory.dram_bytes_written
    writes = memory.dram_bytes_written / carried if carried else 0.0
    l2_rate = np.multiply(values.l2_bandwidth, x.gpu.get("l2_bandwidth") or np.inf)
    sectors = memory.l2_sectors_read + values.l2_write_cost * memory.l2_sectors_written
    fill, drain = crossing(values, l2_rate)
    sectors = sectors + (fill * memory.dram_bytes_read + drain * memory.dram_bytes_written) / SECTOR_B
    l2_s = sectors * SECTOR_B * np.asarray(x.active_sms) / l2_rate  # nothing on a machine without L2
    dram_s = carried * np.multiply(x.warps_per_block, x.active_sms) / dram.capacity(values.dram, writes)
    to_dram = loads(x, values).to_dram
    customers = np.multiply(x.warps_per_block, x.active_sms)
    chip = population * customers
    return {
        "l2": Queue(np.multiply(x.warps_per_block, l2_s), np.multiply(values.warp_wait, l2_s), _others(chip)),
        HOT: Queue(x.work.memory.hottest_updates * customers / (values.atomic_rate * x.clock_hz)),
        "dram": Queue(dram_s, to_dram * dram.wait(values.dram, writes)),
        "block start": Queue(np.multiply(values.block_interval, x.active_sms)),
    }


def crossing(values: Parameters, l2_rate: Real) -> tuple[Real, Real]:
    """What a byte costs an L2 of that rate when DRAM sends it, and when it goes there, in bytes read from L2.

    It passes the same memory once more, but takes no more of it than leaves streams the rates that DRAM carries.
    """
    fill = np.clip(l2_rate / values.dram_read_capacity - 1.0, 0.0, 1.0)
    drain = np.clip(l2_rate / values.dram_write_capacity - values.l2_write_cost, 0.0, 1.0)
    return fill, drain


def _others(customers: Real) -> NDArray[np.float64]:
    return np.asarray(np.maximum(0.0, 1.0 - 1.0 / np.maximum(customers, 1.0)))


def _spaces(x: Launched, values: Parameters, used: dict[str, Queue]) -> dict[str, Space]:
    """Misses under way, where the board says how many an SM can have."""
    room = x.gpu.parameters.get("miss_registers")
    if room is None or "dram" not in used:
        return {}
    arriving = loads(x, values)
    taken = np.multiply(x.warps_per_block, arriving.lines)
    return {"misses under way": Space(room.in_base_unit, taken, arriving.latency, "dram", max(1, arriving.phases))}
