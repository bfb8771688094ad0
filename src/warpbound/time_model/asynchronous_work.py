"""Work of one block that goes on beside its warps: copies by the copy engine, and products that warps only start.

Source   our own, from a measured ladder of such kernels on a B200 (tools/copy_ladders/products).
Models   Shared memory takes the bytes of copies while it delivers the factors of products: a stage of 24 KiB, whose
         writing and reading take 192 cycles each, takes 199. Products of a warp group and into tensor memory are work
         of all sub-cores. A block's warps wait for one copy after the other.
Omits    Copies back to global memory.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.time_model.launched_work import ActiveWork

FIRST_BESIDE = 100  # sm_100, where it was measured; earlier ones are not known to write and read at once
MOST = 0.5  # of L1's cycles: more than that, and the waits for memory are waits for copies


def copied_share(x: ActiveWork) -> float:
    """Of L1's cycles, those in which the copy engine writes."""
    memory = x.work.memory
    return min(1.0, memory.copied_wavefronts / memory.l1_wavefronts) if memory.l1_wavefronts else 0.0


def beside(x: ActiveWork, cycles: Mapping[str, Real]) -> NDArray[np.float64]:
    """SM cycles in which copies are written while factors of products are read. cycles : of each resource."""
    if x.gpu.arch < FIRST_BESIDE:
        return np.zeros(())
    shared = float(x.busy["shared"])
    operands = x.work.units.get("operands", 0.0) / x.sub_cores / shared if shared else 0.0
    copied, read = np.multiply(cycles["l1"], copied_share(x)), np.multiply(cycles["shared"], min(1.0, operands))
    return np.asarray(np.minimum(copied, read))


def of_all_sub_cores(x: ActiveWork) -> frozenset[str]:
    """Pipes of the sub-cores that are in use in all of them, whichever warp started the work."""
    return frozenset(("tmem", "tensor") if x.work.units.get("operands") else ("tmem",))


def copies(x: ActiveWork) -> float:
    """Copies that a block waits for, one after the other; 0 if most of what it loads is loaded by warps."""
    own = float(np.asarray(x.warps_per_block).ravel()[0]) * x.work.memory.global_load_requests
    return own if copied_share(x) > MOST else 0.0
