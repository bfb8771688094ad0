"""The suite's kernels as compiled, once per mechanism and architecture."""

from collections import Counter
from functools import cache

from warpbound.machine import gpu
from warpbound.measure.suite import units
from warpbound.program.cuda import Compiled, Options, compile_cuda
from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program
from warpbound.program.source_files import programs


@cache
def compiled(mechanism: str, arch: int) -> Compiled:
    """The cubin with what the compiler says."""
    unit = units(mechanism)[mechanism]
    return compile_cuda(unit.text, f"{mechanism}.cu", arch, Options(extra=unit.options))


@cache
def decoded(mechanism: str, arch: int) -> dict[str, Program]:
    """Every kernel, by name."""
    found = programs(compiled(mechanism, arch).cubin, gpu(f"sm_{arch}"), None, Options())
    return {program.name: program for program in found}


def body(program: Program, opcode: str) -> list[Instruction]:
    """The innermost loop with the most of an opcode; the whole kernel where it has no loop."""
    bodies = [[program.instructions[i] for b in sorted(loop.blocks) for i in _span(program, b)]
              for loop in program.flow.loops if _innermost(program, loop.blocks)]  # fmt: skip
    return max(bodies, key=lambda one: count(one, opcode), default=list(program.instructions))


def _span(program: Program, block: int) -> range:
    return range(program.flow.blocks[block].first, program.flow.blocks[block].last)


def _innermost(program: Program, blocks: frozenset[int]) -> bool:
    return not any(loop.blocks < blocks for loop in program.flow.loops)


def count(instructions: list[Instruction], opcode: str) -> int:
    """Instructions whose opcode begins like this and that can run."""
    return sum(one.opcode.startswith(opcode) and not one.skipped for one in instructions)


def others(instructions: list[Instruction], opcode: str) -> Counter[str]:
    """The opcodes of the rest, fillers left out."""
    return Counter(one.opcode for one in instructions if not one.opcode.startswith(opcode) and not one.skipped)
