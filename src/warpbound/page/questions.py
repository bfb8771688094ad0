"""What the page asks of a worker process and what it is told: numbers and names, never code to run."""

from typing import Any

import msgspec

from warpbound.workload import Workload


class Question(msgspec.Struct, frozen=True):
    """A kernel, a board with values in place of its own, a launch.

    example : name of one of the examples; text : pasted source where that is empty.
    grid to args : as on the command line; empty for what the example's launch file says, or for no launch.
    partitions : a board with memory partitions: the kernel is then run on them, and nothing else is answered.
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


class Camped(msgspec.Struct, frozen=True):
    """A launch on simulated memory partitions, as `camping.kernels.Executed`."""

    counters: dict[str, float]
    grid: int
    block: int
    warps: int
    time: float
    notes: tuple[str, ...]


class Answer(msgspec.Struct, frozen=True):
    """entry : one result of `analyze`, {} where there is none; numbers : None where the launch is not known.

    focus : what the verdict is about; fitting : blocks that fit an SM. camped : where partitions were asked for.
    reason, hint : why there is no answer.
    """

    entry: dict[str, Any] = {}
    numbers: Numbers | None = None
    focus: Workload | None = None
    fitting: int = 0
    camped: Camped | None = None
    reason: str = ""
    hint: str = ""
