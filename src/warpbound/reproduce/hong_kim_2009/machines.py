"""The paper's GPUs, and kernels on them, as the model takes them."""

from dataclasses import replace

import numpy as np

from warpbound.bounds import Real
from warpbound.models.hong_kim_2009 import Inputs
from warpbound.reproduce.item import Given

LINE = 128.0
THREADS = 32.0


def on(given: Given, gpu: str, **kernel: Real) -> Inputs:
    """A kernel on one of the four; what is not said of it is one coalesced load by one warp an SM."""
    m = given["machines"][gpu]
    alone = Inputs(
        freq=m["freq_GHz"] * 1e9, mem_bandwidth=m["bandwidth_GBs"] * 1e9, mem_latency=m["mem_latency"],
        departure_uncoal=m["departure_uncoal"], departure_coal=m["departure_coal"], threads_per_block=THREADS,
        blocks=float(m["sms"]), active_sms=float(m["sms"]), active_blocks=1.0, comp_insts=1.0, uncoal_mem_insts=0.0,
        coal_mem_insts=1.0, synch_insts=0.0, uncoal_per_mw=m["uncoal_per_mw"], load_bytes=LINE,
    )  # fmt: skip
    return replace(alone, **kernel)


def warps_to(most: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """1, 2, 3, ... warps."""
    return np.arange(1.0, most + 1)
