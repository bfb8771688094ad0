"""Workload, Gpu and launch to the Inputs of Hong & Kim: a machine without caches, memory as DRAM sees it.

Departure delays were measured by the authors on machines of 2008; for later ones they are taken from bandwidth:
the delay at which the transactions of one SM use its share of the pin bandwidth.
"""

from warpbound.machine import Gpu
from warpbound.models.hong_kim_2009 import Inputs
from warpbound.workload import Workload

LINE_B = 128.0
SECTOR_B = 32.0
DELAY_NOTE = "departure delays are derived from bandwidth, and every access is taken to reach DRAM"


def inputs(  # noqa: PLR0913  (each is one fact of the launch)
    work: Workload,
    gpu: Gpu,
    clock_hz: float,
    dram_cycles: float,
    blocks: int,
    threads_per_block: int,
    blocks_per_sm: int,
) -> Inputs:
    """Counts are those of one warp; an access of more than one line's worth of sectors counts as uncoalesced."""
    memory = work.memory
    requests = memory.global_load_requests + memory.global_store_requests
    spread = memory.sectors_per_request or 0.0
    lines = max(1.0, spread * SECTOR_B / LINE_B)
    coalesced = lines <= 1.0 + 1e-9
    line_cycles = LINE_B * clock_hz / (gpu.value("dram_bandwidth") / gpu.value("sm_count"))
    return Inputs(
        freq=clock_hz,
        mem_bandwidth=gpu.value("dram_bandwidth"),
        mem_latency=dram_cycles,
        departure_uncoal=line_cycles,
        departure_coal=line_cycles,
        threads_per_block=float(threads_per_block),
        blocks=float(blocks),
        active_sms=min(gpu.value("sm_count"), float(blocks)),
        active_blocks=float(blocks_per_sm),
        comp_insts=work.warp_instructions - requests,
        uncoal_mem_insts=0.0 if coalesced else requests,
        coal_mem_insts=requests if coalesced else 0.0,
        synch_insts=work.barriers,
        uncoal_per_mw=lines,
        load_bytes=max(SECTOR_B, spread * SECTOR_B),
        issue_cycles=1.0 / 4.0,
    )
