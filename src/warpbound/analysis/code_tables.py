"""Tables of a program in an answer: its resources, source lines, memory accesses and SASS."""

from collections import Counter
from collections.abc import Sequence

from warpbound.isa.opcodes import OpcodeFacts
from warpbound.latency import LEVELS
from warpbound.memory.static_accesses import Access as AccessCost
from warpbound.memory.static_accesses import Predicted
from warpbound.program import Program
from warpbound.program.instruction import Instruction
from warpbound.program.registers import lane_bytes
from warpbound.result.code import Access, ControlWord, Parameter, ProgramFacts, SassLine, SourceLine
from warpbound.schedule import Schedule
from warpbound.workload import Workload


def program_facts(program: Program, facts: Sequence[OpcodeFacts]) -> ProgramFacts:
    """Resources of the kernel and its instruction mix; instructions that cannot be reached do not count."""
    blocks = [program.flow.blocks[number] for number in sorted(program.flow.reachable)]
    reachable = [index for block in blocks for index in range(block.first, block.last)]
    stored, loaded = program.spills
    return ProgramFacts(
        name=program.name,
        source=program.source_name,
        arch=f"sm_{program.arch}",
        registers=program.registers,
        shared_bytes=program.shared_bytes,
        local_bytes=program.local_bytes,
        spill_bytes_stored=stored,
        spill_bytes_loaded=loaded,
        barriers=program.barriers,
        max_threads_per_block=program.max_threads,
        parameters=[Parameter(p.name, p.type, p.offset, p.size) for p in program.parameters],
        instructions=len(reachable),
        mix=dict(Counter(facts[index].pipe for index in reachable).most_common()),
    )


def source_lines(program: Program, work: Workload) -> list[SourceLine]:
    """Source lines by the cycles that they cost one warp, the most expensive first."""
    own_file = program.source_name.rpartition("/")[2]
    rows = []
    for (file, line), parts in work.lines_by_cause.items():
        cycles = sum(parts.values())
        if cycles > 0:
            text = program.source_line(line) if file.rpartition("/")[2] == own_file else ""
            parts = {cause: count for cause, count in parts.items() if count}
            rows.append(SourceLine(file=file, line=line, text=text, cycles=cycles, parts=parts))
    return sorted(rows, key=lambda row: -row.cycles)


def memory_accesses(program: Program, costs: Predicted) -> list[Access]:
    """Every memory access, the mean of its executions; counts are None where neither code nor execution gives them."""
    instructions = program.instructions
    return [_access(instructions[index], space, cost) for (index, space), cost in sorted(costs.items())]


def _access(instruction: Instruction, space: str, cost: AccessCost) -> Access:
    is_counted = cost.sectors + cost.wavefronts > 0
    has_sectors = is_counted and space == "global"
    return Access(
        address=instruction.address,
        text=instruction.text,
        line=_line(instruction),
        space=space,
        bytes_per_lane=lane_bytes(instruction),
        stride_bytes=cost.stride,
        row_stride_bytes=cost.row_stride,
        transactions=cost.transactions if has_sectors else None,
        sectors=cost.sectors if has_sectors else None,
        ideal_sectors=cost.ideal_sectors if has_sectors else None,
        wavefronts=cost.wavefronts if is_counted else None,
        ideal_wavefronts=cost.ideal_wavefronts if is_counted else None,
        depends_on=cost.depends_on or None,
        served=dict(zip(LEVELS, cost.level_shares, strict=True)) if cost.level_shares else None,
    )


def sass_listing(program: Program, schedule: Schedule, facts: Sequence[OpcodeFacts]) -> list[SassLine]:
    """Every instruction with its control word; where the path of one warp leads through it, when and why it waits."""
    first = {index: position for position, index in reversed(list(enumerate(schedule.stream)))}
    critical = {schedule.stream[position] for position in schedule.critical}
    rows = []
    for index, (instruction, fact) in enumerate(zip(program.instructions, facts, strict=True)):
        position = first.get(index)
        producer = schedule.producer[position] if position is not None else -1
        rows.append(
            SassLine(
                address=instruction.address,
                text=instruction.text,
                pipe=fact.pipe,
                control=_control_word(instruction),
                line=_line(instruction),
                issue=schedule.issue[position] if position is not None else None,
                waited=schedule.waited[position] if position is not None else None,
                waits_for=program.instructions[schedule.stream[producer]].address if producer >= 0 else None,
                critical=index in critical,
            )
        )
    return rows


def _control_word(instruction: Instruction) -> ControlWord | None:
    word = instruction.control
    if word is None:
        return None
    return ControlWord(
        stall=word.stall,
        yields=word.yields,
        write_scoreboard=word.write_scoreboard,
        read_scoreboard=word.read_scoreboard,
        wait=list(word.wait),
        reuse=word.reuse,
    )


def _line(instruction: Instruction) -> int | None:
    return instruction.place.outermost.line if instruction.place else None


def unknown_opcodes(program: Program, facts: Sequence[OpcodeFacts]) -> list[str]:
    """Opcodes that the tables do not have, each with the number of its instructions."""
    instructions = zip(program.instructions, facts, strict=True)
    counts = Counter(instruction.mnemonic for instruction, fact in instructions if not fact.is_known)
    return [f"{name} x{count}" for name, count in counts.most_common()]
