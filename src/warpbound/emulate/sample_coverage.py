"""Whether blocks outside a sample may do much more work than those in it: loops whose trip counts depend on
`blockIdx` or on data.

Models   Dependence on loaded values, and on `blockIdx` through a step that is not linear (a comparison, a remainder): a
         loop over `blockIdx * size + i` has the same trip count in every block but the last.
Omits    Values that differ only because a branch was taken.
Source   Rule of three: an event that does not occur in n draws has, at 95 %, a probability of at most 3 / n (J. A.
         Hanley and A. Lippman-Hand, JAMA 249, 1983).
"""

from collections.abc import Set

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.shared_words import SharedWords
from warpbound.emulate.trace import Trace
from warpbound.emulate.value_dependence import Reach, brings_from_outside, dependents_of, guard_name, taint
from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program
from warpbound.program.registers import reads, writes

RULE_OF_THREE = 3
_TRIED_AGAIN = ("mbarrier", "tensor_memory")
_LINEAR = frozenset({"add", "multiply_add", "shifted_add", "move", "special_register", "to_uniform"})  # rules


def uneven_loops(
    program: Program, executions: NDArray[np.int64], numbers: Set[int], reach: Reach | None = None
) -> tuple[int, ...]:
    """Source lines of the loops whose trip counts depend on `blockIdx` or data, and of loops that no warp entered.

    executions : times each sampled warp that represents others issued each instruction, shape (w, instructions).
    numbers : the instructions that read `blockIdx`; none if the sample has blocks of every class that it makes.
    reach : as of `value_dependence.tainted_before`.
    """
    code, flow = program.instructions, program.flow
    sources = _bent(program, numbers) | {i for i, instruction in enumerate(code) if brings_from_outside(instruction)}
    branches = set(dependents_of(program, sources, reach).branches)
    any_branch = branches | set(dependents_of(program, numbers, reach).branches)
    lines = []
    for loop in flow.loops:
        inside = {i for n in loop.blocks for i in range(flow.blocks[n].first, flow.blocks[n].last)}
        leaving = {flow.blocks[n].last - 1 for n in loop.blocks if set(flow.blocks[n].follows) - set(loop.blocks)}
        if _waits(program, inside, leaving):
            continue
        if leaving & branches or (any_branch and not executions[:, flow.blocks[loop.header].first].any()):
            lines += [place.outermost.line for i in inside if (place := code[i].place) is not None]
    return tuple(sorted(set(lines)))


def _waits(program: Program, inside: Set[int], leaving: Set[int]) -> bool:
    """Whether a loop only retries until an mbarrier's phase has ended, or tensor memory has space."""
    code = program.instructions
    writers = [i for branch in leaving for i in _deciding(program, inside, branch)]
    return bool(writers) and all(code[i].traits.waits_for in _TRIED_AGAIN for i in writers)


def _deciding(program: Program, inside: Set[int], branch: int) -> list[int]:
    """What writes the condition of a branch of a loop: the last one before it, or all in the loop if none is sure."""
    code, conditions = program.instructions, set(reads(program.instructions[branch]))
    first = next(block.first for block in program.flow.blocks if block.first <= branch < block.last)
    before = (i for i in reversed(range(first, branch)) if conditions.intersection(writes(code[i])))
    last = next(before, None)
    return [i for i in inside if conditions.intersection(writes(code[i]))] if last is None else [last]


def skips_all_loops(program: Program, executions: NDArray[np.int64]) -> bool:
    """Whether no warp entered any loop of the kernel, and a branch depends on `blockIdx`.

    executions : as for `uneven_loops`.
    """
    headers = [program.flow.blocks[loop.header].first for loop in program.flow.loops]
    if not headers or executions[:, headers].any():
        return False
    return bool(dependents_of(program, block_numbers(program)).branches)


def block_numbers(program: Program) -> set[int]:
    """Instructions that read `blockIdx`."""
    code = program.instructions
    return {i for i, instruction in enumerate(code) if any(x.text.startswith("SR_CTAID") for x in instruction.operands)}


def _bent(program: Program, numbers: Set[int]) -> set[int]:
    """Instructions that compute something other than a linear expression of the results of `numbers`."""
    before, names = taint(program, numbers), program.register_sets
    return {
        i
        for i, instruction in enumerate(program.instructions)
        if before[i] & names.reads[i]
        and _makes_a_number(instruction)
        and not _is_linear(instruction, guarded=bool(before[i] & names.of([guard_name(instruction).lstrip("!")])))
    }


def _makes_a_number(instruction: Instruction) -> bool:
    loads = instruction.traits.kind in ("load", "constant", "tensor_memory")
    return not loads and any(name[0] == "R" or name.startswith("UR") for name in writes(instruction))


def _is_linear(instruction: Instruction, *, guarded: bool) -> bool:
    """guarded : its own guard depends on `blockIdx`."""
    return instruction.traits.affine in _LINEAR and "HI" not in instruction.modifiers and not guarded


def warning(program: Program, trace: Trace, executions: NDArray[np.int64], numbers: Set[int]) -> str:
    """A sentence if blocks that were not executed may do much more work; else empty. executions, numbers : as above."""
    blocks = len(trace.blocks)
    if blocks >= trace.of_blocks:
        return ""
    words = SharedWords(program, trace.accesses["shared"], trace.bulk_extents)
    lines = uneven_loops(program, executions, numbers, words.may_reach)
    if not lines:
        return ""
    where = f"line {lines[0]}" if len(lines) == 1 else f"lines {lines[0]}-{lines[-1]}"
    rare = max(1, blocks // RULE_OF_THREE)
    return (
        f"how often the loops in {where} run may differ from block to block: heavy blocks rarer than about one in "
        f"{rare} may be missing among the {blocks} executed, and the time too short"
    )
