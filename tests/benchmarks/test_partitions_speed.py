"""Events per second of the simulated memory partitions. Measured, never asserted; `events_per_s` stands beside it.

The goal, with Numba: 5 M events per second. Without it the same functions run some thirty times slower.
"""

from typing import Any

from warpbound.machine import gpu
from warpbound.simulate.partition_patterns import MICROS, micro
from warpbound.simulate.partitions import machine_of, simulate

ROUNDS = 3


def test_partition_events(benchmark: Any) -> None:
    """Reads of 64 bytes over all partitions, 32 warps on every SM; with preparing and unpacking the run."""
    machine = machine_of(gpu("gtx280"))
    pattern, per_sm = micro(MICROS[1], 32, machine, 4 if benchmark.disabled else 256)
    run = benchmark.pedantic(lambda: simulate(pattern, machine, per_sm), rounds=ROUNDS, warmup_rounds=1)
    assert run.events > 0
    if benchmark.stats is not None:
        benchmark.extra_info["events_per_s"] = run.events / benchmark.stats.stats.min
