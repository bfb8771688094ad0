"""How wide the SMs of every architecture are: issue slots, and the cycles a warp instruction holds a pipe.

Source   up to 6.2: CUDA C Programming Guide 8.0, section G and table of arithmetic throughput; the issue rates of
         1.x and 2.x are those of V. Volkov, EECS-2016-143, Table 4.1 (schedulers that need two cycles), latencies
         of additions those of its Table 6.2, of which 6.x has Maxwell's.
         From 7.0 on: isa/families.toml.
Omits    dual issue; second halves of a pipe.
"""

from dataclasses import dataclass, replace

from warpbound.isa.limits import limits
from warpbound.isa.opcodes import opcode_facts
from warpbound.machine import Gpu
from warpbound.workload.records import Workload

WARP = 32.0
FIRST_IN_THE_TABLES = 70  # architectures below have no row in isa/families.toml
_EXAMPLE = {"alu": "IADD3", "fma": "FFMA", "fp64": "DFMA", "xu": "MUFU", "uniform": "UIADD3", "lsu": "LDS"}


@dataclass(frozen=True)
class Old:
    """One SM of an older architecture: lanes by pipe, warp instructions issued per cycle, cycles of an addition."""

    cores: float  # FP32 and integer
    fp64: float
    special: float
    load_store: float
    issue: float
    add_latency: float


_OLD = {  # first architecture that has them; boards with fewer FP64 lanes say so themselves
    10: Old(8, 0.0, 2, 8, 0.5, 20),
    13: Old(8, 1, 2, 8, 0.5, 24),
    20: Old(32, 16, 4, 16, 1, 18),
    21: Old(48, 4, 8, 16, 1, 18),
    30: Old(192, 8, 32, 32, 4, 9),
    35: Old(192, 64, 32, 32, 4, 9),
    50: Old(128, 4, 32, 32, 4, 6),
    60: Old(64, 32, 16, 16, 2, 6),
    61: Old(128, 4, 32, 32, 4, 6),
}


def old(gpu: Gpu) -> Old | None:
    """The SM of a board before 7.0; None from there on."""
    if gpu.arch >= FIRST_IN_THE_TABLES:
        return None
    sm = _of_architecture(gpu.arch)
    return replace(sm, fp64=gpu.get("fp64_lanes") or sm.fp64)


def _of_architecture(arch: int) -> Old:
    return _OLD[max(first for first in _OLD if first <= arch)]


def on_board(work: Workload, gpu: Gpu) -> Workload:
    """Work of code whose FP64 was counted for the architecture, with the FP64 lanes that the board has."""
    lanes = gpu.get("fp64_lanes")
    if lanes is None or "fp64" not in work.units or gpu.arch >= FIRST_IN_THE_TABLES:
        return work
    slower = _of_architecture(gpu.arch).fp64 / lanes
    return replace(work, units={**work.units, "fp64": work.units["fp64"] * slower})


def issue_rate(gpu: Gpu) -> float:
    """Warp instructions that one SM can issue per cycle."""
    sm = old(gpu)
    return sm.issue if sm else float(limits(gpu.compute_capability).sub_cores)


def fp32_lanes(gpu: Gpu) -> float:
    """FP32 lanes of one SM."""
    return WARP * limits(gpu.compute_capability).sub_cores / pipe_cycles(gpu, "fma")


def pipe_cycles(gpu: Gpu, pipe: str) -> float:
    """Cycles that a warp instruction holds its pipe in one sub-core; 0 where the pipe is not modelled."""
    sm = old(gpu)
    if sm is None:
        name = _EXAMPLE.get(pipe)
        return max(opcode_facts(name, (), gpu.arch).demand.values(), default=0.0) if name else 0.0
    widths = {"alu": sm.cores, "fma": sm.cores, "fp64": sm.fp64, "xu": sm.special, "lsu": sm.load_store}
    lanes = widths.get(pipe, 0.0)
    return WARP * limits(gpu.compute_capability).sub_cores / lanes if lanes else 0.0


def alu_latency(gpu: Gpu) -> float:
    """Cycles from an FP32 addition to one that needs its result: the board's own, else the architecture's."""
    sm = old(gpu)
    return gpu.get("alu_latency") or (sm.add_latency if sm else opcode_facts("FADD", (), gpu.arch).latency) or 0.0
