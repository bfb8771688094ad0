"""The GPU that the suite measures: its properties, occupancy by shared memory, and the interface of a device."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from warpbound.quick_dataclasses import dataclass

SHARED_UNIT = 256  # granularity of shared memory per block, or twice that [B]
WAVE_BLOCK = 4     # warps of a block where several waves run: one for each scheduler


@dataclass(frozen=True)
class Blocks:
    """Grid, threads per block, and the dynamic shared memory per block (B) that limits occupancy."""

    grid: int
    threads: int
    smem: int


@dataclass(frozen=True)
class Facts:
    """Device properties as the driver reports them; B and Hz."""

    name: str
    compute_capability: str
    driver: str
    sm_count: int
    shared_per_sm: int
    shared_per_block: int     # with opt-in
    shared_reserved: int      # per block, by the system
    threads_per_sm: int
    blocks_per_sm: int
    l2_size: int
    memory_size: int
    memory_bus: int           # [bit]
    memory_clock: float       # half the data rate of a pin
    clock: float              # maximum of the SMs

    @property
    def arch(self) -> int:
        """90 for compute capability 9.0."""
        major, minor = self.compute_capability.split(".")
        return 10 * int(major) + int(minor)

    @property
    def warps_per_sm(self) -> int:
        """Most resident warps."""
        return self.threads_per_sm // 32

    def warp_counts(self, effort: str, full: Iterable[int], quick: Iterable[int]) -> list[int]:
        """Numbers of warps per SM to measure: those of the effort that the SM can hold."""
        return [warps for warps in (quick if effort == "quick" else full) if warps <= self.warps_per_sm]

    def shared_for(self, blocks: int) -> int:
        """Dynamic shared memory with which exactly `blocks` blocks fit on an SM, as far as its granularity allows."""
        share = self.shared_per_sm // blocks // SHARED_UNIT * SHARED_UNIT - self.shared_reserved
        return max(0, min(share, self.shared_per_block))

    def one_wave(self, warps: int, declared: int = 0) -> Blocks:
        """`warps` resident warps per SM in as few blocks as possible, all resident at once. declared : static shared
        memory of the kernel, B."""
        blocks = -(-warps // 32)
        return Blocks(blocks * self.sm_count, 32 * warps // blocks, max(0, self.shared_for(blocks) - declared))

    def several_waves(self, warps: int, waves: int, declared: int = 0) -> Blocks:
        """`warps` resident warps per SM and `waves` times the blocks that fit, so that the SM is full until shortly
        before the end. In a single wave the warps that the scheduler prefers end first, and the SM runs half empty."""
        per_block = WAVE_BLOCK if warps % WAVE_BLOCK == 0 else warps
        blocks = warps // per_block
        smem = max(0, self.shared_for(blocks) - declared)
        return Blocks(waves * blocks * self.sm_count, 32 * per_block, smem)


@dataclass(frozen=True)
class Geometry:
    """Launch configuration; see case.Step."""

    grid: tuple[int, ...]
    block: int
    smem: int = 0
    carveout: int | None = None
    shape: tuple[int, ...] | None = None


class Device(Protocol):
    """One GPU; everything runs in one stream."""

    def facts(self) -> Facts:
        """Properties of the device."""

    def load(self, cubin: bytes, kernel: str) -> Any:
        """A kernel that can be launched."""

    def symbol(self, cubin: bytes, name: str) -> tuple[int, int]:
        """Address and size in bytes of a variable of the module."""

    def allocate(self, size: int) -> int:
        """Address of `size` bytes of device memory."""

    def free(self, address: int) -> None:
        """Free device memory."""

    def upload(self, address: int, contents: NDArray[Any]) -> None:
        """Copy to the device."""

    def download(self, address: int, count: int, dtype: DTypeLike) -> NDArray[Any]:
        """Copy from the device, after all earlier launches."""

    def fill(self, address: int, size: int, byte: int) -> None:
        """Set every byte."""

    def launch(self, kernel: Any, geometry: Geometry, args: Sequence[np.generic]) -> None:
        """Enqueue one launch."""

    def mark(self) -> Any:
        """Record an event."""

    def elapsed(self, begin: Any, end: Any) -> float:
        """Seconds between two events; waits for the later one and destroys both."""

    def sensors(self) -> dict[str, float]:
        """Current NVML readings (clocks in MHz, power in W, temperature in C); empty without NVML."""
