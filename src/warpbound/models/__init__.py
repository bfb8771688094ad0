"""Published performance models, one module or package per paper.

Nothing of a paper is imported until it is asked for: `models.volkov_2016`
loads that paper alone.  Every entry has `Inputs` and `predict`.
"""

from importlib import import_module
from types import ModuleType

MODELS: dict[str, str] = {
    "baghsorkhi_2010": "warpbound.models.baghsorkhi_2010",
    "campprof_2011": "warpbound.models.campprof_2011",
    "chen_aamodt_2009": "warpbound.models.chen_aamodt_2009",
    "cuda_guide_2015": "warpbound.models.cuda_guide_2015",
    "hong_kim_2009": "warpbound.models.hong_kim_2009",
    "huang_2014": "warpbound.models.huang_2014",
    "interval_analysis": "warpbound.models.interval_analysis",
    "roofline_2009": "warpbound.models.roofline_2009",
    "saavedra_barrera_1990": "warpbound.models.saavedra_barrera_1990",
    "sim_2012": "warpbound.models.sim_2012",
    "transit_2015": "warpbound.models.transit_2015",
    "valley_2009": "warpbound.models.valley_2009",
    "volkov_2016": "warpbound.models.volkov_2016",
    "x_model_2016": "warpbound.models.x_model_2016",
    "zhang_owens_2011": "warpbound.models.zhang_owens_2011",
}

ABOUT: dict[str, str] = {
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
        return import_module(MODELS[name])
    raise AttributeError(f"no model named {name!r}; there are {', '.join(sorted(MODELS))}")


def __dir__() -> list[str]:
    return sorted([*globals(), *MODELS])
