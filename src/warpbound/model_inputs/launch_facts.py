"""The input of the papers' models: the known facts of a launch."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from warpbound.bounds import Bounds
from warpbound.machine import Gpu
from warpbound.quick_dataclasses import dataclass
from warpbound.result.kernel import ModelAnswer
from warpbound.workload import Workload

WARP = 32.0


@dataclass(frozen=True)
class Locality:
    """How one warp's loads reuse lines: a reuse distance exceeds x bytes with probability (1 + x/beta)^(1 - alpha).

    alpha : 1 without any reuse. beta : in bytes. residual : rms error of the hit rates that follow. capacity : bytes
    of the L1 that the resident warps share; 0 without one. sizes, hits : the executed reuse itself: hit rates of one
    warp's loads in caches of these sizes, bytes.
    """

    alpha: float
    beta: float
    residual: float
    capacity: float
    sizes: tuple[float, ...] = ()
    hits: tuple[float, ...] = ()


@dataclass(frozen=True)
class LaunchFacts:
    """A launch whose per-warp work is known; None marks an unknown fact.

    dram_cycles : unloaded DRAM latency at the clock. locality : known where blocks were executed. file_symbols :
    model -> symbols of the model that a file sets; they replace what its adapter derives. given_by : that file, in
    words.
    """

    work: Workload
    gpu: Gpu
    clock_hz: float
    dram_cycles: float | None
    warps_per_sm: float | None
    active_sms: float
    blocks: int | None
    blocks_per_sm: float | None
    threads_per_block: int | None
    locality: Locality | None = None
    file_symbols: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    given_by: str = "the file gives"

    @property
    def warps(self) -> float | None:
        """Of the whole launch."""
        return self.work.warps

    @property
    def turns(self) -> float | None:
        """How many times an SM is filled with its resident warps."""
        if self.warps is None or not self.warps_per_sm:
            return None
        return self.warps / (self.active_sms * self.warps_per_sm)

    def seconds(self, warp_rate: float) -> float | None:
        """Time of the launch, at this many warps per cycle and SM."""
        if self.warps is None or not warp_rate > 0:
            return None
        return self.warps / (self.active_sms * warp_rate * self.clock_hz)

    def seconds_of_turns(self, cycles: float) -> float | None:
        """Time of the launch, if the resident warps of an SM take this many cycles."""
        return None if self.turns is None else self.turns * cycles / self.clock_hz


def no_answer(reason: str) -> ModelAnswer:
    """A model that cannot speak."""
    return ModelAnswer(None, None, None, None, reason)


def present(**fields: Any) -> dict[str, Any]:
    """What is known of a model's Inputs: the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def answer_of(prediction: Bounds, time_s: float | None, note: str | None) -> ModelAnswer:
    """The answer of a model that gives rates: the tightest of its bounds."""
    return ModelAnswer(time_s, float(prediction.rate), prediction.unit, str(prediction.bottleneck), note)
