"""Latency of each instruction on one GPU: how long its scoreboards stay raised, and the stall reason of a wait.

Source   latencies by architecture from isa/latencies.toml, those of the memory system from the Gpu; without control
         words the distances between instructions from isa/timings.toml.
Models   unloaded latencies: a load served by L1, L2 or DRAM, or by shares of them; each load's own latency of L2, the
         mean of its near and far side as often as each answers that load.
Omits    waiting behind other requests; misses of the constant and instruction caches.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache

from warpbound.board_parameters import LATENCIES
from warpbound.identity_cache import remember
from warpbound.isa import opcodes
from warpbound.isa.latency_classes import architecture_latency, latency_parameter, row_parameter
from warpbound.isa.opcodes import opcode_facts
from warpbound.isa.timings import Timing, timing
from warpbound.l2_clock import l2_cycles
from warpbound.machine import PARAMETERS, Gpu
from warpbound.program.control_flow import always, jumps
from warpbound.program.instruction import RZ, Instruction
from warpbound.program.operand_reads import blocks_of, left_factor_cycles, operand_cycles
from warpbound.program.registers import matrices
from warpbound.program.tensor_memory_moves import port_cycles
from warpbound.quick_dataclasses import dataclass
from warpbound.schedule import Wait
from warpbound.schedule.dependences import greedy_pairs

Shares = Mapping[str, float]  # l1, l2, dram -> share of a load's sectors served there; shares add up to 1
LEVELS = ("l1", "l2", "dram")
DRAM: Shares = {"dram": 1.0}
NEAREST: Shares = {"l1": 1.0}
TENSOR = ("fp16", "bf16", "tf32", "fp8", "fp8_acc16", "fp8_scaled", "fp4", "int8", "int4", "int1", "fp64")

_WIDER = {"int4": "int8", "int1": "int8", "fp4": "fp8", "fp8_scaled": "fp8"}
_OPERAND_READS: Mapping[tuple[str, ...], str] = {  # kind and space -> rows of latencies.toml
    ("load", "global"): "war_ldg", ("store", "global"): "war_stg", ("load", "shared"): "war_lds",
    ("store", "shared"): "war_sts",
}  # fmt: skip
SUB_CORES = 4
PRODUCTS = "products"  # queue of those into tensor memory
_COPIES = "async"  # queue of the copies from global to shared memory (LDGSTS) and what collects them


@dataclass(frozen=True)
class MemoryLatency:
    """Unloaded latencies in cycles at the chosen clock, on an architecture (90 for sm_90).

    core : of arithmetic, where the board has its own value. timing : how a warp issues without control words.
    longer : number of a board (isa.latency_classes) -> its ratio to the architecture's, where that is not 1.
    wavefront : cycles that shared memory takes for one.
    """

    arch: int
    l1: float
    l2: float
    dram: float
    shared: float
    tensor: Mapping[str, float] = field(default_factory=dict)  # operand type -> multiply-adds per cycle and SM
    core: float | None = None
    timing: Timing | None = None
    l2_far: float = 0.0
    longer: Mapping[str, float] = field(default_factory=dict)
    sub_cores: int = SUB_CORES
    wavefront: float = 1.0

    def with_far(self, share: float) -> "MemoryLatency":
        """L2 with the mean latency of its two sides, when that share of its hits is on the far one."""
        if not share:
            return self
        return replace(self, l2=(1.0 - share) * self.l2 + share * (self.l2_far or self.l2))

    def of(self, shares: Shares) -> float:
        """Mean over the levels that serve a load."""
        return sum(self.at(level) * share for level, share in shares.items())

    def at(self, level: str) -> float:
        """Latency of one level: l1, l2 or dram."""
        return {"l1": self.l1, "l2": self.l2, "dram": self.dram}[level]


def memory_latency(gpu: Gpu, clock_hz: float) -> MemoryLatency:
    """Cycles are constant for L1, shared memory and an L2 in step with the SMs; DRAM's part beyond L2 is constant in
    time."""
    beyond_s = (gpu.value("dram_latency") - (gpu.get("l2_latency") or 0.0)) / gpu.value("latency_clock")
    l2 = l2_cycles(gpu, clock_hz) or 0.0  # 0: a machine without caches, whose whole latency of DRAM is constant in time
    dram = l2 + beyond_s * clock_hz
    return MemoryLatency(
        arch=gpu.arch,
        l1=gpu.get("l1_latency") or dram,
        l2=l2 or dram,
        l2_far=l2_cycles(gpu, clock_hz, "l2_far_latency") or l2 or dram,
        dram=dram,
        shared=gpu.value("shared_latency"),
        tensor={kind: tensor_rate(gpu, kind) for kind in TENSOR} if gpu.get("tensor_fp16") else {},
        core=gpu.get("alu_latency"),
        longer=longer(gpu),
        timing=own_timing(gpu),
        sub_cores=gpu.limits.sub_cores,
        wavefront=wavefront_cycles(gpu),
    )


@lru_cache(8)
def longer(gpu: Gpu) -> dict[str, float]:
    """Parameter of the board -> its ratio to the architecture's value, where the board has its own."""
    pairs = ((name, gpu.get(name), architecture_latency(name, gpu.arch)) for name in LATENCIES)
    return {name: own / usual for name, own, usual in pairs if own and usual}


