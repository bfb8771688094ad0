"""One picture of every kind, for tests that hold for all of them."""

from dataclasses import replace

import numpy as np

from warpbound import gpu
from warpbound.models import hong_kim_2009, volkov_2016, x_model_2016
from warpbound.models.volkov_2016 import contention, mixes
from warpbound.report import figures
from warpbound.report.figures.picture import Drawable
from warpbound.result.simulation import FamilyEvaluation, FamilyPoint, RatioRange

WARPS = np.arange(1.0, 65.0)
LIMITS = volkov_2016.predict(volkov_2016.Inputs(WARPS, 820.0, {"issue": 11.0, "l2": 17.0, "dram": 31.0}))
CACHED = x_model_2016.Inputs(105.0, 1.0, 128.0, 96.0, 600.0, 0.6, 10.0, 16384.0, 6.0, 819.2)
LAUNCH = hong_kim_2009.Inputs(
    1e9, 80e9, 420.0, 10.0, 4.0, 128.0, 80.0, 16.0, 5.0, 27.0, 6.0, 0.0, 6.0, 32.0, 128.0
)  # fmt: skip
ROW, COLUMN = np.indices((8, 8))
LANES = np.arange(32, dtype=np.uint64)

EVALUATED = FamilyEvaluation(
    machine="a machine",
    alpha=[0.0, 1.0, 8.0, 64.0],
    warps_per_sm=[],
    loads_per_cycle=[],
    ratios={f"model {n}": RatioRange(least=[1.0, 0.9, 0.5, 0.01], most=[1.0, 1.1, n, 1.0]) for n in range(1, 12)},
    needed={name: [8.0, np.nan, 12.0, 4.0] for name in ("simulated", *(f"model {n}" for n in range(1, 12)))},
)

GALLERY: dict[str, Drawable] = {
    "throughput": figures.throughput_against_occupancy(
        WARPS, LIMITS, {"volkov_2016": (WARPS, LIMITS.rate), "other": ([8.0], [0.01])}, figures.Here(32, 0.02)
    ),
    "cusp": figures.warps_needed_against_intensity(
        {"a": mixes.Mix(1.0, 1.0, 400.0, 20.0, 0.1, 1.0, 1.0)}, np.logspace(-1, 3, 50)
    ),
    "latency against throughput": figures.latency_against_throughput(
        {"a": contention.Memory(300.0, (60.0,), (10.0,))}, {"a": ([1.0], [310.0])}
    ),
    "roofline": figures.roofline(
        figures.Roofs({"FP32": 6e13}, {"DRAM": 4e12}), [figures.Spot("kernel", {"DRAM": 3.0}, 1e12)]
    ),
    "before and after": figures.changed(CACHED, replace(CACHED, threads=60.0), "a change", "a paper"),
    "x-graph": figures.x_graph(CACHED),
    "operations": figures.nine_operations(CACHED),
    "architectures": figures.architectures([figures.Machine("K40, SP", 6.0, 0.107, 598.0)] * 2),
    "mwp": figures.mwp_and_cwp(LAUNCH, WARPS),
    "camping": figures.camping_band([1, 2], [1e-3, 2e-3], [7e-3, 14e-3], [2e-3]),
    "partitions": figures.partition_maps((figures.partition_map(COLUMN, ROW * 8 + COLUMN),) * 2),
    "queue": figures.queue_at_partitions(figures.in_order(12, 8)),
    "occupancy": figures.occupancy_against_limits(gpu("h200"), figures.Block(256, 64, 0)),
    "blocks at partitions": figures.blocks_at_partitions(np.arange(64).reshape(8, 8) // 3 % 6),
    "a sample at partitions": figures.sampled_at_partitions(np.arange(12).reshape(3, 4) % 5 - 1, (0, 7, 4095)),
    "partition shares": figures.partition_shares(np.array([900, 20, 20, 60])),
    "stack": figures.latency_stack({"a": {"issue": 10.0, "dram": 30.0}}),
    "graph": figures.execution_graph(["LD", "FADD"], [0.0, 301.0], [figures.Edge(0, 1, 301.0, critical=True)]),
    "timeline": figures.timeline([(0, 0.0, 4.0, "issue"), (1, 4.0, 9.0, "memory")]),
    "warps in time": figures.warps_in_time(
        [(0, 0, 4, "issues or computes"), (0, 4, 9, "waits for memory"), (1, 0, 9, "waits for something else")],
        "two warps",
    ),
    "occupancy in time": figures.occupancy_in_time({"a": (np.array([0.0, 5.0, 9.0]), np.array([4, 2, 0]))}, "a launch"),
    "latencies": figures.latencies({"idle": 300 + np.arange(50.0), "loaded": 300 + 5 * np.arange(50.0)}, "two loads"),
    "family": figures.family(
        [FamilyPoint(alpha=8.0, warps_per_sm=n, loads_per_cycle=n / 99, adds_per_cycle=0.0,
                     model_loads_per_cycle=n / 90) for n in (4, 8)],
        "the family",
    ),  # fmt: skip
    "models over simulation": figures.models_over_simulation(EVALUATED),
    "needed warps": figures.needed_warps(EVALUATED),
    "sectors": figures.sector_map(LANES * 12, 4),
    "banks": figures.bank_map(LANES * 8),
    "recorded": figures.recorded(
        {
            "title": "A figure", "source": "a paper",
            "x": {"label": "n", "unit": "warps"}, "y": {"label": "t", "unit": "s"},
            "series": [{"name": "seen", "x": [1.0, np.nan], "y": [1.0, 2.0], "kind": "both"}],
        }
    ),
}  # fmt: skip
