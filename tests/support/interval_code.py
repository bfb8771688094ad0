"""Code of interval analysis: a device and its instructions."""

from warpbound.models.interval_analysis.mxv import Kernel
from warpbound.models.interval_analysis.scoreboard import Device, Instruction


def device(x: Kernel) -> Device:
    return Device(
        lanes={"load": 32 / x.load_cycles, "fp": 32 / x.fma_cycles, "store": 32 / x.store_cycles},
        latencies={"F": x.fp_latency, "M": x.load_latency, "2": x.l2_latency},
    )


def load(c: int, hits: str = "M") -> Instruction:
    return Instruction(f"L{c}", "load", hits, writes=(f"in{c}",))


def fma(r: int, c: int) -> Instruction:
    return Instruction(f"F{r},{c}", "fp", "F", writes=(f"out{r}",), reads=(f"in{c}", f"out{r}"))


def store(r: int) -> Instruction:
    return Instruction(f"S{r}", "store", reads=(f"out{r}",))
