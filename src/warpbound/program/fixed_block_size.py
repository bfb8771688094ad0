"""Instructions by which a kernel counts the threads of its blocks, so that it works with blocks of one size.

Source   PTX ISA: mbarriers count arrivals, wgmma takes the four warps of a warpgroup, warps reach their quarter of
         tensor memory, setmaxnreg shares out the registers of a block, barriers of some of its warps count threads.
Omits    Kernels before sm_90, whose mbarriers are ordinary instructions; tiles that are as large as a block.
"""

from warpbound.program.instruction import Instruction

_KINDS = frozenset({"warpgroup_matrix", "tensor_memory"})


def counts_threads(instruction: Instruction) -> bool:
    """Whether an instruction is of this kind."""
    traits = instruction.traits
    some_warps = instruction.opcode == "BAR" and len(instruction.operands) > 1
    return some_warps or traits.at_mbarrier or traits.kind in _KINDS or instruction.opcode == "USETMAXREG"
