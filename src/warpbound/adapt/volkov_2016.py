"""Workload, Gpu and Residency to the Inputs of Volkov's bounds."""

from warpbound.adapt.resources import demand
from warpbound.bounds import Real
from warpbound.machine import Gpu
from warpbound.models.volkov_2016 import Inputs
from warpbound.workload import Workload


def inputs(work: Workload, gpu: Gpu, warps_per_sm: Real, clock_hz: float) -> Inputs:
    """`warps_per_sm` of any shape; resources that are not used are left out."""
    busy: dict[str, Real] = {name: cycles for name, cycles in demand(work, gpu, clock_hz).items() if cycles > 0}
    return Inputs(warps=warps_per_sm, latency=work.latency, busy=busy)
