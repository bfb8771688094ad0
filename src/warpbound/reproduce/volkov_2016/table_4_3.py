"""Table 4.3: what a rule that forgets arithmetic latency leaves out."""

from warpbound.models import cuda_guide_2015
from warpbound.models.volkov_2016 import mixes, schemes
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.synthetic.machine import Machine
from warpbound.reproduce.volkov_2016.machines import machines


def numbers(given: Given) -> Numbers:
    """The guide's own example, then the five machines."""
    example = given["example"]
    x = cuda_guide_2015.Inputs(1.0, example["alpha"], example["mem_lat"], example["instruction_time"])
    return {
        "example": {
            "instructions during the stall": example["mem_lat"] / example["instruction_time"],
            "guide": cuda_guide_2015.warps_needed(x),
            "with both refinements": cuda_guide_2015.warps_needed_refined(x),
        },
        **{name: _row(machine, given["alphas"][name]) for name, machine in machines(given).items()},
    }


def _row(machine: Machine, alpha: float) -> Numbers:
    x = machine.mix(0.0, alpha)
    guide = cuda_guide_2015.Inputs(1.0, alpha, machine.memory_latency, 1 / machine.alu_throughput)
    return {
        "guide": cuda_guide_2015.warps_needed(guide),
        "corrected": schemes.guide_warps_corrected(x),
        "model": mixes.warps_needed(x).total,
    }
