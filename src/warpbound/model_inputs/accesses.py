"""A warp as the simpler models see it: arithmetic instructions and memory instructions, each with its latency.

Assumes   a memory instruction is a global load or store; everything else is arithmetic, shared memory included. The
          latency of an access is what the warp waits for memory, shared out over its accesses, so that accesses in
          flight together count once and those that nobody waits for count not at all; where the file or the code
          gives no waits, it is the unloaded latency of DRAM. The latency of arithmetic is what remains, shared out
          likewise; where nothing remains, the latency of an FP32 addition.
"""

from warpbound.model_inputs.launch_facts import LaunchFacts
from warpbound.model_inputs.resources import SECTOR_B, per_sm_cycle
from warpbound.quick_dataclasses import dataclass
from warpbound.workload.files.lanes import alu_latency, issue_rate

MEMORY_CAUSES = ("l1", "l2", "dram")
ROUNDING = 1e-6  # share of accesses: smaller ones are rounding errors of differences
NO_ACCESS = "no global load or store, so this model does not apply"


@dataclass(frozen=True)
class Accesses:
    """Per warp; `bytes_each` is what crosses the pins for one access, `alu_each` the issue time of arithmetic."""

    arithmetic: float  # [inst/warp]
    count: float  # [inst/warp]
    latency: float | None  # [cycle]
    arithmetic_latency: float  # [cycle]
    bytes_each: float  # [B/inst]
    issue_each: float  # [cycle/inst/SM]


def accesses(x: LaunchFacts) -> Accesses:
    """The counts of one warp of the launch."""
    memory = x.work.memory
    count = memory.global_load_requests + memory.global_store_requests
    arithmetic = max(0.0, x.work.warp_instructions - count)
    waited = sum(x.work.parts.get(cause, 0.0) for cause in MEMORY_CAUSES)
    rest = x.work.latency - waited
    return Accesses(
        arithmetic=arithmetic,
        count=count,
        latency=waited / count if waited and count else x.dram_cycles,
        arithmetic_latency=rest / arithmetic if arithmetic and rest > 0 else alu_latency(x.gpu),
        bytes_each=dram_bytes(x) / count if count else 0.0,
        issue_each=1.0 / issue_rate(x.gpu),
    )


def dram_bytes(x: LaunchFacts) -> float:
    """Bytes of one warp that cross the pins."""
    return x.work.memory.dram_bytes_read + x.work.memory.dram_bytes_written


def off_chip(x: LaunchFacts) -> float:
    """Accesses of one warp that leave the chip: each by the share of its sectors that do."""
    memory = x.work.memory
    count = memory.global_load_requests + memory.global_store_requests
    sectors = memory.l1_sectors_load + memory.l1_sectors_store
    share = min(1.0, dram_bytes(x) / (SECTOR_B * sectors)) if sectors else 0.0
    return count * share if share > ROUNDING else 0.0


def per_cycle(x: LaunchFacts, parameter: str, bytes_each: float) -> float:
    """Accesses per cycle and SM at a bandwidth of the chip; inf where an access moves nothing."""
    return per_sm_cycle(x.gpu, parameter, x.clock_hz) / bytes_each if bytes_each else float("inf")
