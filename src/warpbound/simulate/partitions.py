"""Memory partitions: requests of all SMs queue at the partitions that their addresses lie in.

Source   A. M. Aji, M. Daga, W. Feng, CF 2011, section 3.1: partitions of 256 bytes in turn over the address space, a
         queue before each. Parameters from the catalogue; time between two transactions of an SM from V. Volkov,
         EECS-2016-143, Table 6.7: what each further transaction of an access adds to its latency.
Models   SMs with separate clocks, arithmetic between requests, transactions of any size that leave an SM one after
         the other, a constant time in the interconnect, a first-come first-served queue per partition at an even share
         of the bandwidth, a limit on an SM's transactions in flight, barriers, blocks that start when one has ended.
Omits    Rows and banks of DRAM, the cost of turning from reads to writes, conflicts in the interconnect, caches.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.errors import InputError
from warpbound.machine import Gpu
from warpbound.quick_dataclasses import dataclass
from warpbound.simulate.numba_jit import column, compiled
from warpbound.simulate.partition_loop import MOST_EVENTS, Parts, Sizes, play

Whole = NDArray[np.int64]
Mapping = Callable[[Whole, int, int], Whole]  # byte addresses, width of a partition, partitions -> partition of each

FEMTO = 1e15
COALESCED_B = 64  # a half-warp's transaction of 4-byte words
COST_B = 128  # bytes whose time a transaction costs beside its own: CampProf, section 4.1, R2 of 0.953 to 0.976
PORT_CYCLES = {10: 20 / 3, 13: 7.6}  # arch -> (latency of random - of coalesced accesses) / 30, Volkov, Tables 6.2, 6.7


def interleaved(address: Whole, width: int, partitions: int) -> Whole:
    """Partition of each byte address: in turn."""
    return address // width % partitions


@dataclass(frozen=True)
class Machine:
    """The SMs and the memory system."""

    sm_count: int
    clock: float        # of an SM                                     [cycle/s]
    partitions: int
    width: int          # of a partition                               [B]
    bandwidth: float    # of all partitions                            [B/s]
    transit: float      # to a partition and back, not queueing        [s]
    port_cycles: float  # between two transactions of an SM            [cycle]
    in_flight: int      # most transactions not replied to             [1/SM]
    block_start: float  # between two blocks in one place              [s]
    mapping: Mapping = interleaved
    transaction_cost: float = 0.0  # of a partition, beside the bytes  [s]

    def service(self, size: Whole) -> NDArray[np.float64]:
        """Time for which transactions of `size` bytes occupy their partition, any shape. Seconds."""
        return np.asarray(self.transaction_cost + size * (self.partitions / self.bandwidth))


def machine_of(gpu: Gpu) -> Machine:
    """A board of the catalogue whose partitions are known. InputError for others.

    Bandwidth is the best measured one. Time in the interconnect is the unloaded latency of a coalesced load less the
    second transaction and its service. In flight: two transactions for every resident warp (assumed).
    """
    partitions, gap = gpu.get("memory_partitions"), PORT_CYCLES.get(gpu.arch, PORT_CYCLES[10])
    if partitions is None:
        raise InputError(f"{gpu.name}: how addresses map to its memory partitions is not known.", "Try --gpu gtx280.")
    bandwidth, hertz = gpu.value("dram_achievable_bandwidth"), gpu.value("boost_clock")
    latency = gpu.value("dram_latency") / gpu.value("latency_clock")
    return Machine(
        sm_count=int(gpu.value("sm_count")),
        clock=hertz,
        partitions=int(partitions),
        width=int(gpu.value("partition_width")),
        bandwidth=bandwidth,
        transit=latency - gap / hertz - (COST_B + COALESCED_B) * partitions / bandwidth,
        port_cycles=gap,
        in_flight=2 * gpu.limits.max_warps_per_sm,
        block_start=gpu.value("block_start"),
        transaction_cost=COST_B * partitions / bandwidth,
    )


@dataclass(frozen=True)
class Pattern:
    """Memory accesses of all warps, block by block: warps have requests, and requests have transactions."""

    block_warps: int
    requests: Whole             # of each warp, (warps,)
    transactions: Whole         # of each request, (requests,)
    cycles: Whole               # SM cycles of arithmetic before it, (requests,)
    waits: NDArray[np.bool_]    # whether the warp waits for the replies, (requests,)
    barrier: NDArray[np.bool_]  # whether a block barrier is before it, (requests,)
    address: Whole              # (transactions,) [B]
    size: Whole                 # (transactions,) [B]

    @property
    def blocks(self) -> int:
        """Whole blocks."""
        return len(self.requests) // self.block_warps


@dataclass(frozen=True)
class Outcome:
    """A run: times of every transaction in femtoseconds, (transactions,), with its warp, partition and size.

    ended : of every warp, (warps,). in_flight_area : transactions in flight, added up over time as they came and went.
    """

    machine: Machine
    issued: Whole
    sent: Whole
    arrived: Whole
    started: Whole
    served: Whole
    replied: Whole
    ended: Whole
    sm: Whole         # of every warp, (warps,)
    warp: Whole       # of every transaction
    partition: Whole  # of every transaction
    size: Whole       # of every transaction [B]
    events: int
    in_flight_area: int

    @property
    def seconds(self) -> float:
        """From the start of the first block to the last event."""
        return float(max(self.ended.max(initial=0), self.replied.max(initial=0)) / FEMTO)

    @property
    def throughput(self) -> float:
        """Bytes per second over the whole run."""
        return float(self.size.sum() / self.seconds) if self.seconds else 0.0


def simulate(pattern: Pattern, machine: Machine, blocks_per_sm: int, seed: int = 0) -> Outcome:
    """Run a pattern. `seed` draws the clock phase of each SM at the start. InputError where it cannot end."""
    if 2 * len(pattern.address) + 2 * len(pattern.transactions) + 2 * len(pattern.requests) > MOST_EVENTS:
        raise InputError("The access pattern is too long to be simulated.", f"It may have {MOST_EVENTS} events.")
    sizes = _sizes(pattern, machine, blocks_per_sm)
    home = machine.mapping(pattern.address, machine.width, machine.partitions)
    phase = np.random.default_rng(seed).integers(0, sizes.period, machine.sm_count)
    parts = _work(pattern, machine, home) | _state(pattern, machine, phase)
    starts = _starts(np.array([len(part) for part in parts.values()]))
    at = Parts(**dict(zip(parts, starts.tolist(), strict=False)))
    m = column(np.concatenate(list(parts.values())).astype(np.int64))
    compiled(play)(m, at, sizes)
    result = dict(zip(parts, np.split(np.asarray(m, np.int64), starts[1:-1]), strict=True))
    if (result["ended"] < 0).any():
        reason = "The access pattern never ends: a warp waits at a barrier for a warp that has ended."
        raise InputError(reason, "Remove the barrier.")
    names = ("issued", "sent", "arrived", "started", "served", "replied", "ended", "sm")
    return Outcome(
        machine,
        **{name: result[name] for name in names},
        warp=result["transaction_warp"],
        partition=home,
        size=pattern.size,
        events=int(result["event_count"][0]),
        in_flight_area=int(result["area"][0]),
    )


def _starts(counts: Whole) -> Whole:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _sizes(pattern: Pattern, machine: Machine, blocks_per_sm: int) -> Sizes:
    way = round(machine.transit * FEMTO)
    return Sizes(
        sms=machine.sm_count,
        blocks=pattern.blocks,
        block_warps=pattern.block_warps,
        resident=blocks_per_sm,
        in_flight=machine.in_flight,
        period=round(FEMTO / machine.clock),
        port=round(machine.port_cycles * FEMTO / machine.clock),
        outward=way // 2,
        back=way - way // 2,
        block_start=round(machine.block_start * FEMTO),
    )


def _work(pattern: Pattern, machine: Machine, home: Whole) -> dict[str, NDArray[Any]]:
    """The work of the warps, by the names of `Parts`."""
    request = np.repeat(np.arange(len(pattern.transactions)), pattern.transactions)
    owner = np.repeat(np.arange(len(pattern.requests)), pattern.requests)
    return {
        "warp_first": _starts(pattern.requests),
        "request_first": _starts(pattern.transactions),
        "request_cycles": pattern.cycles,
        "request_waits": pattern.waits,
        "request_barrier": pattern.barrier,
        "transaction_warp": owner[request],
        "transaction_request": request,
        "transaction_home": home,
        "transaction_service": np.rint(FEMTO * machine.service(pattern.size)),
    }


def _state(pattern: Pattern, machine: Machine, phase: Whole) -> dict[str, NDArray[Any]]:
    """The initial state and the results, by the names of `Parts`, in their order."""
    warps, transactions, sms, blocks = len(pattern.requests), len(pattern.address), machine.sm_count, pattern.blocks
    sizes = {"issue_free": sms, "port_free": sms, "sm_in_flight": sms, "head": sms, "tail": sms, "behind": warps}
    sizes |= {"sm": warps, "request": warps, "pending": warps, "barrier_passed": warps}
    sizes |= {"warps_running": blocks, "warps_at_barrier": blocks}
    sizes |= {"free": machine.partitions, "when": warps + transactions + 1, "what": warps + transactions + 1}
    sizes |= dict.fromkeys(("queued", "event_count", "next_block", "all_in_flight", "last", "area"), 1)
    sizes |= dict.fromkeys(("issued", "sent", "arrived", "started", "served", "replied"), transactions)
    begin = {
        "head": np.full(sms, -1),
        "request": _starts(pattern.requests)[:-1],
        "warps_running": np.full(blocks, pattern.block_warps),
        "ended": np.full(warps, -1),
    }
    return {"phase": phase} | {name: np.zeros(size, np.int64) for name, size in sizes.items()} | begin
