"""Special registers of a chunk of blocks: thread and block indices, lane masks, sizes."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.addresses import SHARED_WINDOW
from warpbound.emulate.state import LANES
from warpbound.kernel_launch import Dim, Launch

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


class SpecialRegisters(Mapping[str, Any]):
    """Rows over the lanes, scalars where all are the same; each made when it is first read."""

    def __init__(self, kernel: Kernel, blocks: NDArray[np.int64]) -> None:
        self.kernel, self.blocks = kernel, blocks
        self._rows: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._rows:
            self._rows[name] = _MAKERS[name](self)
        return self._rows[name]

    def __contains__(self, name: object) -> bool:
        return name in _MAKERS

    def __iter__(self) -> Iterator[str]:
        return iter(_MAKERS)

    def __len__(self) -> int:
        return len(_MAKERS)

    def of_blocks(self, values: NDArray[Any]) -> NDArray[np.uint32]:
        """A value of each block as a row."""
        return np.repeat(values.astype(np.uint32), self.kernel.lanes_per_block)

    def of_threads(self, values: NDArray[Any]) -> NDArray[np.uint32]:
        """A value of each thread of a block as a row."""
        return np.tile(values.astype(np.uint32), len(self.blocks))

    @property
    def threads(self) -> NDArray[np.int64]:
        """The threads of a block."""
        return np.arange(self.kernel.lanes_per_block)

    def lane(self) -> NDArray[np.uint32]:
        return self.of_threads(self.threads % LANES)

    def bit(self) -> NDArray[np.uint32]:
        return np.uint32(1) << self.lane()

    def rank(self) -> Any:
        """Of the block in its cluster."""
        if self.kernel.cluster_size == 1:
            return np.uint32(0)
        ranks = np.arange(len(self.blocks)) % self.kernel.cluster_size
        return self.of_blocks(ranks)


Maker = Callable[[SpecialRegisters], Any]


Row = Callable[[NDArray[Any]], NDArray[np.uint32]]


def _index(row: Row, number: NDArray[np.int64], sizes: Dim, axis: int) -> Any:
    """A coordinate of blocks or threads."""
    return row(number // math.prod(sizes[:axis]) % sizes[axis]) if sizes[axis] > 1 else np.uint32(0)


def _of_axis(name: str, axis: int) -> dict[str, Maker]:
    return {
        f"SR_TID.{name}": lambda x: _index(x.of_threads, x.threads, x.kernel.launch.block, axis),
        f"SR_CTAID.{name}": lambda x: _index(x.of_blocks, x.blocks, x.kernel.launch.grid, axis),
        f"SR_NTID.{name}": lambda x: np.uint32(x.kernel.launch.block[axis]),
        f"SR_NCTAID.{name}": lambda x: np.uint32(x.kernel.launch.grid[axis]),
    }


_MAKERS: dict[str, Maker] = {
    **_of_axis("X", 0), **_of_axis("Y", 1), **_of_axis("Z", 2),
    "SR_NWARPID": lambda x: np.uint32(64),
    "SR_VIRTCFG": lambda x: np.uint32(64 << 8),
    "SR_SWINHI": lambda x: np.uint32(SHARED_WINDOW),
    "SR_SWINLO": lambda x: np.uint32(0),
    "SRZ": lambda x: np.uint32(0),
    "SR_CgaSize": lambda x: np.uint32(0),
    "SR_SMEMSZ": lambda x: np.uint32(x.kernel.shared_size),
    "SR_DYNAMICSMEMSZ": lambda x: np.uint32(x.kernel.launch.smem),
    "SR_LMEMHIOFF": lambda x: np.uint32(0),  # the stack's end: code without optimisation compares its pointer with it
    "SR_LANEID": lambda x: x.lane(),
    "SR_EQMASK": lambda x: x.bit(),
    "SR_LTMASK": lambda x: x.bit() - np.uint32(1),
    "SR_LEMASK": lambda x: x.bit() | (x.bit() - np.uint32(1)),
    "SR_GTMASK": lambda x: ~(x.bit() | (x.bit() - np.uint32(1))),
    "SR_GEMASK": lambda x: ~(x.bit() - np.uint32(1)),
    "SR_WARPID": lambda x: x.of_threads(x.threads // LANES),
    "SR_CgaCtaId": lambda x: x.rank(),
    "SR_VIRTUALSMID": lambda x: x.of_blocks(x.blocks % SMS),
    "SR_VIRTID": lambda x: x.of_threads(x.threads // LANES << 8),
}  # fmt: skip
