"""Errors of the counters over many launches, each kernel on each board once."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from warpbound.nsight.counters import DRAM, DRAM_READ, DURATION, INSTRUCTIONS, L2_READ, L2_SECTORS
from warpbound.result.comparison import CounterErrors, LaunchComparison, NotCompared

WITHIN = {INSTRUCTIONS: 0.005, L2_SECTORS: 0.1, L2_READ: 0.1, DRAM: 0.15, DRAM_READ: 0.15, DURATION: 0.15}
LONG_S = 10e-6  # shorter launches are mostly their start and end: their time is not counted


def errors(launches: Iterable[LaunchComparison | NotCompared]) -> list[CounterErrors]:
    """A row for each counter that some launch has both ways; launches of one kernel on one board are averaged."""
    by_counter: dict[str, dict[tuple[str, ...], list[float]]] = defaultdict(lambda: defaultdict(list))
    for launch in launches:
        if isinstance(launch, NotCompared):
            continue
        for counter in launch.counters:
            short = counter.name == DURATION and (launch.duration_s.measured or 0.0) < LONG_S
            if counter.ratio is not None and not short:
                by_counter[counter.name][launch.kernel, launch.code, launch.gpu].append(counter.ratio)
    return [
        _row(name, [abs(float(np.mean(ratios)) - 1.0) for ratios in kernels.values()])
        for name, kernels in by_counter.items()
    ]


def _row(name: str, off: Sequence[float]) -> CounterErrors:
    within = WITHIN.get(name)
    return CounterErrors(
        name=name,
        launches=len(off),
        median=float(np.median(off)),
        p90=float(np.percentile(off, 90)),
        within=within,
        share=None if within is None else float(np.mean(np.asarray(off) <= within)),
    )
