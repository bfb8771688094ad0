"""Width of an SM by architecture: issue slots, and cycles for which a warp instruction occupies a pipe.

Source   up to 6.2: CUDA C Programming Guide 8.0, section G and table of arithmetic throughput; the issue rates of
         1.x and 2.x are those of V. Volkov, EECS-2016-143, Table 4.1 (schedulers that need two cycles), latencies
         of additions those of its Table 6.2, of which 6.x has Maxwell's.
         From 7.0 on: isa/families.toml. A board's own widths, `fma_lanes` and the like, stand in place of these.
Omits    dual issue; second halves of a pipe.
"""

from dataclasses import replace

from warpbound.board_parameters import LANES
from warpbound.isa.opcodes import opcode_facts
from warpbound.isa.traits import pipe_example
from warpbound.machine import Gpu
from warpbound.quick_dataclasses import dataclass
from warpbound.workload.records import Workload

WARP = 32.0
FIRST_IN_THE_TABLES = 70  # architectures below have no row in isa/families.toml
FIRST_BY_PROXY = 60  # from there on boards run code of later architectures, which has uniform instructions
FETCH = "fetch"  # the path of code to the instruction cache of a sub-core
PIPE_OF = {  # unit of isa/families.toml -> the pipe that it belongs to
    "alu": "alu", "aluheavy": "alu", "alulite": "alu", "fma": "fma", "fmaheavy": "fma", "fmalite": "fma",
    "fp16": "fma", "fp64": "fp64", "xu": "xu", "uniform": "uniform", "lsu": "lsu", "tex": "lsu", "tensor": "tensor",
    "tmem": "tmem", "registers": "issue", "operands": "shared", FETCH: FETCH,
}  # fmt: skip


@dataclass(frozen=True)
class Old:
    """One SM of an older architecture: lanes by pipe, warp instructions issued per cycle, cycles of an addition."""

    cores: float  # FP32 and integer
    fp64: float
    special: float
    load_store: float
    issue: float
    add_latency: float


_OLD = {  # first architecture that has them; boards with fewer FP64 lanes state this themselves
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
    """Work of code whose pipes were counted for the architecture, with the widths that the board has."""
    slower = {unit: stretch(gpu, PIPE_OF.get(unit, unit)) for unit in work.units}
    if all(factor == 1.0 for factor in slower.values()):
        return work
    return replace(work, units={unit: cycles * slower[unit] for unit, cycles in work.units.items()})


def stretch(gpu: Gpu, pipe: str) -> float:
    """How many times longer than its architecture the board occupies a pipe."""
    own = _architecture_cycles(gpu, pipe)
    return pipe_cycles(gpu, pipe) / own if own else 1.0


def issue_rate(gpu: Gpu) -> float:
    """Warp instructions that one SM can issue per cycle."""
    sm = old(gpu)
    return gpu.get("issue_width") or (sm.issue if sm else float(gpu.limits.sub_cores))


def fp32_lanes(gpu: Gpu) -> float:
    """FP32 lanes of one SM."""
    return WARP * gpu.limits.sub_cores / pipe_cycles(gpu, "fma")


def pipe_cycles(gpu: Gpu, pipe: str) -> float:
    """Cycles for which a warp instruction occupies its pipe in one sub-core; 0 if the pipe is not modelled."""
    shared = gpu.arch < FIRST_IN_THE_TABLES and pipe == "alu"
    name = LANES.get("fma" if shared else pipe)
    lanes = gpu.get(name) if name else None
    return _at_once(pipe) * gpu.limits.sub_cores / lanes if lanes else _architecture_cycles(gpu, pipe)


def width(gpu: Gpu, pipe: str) -> float:
    """Lanes of one SM, of the uniform pipe instructions in a cycle, that its architecture has; 0 where it has none."""
    cycles = _architecture_cycles(gpu, pipe)
    return _at_once(pipe) * gpu.limits.sub_cores / cycles if cycles else 0.0


def _at_once(pipe: str) -> float:
    """Lanes of a pipe that an instruction takes: all of its warp, or 1 on the uniform pipe."""
    return 1.0 if pipe == "uniform" else WARP


def _architecture_cycles(gpu: Gpu, pipe: str) -> float:
    example = pipe_example(pipe)
    if gpu.arch >= FIRST_IN_THE_TABLES:
        return max(opcode_facts(example, (), gpu.arch).demand.values(), default=0.0) if example else 0.0
    if pipe == "uniform" and example and gpu.arch >= FIRST_BY_PROXY:
        return max(opcode_facts(example, (), gpu.arch).demand.values())
    sm = _of_architecture(gpu.arch)
    widths = {"alu": sm.cores, "fma": sm.cores, "fp64": sm.fp64, "xu": sm.special, "lsu": sm.load_store}
    lanes = widths.get(pipe, 0.0)
    return WARP * gpu.limits.sub_cores / lanes if lanes else 0.0


def alu_latency(gpu: Gpu) -> float:
    """Cycles from an FP32 addition to one that needs its result: the board's own, else the architecture's."""
    sm = old(gpu)
    return gpu.get("alu_latency") or (sm.add_latency if sm else opcode_facts("FADD", (), gpu.arch).latency) or 0.0
