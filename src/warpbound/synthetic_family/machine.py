"""The parameters of a GPU in Volkov's synthetic family: two latencies, three throughputs, pins, schedulers."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.isa.limits import limits
from warpbound.machine import Gpu
from warpbound.models.volkov_2016.contention import Memory
from warpbound.models.volkov_2016.little import inst_per_cycle
from warpbound.models.volkov_2016.mixes import Mix
from warpbound.quick_dataclasses import dataclass
from warpbound.workload.files import levels
from warpbound.workload.files.lanes import alu_latency, fp32_lanes, issue_rate

LINE = 128.0    # bytes of a coalesced access of a warp, 4 bytes a lane
THREADS = 32.0  # of a warp


@dataclass(frozen=True)
class Machine:
    """One SM of a GPU, and what it shares with the others."""

    name: str
    memory_latency: float     # [cycle]
    memory_throughput: float  # [inst/cycle/SM]
    alu_latency: float        # [cycle]
    alu_throughput: float     # [inst/cycle/SM]
    issue_throughput: float   # [inst/cycle/SM]
    sm_count: float
    clock_Hz: float
    pin_bandwidth: float      # [B/s]
    schedulers: int           # of an SM
    max_warps: int            # of an SM
    contention: Memory | None = None  # memory latency under load; None where it was not fitted

    def mix(self, warps: Real, alpha: Real) -> Mix:
        """The family's kernel on this machine: `alpha` additions after every access, `warps` on an SM."""
        return Mix(
            warps, alpha, self.memory_latency, self.alu_latency,
            self.memory_throughput, self.alu_throughput, self.issue_throughput,
        )  # fmt: skip

    @property
    def occupancies(self) -> NDArray[np.float64]:
        """1, 2, 3, ... warps, up to what an SM holds."""
        return np.arange(1.0, self.max_warps + 1)

    def accesses_per_cycle(self, bytes_per_s: Real) -> Real:
        """Traffic of the chip as accesses per cycle per SM."""
        return inst_per_cycle(bytes_per_s, self.clock_Hz, self.sm_count, LINE)


def printed(name: str, table: Mapping[str, Any]) -> Machine:
    """A machine of the thesis, from its tables: GHz, GB/s and cycles as printed there."""
    bare = Machine(
        name=name,
        memory_latency=table["mem_lat"],
        memory_throughput=table["mem_thru"],
        alu_latency=table["alu_lat"],
        alu_throughput=table["alu_thru"],
        issue_throughput=table["issue_thru"],
        sm_count=table["sms"],
        clock_Hz=table["clock_GHz"] * 1e9,
        pin_bandwidth=table["pins_GBs"] * 1e9,
        schedulers=table["schedulers"],
        max_warps=table["max_warps"],
    )
    ceiling = tuple(bare.accesses_per_cycle(c * 1e9) for c in table["c_GBs"])
    return replace(bare, contention=Memory(table["a"], tuple(table["b"]), ceiling))


def on_board(board: Gpu) -> Machine:
    """A board of the catalogue at its boost clock, without the behaviour of its memory under load.

    Raises InputError where the catalogue lacks a value.
    """
    clock, sms = board.value("boost_clock"), board.value("sm_count")
    issue, best = issue_rate(board), board.value("dram_achievable_bandwidth")
    sm = limits(board.compute_capability)
    board.value("dram_latency")
    return Machine(
        name=board.key,
        memory_latency=levels(board, clock)["dram"],
        memory_throughput=float(inst_per_cycle(best, clock, sms, LINE)),
        alu_latency=alu_latency(board),
        alu_throughput=min(fp32_lanes(board) / THREADS, issue),
        issue_throughput=issue,
        sm_count=sms,
        clock_Hz=clock,
        pin_bandwidth=board.value("dram_bandwidth"),
        schedulers=sm.sub_cores,
        max_warps=sm.max_warps_per_sm,
    )
