"""Results of a sweep, made by hand."""

from typing import Any

import numpy as np


def rows(*points: tuple[str, float, float, float, float], **columns: Any) -> Any:
    """One row for each (source, dram times, L2 times, own time, time)."""
    import pyarrow as pa

    source, dram, l2, own, time = zip(*points, strict=True)
    count = len(points)
    made = {
        "point": np.arange(count), "source": source, "launch": ["a"] * count, "gpu": ["h200"] * count,
        "defines": [""] * count, "bottleneck": ["dram"] * count, "own_time_s": own, "time_s": np.array(time),
        "energy_J": np.ones(count), "registers": np.ones(count), "cost": np.full(count, np.nan),
        "dram_bandwidth": dram, "l2_size": l2, "dram_bandwidth times": dram, "l2_size times": l2, **columns,
    }  # fmt: skip
    return pa.table({name: pa.array(values, from_pandas=True) for name, values in made.items()})