def own_timing(gpu: Gpu) -> Timing | None:
    """The table of how its warps issue, with the board's own distances; those behind loads, stores and branches are in
    proportion to the plain one."""
    table = timing(gpu.arch, gpu.key)
    if table is None:
        return None
    gap, barrier = gpu.get("issue_gap"), longer(gpu).get("barrier_latency", 1.0)
    wider = gap / table.cycles["gap"][0] if gap else 1.0
    factors = {"barrier": barrier, "reissue": 1.0}
    cycles = {key: tuple(factors.get(key, wider) * cycle for cycle in row) for key, row in table.cycles.items()}
    again = gpu.get("reissue_cost")
    return replace(table, cycles=cycles | ({"reissue": (again,)} if again else {}))


def wavefront_cycles(gpu: Gpu) -> float:
    """Cycles of an SM for one wavefront of shared memory."""
    return gpu.get("shared_wavefront_cost") or PARAMETERS["shared_wavefront_cost"].default


def tensor_rate(gpu: Gpu, kind: str) -> float:
    """Multiply-adds per cycle and SM; a type that the board does not list runs at the rate of a wider one."""
    names = (kind, kind.removesuffix("_acc16"), _WIDER.get(kind, "fp16"))
    rates = (gpu.get(f"tensor_{name}") for name in names if f"tensor_{name}" in PARAMETERS)
    return next(filter(None, rates), None) or gpu.value("tensor_fp16")


def waits(
    instructions: Sequence[Instruction],
    memory: MemoryLatency,
    level_shares: Callable[[int], Shares] = lambda _: DRAM,
    extra: Callable[[int], float] = lambda _: 0.0,
    far: Callable[[int], float] = lambda _: 0.0,
) -> tuple[Wait, ...]:
    """One Wait per instruction; `level_shares(index)` states which levels serve the load at that index.

    far : share of the load's L2 sectors, by index, that is not on the reader's side.
    extra : wavefronts that bank conflicts add to the access of shared memory at an index; its data come as many
    times `wavefront` cycles later, and the next access of shared memory waits until they are done.
    """
    fixed, spaced = _without_loads(instructions, memory)
    spacing, result = _spacing(instructions, memory), list(spaced)
    for index, wait in enumerate(fixed):
        if wait.loads:
            own = _wait(instructions[index], memory.with_far(far(index)), level_shares(index))
            result[index] = spacing(index, own)
        elif wait.queue == "shared" and (more := memory.wavefront * extra(index)):
            result[index] = spacing(index, replace(wait, write=wait.write + more, busy=1.0 + more))
    return tuple(result)


@remember(2)
def _without_loads(
    instructions: Sequence[Instruction], memory: MemoryLatency
) -> tuple[tuple[Wait, ...], tuple[Wait, ...]]:
    """The waits that no level decides (of loads: those from DRAM), and the same with distances between instructions."""
    fixed, spacing = tuple(_wait(x, memory, DRAM) for x in instructions), _spacing(instructions, memory)
    return fixed, tuple(spacing(index, wait) for index, wait in enumerate(fixed))


def _spacing(instructions: Sequence[Instruction], memory: MemoryLatency) -> Callable[[int, Wait], Wait]:
    """Adds to the wait of the instruction at an index what its control word tells; where there are no control words,
    its distance from the next one, by the tables."""
    if any(instruction.control is not None for instruction in instructions):
        return lambda index, wait: _visible(instructions[index], wait, memory)
    table = memory.timing
    if table is None:
        return lambda index, wait: replace(wait, gaps=(0.0,)) if _ends(instructions[index]) else wait
    pairs_by_code = frozenset(index for index, instruction in enumerate(instructions) if instruction.pairs)
    pair = table.get("pair")
    pairs = pairs_by_code or (greedy_pairs(instructions) if pair is not None else frozenset())
    return lambda index, wait: (
        replace(wait, gaps=(pair or 0.0,)) if index in pairs else _apart(instructions[index], wait, memory, table)
    )


