"""Workload, Gpu and Residency to the Inputs of interval analysis: the whole warp as one interval.

Assumes   no barrier splits the interval. Data crosses two boundaries, DRAM at its pin bandwidth and L2; kinds of
          instructions are pipes, each at its own width, and share the issue slots, so that their times add up.
"""

from typing import Any

from warpbound.l2_clock import l2_rate
from warpbound.model_inputs.accesses import dram_bytes
from warpbound.model_inputs.launch_facts import WARP, LaunchFacts, answer_of, present
from warpbound.models.interval_analysis import Inputs, predict
from warpbound.result.kernel import ModelAnswer
from warpbound.workload.files.lanes import issue_rate, pipe_cycles

SECTOR_B = 32.0
WANTED = {
    "insts": "instructions by pipe: counts.pipes",
    "inst_bandwidth": "instructions by pipe: counts.pipes",
    "data": "traffic: access or memory",
    "data_bandwidth": "traffic: access or memory",
}


def known(x: LaunchFacts) -> dict[str, Any]:
    memory = x.work.memory
    crossing = {"dram": dram_bytes(x), "l2": SECTOR_B * (memory.l2_sectors_read + memory.l2_sectors_written)}
    bandwidth = {"dram": x.gpu.value("dram_bandwidth"), "l2": l2_rate(x.gpu)}
    data = {name: count / WARP for name, count in crossing.items() if count and bandwidth[name]}
    insts = _insts(x)
    return present(
        executions=0.0 if x.warps is None else WARP * x.warps,
        threads=None if x.warps_per_sm is None else WARP * x.warps_per_sm * x.active_sms,
        latency=x.work.latency or None,
        clock=x.clock_hz,
        data=data,
        data_bandwidth={name: bandwidth[name] for name in data},
        insts=insts,
        inst_bandwidth={pipe: _width(x, pipe) for pipe in insts},
    )


def _insts(x: LaunchFacts) -> dict[str, float]:
    """By pipe; an instruction without a pipe costs its issue slot."""
    insts = {pipe: count for pipe, count in x.work.by_pipe.items() if count}
    rest = x.work.warp_instructions - sum(insts.values())
    return insts | ({"other": rest} if rest > 1e-9 * x.work.warp_instructions else {})


def _width(x: LaunchFacts, pipe: str) -> float:
    """Lanes of the chip per cycle; a pipe that is not modelled is as wide as issue."""
    cycles = pipe_cycles(x.gpu, pipe)
    sub_cores = x.gpu.limits.sub_cores
    slots = WARP * issue_rate(x.gpu)
    lanes = min(slots, WARP * sub_cores / cycles) if cycles else slots
    return lanes * x.gpu.value("sm_count")


def answer(inputs: Inputs, x: LaunchFacts) -> ModelAnswer:
    prediction = predict(inputs)
    rate = float(prediction.rate)
    time_s = float(inputs.executions) / rate if inputs.executions and rate else None
    return answer_of(prediction, time_s, "executions by one thread each, whole chip")
