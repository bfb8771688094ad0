"""Statistics of the executed blocks: divergence, parallelism, code and data footprints, symbols of models.

Source   E, Z and n: A. Li et al., "X", 2016; alpha and beta: the same, fitted to the reuse of one warp (memory.reuse).
         Instruction classes: S. Hong and H. Kim, ISCA 2009. Banks of registers: Z. Jia et al., arXiv:1804.06826: from
         Volta on two banks of 64 bits, so that three operands from one bank take a cycle more. Loads in flight: Y. Chou
         et al., "Microarchitecture optimizations for exploiting memory-level parallelism", ISCA 2004.
Models   The hot loop is the smallest that executes at least half of all instructions.
Omits    Reads of registers from one bank are in the time as a whole (`program.register_banks`), not one instruction at
         a time.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warpbound.analysis.launch_counts import ratio
from warpbound.distinct_values import among
from warpbound.isa.instruction_caches import instruction_caches
from warpbound.memory.reuse import PAGE_B
from warpbound.memory.traffic_counts import Traffic
from warpbound.model_inputs import hong_kim_2009, x_model_2016
from warpbound.model_inputs.accesses import MEMORY_CAUSES, accesses
from warpbound.model_inputs.launch_facts import LaunchFacts, Locality
from warpbound.model_inputs.resources import FIRST_OF_TWO_BANKS
from warpbound.program import Program
from warpbound.program.instruction import RZ, Instruction
from warpbound.quick_dataclasses import dataclass
from warpbound.result.execution import (
    CodeFootprint,
    Execution,
    InstructionCacheFit,
    PagesTouched,
    PartitionTraffic,
    XModelSymbols,
)
from warpbound.schedule import Schedule, Wait
from warpbound.schedule.dependences import greedy_pairs
from warpbound.workload import Workload
from warpbound.workload.code_fetches import INSTRUCTION_B

HOT = 0.5  # share of all executed instructions that the hot loop holds
E_DEFINITION = (
    "from Volta on nothing is issued in pairs: E is instructions per cycle of one warp alone while it waits for no "
    "memory"
)
E_AS_PUBLISHED = (
    "instructions over issues, 1 to 2: neighbours in program order issue together where neither depends on the other "
    "and at most one is a load, as Kepler pairs them; weighted by executions"
)
CLASSES = (
    "comp_insts", "coal_mem_insts", "uncoal_mem_insts", "synch_insts", "uncoal_per_mw", "load_bytes", "ind_mem_req",
)  # fmt: skip


@dataclass(frozen=True)
class Observed:
    """traffic : of the launch. executions : times that the mean warp issues each instruction, (instructions,).

    in_flight : loads of the typical warp, alone, while at least one is under way; None without any. per_cycle : its
    instructions per cycle in which it waits for no memory. partitions : how accesses spread over memory partitions;
    None where the mapping is not known. l1_bytes : of one SM.
    """

    traffic: Traffic
    executions: NDArray[np.float64]
    in_flight: float | None
    per_cycle: float
    partitions: PartitionTraffic | None
    l1_bytes: float

    @property
    def locality(self) -> Locality:
        """Locality of the loads of one warp, and the L1 size available to it."""
        locality = self.traffic.locality
        return Locality(
            locality.alpha, locality.beta, locality.residual, self.l1_bytes, locality.sizes, locality.hits
        )


def execution(program: Program, work: Workload, observed: Observed, x: LaunchFacts) -> Execution:
    """Summary for the mean warp of the launch, unless a key states otherwise."""
    classes = hong_kim_2009.known(x)
    phases = work.phases
    conflicts = [_bank_conflict(instruction) for instruction in program.instructions]
    return Execution(
        lanes_per_instruction=ratio(work.thread_instructions, work.warp_instructions - _skipped(program, observed)),
        ilp=observed.per_cycle,
        load_phases=len(phases),
        joins=work.barriers + 1,
        loads_per_wait=ratio(float(sum(phases)), float(len(phases))),
        mlp=observed.in_flight,
        register_bank_conflicts=float(observed.executions @ conflicts),
        code=code_footprint(program, observed.executions, x.gpu.arch),
        x_model=_x_model(program, x, observed),
        hong_kim={name: classes[name] for name in CLASSES if name in classes},
        pages=PagesTouched(PAGE_B, observed.traffic.pages),
        partitions=observed.partitions,
    )


def code_footprint(program: Program, executions: NDArray[np.float64], arch: int) -> CodeFootprint:
    """Bytes of code, of the part that was executed and of the hot loop, against the instruction caches."""
    hot = hot_loop(program, executions)
    ran = np.flatnonzero(executions)
    size = INSTRUCTION_B * (len(ran) if hot is None else int(among(ran, hot).sum()))
    caches = instruction_caches(arch)
    return CodeFootprint(
        bytes=INSTRUCTION_B * len(program.instructions),
        executed_bytes=INSTRUCTION_B * len(ran),
        hot_bytes=size,
        hot="loop" if hot is not None else "whole kernel",
        held_by=next((cache.name for cache in caches if size <= cache.bytes), None),
        caches=list(caches),
    )


def hot_loop(program: Program, executions: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """Indices of the hot loop's instructions; None where no loop holds half of what is executed."""
    flow = program.flow
    loops = [
        np.concatenate([np.arange(flow.blocks[n].first, flow.blocks[n].last) for n in sorted(loop.blocks)])
        for loop in flow.loops
    ]
    hot = [loop for loop in loops if executions[loop].sum() >= HOT * executions.sum() > 0]
    return min(hot, key=len) if hot else None