def _apart(instruction: Instruction, wait: Wait, memory: MemoryLatency, table: Timing) -> Wait:
    """The gap behind an instruction that issues alone; none behind the end of a warp."""
    if _ends(instruction):
        return replace(wait, gaps=(0.0,))
    if instruction.traits.is_block_barrier and wait.hold:
        hold = table.get("barrier") or wait.hold
        return replace(wait, hold=hold, write=hold, gaps=table.gaps())
    if jumps(instruction) or instruction.traits.is_exit:
        return replace(wait, gaps=table.gaps("branch_not_taken"), branch_gap=table.get("branch_taken"))
    if wait.loads:
        return replace(wait, gaps=table.gaps("loads", "memory"))
    if _stores(instruction):
        return replace(wait, gaps=table.gaps("stores", "memory"))
    return replace(wait, gaps=table.gaps(*(["memory"] if wait.queue in ("shared", "global") else [])))


def _visible(instruction: Instruction, wait: Wait, memory: MemoryLatency) -> Wait:
    """With what only the control word tells: when a raise is visible, how long a stall of 0 with yield is.

    late : the control word assumes the architecture's latency, and the board's is longer.
    """
    if instruction.control is None:
        return wait
    visible = _row("scoreboard", memory)
    idle = _row("stall_zero", memory) if instruction.control.yields and instruction.control.stall == 0 else 0.0
    on_scoreboard = instruction.control.write_scoreboard is None and not wait.hold and not _asynchronous(instruction)
    late = on_scoreboard and memory.longer.get(wait.follows, 1.0) > 1.0
    if not late and wait.write >= visible and wait.source_wait >= visible and wait.hold >= idle:
        return wait
    return replace(
        wait, write=max(wait.write, visible), source_wait=max(wait.source_wait, visible),
        hold=max(wait.hold, idle), late=late,
    )


def _asynchronous(instruction: Instruction) -> bool:
    return instruction.traits.kind == "warpgroup_matrix"


def _ends(instruction: Instruction) -> bool:
    return instruction.traits.is_exit and always(instruction)


def _stores(instruction: Instruction) -> bool:
    """Whether it moves data to memory and brings nothing back."""
    kind = instruction.traits.kind
    return kind in ("store", "reduction") or (kind == "surface" and instruction.traits.result == "none")


def _row(name: str, memory: MemoryLatency) -> float:
    """Cycles of a row of isa/latencies.toml on this board."""
    return opcodes.latency(name, memory.arch).value * memory.longer.get(row_parameter(name), 1.0)


def _wait(instruction: Instruction, memory: MemoryLatency, shares: Shares) -> Wait:
    facts = opcode_facts(instruction.opcode, instruction.modifiers, memory.arch)
    latency = _until_read(instruction, memory)
    if instruction.skipped:
        return Wait()
    if _stores(instruction) or instruction.traits.kind == "cache_control":
        return Wait(source_wait=latency)
    if instruction.opcode == "LDGDEPBAR":
        return Wait(queue=_COPIES)
    follows = latency_parameter(facts)
    cycles = (facts.latency or 0.0) * memory.longer.get(follows, 1.0)
    match facts.latency_class:
        case "global" if facts.latency is None and facts.pipe != "uniform":
            return _global(instruction, memory, shares, latency)
        case "local":
            return Wait(memory.l1 + _wider(instruction, memory, "global"), latency, (("l1", 1.0),), "global")
        case "shared":
            return _shared(instruction, memory, latency)
        case "constant":
            return Wait(
                _constant(instruction, memory), latency, (("constant", 1.0),), facts.pipe, follows="constant_latency"
            )
        case "barrier":
            waits = instruction.traits.waits_for in ("block", "cluster")
            hold = cycles if waits and ("ARV" not in instruction.modifiers or "WAIT" in instruction.modifiers) else 0.0
            return Wait(cycles, latency, (("barrier", 1.0),), "barrier", hold=hold, follows=follows)
        case "fixed" | "branch":
            return Wait(memory.core if memory.core and memory.timing else cycles, latency, follows=follows)
        case _:
            return _product(instruction, memory, Wait(cycles, latency, queue=facts.pipe, follows=follows))


