"""Whether blocks outside of a sample may do much more than those in it: loops that their number or data decide.

Models   What loads bring, and what is made of a block's number by other than linear steps (a comparison, a remainder):
         a loop over `blockIdx * size + i` runs equally often in every block but the last.
Omits    Numbers that differ only because a branch was taken.
Source   Rule of three: what n draws never show has, at 95 %, a share of at most 3 / n (J. A. Hanley and
         A. Lippman-Hand, JAMA 249, 1983).
"""

from collections.abc import Set

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.value_dependence import before_each, decided, guard_name
from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program
from warpbound.program.registers import writes

RULE_OF_THREE = 3
_LINEAR = frozenset({"add", "multiply_add", "shifted_add", "move", "special_register", "to_uniform"})  # rules


def unequal_loops(program: Program, executed: NDArray[np.int64]) -> tuple[int, ...]:
    """Source lines of the loops whose trips a block's number or data decide, and of those that none of these warps
    entered.

    executed : times each sampled warp that stands for others issued each instruction, shape (w, instructions).
    """
    code, flow = program.instructions, program.flow
    numbers = _block_numbers(program)
    sources = _bent(program, numbers) | {i for i, instruction in enumerate(code) if instruction.traits.is_global_load}
    branches = set(decided(program, sources).branches)
    any_branch = branches | set(decided(program, numbers).branches)
    found = []
    for loop in flow.loops:
        inside = {i for n in loop.blocks for i in range(flow.blocks[n].first, flow.blocks[n].last)}
        leaving = {flow.blocks[n].last - 1 for n in loop.blocks if set(flow.blocks[n].follows) - set(loop.blocks)}
        if leaving & branches or (any_branch and not executed[:, flow.blocks[loop.header].first].any()):
            found += [place.outermost.line for i in inside if (place := code[i].place) is not None]
    return tuple(sorted(set(found)))


def kept_from_loops(program: Program, executed: NDArray[np.int64]) -> bool:
    """Whether there are loops, none of these warps entered any, and a block's number decides a branch.

    executed : as for `unequal_loops`.
    """
    headers = [program.flow.blocks[loop.header].first for loop in program.flow.loops]
    if not headers or executed[:, headers].any():
        return False
    return bool(decided(program, _block_numbers(program)).branches)


def _block_numbers(program: Program) -> set[int]:
    """Instructions that bring a block's number."""
    code = program.instructions
    return {i for i, instruction in enumerate(code) if any(x.text.startswith("SR_CTAID") for x in instruction.operands)}


def _bent(program: Program, numbers: Set[int]) -> set[int]:
    """Instructions that make something other than a linear expression of what `numbers` bring."""
    before, names = before_each(program, numbers), program.register_sets
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
    """guarded : by what depends on the numbers itself."""
    return instruction.traits.affine in _LINEAR and "HI" not in instruction.modifiers and not guarded


def warning(program: Program, executed: NDArray[np.int64], blocks: int, of_blocks: int) -> str:
    """A sentence where blocks that were not executed may do much more; nothing where none may."""
    if blocks >= of_blocks:
        return ""
    lines = unequal_loops(program, executed)
    if not lines:
        return ""
    where = f"line {lines[0]}" if len(lines) == 1 else f"lines {lines[0]}-{lines[-1]}"
    rare = max(1, blocks // RULE_OF_THREE)
    return (
        f"how often the loops in {where} run may differ from block to block: heavy blocks rarer than about one in "
        f"{rare} may be missing among the {blocks} executed, and the time too short"
    )
