"""L2 in a separate clock domain: its rates, and the latency beyond L1 in cycles of the SMs.

Source   `lts__cycles_elapsed` over `gpc__cycles_elapsed` in public reports of Nsight Compute: 1451 of 1530 MHz on a
         GTX 1660 SUPER, 1241 of 1316 on an A10G, 1215 of 1268 on an RTX 3060 Laptop, 2154 of 2391 on an RTX 5060 Ti,
         0.94 in the mean; but 855 of 585 MHz on a T4 whose SMs were locked to their base clock.
Models   Where a board has `l2_clock`, L2's bytes per cycle of that clock are constant, and so are the cycles of that
         clock that a load takes beyond L1. The board's rates were measured at the boost clock, with L2 in step with
         the SMs. Without `l2_clock` rates are constant in time, and latencies are constant in cycles of the SMs.
Omits    a clock of the crossbar that differs from that of L2.
"""

from warpbound.board_parameters import PARAMETERS
from warpbound.machine import Gpu

IN_STEP = 0.94  # cycles of L2 per cycle of the SMs while a board's rates and latencies were measured
RATES = tuple(name for name, x in PARAMETERS.items() if x.decides == "l2" and x.units[0] == "GB/s")


def l2_rate(gpu: Gpu, name: str = "l2_bandwidth") -> float | None:
    """One of RATES at the clock of L2, B/s; None where the board has none."""
    rate, own = gpu.get(name), gpu.get("l2_clock")
    if rate is None or own is None:
        return rate
    return rate * own / (IN_STEP * gpu.value("boost_clock"))


def l2_cycles(gpu: Gpu, clock_hz: float, name: str = "l2_latency") -> float | None:
    """Unloaded latency of a hit in L2 (`l2_latency`, `l2_far_latency`), cycles of the SMs; None where there is none."""
    cycles, own = gpu.get(name), gpu.get("l2_clock")
    if cycles is None or own is None:
        return cycles
    near = min(gpu.get("l1_latency") or 0.0, cycles)
    return near + (cycles - near) * IN_STEP * clock_hz / own


def chip_rate(gpu: Gpu, name: str) -> float:
    """A rate of the whole chip, B/s: those of L2 at its clock. Raises InputError where the board has none."""
    own = l2_rate(gpu, name) if name in RATES else None
    return gpu.value(name) if own is None else own
