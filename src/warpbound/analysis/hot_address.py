"""The one address of global memory that atomics update most often in a launch."""

import numpy as np

from warpbound.emulate import Trace
from warpbound.program import Program
from warpbound.workload.dynamic import Sample

_ATOMICS = frozenset({"ATOM", "ATOMG", "RED", "REDG"})


def hottest_updates(program: Program, seen: Trace, chosen: Sample) -> float:
    """Updates of that address by the whole launch, one per active lane; each sampled block stands for its weight."""
    accesses = seen.accesses.get("global")
    atomic = [index for index, one in enumerate(program.instructions) if one.opcode in _ATOMICS]
    if accesses is None or not atomic:
        return 0.0
    mine = np.flatnonzero(np.isin(accesses.instruction, atomic))
    weight_of = dict(zip(chosen.blocks.tolist(), chosen.weights.tolist(), strict=True))
    blocks = seen.warps[accesses.warp[mine], 0].tolist()
    weights = np.repeat(np.array([weight_of[block] for block in blocks])[:, None], accesses.active.shape[1], axis=1)
    on = accesses.active[mine]
    if not on.any():
        return 0.0
    _, which = np.unique(accesses.addresses[mine][on], return_inverse=True)
    return float(np.bincount(which, weights[on]).max())
