"""Special registers of a chunk of blocks: thread and block indices, lane masks, sizes."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.addresses import SHARED_WINDOW
from warpbound.emulate.state import LANES
from warpbound.kernel_launch import Launch

SMS = 128  # of the machine that a kernel sees; block b runs on SM b % SMS


class Kernel(Protocol):
    """The part of a launch and its kernel that special registers depend on."""

    @property
    def launch(self) -> Launch: ...
    @property
    def lanes_per_block(self) -> int: ...
    @property
    def shared_size(self) -> int: ...
    @property
    def cluster_size(self) -> int: ...


def special_registers(kernel: Kernel, blocks: NDArray[np.int64], thread: NDArray[np.int64]) -> dict[str, Any]:
    """Special registers: rows over the lanes, scalars where all are the same."""
    readers: dict[str, Any] = {}
    lanes = kernel.lanes_per_block
    per_lane = np.repeat(blocks, lanes)
    for prefix, number, sizes in (("SR_TID", thread, kernel.launch.block), ("SR_CTAID", per_lane, kernel.launch.grid)):
        step = 1
        for axis, size in zip("XYZ", sizes, strict=True):
            value = (number // step % size).astype(np.uint32)
            readers[f"{prefix}.{axis}"] = value if size > 1 else np.uint32(0)
            step *= size
    for axis, size, extent in zip("XYZ", kernel.launch.grid, kernel.launch.block, strict=True):
        readers[f"SR_NCTAID.{axis}"] = np.uint32(size)
        readers[f"SR_NTID.{axis}"] = np.uint32(extent)
    lane = (thread % LANES).astype(np.uint32)
    bit = np.uint32(1) << lane
    readers |= {
        "SR_LANEID": lane, "SR_EQMASK": bit, "SR_LTMASK": bit - np.uint32(1), "SR_LEMASK": bit | (bit - np.uint32(1)),
        "SR_GTMASK": ~(bit | (bit - np.uint32(1))), "SR_GEMASK": ~(bit - np.uint32(1)),
        "SR_WARPID": (thread // LANES).astype(np.uint32), "SR_NWARPID": np.uint32(64), "SR_VIRTCFG": np.uint32(64 << 8),
        "SR_SWINHI": np.uint32(SHARED_WINDOW), "SR_SWINLO": np.uint32(0), "SRZ": np.uint32(0),
        "SR_CgaCtaId": _ranks(kernel, len(blocks)),
        "SR_CgaSize": np.uint32(0), "SR_VIRTUALSMID": (per_lane % SMS).astype(np.uint32),
        "SR_VIRTID": (thread // LANES << 8).astype(np.uint32), "SR_SMEMSZ": np.uint32(kernel.shared_size),
        "SR_DYNAMICSMEMSZ": np.uint32(kernel.launch.smem),
        "SR_LMEMHIOFF": np.uint32(0),  # where the stack ends, which code without optimisation compares its pointer with
    }  # fmt: skip
    return readers


def _ranks(kernel: Kernel, blocks: int) -> Any:
    if kernel.cluster_size == 1:
        return np.uint32(0)
    return np.repeat(np.arange(blocks) % kernel.cluster_size, kernel.lanes_per_block).astype(np.uint32)
