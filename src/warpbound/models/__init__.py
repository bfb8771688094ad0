"""Published performance models, one module or package per paper.

A paper's module is imported on first use: `models.volkov_2016` loads that paper alone.
Every module has `Inputs` and `predict`.  docs/add-a-model.md adds one.
"""

from importlib import import_module
from types import ModuleType

MODELS: dict[str, str] = {  # module in this package -> one line of `warpbound models`
    "baghsorkhi_2010": "Baghsorkhi and others: latency of one warp, summed over the warps",
    "campprof_2011": "Aji, Daga, Feng (CampProf): times with no request and with every one camping in a partition",
    "chen_aamodt_2009": "Chen, Aamodt: throughput of n threads from that of one",
    "cuda_guide_2015": "NVIDIA's guide: warps whose arithmetic fills one memory stall",
    "hong_kim_2009": "Hong, Kim: warps that wait for memory together (MWP) or compute meanwhile (CWP)",
    "huang_2014": "Huang and others (GPUMech): intervals of one warp, a scheduling policy, contention",
    "interval_analysis": "Lecture notes: latency of one loop body, threads that use up a bandwidth meanwhile",
    "roofline_2009": "Williams, Waterman, Patterson: peak arithmetic, peak bandwidth, ceilings below both",
    "saavedra_barrera_1990": "Saavedra-Barrera and others, Agarwal, Mowry: threads or iterations that fill one wait",
    "sim_2012": "Sim and others: Hong and Kim's MWP and CWP with arithmetic latency",
    "transit_2015": "Li, Tay, Kumar, Corporaal: threads split between computation and memory, supply against demand",
    "valley_2009": "Guz and others: all threads share one cache; too many for it, too few to hide misses",
    "volkov_2016": "Volkov: occupancy over the latency of one warp, against the tightest throughput limit",
    "x_model_2016": "Li, Song and others: Transit with ILP and a cache that the threads in memory share",
    "zhang_owens_2011": "Zhang, Owens: time of each kind of instruction at its measured throughput, the longest wins",
}


def __getattr__(name: str) -> ModuleType:
    """The module of one paper, imported on first use."""
    if name in MODELS:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"no model named {name!r}; there are {', '.join(sorted(MODELS))}")


def __dir__() -> list[str]:
    return sorted([*globals(), *MODELS])
