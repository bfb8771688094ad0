"""Six one-shot FP64 streaming kernels as Workloads, one element per thread, and their rate on a GPU.

Source   counts, and cycles outside memory, of kernels of our own, compiled for sm_80 and scheduled by schedule.py; FP64
         arithmetic at the board's rate; additional cycles of code for sm_90; traffic by arithmetic: 256 B per warp and
         stream.
Models   the operations in the benchmark's description: init a store; read a load; scale a load and a store; triad two
         loads and a store; stencils of three and five neighbouring loads and a store.
Omits    the address arithmetic of other sources.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.isa.opcodes import opcode_facts
from warpbound.latency import memory_latency
from warpbound.machine import Gpu
from warpbound.quick_dataclasses import dataclass
from warpbound.time_model.launch import steady
from warpbound.time_model.launched_work import ActiveWork
from warpbound.time_model.parameters import Parameters
from warpbound.workload import Memory, Workload
from warpbound.workload.files.lanes import pipe_cycles

STREAM_B = 256.0  # bytes of one warp: 32 elements of 8 B
SECTOR_B = 32.0
WARP = 32


@dataclass(frozen=True)
class Stream:
    """One kernel, per warp."""

    loads: int          # issued before the first wait on any of them    [inst]
    reads: int          # arrays that come from device memory            [1]
    writes: int         # arrays that go there                           [1]
    instructions: int   # warp instructions                              [inst]
    off_memory: float   # cycles of the path that no load is waited for  [cycle]
    fp64: int           # arithmetic instructions                        [inst]
    wavefronts: float   # cycles of the SM's data path                   [cycle]
    beyond: float       # sectors that miss L1: neighbours share the edge of a stencil   [sector]


STREAMS = {
    "init": Stream(0, 0, 1, 11, 38.0, 0, 2.0, 0.0),
    "read": Stream(1, 1, 0, 10, 54.0, 1, 2.0, 8.0),
    "scale": Stream(1, 1, 1, 12, 49.0, 1, 4.0, 8.0),
    "triad": Stream(2, 2, 1, 14, 53.0, 1, 6.0, 16.0),
    "stencil3": Stream(3, 1, 1, 15, 71.0, 3, 8.0, 8.06),
    "stencil5": Stream(5, 1, 1, 19, 86.0, 5, 12.0, 8.06),
}
LATER = {"init": 29.0, "read": 14.0, "scale": 13.0, "triad": 13.0, "stencil3": 6.0, "stencil5": 9.0}
HOPPER = 90         # whose code takes LATER cycles more than that of sm_80: descriptors come from constant memory
FP64_LATENCY = 8.0  # of sm_80, which `off_memory` counts  [cycle]


def workload(name: str, gpu: Gpu, clock_hz: float, warps: float | None = None) -> Workload:
    """One warp of a stream from device memory."""
    x = STREAMS[name]
    dram = memory_latency(gpu, clock_hz).dram if x.loads else 0.0
    sectors = STREAM_B / SECTOR_B
    off_memory = _off_memory(name, gpu)
    return Workload(
        title=name,
        unit="warp",
        lines=(0, 0),
        warp_instructions=float(x.instructions),
        thread_instructions=32.0 * x.instructions,
        by_pipe={"fp64": float(x.fp64), "lsu": float(x.loads + x.writes)},
        units={"fp64": pipe_cycles(gpu, "fp64") * x.fp64, "lsu": 4.0 * (x.loads + x.writes)},
        tensor={},
        flop={"fp64": 32.0 * x.fp64},
        memory=Memory(
            global_load_requests=float(x.loads),
            global_store_requests=float(x.writes),
            l1_sectors_load=sectors * x.loads,
            l1_sectors_store=sectors * x.writes,
            l1_wavefronts=x.wavefronts,
            l1_narrow=x.wavefronts,
            l2_sectors_read=x.beyond,
            l2_sectors_written=sectors * x.writes,
            dram_bytes_read=STREAM_B * x.reads,
            dram_bytes_written=STREAM_B * x.writes,
        ),
        barriers=0.0,
        latency=dram + off_memory,
        parts={"fixed": off_memory, "dram": dram},
        phases=(x.loads,) if x.loads else (),
        warps=warps,
    )


def _off_memory(name: str, gpu: Gpu) -> float:
    """Cycles of the path that no load is waited for, on this board."""
    fp64 = (opcode_facts("DFMA", (), gpu.arch).latency or FP64_LATENCY) - FP64_LATENCY
    return STREAMS[name].off_memory + STREAMS[name].fp64 * fp64 + (LATER[name] if gpu.arch >= HOPPER else 0.0)


def from_l2(work: Workload, gpu: Gpu, clock_hz: float) -> Workload:
    """The same work where L2 holds all of its data."""
    l2 = memory_latency(gpu, clock_hz).l2 if work.phases else 0.0
    rest = work.latency - work.parts["dram"]
    resident = work.with_memory(dram_bytes_read=0.0, dram_bytes_written=0.0)
    return replace(resident, latency=rest + l2, parts={"fixed": rest, "l2": l2})


def narrow(work: Workload, lanes: float) -> Workload:
    """The same work with only the first `lanes` lanes of each warp on."""
    return replace(work, memory=replace(
        work.memory.scaled(lanes / WARP),
        global_load_requests=work.memory.global_load_requests,
        global_store_requests=work.memory.global_store_requests,
    ))  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """Where streams were measured: blocks resident on each SM, clock in Hz."""

    gpu: Gpu
    clock_hz: float
    blocks_per_sm: float


def stream_rate(name: str, where: Setting, values: Parameters, warps_per_block: Real) -> NDArray[np.float64]:
    """Bytes per second that the kernel moves on the whole chip; any shape of `warps_per_block`."""
    work = workload(name, where.gpu, where.clock_hz)
    sms = where.gpu.value("sm_count")
    x = ActiveWork(work, where.gpu, where.clock_hz, warps_per_block, sms)
    full = steady(x, values, where.blocks_per_sm)
    bytes_moved = work.memory.dram_bytes_read + work.memory.dram_bytes_written
    return np.asarray(full.balance.rate * bytes_moved * np.multiply(warps_per_block, sms))
