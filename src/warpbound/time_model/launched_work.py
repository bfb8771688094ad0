"""Input of the time model: a launch of blocks with known work per warp, and its active SMs."""

from functools import cached_property

from warpbound.bounds import Real
from warpbound.errors import InputError
from warpbound.machine import Gpu
from warpbound.model_inputs.resources import demand, fetching
from warpbound.quick_dataclasses import dataclass
from warpbound.workload import Workload
from warpbound.workload.files import levels
from warpbound.workload.files.lanes import FETCH


@dataclass(frozen=True)
class ActiveWork:
    """Work on the SMs that have blocks; `warps_per_block` and `active_sms` may be arrays."""

    work: Workload
    gpu: Gpu
    clock_hz: float
    warps_per_block: Real
    active_sms: Real

    @cached_property
    def busy(self) -> dict[str, float]:
        """SM cycles that one warp occupies each resource; those of fetches are of a warp that shares them with none."""
        return demand(self.work, self.gpu, self.clock_hz) | {FETCH: fetching(self.work, 1)}

    @cached_property
    def levels(self) -> dict[str, float]:
        """Unloaded latency by level, cycles."""
        return levels(self.gpu, self.clock_hz)

    @cached_property
    def slower(self) -> float:
        """Boost clock over the SMs' clock. Boards start blocks in the time of their files at the boost clock: a T4 at
        585 MHz of 1590 starts them 2.7 times as slowly (docs/accuracy/nsight.md)."""
        return self.gpu.value("boost_clock") / self.clock_hz

    @property
    def sub_cores(self) -> int:
        return self.gpu.limits.sub_cores


@dataclass(frozen=True)
class LaunchedWork:
    """One launch. work : of one warp. blocks_per_sm : blocks that one SM can hold at a time, whole or not."""

    work: Workload
    gpu: Gpu
    clock_hz: float
    blocks: int
    blocks_per_sm: float
    warps_per_block: int

    @property
    def active_sms(self) -> float:
        """SMs that get a block."""
        return min(self.gpu.value("sm_count"), float(self.blocks))

    @property
    def blocks_per_active_sm(self) -> float:
        """Blocks of the launch per active SM."""
        return self.blocks / self.active_sms

    @property
    def population(self) -> float:
        """Resident blocks of a full SM."""
        return min(float(self.blocks_per_sm), self.blocks_per_active_sm)

    def active_work(self) -> ActiveWork:
        """The work on its active SMs; InputError where no block of warps runs."""
        if self.work.unit != "warp":
            raise InputError(f"{self.work.title} is one {self.work.unit}, not a warp.", "Give the work of whole warps.")
        if self.blocks_per_sm < 1 or self.blocks < 1 or self.warps_per_block < 1:
            raise InputError("No block runs.", "At least one block of one warp must fit on an SM.")
        return ActiveWork(self.work, self.gpu, self.clock_hz, float(self.warps_per_block), self.active_sms)