def code_notes(program: Program, observed: Observed, arch: int, fetching: float) -> tuple[str, ...]:
    """Which instruction caches the hot code exceeds; fetching : share of the time for which lines of code arrive."""
    caches = instruction_caches(arch)
    size = code_footprint(program, observed.executions, arch).hot_bytes or 0
    small = [cache for cache in caches if size > cache.bytes]
    if not small:
        return ()
    behind = "L2" if len(small) == len(caches) else "the cache of the SM"
    return (f"the hot code of {size / 1024:.3g} KiB exceeds {_named(small)}: a sub-core fetches code from {behind} "
            f"for {100 * fetching:.0f} % of the time",)  # fmt: skip


def register_notes(work: Workload, arch: int) -> tuple[str, ...]:
    """Effect of register-bank reads on the issue rate, where the reads take longer than the issue."""
    cycles = work.units.get("registers", 0.0)
    if cycles <= work.warp_instructions or arch < FIRST_OF_TWO_BANKS:
        return ()
    each = cycles / work.warp_instructions
    return (f"registers lie in two banks of one read per cycle each: by the banks that the compiler chose, an "
            f"instruction takes {each:.3g} cycles to issue",)  # fmt: skip


def _named(caches: list[InstructionCacheFit]) -> str:
    return " and ".join(f"the {cache.name} instruction cache of {cache.bytes // 1024} KiB" for cache in caches)


def _x_model(program: Program, x: LaunchFacts, observed: Observed) -> XModelSymbols:
    """E, Z and n in warps of one SM; beta in bytes; Z counts every global access, Z_off_chip those that reach DRAM."""
    locality = observed.traffic.locality
    return XModelSymbols(
        E=observed.per_cycle,
        Z=ratio(x.work.warp_instructions, accesses(x).count),
        Z_off_chip=x_model_2016.known(x).get("intensity"),
        n=x.warps_per_sm,
        alpha=locality.alpha,
        beta=locality.beta,
        residual=locality.residual,
        definition=E_DEFINITION,
        E_as_published=issued_together(program.instructions, observed.executions),
        definition_as_published=E_AS_PUBLISHED,
    )


def issued_together(instructions: Sequence[Instruction], executions: NDArray[np.float64]) -> float:
    """Instructions to an issue if independent neighbours issued in pairs; executed : times of each, (instructions,)."""
    pairs = np.array(sorted(greedy_pairs(instructions)), np.int64)
    saved = np.minimum(executions[pairs], executions[pairs + 1]).sum() if len(pairs) else 0.0
    total = float(executions.sum())
    return total / (total - float(saved)) if total else 1.0


def instructions_per_cycle(schedule: Schedule) -> float:
    """Instructions per cycle of one warp, excluding its waits for global memory."""
    busy = schedule.cycles - sum(schedule.parts.get(cause, 0.0) for cause in MEMORY_CAUSES)
    return schedule.times * len(schedule.stream) / busy if busy > 0 else 0.0


def loads_in_flight(schedule: Schedule, waits: Sequence[Wait]) -> float | None:
    """Loads under way on average while at least one is; None where there is none."""
    stream = np.array(schedule.stream, np.int64)
    loading = np.flatnonzero(np.array([wait.loads for wait in waits], bool)[stream]) if len(stream) else stream
    if not len(loading):
        return None
    begins = np.array(schedule.issue)[loading]
    ends = begins + np.array([wait.write for wait in waits])[stream[loading]]
    until = np.maximum.accumulate(ends)
    together = (np.minimum(until[:-1], begins[1:]) - begins[:-1]).sum() + until[-1] - begins[-1]
    return float((ends - begins).sum() / together)


def _skipped(program: Program, observed: Observed) -> float:
    """Padding instructions that no thread executes."""
    return float(observed.executions @ [instruction.skipped for instruction in program.instructions])


def _bank_conflict(instruction: Instruction) -> bool:
    """Whether its three source registers lie in one bank, none of them kept in the operand cache."""
    sources = {
        x.index
        for x in instruction.operands[1:]
        if x.kind == "register" and x.index != RZ and "reuse" not in x.suffixes
    }
    return len(sources) >= 3 and len({index % 2 for index in sources}) == 1
