"""Messages to and from a worker process: numbers and names, never code to run."""

import msgspec

from warpbound.model_inputs.launch_facts import Locality
from warpbound.result.campprof import MemoryBoundProof
from warpbound.result.kernel import KernelResult
from warpbound.workload import Workload

RUNNERS = 2  # workers that run micro-benchmarks at once


class Question(msgspec.Struct, frozen=True):
    """A kernel, a board with values in place of its own, a launch.

    example : name of one of the examples; text : pasted source where that is empty.
    settings : numbers of the board, numbers : of the kernel (see page.work_overrides), in place of its own.
    grid to args : as on the command line; empty for the value of the example's launch file, or for no launch.
    partitions : a board with memory partitions, with the settings: the kernel is then run on them, and nothing else is
    answered; without a source, the micro-benchmark of CampProf is whose place in MICROS is `micro`.
    """

    example: str
    text: str
    gpu: str
    settings: tuple[tuple[str, float], ...] = ()
    kernel: str = ""
    grid: str = ""
    block: str = ""
    smem: str = ""
    args: str = ""
    partitions: str = ""
    numbers: tuple[tuple[str, float], ...] = ()
    micro: int = -1

    @property
    def source(self) -> str:
        """Key of the worker for a question; RUNNERS workers share the micro-benchmarks."""
        return self.example or self.text or f"runs {self.micro % RUNNERS}"


class Numbers(msgspec.Struct, frozen=True):
    """A launch as models take it, without the GPU."""

    work: Workload
    clock_hz: float
    dram_cycles: float | None
    warps_per_sm: float | None
    active_sms: float
    blocks: int | None
    blocks_per_sm: float | None
    threads_per_block: int | None
    locality: Locality | None = None


class CampingRun(msgspec.Struct, frozen=True):
    """A launch on simulated memory partitions, as `camping.kernel_counters.Executed`."""

    counters: dict[str, float]
    grid: int
    block: int
    warps: int
    time: float
    proof: MemoryBoundProof
    notes: tuple[str, ...]


class Answer(msgspec.Struct, frozen=True):
    """entry : one result of `analyze`; numbers : None where the launch is not known.

    focus : what the verdict is about; fitting : blocks that fit an SM. camped, rows : if partitions were requested;
    rows as `camping.benchmarks` makes them.
    reason, hint : why there is no answer.
    """

    entry: KernelResult | None = None
    numbers: Numbers | None = None
    focus: Workload | None = None
    fitting: int = 0
    camping_run: CampingRun | None = None
    rows: tuple[tuple[str, int, str, int, float, int], ...] = ()
    reason: str = ""
    hint: str = ""
