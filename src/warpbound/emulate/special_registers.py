"""Special registers of a chunk of blocks: thread and block indices, lane masks, sizes."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
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


class SpecialRegisters(Mapping[str, Any]):
    """Rows over the lanes, scalars where all are the same; each made when it is first read."""

    def __init__(self, makers: Mapping[str, Callable[[], Any]]) -> None:
        self._makers = makers
        self._rows: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._rows:
            self._rows[name] = self._makers[name]()
        return self._rows[name]

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


def special_registers(kernel: Kernel, blocks: NDArray[np.int64], thread: NDArray[np.int64]) -> SpecialRegisters:
    """Special registers of some blocks. thread : number within its block of each lane."""
    lanes = kernel.lanes_per_block

    def block_of_lane() -> NDArray[np.int64]:
        return np.repeat(blocks, lanes)

    def index(number: Callable[[], NDArray[np.int64]], step: int, size: int) -> Any:
        return (number() // step % size).astype(np.uint32) if size > 1 else np.uint32(0)

    def bit() -> NDArray[np.uint32]:
        return np.uint32(1) << (thread % LANES).astype(np.uint32)

    makers: dict[str, Callable[[], Any]] = {}
    for prefix, number, sizes in (
        ("SR_TID", lambda: thread, kernel.launch.block), ("SR_CTAID", block_of_lane, kernel.launch.grid)
    ):  # fmt: skip
        step = 1
        for axis, size in zip("XYZ", sizes, strict=True):
            makers[f"{prefix}.{axis}"] = partial(index, number, step, size)
            step *= size
    for axis, size, extent in zip("XYZ", kernel.launch.grid, kernel.launch.block, strict=True):
        makers[f"SR_NCTAID.{axis}"] = partial(np.uint32, size)
        makers[f"SR_NTID.{axis}"] = partial(np.uint32, extent)
    numbers = {
        "SR_NWARPID": 64, "SR_VIRTCFG": 64 << 8, "SR_SWINHI": SHARED_WINDOW, "SR_SWINLO": 0, "SRZ": 0, "SR_CgaSize": 0,
        "SR_SMEMSZ": kernel.shared_size, "SR_DYNAMICSMEMSZ": kernel.launch.smem,
        "SR_LMEMHIOFF": 0,  # where the stack ends, which code without optimisation compares its pointer with
    }  # fmt: skip
    makers |= {name: partial(np.uint32, number) for name, number in numbers.items()}
    makers |= {
        "SR_LANEID": lambda: (thread % LANES).astype(np.uint32),
        "SR_EQMASK": bit,
        "SR_LTMASK": lambda: bit() - np.uint32(1),
        "SR_LEMASK": lambda: bit() | (bit() - np.uint32(1)),
        "SR_GTMASK": lambda: ~(bit() | (bit() - np.uint32(1))),
        "SR_GEMASK": lambda: ~(bit() - np.uint32(1)),
        "SR_WARPID": lambda: (thread // LANES).astype(np.uint32),
        "SR_CgaCtaId": lambda: _ranks(kernel, len(blocks)),
        "SR_VIRTUALSMID": lambda: (block_of_lane() % SMS).astype(np.uint32),
        "SR_VIRTID": lambda: (thread // LANES << 8).astype(np.uint32),
    }
    return SpecialRegisters(makers)


def _ranks(kernel: Kernel, blocks: int) -> Any:
    if kernel.cluster_size == 1:
        return np.uint32(0)
    return np.repeat(np.arange(blocks) % kernel.cluster_size, kernel.lanes_per_block).astype(np.uint32)
