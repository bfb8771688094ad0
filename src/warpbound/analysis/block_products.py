"""The asynchronous products of a recorded block: how long its tensor cores are busy, and what paces them."""

from collections.abc import Sequence

import numpy as np

from warpbound.analysis.case import Case
from warpbound.emulate.mbarrier_log import MbarrierLog
from warpbound.latency import PRODUCTS, multiplying_cycles
from warpbound.program.operand_reads import operand_cycles
from warpbound.result.pipeline import Binds
from warpbound.schedule import Wait


def tensor_cycles(case: Case, mbarrier_log: MbarrierLog, waits: Sequence[Wait]) -> float:
    """Cycles for which the products of the first block keep a tensor core busy."""
    share = {"tensor": 1.0 / case.gpu.limits.sub_cores, PRODUCTS: 1.0}  # of a warp's product, of a block's
    return _of_first_block(mbarrier_log, [wait.busy * share.get(wait.queue, 0.0) for wait in waits])


def paces_products(case: Case, mbarrier_log: MbarrierLog) -> Binds:
    """The tensor cores, or shared memory, which delivers factors for longer than they multiply."""
    instructions = case.program.instructions
    multiplying = _of_first_block(mbarrier_log, [multiplying_cycles(each, case.latency) for each in instructions])
    asynchronous = [operand_cycles(each) if multiplying_cycles(each, case.latency) else 0.0 for each in instructions]
    return "shared memory" if _of_first_block(mbarrier_log, asynchronous) > multiplying else "tensor"


def _of_first_block(mbarrier_log: MbarrierLog, cycles: Sequence[float]) -> float:
    """The sum of the cycles of each instruction over all that the warps of the first block issue."""
    each = np.array(cycles)
    streams = zip(mbarrier_log.blocks, mbarrier_log.streams, strict=True)
    return float(sum(each[stream].sum() for number, stream in streams if number == mbarrier_log.blocks[0]))
