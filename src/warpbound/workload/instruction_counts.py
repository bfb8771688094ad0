"""Instruction counts by pipe, unit and operand type."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import field

from warpbound.isa.opcodes import OpcodeFacts, opcode_facts
from warpbound.program.instruction import RZ, Instruction, Operand
from warpbound.program.operand_reads import operand_work
from warpbound.program.register_banks import BANKS
from warpbound.program.tensor_memory_moves import port_cycles
from warpbound.quick_dataclasses import dataclass

WARP = 32
_ONE_HALF = frozenset({"H0_H0", "H1_H1"})  # suffix of a source of which one half is used twice


@dataclass
class Counts:
    """Sums over instructions: of warps by pipe and unit, of lanes for flop, multiply-adds by tensor type."""

    warp_instructions: float = 0.0
    thread_instructions: float = 0.0
    by_pipe: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    units: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    tensor: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    flop: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    barriers: float = 0.0


def facts_of(instructions: Sequence[Instruction], arch: int) -> tuple[OpcodeFacts, ...]:
    """What the architecture does with each instruction."""
    return tuple(opcode_facts(instruction.opcode, instruction.modifiers, arch) for instruction in instructions)


def count(
    instructions: Sequence[Instruction],
    facts: Sequence[OpcodeFacts],
    bank_reads: Sequence[tuple[int, int]],
    issued: Sequence[float],
    threads: Sequence[float],
) -> Counts:
    """Counts where instruction i is issued `issued[i]` times, with `threads[i]` lanes on in all.

    bank_reads : registers that each instruction reads from each bank (`Program.bank_reads`).
    Fillers that no thread executes (@!PT) take only an issue slot. The unit `registers` is the busier register bank; it
    is counted if reading takes longer than issuing. The unit `operands` is shared memory while it delivers factors to
    asynchronous products; of warpgroups, a quarter for each of four warps. `tmem` is a sub-core's part of tensor memory
    while warps load and store.
    """
    total = Counts()
    banks = [0.0] * BANKS
    rows = zip(instructions, facts, issued, threads, bank_reads, strict=True)
    for instruction, fact, times, lanes, registers in rows:
        if not times:
            continue
        total.warp_instructions += times
        if instruction.skipped:
            total.by_pipe["none"] += times
            continue
        total.thread_instructions += lanes
        total.by_pipe[fact.pipe] += times
        for unit, cycles in fact.demand.items():
            total.units[unit] += cycles * times
        banks = [so_far + times * more for so_far, more in zip(banks, registers, strict=True)]
        operands = operand_work(instruction)
        if operands:
            total.units["operands"] += operands * times
        if port := port_cycles(instruction):
            total.units["tmem"] += port * times
        if fact.tensor:
            kind, multiply_adds = fact.tensor
            total.tensor[kind] += multiply_adds * times
            total.flop["tensor"] += 2 * fact.products * times
        kind, operations = flop_of(instruction)
        total.flop[kind] += operations * lanes
        if instruction.traits.is_block_barrier:
            total.barriers += times
    if max(banks) > total.warp_instructions:
        total.units["registers"] = max(banks)
    return total


def flop_of(instruction: Instruction) -> tuple[str, int]:
    """(type, operations per lane) of one instruction.

    An addition of the zero register converts, negates or moves, and a half product of zeros loads a constant: none.
    Half instructions work on pairs; where both halves of every source are the same one, they do the work of one.
    """
    kind, operations = instruction.traits.flop or ("fp32", 0)
    halves = kind == "fp16"
    sources = instruction.operands[1:]
    zeros = sum(x.kind in ("register", "uniform") and x.index == RZ for x in sources[:2])
    if zeros >= (1 if "ADD" in instruction.opcode else 2):
        operations = 0
    elif halves and _same_halves(sources):
        operations //= 2
    if halves:
        kind = "bf16" if any("BF16" in modifier for modifier in instruction.modifiers) else "fp16"
    return kind, operations


def _same_halves(sources: Sequence[Operand]) -> bool:
    """Whether both halves of every source hold the same number; immediates come as two, one for each half."""
    numbers = [x.value for x in sources if x.kind in ("float", "immediate")]
    operands = [x for x in sources if x.kind in ("register", "uniform", "constant") and x.index != RZ]
    one_each = all(_ONE_HALF.intersection(x.suffixes) for x in operands)
    return bool(operands) and one_each and numbers[::2] == numbers[1::2]
