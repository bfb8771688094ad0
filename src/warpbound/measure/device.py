"""What the suite asks of a GPU; the driver answers in driver.py, a stand-in in the tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

SHARED_UNIT = 256  # in which shared memory is handed out, or half of it [B]


@dataclass(frozen=True)
class Facts:
    """What the driver says of a GPU; B and Hz."""

    name: str
    compute_capability: str
    driver: str
    sm_count: int
    shared_per_sm: int
    shared_per_block: int     # with opt-in
    shared_reserved: int      # of every block, by the system
    threads_per_sm: int
    blocks_per_sm: int
    l2_size: int
    memory_size: int
    memory_bus: int           # [bit]
    memory_clock: float       # as the driver reports it: half the data rate of a pin
    clock: float              # highest SM clock

    @property
    def arch(self) -> int:
        """90 for 9.0."""
        major, minor = self.compute_capability.split(".")
        return 10 * int(major) + int(minor)

    @property
    def warps_per_sm(self) -> int:
        """Most resident warps."""
        return self.threads_per_sm // 32

    def shared_for(self, blocks: int) -> int:
        """Dynamic shared memory with which exactly `blocks` blocks fit an SM, as far as it can tell them apart."""
        share = self.shared_per_sm // blocks // SHARED_UNIT * SHARED_UNIT - self.shared_reserved
        return max(0, min(share, self.shared_per_block))


@dataclass(frozen=True)
class Geometry:
    """Of one launch; see case.Step."""

    grid: tuple[int, ...]
    block: int
    smem: int = 0
    carveout: int | None = None
    shape: tuple[int, ...] | None = None


class Device(Protocol):
    """One GPU; everything runs in one queue."""

    def facts(self) -> Facts:
        """What the driver says."""

    def load(self, cubin: bytes, kernel: str) -> Any:
        """A kernel that can be launched."""

    def symbol(self, cubin: bytes, name: str) -> tuple[int, int]:
        """Address and size in bytes of a variable of the module."""

    def allocate(self, size: int) -> int:
        """Address of so many bytes."""

    def free(self, address: int) -> None:
        """Give memory back."""

    def upload(self, address: int, contents: NDArray[Any]) -> None:
        """Copy to the device."""

    def download(self, address: int, count: int, dtype: DTypeLike) -> NDArray[Any]:
        """Copy from the device, after all that was launched."""

    def fill(self, address: int, size: int, byte: int) -> None:
        """Set every byte."""

    def launch(self, kernel: Any, geometry: Geometry, args: Sequence[np.generic]) -> None:
        """Queue one launch."""

    def mark(self) -> Any:
        """A point in the queue."""

    def elapsed(self, begin: Any, end: Any) -> float:
        """Seconds between two marks; waits for the later one."""

    def sensors(self) -> dict[str, float]:
        """What the management library reads now (clocks in MHz, power in W, temperature in C); may be empty."""