def _product(instruction: Instruction, memory: MemoryLatency, wait: Wait) -> Wait:
    """With the time of an asynchronous product, which takes at least as long as shared memory delivers its factors; one
    of tcgen05 begins when its left factor is there. Loads and stores of tensor memory occupy its port."""
    multiplying = multiplying_cycles(instruction, memory)
    busy = max(multiplying, operand_cycles(instruction))
    if _asynchronous(instruction):
        return replace(wait, write=wait.write + busy, busy=busy)
    if instruction.traits.kind == "tensor_memory" and multiplying:
        write = wait.write + left_factor_cycles(instruction) + busy
        return replace(wait, write=write, queue=PRODUCTS, busy=busy)
    if port := port_cycles(instruction):
        return replace(wait, write=wait.write + port, busy=port)
    return wait


def _global(instruction: Instruction, memory: MemoryLatency, shares: Shares, read_cycles: float) -> Wait:
    """A load or an atomic: the latency of the levels that serve it; a wait for it is attributed to these levels."""
    extra = _wider(instruction, memory, "global") + _uniform_address(instruction, memory)
    if instruction.traits.kind == "atomic" or instruction.opcode == "SUATOM":  # performed at L2
        shares = {"l2": shares.get("l1", 0.0) + shares.get("l2", 0.0), "dram": shares.get("dram", 0.0)}
    if instruction.traits.kind == "copy":
        memory = replace(memory, l1=max(memory.l1, _row("ldgsts", memory)))
        extra = 0.0
    total = memory.of(shares)
    causes = tuple((level, memory.at(level) * share / total) for level, share in shares.items() if share)
    queue = _COPIES if instruction.traits.kind == "copy" else "global"
    return Wait(total + extra, read_cycles, causes, queue, loads=True)


def _constant(instruction: Instruction, memory: MemoryLatency) -> float:
    register = (
        any(x.index != RZ for y in instruction.operands for x in y.terms) and instruction.traits.kind == "constant"
    )
    return _row("constant_register" if register else "constant_immediate", memory)


def multiplying_cycles(instruction: Instruction, memory: MemoryLatency) -> float:
    """Cycles of the tensor cores for an asynchronous product: of one for a warp's share, of an SM's for tcgen05, of two
    SMs' for a pair of blocks; 0 of other instructions."""
    facts = opcode_facts(instruction.opcode, instruction.modifiers, memory.arch)
    is_whole = instruction.traits.kind == "tensor_memory"
    if facts.tensor is None or not memory.tensor or not (is_whole or _asynchronous(instruction)):
        return 0.0
    kind, multiply_adds = facts.tensor
    rate = memory.tensor.get(kind) or memory.tensor["fp16"]
    sub_cores = memory.sub_cores * blocks_of(instruction) if is_whole else 1
    return multiply_adds / (rate / memory.sub_cores) / sub_cores


def _wider(instruction: Instruction, memory: MemoryLatency, space: str) -> float:
    """Cycles that a 64- or 128-bit access takes longer than a 32-bit one."""
    for bits in ("128", "64"):
        if bits in instruction.modifiers:
            return _row(f"{space}_width_{bits}", memory)
    return _row(f"{space}_width_32", memory)


def _uniform_address(instruction: Instruction, memory: MemoryLatency) -> float:
    address = next((x for x in instruction.operands if x.kind == "memory"), None)
    only_uniform = address is not None and address.terms and all(x.kind == "uniform" for x in address.terms)
    return _row("global_uniform_address", memory) if only_uniform else 0.0


def _shared(instruction: Instruction, memory: MemoryLatency, read_cycles: float) -> Wait:
    cycles, follows = memory.shared + _wider(instruction, memory, "shared"), ""
    if instruction.traits.width == "matrices":
        cycles = _row("ldsm", memory) + _row("ldsm_extra_matrix", memory) * (matrices(instruction) - 1)
        follows = "matrix_load_latency"
    elif instruction.traits.kind == "atomic":
        cycles, follows = _row("atom_shared", memory), "shared_atomic_latency"
    return Wait(cycles, read_cycles, (("shared", 1.0),), "shared", follows=follows)


def _until_read(instruction: Instruction, memory: MemoryLatency) -> float:
    """Cycles until the source registers have been read and may be overwritten."""
    if instruction.control is None or instruction.control.read_scoreboard is None:
        return 0.0
    traits = instruction.traits
    if traits.kind == "constant":
        register = any(x.index != RZ for y in instruction.operands for x in y.terms)
        return _row("war_ldc_register" if register else "war_ldc_immediate", memory)
    bits = next((b for b in ("128", "64") if b in instruction.modifiers), "32")
    prefix = _OPERAND_READS.get((traits.kind, *traits.spaces))
    if prefix and not traits.is_generic and traits.width != "matrices":
        return _row(f"{prefix}_{bits}", memory)
    return _row("war_ldgsts" if traits.kind == "copy" else "war_other", memory)
