"""X-model: threads shared out between computation and a memory system with a cache.

Source   A. Li, S. L. Song, E. Brugel, D. Chavarria-Miranda, A. Kumar, H. Corporaal, "X: A
         Comprehensive Analytic Model for Parallel Machines", 2016; equations 1 to 6 are numbered
         there, "eq. III-A4" is a paragraph.  Checked against the text; its figures were not available.
Models   MS throughput at the intersection that a launch reaches, by `predict`; at any other by
         `predict_at`.  `curves` has f and g, `shape` peak, valley and plateau, `equilibrium` every
         intersection and its stability, `sampled` measured curves, `degradation` what more threads
         cost, `operations` the nine ways to move the curves, `extraction` E, Z and units.  Where the
         text contradicts itself the reading is the one that its own examples need: f(k) = g(x)/Z, f = k/L, and
         Eq. 6 with signs (`equilibrium`); the maximum drop is not M/Z - R in general.
Omits    coalescing, cache bandwidth, MSHRs, who hits and who misses, barriers, gradual saturation.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Bounds, Real, bounds
from warpbound.models.x_model_2016 import curves, degradation, equilibrium, extraction, operations, sampled, shape
from warpbound.models.x_model_2016.curves import Inputs
from warpbound.models.x_model_2016.search import reached
from warpbound.quick_dataclasses import dataclass

__all__ = [
    "Inputs",
    "Parallelism",
    "State",
    "bound_class",
    "curves",
    "degradation",
    "equilibrium",
    "extraction",
    "operations",
    "parallelism",
    "predict",
    "predict_at",
    "predict_without_cache",
    "reached",
    "sampled",
    "shape",
    "state",
    "state_at",
]

BALANCED = 1e-9  # relative difference below which two limits count as one


@dataclass(frozen=True)
class State:
    """An intersection."""

    ms_threads: Real     # k        [thread]
    cs_threads: Real     # x        [thread]
    hit_rate: Real       # h        [1]
    ms_throughput: Real  # f(k)     [request/cycle]
    cs_throughput: Real  # Z f(k)   [inst/cycle]


@dataclass(frozen=True)
class Parallelism:
    """Parallelism that the machine needs and that the workload has; the machine's ILP is in M."""

    machine_dlp: Real   # M/R         [inst/request]
    workload_dlp: Real  # Z           [inst/request]
    machine_tlp: Real   # RL + M/E    [thread]
    workload_tlp: Real  # n           [thread]
    machine_mlp: Real   # RL          [thread]
    workload_mlp: Real  # k           [thread]
    machine_ilp: Real   # M, with TLP [inst/cycle]
    workload_ilp: Real  # E           [inst/cycle/thread]


def predict(x: Inputs) -> Bounds:
    """Upper bounds on MS throughput, requests per cycle, at the state that a launch reaches."""
    return predict_at(x, reached(x))


def predict_at(x: Inputs, k: Real) -> Bounds:
    """The same at an intersection with k threads in MS; the smallest bound is f(k)."""
    return curves.bounds_at(x, k, curves.terms(x, k).misses)


def predict_without_cache(x: Inputs) -> Bounds:
    """The same in closed form, as if there were no cache."""
    return bounds(
        "request/cycle",
        thread=np.divide(x.threads, np.add(x.latency, np.divide(x.intensity, x.ilp))),     # eq. II
        memory=x.ms_throughput,                                                            # eq. II
        computation=np.divide(x.lanes, x.intensity),                                       # eq. III-A2
    )


def state(x: Inputs) -> State:
    """Threads and throughput after a launch."""
    return state_at(x, reached(x))


def state_at(x: Inputs, k: Real) -> State:
    """Threads and throughput at an intersection with k threads in MS."""
    f = curves.supply(x, k)
    return State(
        ms_threads=k,
        cs_threads=np.subtract(x.threads, k),     # eq. II
        hit_rate=curves.hit_rate(x, k),
        ms_throughput=f,                          # eq. II
        cs_throughput=np.multiply(x.intensity, f),  # eq. II
    )


def bound_class(x: Inputs) -> NDArray[np.str_]:
    """thread, memory, computation, or capacity where MS and CS are both at their best."""
    x_bounds = predict(x)
    near = {name: x_bounds.rate >= limit * (1.0 - BALANCED) for name, limit in x_bounds.limits.items()}
    return np.asarray(np.where(near["memory"] & near["computation"], "capacity", x_bounds.bottleneck))


def parallelism(x: Inputs) -> Parallelism:
    """DLP, TLP, MLP and ILP of machine and workload."""
    delta, pi = curves.ms_transition(x), curves.cs_transition(x)
    return Parallelism(
        machine_dlp=np.divide(x.lanes, x.ms_throughput),  # eq. III-A4
        workload_dlp=x.intensity,                         # eq. III-A4
        machine_tlp=np.add(delta, pi),                    # eq. III-A3
        workload_tlp=x.threads,                           # eq. III-A3
        machine_mlp=delta,                                # eq. III-A1
        workload_mlp=reached(x),                          # eq. III-A1
        machine_ilp=x.lanes,                              # eq. III-A2
        workload_ilp=x.ilp,                               # eq. III-A2
    )


def memory_bound_with_many_threads(x: Inputs) -> NDArray[np.bool_]:
    """Whether memory binds once there are threads enough: DLP of the workload below the machine's."""
    return np.asarray(np.less(x.intensity, np.divide(x.lanes, x.ms_throughput)))  # eq. III-A4
